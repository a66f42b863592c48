// SPDX-License-Identifier: Apache-2.0
// The memtable representations of RocksDB as named option holders. The engine
// has one memtable, a concurrent skip list (memtable/), with the semantics of
// all of RocksDB's, which differ only in speed.
#include "api/registered.h"
#include "options/option_info.h"
#include "rocksdb/convenience.h"
#include "rocksdb/memtablerep.h"

namespace compassdb {

namespace {

using rocksdb::MemTableRep;
using rocksdb::MemTableRepFactory;

// Options of the hashed representations, under the names of their option strings.
struct HashSkipListOptions {
  static const char* kName() { return "HashSkipListRepFactoryOptions"; }
  size_t bucket_count = 1000000;
  int32_t skiplist_height = 4;
  int32_t branching_factor = 4;
};

struct HashLinkListOptions {
  static const char* kName() { return "HashLinkListRepFactoryOptions"; }
  size_t bucket_count = 50000;
  uint32_t threshold = 256;
  size_t huge_page_size = 0;
  int logging_threshold = 4096;
  bool log_when_flash = true;
};

struct VectorOptions {
  static const char* kName() { return "VectorRepFactoryOptions"; }
  size_t count = 0;
};

#define ROW(S, name) \
  Scalar<S>(#name, &S::name, kFixed, Support::kHint, "the engine's skip list serves")

const OptionTable<HashSkipListOptions>& HashSkipListTable() {
  static const auto* const table = new OptionTable<HashSkipListOptions>{
      ROW(HashSkipListOptions, bucket_count), ROW(HashSkipListOptions, skiplist_height),
      ROW(HashSkipListOptions, branching_factor)};
  return *table;
}

const OptionTable<HashLinkListOptions>& HashLinkListTable() {
  static const auto* const table = new OptionTable<HashLinkListOptions>{
      ROW(HashLinkListOptions, bucket_count), ROW(HashLinkListOptions, threshold),
      ROW(HashLinkListOptions, huge_page_size), ROW(HashLinkListOptions, logging_threshold),
      ROW(HashLinkListOptions, log_when_flash)};
  return *table;
}

const OptionTable<VectorOptions>& VectorTable() {
  static const auto* const table = new OptionTable<VectorOptions>{ROW(VectorOptions, count)};
  return *table;
}
#undef ROW

template <class S>
class NamedMemTableFactory : public MemTableRepFactory, public NamedOptions {
 public:
  NamedMemTableFactory(const char* name, const char* nickname, const OptionTable<S>& (*table)(),
                       const S& options)
      : name_(name), nickname_(nickname), table_(table), options_(options) {}
  const char* Name() const override { return name_; }
  const char* NickName() const override { return nickname_; }
  using MemTableRepFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator&, rocksdb::Allocator*,
                                 const rocksdb::SliceTransform*, rocksdb::Logger*) override {
    return nullptr;
  }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == S::kName() ? &options_ : MemTableRepFactory::GetOptionsPtr(name);
  }
  Status ParseNamedOption(const ConfigOptions& config, const std::string& name,
                          const std::string& value) override {
    if (name == "id" && IsInstanceOf(value)) return Status::OK();
    return compassdb::ParseOption(config, table_(), name, value, &options_);
  }
  void ListNamedOptions(const ConfigOptions& config, NamedValues* options) const override {
    *options = ListOptions(config, table_(), options_);
  }

 private:
  const char* const name_;
  const char* const nickname_;
  const OptionTable<S>& (*const table_)();
  S options_;
};

MemTableRepFactory* NewHashSkipList(const HashSkipListOptions& options) {
  return new NamedMemTableFactory<HashSkipListOptions>("HashSkipListRepFactory", "prefix_hash",
                                                       HashSkipListTable, options);
}

MemTableRepFactory* NewHashLinkList(const HashLinkListOptions& options) {
  return new NamedMemTableFactory<HashLinkListOptions>("HashLinkListRepFactory", "hash_linkedlist",
                                                       HashLinkListTable, options);
}

MemTableRepFactory* NewVector(const VectorOptions& options) {
  return new NamedMemTableFactory<VectorOptions>("VectorRepFactory", "vector", VectorTable,
                                                 options);
}

// "name" or "name:number"; null for a name that RocksDB does not have.
Status MakeMemTableFactory(const std::string& id, std::unique_ptr<MemTableRepFactory>* made) {
  using Pattern = rocksdb::ObjectLibrary::PatternEntry;
  const auto matches = [&id](const char* name, const char* nickname) {
    return Pattern(name).AnotherName(nickname).AddNumber(":").Matches(id);
  };
  const size_t colon = id.find(':');
  const bool has_number = colon != std::string::npos;
  uint64_t number = 0;
  const bool in_range = !has_number || ParseUnsigned(id.substr(colon + 1), &number);
  if (matches("SkipListFactory", "skip_list")) {
    made->reset(new rocksdb::SkipListFactory(number));
  } else if (matches("VectorRepFactory", "vector")) {
    made->reset(NewVector({number}));
  } else if (matches("HashSkipListRepFactory", "prefix_hash")) {
    HashSkipListOptions options;
    if (has_number) options.bucket_count = number;
    made->reset(NewHashSkipList(options));
  } else if (matches("HashLinkListRepFactory", "hash_linkedlist")) {
    HashLinkListOptions options;
    if (has_number) options.bucket_count = number;
    made->reset(NewHashLinkList(options));
  } else if (id == "cuckoo") {
    return Status::InvalidArgument("cuckoo hash memtable is not supported anymore.", id);
  } else {
    return Status::NotSupported("Could not load memtable factory", id);
  }
  return in_range ? Status::OK() : BadOptionValue("memtable_factory", id, "object");
}

// From "{id=skip_list;lookahead=3}" makes the form with a number, the only one that the class has.
std::string WithLookahead(const std::string& id, OptionMap* options) {
  const auto found = options->find("lookahead");
  const std::string name = id.substr(0, id.find(':'));
  uint64_t lookahead = 0;
  if (found == options->end() || (name != "skip_list" && name != "SkipListFactory") ||
      !ParseUnsigned(found->second, &lookahead)) {
    return id;
  }
  std::string with = name + ":" + found->second;
  options->erase(found);
  return with;
}

}  // namespace

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

// Kept for representations of the application, which are refused at open.
KeyHandle MemTableRep::Allocate(const size_t, char** buf) {
  *buf = nullptr;
  return nullptr;
}

void MemTableRep::InsertConcurrently(KeyHandle) {}

void MemTableRep::Get(const LookupKey&, void*, bool (*)(void* arg, const char* entry)) {}

Slice MemTableRep::UserKey(const char* key) const {
  const Slice internal = GetLengthPrefixedSlice(key);
  return Slice(internal.data(), internal.size() < 8 ? 0 : internal.size() - 8);
}

Slice GetLengthPrefixedSlice(const char* data) {
  uint32_t length = 0;
  for (int shift = 0; shift <= 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(*data++);
    length |= static_cast<uint32_t>(byte & 127) << shift;
    if (byte < 128) break;
  }
  return Slice(data, length);
}

SkipListFactory::SkipListFactory(size_t lookahead) : lookahead_(lookahead) {}

std::string SkipListFactory::GetId() const {
  std::string id = Name();
  if (lookahead_ > 0) id += ":" + std::to_string(lookahead_);
  return id;
}

MemTableRep* SkipListFactory::CreateMemTableRep(const MemTableRep::KeyComparator&, Allocator*,
                                                const SliceTransform*, Logger*) {
  return nullptr;
}

VectorRepFactory::VectorRepFactory(size_t count) : count_(count) {}

MemTableRep* VectorRepFactory::CreateMemTableRep(const MemTableRep::KeyComparator&, Allocator*,
                                                 const SliceTransform*, Logger*) {
  return nullptr;
}

MemTableRepFactory* NewHashSkipListRepFactory(size_t bucket_count, int32_t skiplist_height,
                                              int32_t skiplist_branching_factor) {
  return compassdb::NewHashSkipList({bucket_count, skiplist_height, skiplist_branching_factor});
}

MemTableRepFactory* NewHashLinkListRepFactory(size_t bucket_count, size_t huge_page_tlb_size,
                                              int bucket_entries_logging_threshold,
                                              bool if_log_bucket_dist_when_flash,
                                              uint32_t threshold_use_skiplist) {
  return compassdb::NewHashLinkList({bucket_count, threshold_use_skiplist, huge_page_tlb_size,
                                     bucket_entries_logging_threshold,
                                     if_log_bucket_dist_when_flash});
}

Status MemTableRepFactory::CreateFromString(const ConfigOptions& config_options,
                                            const std::string& value,
                                            std::unique_ptr<MemTableRepFactory>* factory) {
  std::string id;
  compassdb::OptionMap map;
  Status s = Customizable::GetOptionsMap(config_options, factory->get(), value, &id, &map);
  if (!s.ok()) return s;
  if (value.empty()) {
    factory->reset();
    return s;
  }
  if (id.empty()) return compassdb::CannotReset();
  std::unique_ptr<MemTableRepFactory> made;
  s = compassdb::RegistryOf(config_options)->NewUniqueObject(id, &made);
  if (s.IsNotSupported()) {
    s = compassdb::MakeMemTableFactory(compassdb::WithLookahead(id, &map), &made);
  }
  if (s.IsNotSupported()) return compassdb::UnknownObject(config_options, "MemTableRepFactory", id);
  if (s.ok()) s = made->ConfigureFromMap(config_options, map);
  if (s.ok()) *factory = std::move(made);
  return s;
}

Status MemTableRepFactory::CreateFromString(const ConfigOptions& config_options,
                                            const std::string& value,
                                            std::shared_ptr<MemTableRepFactory>* factory) {
  std::unique_ptr<MemTableRepFactory> made;
  Status s = CreateFromString(config_options, value, &made);
  if (s.ok() && made != nullptr) *factory = std::move(made);
  return s;
}

Status GetMemTableRepFactoryFromString(const std::string& opts_str,
                                       std::unique_ptr<MemTableRepFactory>* new_mem_factory) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  config.ignore_unknown_options = false;
  return MemTableRepFactory::CreateFromString(config, opts_str, new_mem_factory);
}

}  // namespace ROCKSDB_NAMESPACE
