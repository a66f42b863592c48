// SPDX-License-Identifier: Apache-2.0
// Members of the public structs that carry figures about tables and jobs.
#include <string>

#include "api/registered.h"
#include "rocksdb/compaction_job_stats.h"
#include "rocksdb/listener.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/wal_filter.h"
#include "util/c_locale.h"

namespace rocksdb {

const uint32_t TablePropertiesCollectorFactory::Context::kUnknownColumnFamily = INT32_MAX;

void CompactionJobStats::Reset() {
  elapsed_micros = cpu_micros = 0;
  num_input_records = num_blobs_read = 0;
  num_input_files = num_input_files_at_output_level = 0;
  num_output_records = 0;
  num_output_files = num_output_files_blob = 0;
  is_full_compaction = is_manual_compaction = false;
  total_input_bytes = total_blob_bytes_read = 0;
  total_output_bytes = total_output_bytes_blob = 0;
  num_records_replaced = 0;
  total_input_raw_key_bytes = total_input_raw_value_bytes = 0;
  num_input_deletion_records = num_expired_deletion_records = 0;
  num_corrupt_keys = 0;
  file_write_nanos = file_range_sync_nanos = file_fsync_nanos = file_prepare_write_nanos = 0;
  smallest_output_key_prefix.clear();
  largest_output_key_prefix.clear();
  num_single_del_fallthru = num_single_del_mismatch = 0;
}

void CompactionJobStats::Add(const CompactionJobStats& s) {
  elapsed_micros += s.elapsed_micros;
  cpu_micros += s.cpu_micros;
  num_input_records += s.num_input_records;
  num_blobs_read += s.num_blobs_read;
  num_input_files += s.num_input_files;
  num_input_files_at_output_level += s.num_input_files_at_output_level;
  num_output_records += s.num_output_records;
  num_output_files += s.num_output_files;
  num_output_files_blob += s.num_output_files_blob;
  is_full_compaction |= s.is_full_compaction;
  is_manual_compaction |= s.is_manual_compaction;
  total_input_bytes += s.total_input_bytes;
  total_blob_bytes_read += s.total_blob_bytes_read;
  total_output_bytes += s.total_output_bytes;
  total_output_bytes_blob += s.total_output_bytes_blob;
  num_records_replaced += s.num_records_replaced;
  total_input_raw_key_bytes += s.total_input_raw_key_bytes;
  total_input_raw_value_bytes += s.total_input_raw_value_bytes;
  num_input_deletion_records += s.num_input_deletion_records;
  num_expired_deletion_records += s.num_expired_deletion_records;
  num_corrupt_keys += s.num_corrupt_keys;
  file_write_nanos += s.file_write_nanos;
  file_range_sync_nanos += s.file_range_sync_nanos;
  file_fsync_nanos += s.file_fsync_nanos;
  file_prepare_write_nanos += s.file_prepare_write_nanos;
  num_single_del_fallthru += s.num_single_del_fallthru;
  num_single_del_mismatch += s.num_single_del_mismatch;
}

namespace {

struct Field {
  const char* name;
  uint64_t TableProperties::*member;
};

// Properties that are added up over tables.
constexpr Field kSums[] = {
    {"data_size", &TableProperties::data_size},
    {"index_size", &TableProperties::index_size},
    {"index_partitions", &TableProperties::index_partitions},
    {"top_level_index_size", &TableProperties::top_level_index_size},
    {"filter_size", &TableProperties::filter_size},
    {"raw_key_size", &TableProperties::raw_key_size},
    {"raw_value_size", &TableProperties::raw_value_size},
    {"num_data_blocks", &TableProperties::num_data_blocks},
    {"num_entries", &TableProperties::num_entries},
    {"num_filter_entries", &TableProperties::num_filter_entries},
    {"num_deletions", &TableProperties::num_deletions},
    {"num_merge_operands", &TableProperties::num_merge_operands},
    {"num_range_deletions", &TableProperties::num_range_deletions},
    {"slow_compression_estimated_data_size",
     &TableProperties::slow_compression_estimated_data_size},
    {"fast_compression_estimated_data_size",
     &TableProperties::fast_compression_estimated_data_size},
};

std::string Average(uint64_t sum, uint64_t count) {
  return compassdb::CLocaleToString(count == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(count));
}

}  // namespace

void TableProperties::Add(const TableProperties& tp) {
  for (const Field& f : kSums) this->*f.member += tp.*f.member;
}

std::map<std::string, uint64_t> TableProperties::GetAggregatablePropertiesAsMap() const {
  std::map<std::string, uint64_t> sums;
  for (const Field& f : kSums) sums[f.name] = this->*f.member;
  return sums;
}

std::size_t TableProperties::ApproximateMemoryUsage() const {
  std::size_t usage = sizeof(*this);
  for (const std::string* s :
       {&db_id, &db_session_id, &db_host_id, &column_family_name, &filter_policy_name,
        &comparator_name, &merge_operator_name, &prefix_extractor_name,
        &property_collectors_names, &compression_name, &compression_options,
        &seqno_to_time_mapping}) {
    usage += s->capacity();
  }
  for (const auto* properties : {&user_collected_properties, &readable_properties}) {
    for (const auto& [name, value] : *properties) usage += name.capacity() + value.capacity();
  }
  return usage;
}

std::string TableProperties::ToString(const std::string& prop_delim,
                                      const std::string& kv_delim) const {
  std::string r;
  const auto add = [&](const char* name, const std::string& value) {
    r.append(name).append(kv_delim).append(value).append(prop_delim);
  };
  const auto name_of = [](const std::string& s) { return s.empty() ? std::string("N/A") : s; };
  add("# data blocks", std::to_string(num_data_blocks));
  add("# entries", std::to_string(num_entries));
  add("# deletions", std::to_string(num_deletions));
  add("# merge operands", std::to_string(num_merge_operands));
  add("# range deletions", std::to_string(num_range_deletions));
  add("raw key size", std::to_string(raw_key_size));
  add("raw average key size", Average(raw_key_size, num_entries));
  add("raw value size", std::to_string(raw_value_size));
  add("raw average value size", Average(raw_value_size, num_entries));
  add("data block size", std::to_string(data_size));
  add("index block size", std::to_string(index_size));
  add("filter block size", std::to_string(filter_size));
  add("# entries for filter", std::to_string(num_filter_entries));
  add("filter policy name", name_of(filter_policy_name));
  add("prefix extractor name", name_of(prefix_extractor_name));
  add("column family ID",
      column_family_id == TablePropertiesCollectorFactory::Context::kUnknownColumnFamily
          ? "N/A"
          : std::to_string(column_family_id));
  add("column family name", name_of(column_family_name));
  add("comparator name", name_of(comparator_name));
  add("merge operator name", name_of(merge_operator_name));
  add("property collectors names", name_of(property_collectors_names));
  add("SST file compression algo", name_of(compression_name));
  add("SST file compression options", name_of(compression_options));
  add("creation time", std::to_string(creation_time));
  add("file creation time", std::to_string(file_creation_time));
  add("DB identity", name_of(db_id));
  add("DB session identity", name_of(db_session_id));
  return r;
}

// There are no built-in ones.
Status EventListener::CreateFromString(const ConfigOptions& config, const std::string& value,
                                       std::shared_ptr<EventListener>* result) {
  return compassdb::LoadObject<EventListener>(config, "EventListener", value,
                                              compassdb::kNoneBuiltIn, result);
}

Status WalFilter::CreateFromString(const ConfigOptions& config, const std::string& value,
                                   WalFilter** result) {
  return compassdb::LoadObject<WalFilter>(config, "WalFilter", value, compassdb::kNoneBuiltIn,
                                          result);
}

}  // namespace rocksdb
