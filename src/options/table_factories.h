// SPDX-License-Identifier: Apache-2.0
// The table factories as option holders: the engine has one format, and reads
// from the factory of a family what to build it with.
//
// Thread safety: a factory is not changed once a family uses it; SetOptions
// replaces it by a changed copy.
#pragma once

#include <memory>
#include <string>

#include "compassdb/table.h"
#include "options/option_info.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace compassdb {

inline constexpr const char* kPieceTableName = "CompassTable";

// What a family's tables are built with; defaults where its factory does not say.
struct TableSettings {
  PieceTableOptions piece;
  rocksdb::BlockBasedTableOptions block;
};
TableSettings TableSettingsOf(const rocksdb::TableFactory* factory);

// Tables of several pieces, as merges leave them otherwise, need a directory.
inline bool IsLeveled(const PieceTableOptions& piece) {
  return piece.leveled || piece.point_index == PointIndex::kFilter;
}

// Whether it made its block cache because the application gave none.
bool HasCacheOfItsOwn(const rocksdb::TableFactory& factory);

// Whether it is one of RocksDB's or ours, not a class of the application.
bool IsBuiltIn(const rocksdb::TableFactory& factory);

// A factory of the same class and options that can be configured without changing `factory`;
// NotSupported, naming it, if it is a class of the application.
Status CopyTableFactory(const rocksdb::TableFactory& factory,
                        std::shared_ptr<rocksdb::TableFactory>* copy);

// The factory as [TableOptions/NAME] shows it; null if it has no text form.
NamedValues ListTableOptions(const ConfigOptions& config, const rocksdb::TableFactory& factory);

// ConfigureFromMap with options alone: the map has no "id".
Status ConfigureTable(const ConfigOptions& config, const OptionMap& map,
                      rocksdb::TableFactory* factory);

// The option table_factory: "BlockBasedTable", "{id=...;block_size=1k}". SetOptions takes a member
// of the present factory, too ("table_factory.block_size").
Status ParseTableFactoryOption(const ConfigOptions& config, const std::string& member,
                               const std::string& value, rocksdb::ColumnFamilyOptions* options);
// The same with the id implied: "block_based_table_factory={block_size=1k}".
Status ParseTableFactoryAlias(const ConfigOptions& config, const std::string& id,
                              const std::string& member, const std::string& value,
                              rocksdb::ColumnFamilyOptions* options);

// "id=name;option=value;", as TablePropertiesCollectorFactory::CreateFromString takes it.
std::string CollectorText(const rocksdb::TablePropertiesCollectorFactory& factory);

}  // namespace compassdb
