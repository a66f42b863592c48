// SPDX-License-Identifier: Apache-2.0
//
// What is known of a table without reading it, and collectors of the application's own.

#pragma once

#include <stdint.h>
#include <map>
#include <memory>
#include <string>

#include "rocksdb/customizable.h"
#include "rocksdb/status.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

// Properties by name.
using UserCollectedProperties = std::map<std::string, std::string>;

// Names under which the properties below are stored.
struct TablePropertiesNames {
  static const std::string kDbId;
  static const std::string kDbSessionId;
  static const std::string kDbHostId;
  static const std::string kOriginalFileNumber;
  static const std::string kDataSize;
  static const std::string kIndexSize;
  static const std::string kIndexPartitions;
  static const std::string kTopLevelIndexSize;
  static const std::string kIndexKeyIsUserKey;
  static const std::string kIndexValueIsDeltaEncoded;
  static const std::string kFilterSize;
  static const std::string kRawKeySize;
  static const std::string kRawValueSize;
  static const std::string kNumDataBlocks;
  static const std::string kNumEntries;
  static const std::string kNumFilterEntries;
  static const std::string kDeletedKeys;
  static const std::string kMergeOperands;
  static const std::string kNumRangeDeletions;
  static const std::string kFormatVersion;
  static const std::string kFixedKeyLen;
  static const std::string kFilterPolicy;
  static const std::string kColumnFamilyName;
  static const std::string kColumnFamilyId;
  static const std::string kComparator;
  static const std::string kMergeOperator;
  static const std::string kPrefixExtractorName;
  static const std::string kPropertyCollectors;
  static const std::string kCompression;
  static const std::string kCompressionOptions;
  static const std::string kCreationTime;
  static const std::string kOldestKeyTime;
  static const std::string kFileCreationTime;
  static const std::string kSlowCompressionEstimatedDataSize;
  static const std::string kFastCompressionEstimatedDataSize;
  static const std::string kSequenceNumberTimeMapping;
};

// Sees each entry of a table as it is written. One thread at a time.
class TablePropertiesCollector {
 public:
  virtual ~TablePropertiesCollector() {}

  // Superseded by AddUserKey().
  virtual Status Add(const Slice& /*key*/, const Slice& /*value*/) {
    return Status::InvalidArgument(
        "TablePropertiesCollector::Add() deprecated.");
  }

  // The next entry. file_size: bytes written so far. An error is logged and the collector dropped.
  virtual Status AddUserKey(const Slice& key, const Slice& value,
                            EntryType /*type*/, SequenceNumber /*seq*/,
                            uint64_t /*file_size*/) {
    return Add(key, value);
  }

  // A block was written. The last two are sizes with other compressions, if sampled; 0 if not.
  virtual void BlockAdd(uint64_t /*block_uncomp_bytes*/,
                        uint64_t /*block_compressed_bytes_fast*/,
                        uint64_t /*block_compressed_bytes_slow*/) {
  }

  // After the last entry, once.
  virtual Status Finish(UserCollectedProperties* properties) = 0;

  // For people.
  virtual UserCollectedProperties GetReadableProperties() const = 0;

  // Shown in messages.
  virtual const char* Name() const = 0;

  // Asks for the table to be compacted. Called after Finish().
  virtual bool NeedCompact() const { return false; }
};

// Makes one collector per table. Called from many threads at once.
class TablePropertiesCollectorFactory : public Customizable {
 public:
  struct Context {
    // Properties of the table.
    uint32_t column_family_id;
    int level_at_creation = kUnknownLevelAtCreation;
    static const uint32_t kUnknownColumnFamily;
    static const int kUnknownLevelAtCreation = -1;
  };
  ~TablePropertiesCollectorFactory() override {}
  static const char* Type() { return "TablePropertiesCollectorFactory"; }

  // Makes a registered factory by name.
  static Status CreateFromString(
      const ConfigOptions& options, const std::string& value,
      std::shared_ptr<TablePropertiesCollectorFactory>* result);

  // The caller owns the result.
  virtual TablePropertiesCollector* CreateTablePropertiesCollector(
      TablePropertiesCollectorFactory::Context context) = 0;
  const char* Name() const override = 0;

  // For people.
  virtual std::string ToString() const { return Name(); }
};

// Sizes are in bytes, times in seconds since 1970 (0 if not known).
struct TableProperties {
 public:
  // Number of the file when it was written; it may have been copied since.
  uint64_t orig_file_number = 0;
  // All data blocks, and all index blocks.
  uint64_t data_size = 0;
  uint64_t index_size = 0;
  // For an index in two levels.
  uint64_t index_partitions = 0;
  uint64_t top_level_index_size = 0;
  // 1 if keys of the index are without sequence number, and if its values are delta encoded.
  uint64_t index_key_is_user_key = 0;
  uint64_t index_value_is_delta_encoded = 0;
  uint64_t filter_size = 0;
  // Keys and values before compression and encoding.
  uint64_t raw_key_size = 0;
  uint64_t raw_value_size = 0;
  uint64_t num_data_blocks = 0;
  // Deletions and merge operands included.
  uint64_t num_entries = 0;
  uint64_t num_filter_entries = 0;
  uint64_t num_deletions = 0;
  uint64_t num_merge_operands = 0;
  uint64_t num_range_deletions = 0;
  uint64_t format_version = 0;
  // 0 if keys differ in length.
  uint64_t fixed_key_len = 0;
  uint64_t column_family_id = TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
  // When the oldest data in it was flushed; when its oldest key was written; when the file was.
  uint64_t creation_time = 0;
  uint64_t oldest_key_time = 0;
  uint64_t file_creation_time = 0;
  // With other compressions, if sampled; 0 if not.
  uint64_t slow_compression_estimated_data_size = 0;
  uint64_t fast_compression_estimated_data_size = 0;
  // Where an ingested file has its sequence number; 0 if nowhere.
  uint64_t external_sst_file_global_seqno_offset = 0;

  // Where the table was written.
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  std::string column_family_name;

  // How it was written. Empty if not known, or if there was none.
  std::string filter_policy_name;
  std::string comparator_name;
  std::string merge_operator_name;
  std::string prefix_extractor_name;
  std::string property_collectors_names;
  std::string compression_name;
  std::string compression_options;
  std::string seqno_to_time_mapping;

  // The collectors' properties, as stored and in readable form.
  UserCollectedProperties user_collected_properties;
  UserCollectedProperties readable_properties;

  // "name=value; ..." for people.
  std::string ToString(const std::string& prop_delim = "; ",
                       const std::string& kv_delim = "=") const;

  // Adds up what can be added up.
  void Add(const TableProperties& tp);

  // What Add() adds up, by name.
  std::map<std::string, uint64_t> GetAggregatablePropertiesAsMap() const;

  // The bytes of this object.
  std::size_t ApproximateMemoryUsage() const;
};

// Numbers among the collected properties.
extern uint64_t GetDeletedKeys(const UserCollectedProperties& props);
extern uint64_t GetMergeOperands(const UserCollectedProperties& props,
                                 bool* property_present);

}  // namespace ROCKSDB_NAMESPACE
