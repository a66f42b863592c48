// SPDX-License-Identifier: Apache-2.0
#include "options/table_factories.h"

#include "api/foreign_cast.h"
#include "api/registered.h"
#include "options/option_tables.h"
#include "rocksdb/cache.h"
#include "table/piece/key_order.h"

namespace compassdb {

std::string FormatObject(const ConfigOptions& config, const rocksdb::Customizable* object) {
  if (object == nullptr) return "nullptr";
  ConfigOptions inner = config;
  inner.delimiter = ";";
  inner.mutable_options_only = false;
  return object->ToString(inner);
}

std::string FormatObject(const ConfigOptions&, const rocksdb::Cache* cache) {
  return cache == nullptr ? "nullptr" : cache->Name();
}

namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::Slice;
using rocksdb::TableFactory;

constexpr size_t kDefaultBlockCacheBytes = 8 << 20;

// The parts of the interface that build and read RocksDB's own files.
class FormatFreeTableFactory : public TableFactory, public NamedOptions {
 public:
  using TableFactory::NewTableReader;
  Status NewTableReader(const rocksdb::ReadOptions&, const rocksdb::TableReaderOptions&,
                        std::unique_ptr<rocksdb::RandomAccessFileReader>&&, uint64_t,
                        std::unique_ptr<rocksdb::TableReader>*, bool) const override {
    return Status::NotSupported("RocksDB's table files are not read; see compassdb import", Name());
  }
  rocksdb::TableBuilder* NewTableBuilder(const rocksdb::TableBuilderOptions&,
                                         rocksdb::WritableFileWriter*) const override {
    return nullptr;
  }

 protected:
  template <class S>
  Status ParseFrom(const ConfigOptions& config, const OptionTable<S>& table,
                   const std::string& name, const std::string& value, S* options) {
    if (name != "id") return compassdb::ParseOption(config, table, name, value, options);
    if (IsInstanceOf(value)) return Status::OK();
    return Status::InvalidArgument("table factory is of another class", value);
  }
};

class BlockBasedTableFactory : public FormatFreeTableFactory {
 public:
  explicit BlockBasedTableFactory(const BlockBasedTableOptions& options) : options_(options) {
    PrepareOptions(ConfigOptions());
  }
  static const char* kClassName() { return kBlockBasedTableName(); }
  const char* Name() const override { return kBlockBasedTableName(); }
  bool IsDeleteRangeSupported() const override { return true; }

  Status PrepareOptions(const ConfigOptions&) override {
    if (options_.no_block_cache) {
      options_.block_cache.reset();
    } else if (options_.block_cache == nullptr) {
      options_.block_cache = default_cache_ = rocksdb::NewLRUCache(kDefaultBlockCacheBytes);
    }
    // RocksDB's table format cannot serve these, so its factory does not keep them.
    if (options_.block_size_deviation < 0 || options_.block_size_deviation > 100) {
      options_.block_size_deviation = 0;
    }
    options_.block_restart_interval = std::max(options_.block_restart_interval, 1);
    options_.index_block_restart_interval = std::max(options_.index_block_restart_interval, 1);
    if (options_.index_type == BlockBasedTableOptions::kHashSearch) {
      options_.index_block_restart_interval = 1;
    }
    if (options_.index_type != BlockBasedTableOptions::kTwoLevelIndexSearch) {
      options_.partition_filters = false;
    }
    return Status::OK();
  }

  Status ValidateOptions(const rocksdb::DBOptions& db,
                         const rocksdb::ColumnFamilyOptions&) const override {
    if (db.memory_limit > 0 && options_.no_block_cache) {
      return Status::InvalidArgument("no_block_cache is set, but memory_limit is a cache's");
    }
    if (db.memory_limit > 0 && options_.block_cache != default_cache_) {
      return Status::InvalidArgument(
          "block_cache is set, but memory_limit has the blocks in a cache of the engine's");
    }
    if (options_.cache_index_and_filter_blocks && options_.no_block_cache) {
      return Status::InvalidArgument(
          "cache_index_and_filter_blocks is set, but no_block_cache is too");
    }
    return CheckRanges(BlockTableOptionTable(), options_);
  }

  std::string GetPrintableOptions() const override {
    std::string out;
    for (const auto& [name, value] : ForLog()) out += "  " + name + ": " + value + "\n";
    const rocksdb::Cache* const cache = options_.block_cache.get();
    if (cache != nullptr) {
      out += "  block_cache_name: " + std::string(cache->Name()) + "\n  block_cache_options:\n" +
             cache->GetPrintableOptions();
    }
    return out;
  }

  bool has_cache_of_its_own() const {
    return options_.block_cache != nullptr && options_.block_cache == default_cache_;
  }
  virtual NamedValues List(const ConfigOptions& config) const {
    return ListOptions(config, BlockTableOptionTable(), options_);
  }
  virtual NamedValues ForLog() const { return ListForLog(BlockTableOptionTable(), options_); }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    if (name == BlockBasedTableOptions::kName()) return &options_;
    if (name == kBlockCacheOpts()) return options_.block_cache.get();
    return TableFactory::GetOptionsPtr(name);
  }
  Status ParseNamedOption(const ConfigOptions& config, const std::string& name,
                          const std::string& value) override {
    const Status s = ParseFrom(config, BlockTableOptionTable(), name, value, &options_);
    if (std::string member; s.IsNotFound() && FindOption(PieceTableOptionTable(), name, &member) != nullptr) {
      return Status::NotFound("Could not find option: ", name + ", of NewPieceTableFactory only");
    }
    // As in RocksDB, these two are passed over if they cannot be made.
    const bool by_name = name == "filter_policy" || name == "flush_block_policy_factory";
    return by_name && config.input_strings_escaped ? Status::OK() : s;
  }
  void ListNamedOptions(const ConfigOptions& config, NamedValues* options) const override {
    *options = List(config);
  }

  BlockBasedTableOptions options_;
  std::shared_ptr<rocksdb::Cache> default_cache_;  // made if there is no other
};

NamedValues Joined(NamedValues first, const NamedValues& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class PieceTableFactory : public BlockBasedTableFactory {
 public:
  PieceTableFactory(const PieceTableOptions& piece, const BlockBasedTableOptions& block)
      : BlockBasedTableFactory(block), piece_(piece) {}
  static const char* kClassName() { return kPieceTableName; }
  const char* Name() const override { return kPieceTableName; }

  Status ValidateOptions(const rocksdb::DBOptions& db,
                         const rocksdb::ColumnFamilyOptions& family) const override {
    if (Status s = CheckRanges(PieceTableOptionTable(), piece_); !s.ok()) return s;
    if (piece_.partition == Partition::kHashRange && family.comparator != nullptr &&
        !KeyOrder(family.comparator).HashesIdentifyKeys()) {
      return Status::InvalidArgument(
          "partition=kHashRange needs a comparator for which keys of different bytes are different",
          family.comparator->Name());
    }
    if (piece_.value_gc_policy == ValueGcPolicy::kOldestFirst && piece_.value_hot_cold) {
      return Status::InvalidArgument("value_gc_policy=oldest-first",
                                     "not with value_hot_cold: one log has no cold part");
    }
    if (Status s = ValidatePages(family); !s.ok()) return s;
    return BlockBasedTableFactory::ValidateOptions(db, family);
  }

  NamedValues List(const ConfigOptions& config) const override {
    return Joined(ListOptions(config, PieceTableOptionTable(), piece_),
                  BlockBasedTableFactory::List(config));
  }
  NamedValues ForLog() const override {
    return Joined(ListForLog(PieceTableOptionTable(), piece_), BlockBasedTableFactory::ForLog());
  }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    if (name == PieceTableOptions::kName()) return &piece_;
    return BlockBasedTableFactory::GetOptionsPtr(name);
  }
  Status ParseNamedOption(const ConfigOptions& config, const std::string& name,
                          const std::string& value) override {
    const Status s = compassdb::ParseOption(config, PieceTableOptionTable(), name, value, &piece_);
    return s.IsNotFound() ? BlockBasedTableFactory::ParseNamedOption(config, name, value) : s;
  }

 private:
  Status ValidatePages(const rocksdb::ColumnFamilyOptions& family) const {
    if (piece_.tableless_page_bytes % 4096 != 0) {
      return Status::InvalidArgument("tableless_page_bytes must be a multiple of 4096",
                                     std::to_string(piece_.tableless_page_bytes));
    }
    if (piece_.store != StoreKind::kTableless) return Status::OK();
    if (family.enable_blob_files) {
      return Status::NotSupported("store=tableless", "not together with enable_blob_files");
    }
    // Pages have no age. The default does not count as set, before or after it is sanitized.
    const auto asked_for = [](uint64_t seconds) {
      return seconds != 0 && seconds != 0xfffffffffffffffe && seconds != 30 * 24 * 60 * 60;
    };
    if (asked_for(family.ttl)) {
      return Status::NotSupported("store=tableless", "not with ttl; a compaction filter sees pages when they are rewritten");
    }
    if (asked_for(family.periodic_compaction_seconds)) {
      return Status::NotSupported("store=tableless",
                                  "not with periodic_compaction_seconds; CompactRange shows a compaction filter all pages");
    }
    if (family.comparator == nullptr) return Status::OK();
    if (family.comparator->timestamp_size() != 0) {
      return Status::NotSupported("store=tableless", "not with user-defined timestamps");
    }
    if (!KeyOrder(family.comparator).HashesIdentifyKeys()) {
      return Status::InvalidArgument(
          "store=tableless needs a comparator for which keys of different bytes are different",
          family.comparator->Name());
    }
    return Status::OK();
  }

  PieceTableOptions piece_;
};

// Holds options and a name; a family that uses one has tables of the engine's format.
template <class S>
class OtherTableFactory : public FormatFreeTableFactory {
 public:
  OtherTableFactory(const char* name, const OptionTable<S>& (*table)(), const S& options)
      : name_(name), table_(table), options_(options) {}
  const char* Name() const override { return name_; }
  S* mutable_options() { return &options_; }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == S::kName() ? &options_ : TableFactory::GetOptionsPtr(name);
  }
  Status ParseNamedOption(const ConfigOptions& config, const std::string& name,
                          const std::string& value) override {
    return ParseFrom(config, table_(), name, value, &options_);
  }
  void ListNamedOptions(const ConfigOptions& config, NamedValues* options) const override {
    *options = ListOptions(config, table_(), options_);
  }

 private:
  const char* const name_;
  const OptionTable<S>& (*const table_)();
  S options_;
};

// A family that uses one is refused at open.
template <class S>
class RefusedTableFactory final : public OtherTableFactory<S> {
 public:
  using OtherTableFactory<S>::OtherTableFactory;
  Status ValidateOptions(const rocksdb::DBOptions&,
                         const rocksdb::ColumnFamilyOptions&) const override {
    return Status::NotSupported("tables have the engine's own format, not that of", this->Name());
  }
};

struct AdaptiveTableOptions {
  static const char* kName() { return "AdaptiveTableOptions"; }
};

const OptionTable<AdaptiveTableOptions>& AdaptiveTableOptionTable() {
  static const auto* const table = new OptionTable<AdaptiveTableOptions>();
  return *table;
}

TableFactory* MakeBuiltIn(const std::string& id) {
  if (id == TableFactory::kBlockBasedTableName()) return rocksdb::NewBlockBasedTableFactory();
  if (id == kPieceTableName) return NewPieceTableFactory();
  if (id == TableFactory::kPlainTableName()) return rocksdb::NewPlainTableFactory();
  if (id == TableFactory::kCuckooTableName()) return rocksdb::NewCuckooTableFactory();
  return nullptr;
}

// The copy takes the place of the factory: others may use that one.
Status ReconfigureTable(const ConfigOptions& config, const OptionMap& map,
                        std::shared_ptr<TableFactory>* factory) {
  std::shared_ptr<TableFactory> copy;
  Status s = CopyTableFactory(**factory, &copy);
  if (s.ok()) s = copy->ConfigureFromMap(config, map);
  if (s.ok()) *factory = std::move(copy);
  return s;
}

// Lists the options of a factory of any class. GetOptionString() includes "id=".
Status OptionsOf(const ConfigOptions& config, const TableFactory& factory, OptionMap* map) {
  ConfigOptions plain = config;
  plain.delimiter = ";";
  plain.depth = ConfigOptions::kDepthDetailed;
  plain.mutable_options_only = false;
  std::string text;
  Status s = factory.GetOptionString(plain, &text);
  if (s.ok() && text.find('=') != std::string::npos) s = ParseOptionString(text, map);
  map->erase("id");
  return s;
}

}  // namespace

TableSettings TableSettingsOf(const TableFactory* factory) {
  TableSettings settings;
  if (factory == nullptr) return settings;
  if (const auto* block = factory->GetOptions<BlockBasedTableOptions>()) settings.block = *block;
  if (const auto* piece = factory->GetOptions<PieceTableOptions>()) settings.piece = *piece;
  return settings;
}

bool HasCacheOfItsOwn(const TableFactory& factory) {
  const auto* block = ForeignCast<const BlockBasedTableFactory*>(&factory);
  return block != nullptr && block->has_cache_of_its_own();
}

bool IsBuiltIn(const TableFactory& factory) {
  return ForeignCast<const FormatFreeTableFactory*>(&factory) != nullptr;
}

Status CopyTableFactory(const TableFactory& factory, std::shared_ptr<TableFactory>* copy) {
  if (const auto* piece = ForeignCast<const PieceTableFactory*>(&factory)) {
    *copy = std::make_shared<PieceTableFactory>(*piece);
  } else if (const auto* block = ForeignCast<const BlockBasedTableFactory*>(&factory)) {
    *copy = std::make_shared<BlockBasedTableFactory>(*block);
  } else {
    std::shared_ptr<TableFactory> made(MakeBuiltIn(factory.Name()));
    if (made == nullptr) {
      return Status::NotSupported("cannot change the options of table factory", factory.Name());
    }
    OptionMap map;
    Status s = OptionsOf(ConfigOptions(), factory, &map);
    if (s.ok()) s = made->ConfigureFromMap(ConfigOptions(), map);
    if (!s.ok()) return s;
    *copy = std::move(made);
  }
  return Status::OK();
}

NamedValues ListTableOptions(const ConfigOptions& config, const TableFactory& factory) {
  if (const auto* block = ForeignCast<const BlockBasedTableFactory*>(&factory)) {
    return block->List(config);
  }
  OptionMap map;
  if (!OptionsOf(config, factory, &map).ok()) return {};
  const std::map<std::string, std::string> sorted(map.begin(), map.end());
  NamedValues values;
  for (const auto& [name, value] : sorted) {
    // Nested structs lost their braces when the text was split.
    const bool nested = value.find('=') != std::string::npos;
    values.emplace_back(name, nested ? "{" + value + "}" : value);
  }
  return values;
}

Status ConfigureTable(const ConfigOptions& config, const OptionMap& map, TableFactory* factory) {
  if (map.contains("id") && !config.ignore_unknown_options) {
    return Status::NotFound("Could not find option: ", "id");
  }
  return factory->ConfigureFromMap(config, map);
}

Status ParseTableFactoryAlias(const ConfigOptions& config, const std::string& id,
                              const std::string& member, const std::string& value,
                              rocksdb::ColumnFamilyOptions* options) {
  std::shared_ptr<TableFactory>& factory = options->table_factory;
  const bool same = factory != nullptr && factory->IsInstanceOf(id);
  if (!same && !member.empty()) {
    return Status::NotFound("table_factory is of another class than", id);
  }
  if (!same && config.mutable_options_only) {
    return Status::InvalidArgument("Option not changeable: table_factory");
  }
  OptionMap map;
  Status s;
  if (!member.empty()) {
    map[member] = value;
  } else if (value.find_first_of(";=") != std::string::npos) {  // other text is passed over
    s = ParseOptionString(value, &map);
  }
  std::shared_ptr<TableFactory> made;
  if (same) {
    if (s.ok()) s = CopyTableFactory(*factory, &made);
  } else {
    made.reset(MakeBuiltIn(id));
  }
  if (s.ok()) s = ConfigureTable(config, map, made.get());
  if (s.ok()) factory = std::move(made);
  return s;
}

Status ParseTableFactoryOption(const ConfigOptions& config, const std::string& member,
                               const std::string& value, rocksdb::ColumnFamilyOptions* options) {
  std::shared_ptr<TableFactory>& factory = options->table_factory;
  if (!config.mutable_options_only) {
    if (LeavesObject(member, value)) return Status::OK();
    return TableFactory::CreateFromString(config, ObjectText(factory.get(), member, value),
                                          &factory);
  }
  if (factory == nullptr) return Status::InvalidArgument("Option not changeable: table_factory");
  std::string id = factory->GetId();
  OptionMap map;
  if (member.empty()) {
    ParseObjectString(value, factory->GetId(), &id, &map);
  } else {
    map[member] = value;
  }
  if (!factory->IsInstanceOf(id)) {
    return Status::InvalidArgument("Option not changeable: table_factory");
  }
  return ReconfigureTable(config, map, &factory);
}

rocksdb::TableFactory* NewPieceTableFactory(const PieceTableOptions& piece_options,
                                            const BlockBasedTableOptions& block_options) {
  return new PieceTableFactory(piece_options, block_options);
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

const std::string BlockBasedTablePropertyNames::kIndexType = "rocksdb.block.based.table.index.type";
const std::string BlockBasedTablePropertyNames::kWholeKeyFiltering =
    "rocksdb.block.based.table.whole.key.filtering";
const std::string BlockBasedTablePropertyNames::kPrefixFiltering =
    "rocksdb.block.based.table.prefix.filtering";

TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) {
  return new compassdb::BlockBasedTableFactory(table_options);
}

TableFactory* NewPlainTableFactory(const PlainTableOptions& options) {
  return new compassdb::OtherTableFactory<PlainTableOptions>(
      TableFactory::kPlainTableName(), compassdb::PlainTableOptionTable, options);
}

TableFactory* NewCuckooTableFactory(const CuckooTableOptions& table_options) {
  return new compassdb::OtherTableFactory<CuckooTableOptions>(
      TableFactory::kCuckooTableName(), compassdb::CuckooTableOptionTable, table_options);
}

TableFactory* NewAdaptiveTableFactory(std::shared_ptr<TableFactory>, std::shared_ptr<TableFactory>,
                                      std::shared_ptr<TableFactory>,
                                      std::shared_ptr<TableFactory>) {
  return new compassdb::RefusedTableFactory<compassdb::AdaptiveTableOptions>(
      "AdaptiveTableFactory", compassdb::AdaptiveTableOptionTable, {});
}

Status TableFactory::CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                      std::shared_ptr<TableFactory>* factory) {
  if (*factory != nullptr && compassdb::IsBuiltIn(**factory)) {
    // What has no text form, such as a cache, stays, too.
    std::string name;
    compassdb::OptionMap map;
    compassdb::ParseObjectString(id, (*factory)->GetId(), &name, &map);
    if ((*factory)->IsInstanceOf(name)) {
      return compassdb::ReconfigureTable(config_options, map, factory);
    }
  }
  const auto built_in = [](const std::string& name, std::shared_ptr<TableFactory>* made) {
    made->reset(compassdb::MakeBuiltIn(name));
    return Status::OK();
  };
  return compassdb::LoadObject<TableFactory>(config_options, "TableFactory", id, built_in, factory);
}

}  // namespace ROCKSDB_NAMESPACE
