// SPDX-License-Identifier: Apache-2.0
#include "db/copy/follow_log.h"

#include <algorithm>
#include <map>

#include "db/copy/log_iterator.h"
#include "db/report/statistics_util.h"
#include "env/missing.h"
#include "format/file_names.h"
#include "wal/wal_recovery.h"

namespace compassdb {
namespace {

class WalFile final : public rocksdb::LogFile {
 public:
  WalFile(const WalFileInfo& file, rocksdb::SequenceNumber start, uint64_t bytes)
      : file_(file), start_(start), bytes_(bytes) {}
  std::string PathName() const override {
    return WalFileName(file_.archived ? WalArchiveName("/") : "/", file_.number);
  }
  uint64_t LogNumber() const override { return file_.number; }
  rocksdb::WalFileType Type() const override {
    return file_.archived ? rocksdb::kArchivedLogFile : rocksdb::kAliveLogFile;
  }
  rocksdb::SequenceNumber StartSequence() const override { return start_; }
  uint64_t SizeFileBytes() const override { return bytes_; }

 private:
  const WalFileInfo file_;
  const rocksdb::SequenceNumber start_;
  const uint64_t bytes_;
};

}  // namespace

// Without spare logs and logs that are not begun (of a secondary: by its primary).
Status LogFollower::ListLogs(std::vector<WalFileInfo>* logs) const {
  // First the spares: a log that becomes one later is an obsolete log like others, or deleted.
  const std::vector<uint64_t> spares = wals_.Spares();
  Status s = ListWalFiles(config_.fs, config_.wal_dir, logs);
  std::erase_if(*logs, [&](const WalFileInfo& log) {
    return std::find(spares.begin(), spares.end(), log.number) != spares.end();
  });
  std::vector<uint64_t> live, empty;
  for (const WalFileInfo& log : *logs) {
    if (!log.archived) live.push_back(log.number);
  }
  DropEmptyTail(config_.fs, config_.wal_dir, 0, &live, &empty);
  const uint64_t last = live.empty() ? 0 : live.back();
  std::erase_if(*logs, [last](const WalFileInfo& log) { return !log.archived && log.number > last; });
  return s;
}

Status LogFollower::GetSortedWalFiles(rocksdb::VectorLogPtr* files) const {
  files->clear();
  std::map<uint64_t, uint64_t> live;  // with the bytes that are still buffered
  for (const WalSet::LogInfo& log : wals_.Logs()) live[log.number] = log.bytes;
  std::vector<WalFileInfo> logs;
  if (Status s = ListLogs(&logs); !s.ok()) return s;
  for (WalFileInfo& log : logs) {
    rocksdb::SequenceNumber first = 0;
    Status s = FirstSequence(config_.fs, config_.wal_dir, &log, &first);
    uint64_t bytes = 0;
    if (auto it = live.find(log.number); it != live.end() && !log.archived) {
      bytes = it->second;
    } else if (s.ok()) {
      const std::string dir = log.archived ? WalArchiveName(config_.wal_dir) : config_.wal_dir;
      s = config_.fs->GetFileSize(WalFileName(dir, log.number), &bytes);
    }
    if (IsMissing(s)) continue;  // deleted since
    if (!s.ok()) return s;
    if (first != 0) files->push_back(std::make_unique<WalFile>(log, first, bytes));
  }
  return Status::OK();
}

Status LogFollower::GetCurrentWalFile(std::unique_ptr<rocksdb::LogFile>* file) const {
  const std::vector<WalSet::LogInfo> logs = wals_.Logs();
  if (logs.empty()) return Status::PathNotFound(config_.wal_dir, "no log is being written");
  *file = std::make_unique<WalFile>(WalFileInfo{logs.back().number, false}, 0, logs.back().bytes);
  return Status::OK();
}

Status LogFollower::GetUpdatesSince(SequenceNumber sequence,
                                    std::unique_ptr<rocksdb::TransactionLogIterator>* iterator) const {
  iterator->reset();
  Tick(config_.options.statistics.get(), rocksdb::GET_UPDATES_SINCE_CALLS);
  if (sequence > last_sequence_.load(std::memory_order_acquire)) {
    return Status::NotFound("Requested sequence not yet written in the db");
  }
  std::vector<WalFileInfo> logs;
  if (Status s = ListLogs(&logs); !s.ok()) return s;
  // From the last log that begins at or before the sequence. A follower needs one of the newest.
  size_t begin = logs.size();
  while (begin > 0) {
    rocksdb::SequenceNumber first = 0;
    Status s = FirstSequence(config_.fs, config_.wal_dir, &logs[begin - 1], &first);
    if (IsMissing(s)) break;  // so are those before it
    if (!s.ok()) return s;
    --begin;
    if (first != 0 && first <= sequence) break;
  }
  logs.erase(logs.begin(), logs.begin() + static_cast<ptrdiff_t>(begin));
  auto result = std::make_unique<LogIterator>(LogIterator::Source{config_.fs, config_.wal_dir, last_sequence_, wals_},
                                              std::move(logs), sequence);
  Status s = result->status();
  *iterator = std::move(result);
  return s;
}

}  // namespace compassdb
