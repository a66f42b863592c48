// SPDX-License-Identifier: Apache-2.0
#include "copies/foreign_table.h"

#include <algorithm>

#include "format/internal_key.h"
#include "util/coding.h"

namespace compassdb {
namespace {

struct ForeignRecord {
  std::string key, value;
};

class MemoryIterator final : public InternalIterator {
 public:
  MemoryIterator(std::vector<ForeignRecord> records, const Comparator* comparator, const Status& status)
      : records_(std::move(records)), order_(comparator), status_(status), at_(records_.size()) {}
  bool Valid() const override { return at_ < records_.size(); }
  void SeekToFirst() override { at_ = 0; }
  void SeekToLast() override { at_ = records_.size() - 1; }
  void Seek(const Slice& target) override {
    const auto below = [this](const ForeignRecord& record, const Slice& key) { return order_.Compare(record.key, key) < 0; };
    at_ = static_cast<size_t>(std::lower_bound(records_.begin(), records_.end(), target, below) - records_.begin());
  }
  void SeekForPrev(const Slice& target) override {
    Seek(target);
    if (!Valid() || order_.Compare(records_[at_].key, target) > 0) --at_;
  }
  void Next() override { ++at_; }
  void Prev() override { --at_; }  // before the first is not valid: the largest number
  Slice key() const override { return records_[at_].key; }
  Slice value() const override { return records_[at_].value; }
  Status status() const override { return status_; }

 private:
  const std::vector<ForeignRecord> records_;
  const InternalKeyComparator order_;
  const Status status_;
  size_t at_;
};

}  // namespace

InternalIteratorPtr NewForeignIterator(const ExternalTable& table, const Comparator* comparator) {
  std::vector<ForeignRecord> records;
  const InternalIteratorPtr it = table.NewIterator();
  for (it->SeekToFirst(); it->Valid(); it->Next()) records.push_back({it->key().ToString(), it->value().ToString()});
  if (!it->status().ok()) records.clear();
  return std::make_unique<MemoryIterator>(std::move(records), comparator, it->status());
}

Status VerifyForeignTable(const ExternalTable& table) {
  const InternalIteratorPtr it = table.NewIterator();
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
  }
  return it->status().ok() ? table.Verify() : it->status();
}

std::shared_ptr<rocksdb::TableProperties> ForeignProperties(const ExternalTable& table) {
  using Names = rocksdb::TablePropertiesNames;
  auto props = std::make_shared<rocksdb::TableProperties>();
  const std::map<std::string, uint64_t*> numbers{{Names::kOriginalFileNumber, &props->orig_file_number},
                                                 {Names::kDataSize, &props->data_size},
                                                 {Names::kIndexSize, &props->index_size},
                                                 {Names::kIndexPartitions, &props->index_partitions},
                                                 {Names::kTopLevelIndexSize, &props->top_level_index_size},
                                                 {Names::kIndexKeyIsUserKey, &props->index_key_is_user_key},
                                                 {Names::kIndexValueIsDeltaEncoded, &props->index_value_is_delta_encoded},
                                                 {Names::kFilterSize, &props->filter_size},
                                                 {Names::kRawKeySize, &props->raw_key_size},
                                                 {Names::kRawValueSize, &props->raw_value_size},
                                                 {Names::kNumDataBlocks, &props->num_data_blocks},
                                                 {Names::kNumEntries, &props->num_entries},
                                                 {Names::kNumFilterEntries, &props->num_filter_entries},
                                                 {Names::kDeletedKeys, &props->num_deletions},
                                                 {Names::kMergeOperands, &props->num_merge_operands},
                                                 {Names::kNumRangeDeletions, &props->num_range_deletions},
                                                 {Names::kFormatVersion, &props->format_version},
                                                 {Names::kFixedKeyLen, &props->fixed_key_len},
                                                 {Names::kColumnFamilyId, &props->column_family_id},
                                                 {Names::kCreationTime, &props->creation_time},
                                                 {Names::kOldestKeyTime, &props->oldest_key_time},
                                                 {Names::kFileCreationTime, &props->file_creation_time},
                                                 {Names::kSlowCompressionEstimatedDataSize, &props->slow_compression_estimated_data_size},
                                                 {Names::kFastCompressionEstimatedDataSize, &props->fast_compression_estimated_data_size}};
  const std::map<std::string, std::string*> texts{{Names::kDbId, &props->db_id},
                                                  {Names::kDbSessionId, &props->db_session_id},
                                                  {Names::kDbHostId, &props->db_host_id},
                                                  {Names::kColumnFamilyName, &props->column_family_name},
                                                  {Names::kFilterPolicy, &props->filter_policy_name},
                                                  {Names::kComparator, &props->comparator_name},
                                                  {Names::kMergeOperator, &props->merge_operator_name},
                                                  {Names::kPrefixExtractorName, &props->prefix_extractor_name},
                                                  {Names::kPropertyCollectors, &props->property_collectors_names},
                                                  {Names::kCompression, &props->compression_name},
                                                  {Names::kCompressionOptions, &props->compression_options},
                                                  {Names::kSequenceNumberTimeMapping, &props->seqno_to_time_mapping}};
  for (const auto& [name, value] : *table.rocksdb_properties()) {
    if (const auto number = numbers.find(name); number != numbers.end()) {
      Slice in(value);
      uint64_t parsed = 0;
      if (GetVarint64(&in, &parsed)) *number->second = parsed;
    } else if (const auto text = texts.find(name); text != texts.end()) {
      *text->second = value;
    } else {
      props->user_collected_properties[name] = value;
    }
  }
  return props;
}

}  // namespace compassdb
