// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/source_database.h"

#include <algorithm>

#include "rocksdb_files/batch_records.h"
#include "rocksdb_files/database_names.h"
#include "rocksdb_files/framed_log.h"

namespace compassdb::rocksdb_files {

SourceDatabase::~SourceDatabase() = default;

Status SourceDatabase::Open(const SourceOptions& options, std::unique_ptr<SourceDatabase>* database) {
  std::unique_ptr<SourceDatabase> opened(new SourceDatabase(options));
  Status s = ReadManifest(options.fs, options.dir, &opened->manifest_, &opened->manifest_torn_);
  std::vector<uint64_t> logs;
  if (s.ok()) s = opened->FindLogs(&logs);
  if (s.ok()) s = opened->CheckTrackedLogs(logs);
  for (size_t i = 0; s.ok() && i < logs.size(); ++i) s = opened->ReplayLog(logs[i]);
  if (!s.ok()) return s;
  *database = std::move(opened);
  return s;
}

// LevelDB may need the log before, too.
bool SourceDatabase::Needs(const LiveFamily& family, uint64_t log) const {
  return log >= family.log_number || (manifest_.previous_log != 0 && log == manifest_.previous_log);
}

// Ascending: those that have data of a family, or sections of transactions that were prepared.
Status SourceDatabase::FindLogs(std::vector<uint64_t>* numbers) const {
  const std::string& dir = options_.log_dir.empty() ? options_.dir : options_.log_dir;
  std::vector<std::string> names;
  const Status s = options_.fs->GetChildren(dir, &names);
  if (!s.ok()) return s;
  for (const std::string& name : names) {
    uint64_t number;
    if (!IsLogName(name, &number)) continue;
    bool needed = manifest_.min_log_to_keep != 0 && number >= manifest_.min_log_to_keep;
    for (const auto& [id, family] : manifest_.families) needed |= Needs(family, number);
    if (needed) numbers->push_back(number);
  }
  std::sort(numbers->begin(), numbers->end());
  return s;
}

Status SourceDatabase::CheckTrackedLogs(const std::vector<uint64_t>& numbers) const {
  const std::string& dir = options_.log_dir.empty() ? options_.dir : options_.log_dir;
  for (const auto& [number, synced] : manifest_.logs) {
    bool needed = false;
    for (const auto& [id, family] : manifest_.families) needed |= Needs(family, number);
    if (!needed || number < manifest_.min_log_to_keep) continue;
    const std::string path = dir + "/" + NumberedName(number, "log");
    if (!std::binary_search(numbers.begin(), numbers.end(), number)) {
      return Status::Corruption("the manifest names a log that is missing", path);
    }
    uint64_t size;
    const Status s = options_.fs->GetFileSize(path, &size);
    if (!s.ok()) return s;
    if (size < synced) return Status::Corruption("the log is shorter than the manifest says", path);
  }
  return Status::OK();
}

Status SourceDatabase::ReplayLog(uint64_t number) {
  const std::string path = (options_.log_dir.empty() ? options_.dir : options_.log_dir) + "/" + NumberedName(number, "log");
  std::unique_ptr<SequentialFile> file;
  Status s = options_.fs->NewSequentialFile(path, &file);
  if (!s.ok()) return s;
  FramedLog log(std::move(file), path, number);
  Slice batch;
  while (s.ok() && log.Next(&batch)) {
    // Records that a crash has lost are behind the end of the log before, and then this one has none.
    if (log_torn_ && next_sequence_ != 0 && batch.size() >= 8 && DecodeFixed64(batch.data()) > next_sequence_) {
      return Status::Corruption("records are missing between the log before and this one", path);
    }
    log_torn_ = false;
    s = ReplayBatch(number, batch);
  }
  if (s.ok()) s = log.status();
  log_torn_ |= log.torn();
  if (s.IsCorruption() || s.IsNotSupported()) {
    const std::string what = s.getState() == nullptr ? "" : s.getState();
    if (what.find(path) == what.npos) return s.IsCorruption() ? Status::Corruption(what, path) : Status::NotSupported(what, path);
  }
  return s;
}

Status SourceDatabase::ReplayBatch(uint64_t log, const Slice& batch) {
  BatchHead head;
  in_section_ = false;
  const Status s = ReadBatchRecords(batch, &head, [&](const BatchRecord& record) { return ReplayRecord(log, record); });
  if (s.ok()) next_sequence_ = std::max(next_sequence_, head.sequence + head.count);
  return s;
}

Status SourceDatabase::ReplayRecord(uint64_t log, const BatchRecord& record) {
  switch (static_cast<uint8_t>(record.type)) {
    case kTypeBeginPrepareXID:
      in_section_ = true;
      section_.clear();
      return Status::OK();
    case kTypeEndPrepareXID:
      in_section_ = false;
      prepared_[record.key.ToString()].swap(section_);
      section_.clear();
      return Status::OK();
    case kTypeRollbackXID:
      prepared_.erase(record.key.ToString());
      return Status::OK();
    case kTypeCommitXID:
      return Commit(log, record.key, record.sequence);
    default:
      break;
  }
  Record copy;
  AppendInternalKey(&copy.key, record.key, record.sequence, record.type);
  copy.value = record.value.ToString();
  if (in_section_) {
    section_.emplace_back(record.family, std::move(copy));
    return Status::OK();
  }
  const auto family = manifest_.families.find(record.family);
  if (family == manifest_.families.end() || !Needs(family->second, log)) return Status::OK();
  LoggedFamily& logged = logged_[record.family];
  if (record.type != kTypeRangeDeletion) {
    logged.records.push_back(std::move(copy));
    return Status::OK();
  }
  const Comparator* comparator = ComparatorOf(family->second);
  const size_t timestamp = comparator == nullptr ? 0 : comparator->timestamp_size();
  if (record.key.size() < timestamp || record.value.size() < timestamp) return Status::Corruption("a range deletion has no timestamp");
  logged.tombstones.push_back(FromStoredBounds(record.key, record.value, record.sequence, timestamp));
  return Status::OK();
}

// The records take the sequences from that of the commit on. Without a section the transaction was written before.
Status SourceDatabase::Commit(uint64_t log, const Slice& name, SequenceNumber sequence) {
  const auto found = prepared_.find(name.ToString());
  if (found == prepared_.end()) return Status::OK();
  for (const auto& [family, record] : found->second) {
    BatchRecord committed;
    committed.type = ExtractType(record.key);
    committed.family = family;
    committed.sequence = sequence++;
    committed.key = ExtractUserKey(record.key);
    committed.value = record.value;
    const Status s = ReplayRecord(log, committed);
    if (!s.ok()) return s;
  }
  next_sequence_ = std::max(next_sequence_, sequence);
  prepared_.erase(found);
  return Status::OK();
}

std::vector<std::string> SourceDatabase::PreparedTransactions() const {
  std::vector<std::string> names;
  for (const auto& [name, records] : prepared_) names.push_back(name);
  return names;
}

const Comparator* SourceDatabase::ComparatorOf(const LiveFamily& family) const {
  // A manifest without a name is of the time before families: bytewise.
  return options_.comparator(family.comparator.empty() ? rocksdb::BytewiseComparator()->Name() : family.comparator);
}

Status SourceDatabase::OpenTable(const LiveFamily& family, const LiveTable& table, std::unique_ptr<TableFile>* opened) const {
  const std::string& dir = table.path < options_.db_paths.size() ? options_.db_paths[table.path] : options_.dir;
  std::string path = dir + "/" + NumberedName(table.number, "sst");
  if (!options_.fs->FileExists(path).ok()) {
    const std::string of_leveldb = dir + "/" + NumberedName(table.number, "ldb");
    if (options_.fs->FileExists(of_leveldb).ok()) path = of_leveldb;
  }
  uint64_t size;
  std::unique_ptr<RandomAccessFile> file;
  Status s = options_.fs->GetFileSize(path, &size);
  if (s.ok()) s = options_.fs->NewRandomAccessFile(path, {}, &file);
  if (!s.ok()) return s;
  if (size != table.size) {
    return Status::Corruption("the table has " + std::to_string(size) + " bytes, and the manifest says " + std::to_string(table.size), path);
  }
  TableFileOptions options;
  options.comparator = ComparatorOf(family);
  if (table.largest_sequence <= kMaxSequenceNumber - 1) options.largest_sequence = table.largest_sequence;
  return TableFile::Open(std::move(file), size, path, options, opened);
}

Status SourceDatabase::NewCursor(uint32_t family, std::unique_ptr<SourceCursor>* cursor) {
  const auto found = manifest_.families.find(family);
  if (found == manifest_.families.end()) return Status::InvalidArgument("there is no such family");
  const Comparator* comparator = ComparatorOf(found->second);
  if (comparator == nullptr) {
    return Status::NotSupported("column family '" + found->second.name + "': comparator '" + found->second.comparator + "' is not known");
  }
  std::unique_ptr<SourceCursor> made(new SourceCursor(this, &found->second, comparator));
  const Status s = made->Open();
  if (!s.ok()) return s;
  *cursor = std::move(made);
  return s;
}

}  // namespace compassdb::rocksdb_files
