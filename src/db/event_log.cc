// SPDX-License-Identifier: Apache-2.0
#include "db/event_log.h"

#include <cstdio>

#include "db/info_log.h"

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
  Event& NoJob() { return Job(0); }
  Event& Number(const char* key, uint64_t value) { return Raw(key, std::to_string(value)); }
  Event& Text(const char* key, const std::string& value) {
    std::string quoted = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        quoted += '\\';
        quoted += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char escaped[8];
        snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
        quoted += escaped;
      } else {
        quoted += c;
      }
    }
    return Raw(key, quoted + "\"");
  }
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

std::string CompressionOf(const JobContext& job, int level) {
  const StoreOptions& options = job.family->store()->options();
  const auto at = static_cast<size_t>(level);
  switch (at < options.compression.size() ? options.compression[at] : rocksdb::kNoCompression) {
    case rocksdb::kSnappyCompression: return "Snappy";
    case rocksdb::kLZ4Compression: return "LZ4";
    case rocksdb::kLZ4HCCompression: return "LZ4HC";
    case rocksdb::kZSTD: return "ZSTD";
    default: return "NoCompression";
  }
}

}  // namespace

void EventLog::FlushStarted(const JobContext& job, rocksdb::FlushReason reason,
                            const std::vector<std::shared_ptr<MemTable>>& memtables) const {
  if (log_ == nullptr) return;
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
}

void EventLog::FlushFinished(const JobContext& job) const {
  if (log_ == nullptr) return;
  Event(clock_, "flush_finished")
      .Job(job.job_id)
      .Text("output_compression", CompressionOf(job, 0))
      .Numbers("lsm_state", TablesByLevel(*job.family))
      .Number("immutable_memtables", ImmutablesOf(*job.family))
      .Write(log_);
}

void EventLog::CompactionStarted(const JobContext& job, const CompactionTask& task,
                                 bool manual) const {
  if (log_ == nullptr) return;
  const std::vector<uint64_t> tables = task.BusyTables();
  const std::string inputs = "files_L" + std::to_string(task.input_level());
  Event(clock_, "compaction_started")
      .Job(job.job_id)
      .Text("compaction_reason",
            manual ? "ManualCompaction"
                   : task.input_level() == 0 ? "LevelL0FilesNum" : "LevelMaxLevelSize")
      .Numbers(inputs.c_str(), tables)
      .Write(log_);
}

void EventLog::CompactionFinished(const JobContext& job, const JobReport& report) const {
  if (log_ == nullptr) return;
  Event(clock_, "compaction_finished")
      .Job(job.job_id)
      .Number("compaction_time_micros", report.micros)
      .Number("output_level", static_cast<uint64_t>(report.output_level))
      .Number("num_output_files", report.output_files.size())
      .Number("total_output_size", report.bytes_written)
      .Number("num_input_records", report.records_in)
      .Number("num_output_records", report.records_out)
      .Text("output_compression", CompressionOf(job, report.output_level))
      .Numbers("lsm_state", TablesByLevel(*job.family))
      .Write(log_);
}

void EventLog::TableFileCreated(const JobContext& job, const JobReport& report) const {
  if (log_ == nullptr) return;
  const rocksdb::TableProperties properties = PropertiesOf(job, report);
  std::string object = "{\"data_size\": " + std::to_string(properties.data_size) +
                       ", \"index_size\": " + std::to_string(properties.index_size) +
                       ", \"num_data_blocks\": " + std::to_string(properties.num_data_blocks) +
                       ", \"num_entries\": " + std::to_string(properties.num_entries) +
                       ", \"num_deletions\": " + std::to_string(properties.num_deletions) +
                       ", \"num_merge_operands\": " +
                       std::to_string(properties.num_merge_operands) +
                       ", \"num_range_deletions\": " +
                       std::to_string(properties.num_range_deletions) + "}";
  for (const uint64_t number : report.output_files) {
    const FileChecksum checksum = KnownChecksum(report, number);
    Event event(clock_, "table_file_creation");
    event.Text("cf_name", job.family->name())
        .Job(job.job_id)
        .Number("file_number", number)
        .Number("file_size", report.bytes_written)
        .Text("file_checksum", Slice(checksum.checksum).ToString(/*hex=*/true))
        .Text("file_checksum_func_name", checksum.function)
        .Raw("table_properties", object)
        .Write(log_);
  }
}

void EventLog::TableFileDeleted(uint64_t file_number) const {
  if (log_ == nullptr) return;
  Event(clock_, "table_file_deletion").NoJob().Number("file_number", file_number).Write(log_);
}

}  // namespace compassdb
