// SPDX-License-Identifier: Apache-2.0
#include "db/report/event_log.h"

#include <algorithm>
#include <map>
#include <new>

#include "db/report/info_log.h"
#include "util/compression.h"
#include "util/string_util.h"

namespace compassdb {
namespace {

// One line: fields in the order in which they are given.
class Event {
 public:
  Event(Clock* clock, const char* name) {
    Number("time_micros", clock->NowMicros());
    name_ = name;
  }
  Event& Job(int id) { return Number("job", static_cast<uint64_t>(id)).Text("event", name_); }
  Event& NoJob() { return Text("event", name_); }
  Event& Number(const char* key, uint64_t value) { return Raw(key, std::to_string(value)); }
  Event& Text(const char* key, const std::string& value) { return Raw(key, JsonString(value)); }
  Event& Signed(const char* key, int64_t value) { return Raw(key, std::to_string(value)); }
  Event& Numbers(const char* key, const std::vector<uint64_t>& values) {
    std::string list = "[";
    for (const uint64_t value : values) list += (list.size() > 1 ? ", " : "") + std::to_string(value);
    return Raw(key, list + "]");
  }
  Event& Raw(const char* key, const std::string& value) {
    line_ += (line_.empty() ? "{\"" : ", \"") + std::string(key) + "\": " + value;
    return *this;
  }
  std::string object() const { return line_ + "}"; }
  void Write(rocksdb::Logger* log) const { LogInfo(log, "EVENT_LOG_v1 " + object()); }

 private:
  std::string line_;
  const char* name_;
};

std::vector<uint64_t> TablesByLevel(ColumnFamily& family) {
  ReadStatePin state(family.read_state());
  std::vector<uint64_t> tables;
  for (const LevelStats& level : state->view->Levels()) tables.push_back(level.tables);
  return tables;
}

size_t ImmutablesOf(ColumnFamily& family) {
  ReadStatePin state(family.read_state());
  return state->immutables.size();
}

// One pair after the other, inside of an object.
class Fields {
 public:
  void Add(const char* key, uint64_t value) { Raw(key, std::to_string(value)); }
  void Add(const std::string& key, const std::string& value) { Raw(key, JsonString(value)); }
  std::string object() const { return "{" + text_ + "}"; }

 private:
  void Raw(const std::string& key, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + JsonString(key) + ": " + value;
  }
  std::string text_;
};

// RocksDB's fields; values that pieces do not have or do not count are 0.
std::string PropertiesObject(const rocksdb::TableProperties& p, uint64_t file_number) {
  const auto name = [](const std::string& n) { return n.empty() ? std::string("nullptr") : n; };
  const uint64_t records = std::max<uint64_t>(p.num_entries, 1);
  Fields fields;
  fields.Add("data_size", p.data_size);
  fields.Add("index_size", p.index_size);
  fields.Add("index_partitions", p.index_partitions);
  fields.Add("top_level_index_size", p.top_level_index_size);
  fields.Add("index_key_is_user_key", p.index_key_is_user_key);
  fields.Add("index_value_is_delta_encoded", p.index_value_is_delta_encoded);
  fields.Add("filter_size", p.filter_size);
  fields.Add("raw_key_size", p.raw_key_size);
  fields.Add("raw_average_key_size", p.raw_key_size / records);
  fields.Add("raw_value_size", p.raw_value_size);
  fields.Add("raw_average_value_size", p.raw_value_size / records);
  fields.Add("num_data_blocks", p.num_data_blocks);
  fields.Add("num_entries", p.num_entries);
  fields.Add("num_filter_entries", p.num_filter_entries);
  fields.Add("num_deletions", p.num_deletions);
  fields.Add("num_merge_operands", p.num_merge_operands);
  fields.Add("num_range_deletions", p.num_range_deletions);
  fields.Add("format_version", p.format_version);
  fields.Add("fixed_key_len", p.fixed_key_len);
  fields.Add("filter_policy", p.filter_policy_name);
  fields.Add("column_family_name", p.column_family_name);
  fields.Add("column_family_id", p.column_family_id);
  fields.Add("comparator", p.comparator_name);
  fields.Add("merge_operator", name(p.merge_operator_name));
  fields.Add("prefix_extractor_name", name(p.prefix_extractor_name));
  fields.Add("property_collectors", p.property_collectors_names);
  fields.Add("compression", p.compression_name);
  fields.Add("compression_options", p.compression_options);
  fields.Add("creation_time", p.creation_time);
  fields.Add("oldest_key_time", p.oldest_key_time);
  fields.Add("file_creation_time", p.file_creation_time);
  fields.Add("slow_compression_estimated_data_size", p.slow_compression_estimated_data_size);
  fields.Add("fast_compression_estimated_data_size", p.fast_compression_estimated_data_size);
  fields.Add("db_id", p.db_id);
  fields.Add("db_session_id", p.db_session_id);
  fields.Add("orig_file_number", file_number);
  fields.Add("seqno_to_time_mapping", "N/A");
  for (const auto& [key, value] : p.readable_properties) fields.Add(key, value);
  return fields.object();
}

// For lists of tables, which only observers get.
class NoObserver final : public JobObserver {
  void FileBegins(const std::string&, bool) override {}
  void FilesEnd(const JobReport&) override {}
  void PartBegins(int) override {}
  void PartEnds(int, const JobReport&, const Status&) override {}
};

struct Sequences {
  SequenceNumber smallest = 0;
  SequenceNumber largest = 0;
};

Sequences SequencesIn(const std::vector<TphMeta>& tables, uint64_t file_number) {
  Sequences found;
  bool any = false;
  for (const TphMeta& tph : tables) {
    for (const TphPiece& piece : tph.pieces) {
      if (piece.meta->extent.file_number != file_number) continue;
      found.smallest = any ? std::min(found.smallest, piece.meta->smallest_seq)
                           : piece.meta->smallest_seq;
      found.largest = std::max(found.largest, piece.meta->largest_seq);
      any = true;
    }
  }
  return found;
}

}  // namespace

// Without memory for a line it is left out, and the job continues.
template <typename F>
void EventLog::WriteIfPossible(const F& f) const {
  if (log_ == nullptr) return;
  try {
    f();
  } catch (const std::bad_alloc&) {
  }
}

void EventLog::RecoveryStarted(int job_id, const std::vector<uint64_t>& logs) const {
  WriteIfPossible([&] {
    Event(clock_, "recovery_started").Job(job_id).Numbers("wal_files", logs).Write(log_);
  });
}

void EventLog::RecoveryFinished(int job_id) const {
  WriteIfPossible([&] {
    Event(clock_, "recovery_finished").Job(job_id).Write(log_);
  });
}

void EventLog::FlushStarted(const JobContext& job, rocksdb::FlushReason reason,
                            const std::vector<std::shared_ptr<MemTable>>& memtables) const {
  WriteIfPossible([&] {
    uint64_t entries = 0, deletes = 0, bytes = 0, memory = 0;
    for (const auto& memtable : memtables) {
      entries += memtable->num_entries();
      deletes += memtable->num_deletes();
      bytes += memtable->data_size();
      memory += memtable->ApproximateMemoryUsage();
    }
    Event(clock_, "flush_started")
        .Job(job.job_id)
        .Number("num_memtables", memtables.size())
        .Number("num_entries", entries)
        .Number("num_deletes", deletes)
        .Number("total_data_size", bytes)
        .Number("memory_usage", memory)
        .Text("flush_reason", FlushReasonName(reason))
        .Write(log_);
  });
}

void EventLog::FlushFinished(const JobContext& job) const {
  WriteIfPossible([&] {
    Event(clock_, "flush_finished")
        .Job(job.job_id)
        .Text("output_compression", CompressionTypeName(CompressionOf(job, 0)))
        .Numbers("lsm_state", TablesByLevel(*job.family))
        .Number("immutable_memtables", ImmutablesOf(*job.family))
        .Write(log_);
  });
}

void EventLog::CompactionStarted(const JobContext& job, const CompactionTask& task, bool manual,
                                 const std::vector<SequenceNumber>& snapshots) const {
  WriteIfPossible([&] {
    NoObserver no_observer;
    JobReport inputs;  // pins tables, and is destroyed before the job begins
    inputs.observer = &no_observer;
    task.ListInputs(&inputs);
    if (inputs.trivial_move) return;
    Event event(clock_, "compaction_started");
    event.Job(job.job_id).Text("compaction_reason", CompactionReasonName(inputs, manual));
    std::map<int, std::vector<uint64_t>> files;
    for (size_t i = 0; i < inputs.input_files.size(); ++i) {
      files[inputs.input_file_levels[i]].push_back(inputs.input_files[i]);
    }
    for (const auto& [level, numbers] : files) {
      event.Numbers(("files_L" + std::to_string(level)).c_str(), numbers);
    }
    uint64_t bytes = 0;
    for (const TphMeta& table : inputs.inputs) bytes += table.LiveDataBytes();
    event.Number("input_data_size", bytes)
        .Signed("oldest_snapshot_seqno",
                snapshots.empty() ? -1 : static_cast<int64_t>(snapshots.front()))
        .Write(log_);
  });
}

void EventLog::CompactionFinished(const JobContext& job, const JobReport& report) const {
  WriteIfPossible([&] {
    if (report.trivial_move) {
      uint64_t bytes = 0;
      for (const TphMeta& table : report.outputs) bytes += table.LiveDataBytes();
      Event(clock_, "trivial_move")
          .Job(job.job_id)
          .Signed("destination_level", report.output_level)
          .Number("files", report.outputs.size())
          .Number("total_files_size", bytes)
          .Write(log_);
      return;
    }
    Event event(clock_, "compaction_finished");
    event.Job(job.job_id)
        .Number("compaction_time_micros", report.micros)
        .Number("compaction_time_cpu_micros", report.cpu_micros)
        .Signed("output_level", report.output_level)
        .Number("num_output_files", report.output_files.size())
        .Number("total_output_size", report.bytes_written - report.value_bytes_written());
    if (!report.value_files.empty()) {
      event.Number("num_blob_output_files", report.value_files.size())
          .Number("total_blob_output_size", report.value_bytes_written());
    }
    event.Number("num_input_records", report.records_in)
        .Number("num_output_records", report.records_out)
        .Number("num_single_delete_mismatches", report.merged.single_delete_mismatches)
        .Number("num_single_delete_fallthrough", report.merged.single_deletes_alone)
        .Text("output_compression", CompressionTypeName(CompressionOf(job, report.output_level)))
        .Numbers("lsm_state", TablesByLevel(*job.family))
        .Write(log_);
  });
}

void EventLog::FilesCreated(const JobContext& job, const JobReport& report) const {
  WriteIfPossible([&] {
    for (const JobReport::ValueFile& file : report.value_files) {
      const FileChecksum checksum = KnownChecksum(report, file.number);
      Event(clock_, "blob_file_creation")
          .Text("cf_name", job.family->name())
          .Job(job.job_id)
          .Number("file_number", file.number)
          .Number("total_blob_count", file.values)
          .Number("total_blob_bytes", file.bytes)
          .Text("file_checksum", Slice(checksum.checksum).ToString(/*hex=*/true))
          .Text("file_checksum_func_name", checksum.function)
          .Text("status", "OK")
          .Write(log_);
    }
    for (size_t i = 0; i < report.output_files.size(); ++i) {
      const uint64_t number = report.output_files[i];
      const FileChecksum checksum = KnownChecksum(report, number);
      const Sequences sequences = SequencesIn(report.outputs, number);
      Event(clock_, "table_file_creation")
          .Text("cf_name", job.family->name())
          .Job(job.job_id)
          .Number("file_number", number)
          .Number("file_size", report.output_bytes[i])
          .Text("file_checksum", Slice(checksum.checksum).ToString(/*hex=*/true))
          .Text("file_checksum_func_name", checksum.function)
          .Number("smallest_seqno", sequences.smallest)
          .Number("largest_seqno", sequences.largest)
          .Raw("table_properties",
               PropertiesObject(PropertiesOfOutput(job, report, number), number))
          .Write(log_);
    }
  });
}

void EventLog::FileDeleted(int job_id, uint64_t file_number, bool values) const {
  WriteIfPossible([&] {
    Event(clock_, values ? "blob_file_deletion" : "table_file_deletion")
        .Job(job_id)
        .Number("file_number", file_number)
        .Write(log_);
  });
}

void EventLog::Ingested(const JobContext& job, const JobReport& report) const {
  WriteIfPossible([&] {
    std::string files;  // as RocksDB has it, a list of names and values in turn
    for (const std::string& path : report.output_paths) {
      files += (files.empty() ? "" : ", ") + std::string("\"file\", ") + JsonString(path) +
               ", \"level\", " + std::to_string(report.output_level);
    }
    Event(clock_, "ingest_finished")
        .NoJob()
        .Raw("files_ingested", "[" + files + "]")
        .Numbers("lsm_state", TablesByLevel(*job.family))
        .Write(log_);
  });
}

}  // namespace compassdb
