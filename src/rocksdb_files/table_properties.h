// SPDX-License-Identifier: Apache-2.0
// Names in RocksDB's tables: of blocks, and of properties.
#pragma once

namespace compassdb::rocksdb_files {

inline constexpr char kPropertiesBlock[] = "rocksdb.properties";
inline constexpr char kOldPropertiesBlock[] = "rocksdb.stats";
inline constexpr char kIndexBlock[] = "rocksdb.index";
inline constexpr char kDictionaryBlock[] = "rocksdb.compression_dict";
inline constexpr char kRangeDeletionsBlock[] = "rocksdb.range_del";

inline constexpr char kIndexKindProperty[] = "rocksdb.block.based.table.index.type";
inline constexpr char kIndexOfUserKeysProperty[] = "rocksdb.index.key.is.user.key";
inline constexpr char kDeltaIndexProperty[] = "rocksdb.index.value.is.delta.encoded";
inline constexpr char kForeignIndexProperty[] = "rocksdb.udi.is.primary.index";
inline constexpr char kEntriesProperty[] = "rocksdb.num.entries";
inline constexpr char kRangeDeletionsProperty[] = "rocksdb.num.range-deletions";
inline constexpr char kComparatorProperty[] = "rocksdb.comparator";
inline constexpr char kFamilyIdProperty[] = "rocksdb.column.family.id";
inline constexpr char kFamilyNameProperty[] = "rocksdb.column.family.name";
inline constexpr char kTimestampsKeptProperty[] = "rocksdb.user.defined.timestamps.persisted";
inline constexpr char kValuesInsideProperty[] = "rocksdb.embedded.blob.stats";
inline constexpr char kExternalVersionProperty[] = "rocksdb.external_sst_file.version";
inline constexpr char kGlobalSequenceProperty[] = "rocksdb.external_sst_file.global_seqno";

}  // namespace compassdb::rocksdb_files
