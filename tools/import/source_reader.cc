// SPDX-License-Identifier: Apache-2.0
// compassdb-rocksdb-reader DIR [--wal-dir DIR] [--db-path DIR]... [--merge-delimiter TEXT]: streams a RocksDB database to standard output
// for `compassdb import` (protocol.h), read by src/rocksdb_files/. Changes
// nothing; what it cannot carry over exactly it refuses by name.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "log_places.h"
#include "reader_program.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb_files/source_database.h"

namespace {

using namespace compassdb_import;  // NOLINT: the protocol is all of it
namespace rocksdb_files = compassdb::rocksdb_files;
using rocksdb::Slice;
using rocksdb::Status;

// Reads what src/rocksdb_files/ does not: it contains RocksDB.
constexpr char kOtherReader[] = "compassdb-rocksdb-reader-of-all";
constexpr uint64_t kRecordsPerProgress = 1024;

// Folds the operands of a family, or refuses.
class Folder {
 public:
  Folder() = default;
  Folder(const WrittenFamily& written, const std::optional<std::string>& delimiter) : written_(written) {
    if (written.AppendsStrings()) {
      delimiter_ = written.delimiter ? written.delimiter : delimiter;
      return;
    }
    for (const char* own : kFoldedOperators) {
      if (written.merge_operator == own) {
        rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), own, &operator_).PermitUncheckedError();
      }
    }
  }

  // Empty, or what cannot be carried over.
  std::string Fold(const rocksdb_files::SourceCursor& cursor, std::string* value) const {
    if (written_.AppendsStrings()) return Append(cursor, value);
    if (operator_ == nullptr) return CannotFold(written_);
    const std::vector<Slice> operands(cursor.operands().begin(), cursor.operands().end());
    Slice base;
    if (cursor.value() != nullptr) base = *cursor.value();
    Slice existing(nullptr, 0);
    value->clear();
    rocksdb::MergeOperator::MergeOperationOutput output(*value, existing);
    const Slice key(cursor.key());
    const rocksdb::MergeOperator::MergeOperationInput input(key, cursor.value() == nullptr ? nullptr : &base, operands, nullptr);
    const bool folded = operator_->FullMergeV2(input, &output);
    if (!folded) {
      return "column family '" + written_.name + "': merge_operator '" + written_.merge_operator + "' does not take one of its operands";
    }
    if (existing.data() != nullptr) *value = existing.ToString();
    return "";
  }

 private:
  // Without a delimiter only values of one part are taken.
  std::string Append(const rocksdb_files::SourceCursor& cursor, std::string* value) const {
    value->clear();
    bool first = true;
    const auto add = [&](const std::string& part) {
      if (!first && delimiter_) *value += *delimiter_;
      first = false;
      *value += part;
    };
    if (cursor.value() != nullptr) add(*cursor.value());
    for (const std::string& operand : cursor.operands()) add(operand);
    if (delimiter_ || cursor.operands().size() + (cursor.value() == nullptr ? 0 : 1) <= 1) return "";
    return CannotFold(written_);
  }

  WrittenFamily written_;
  std::optional<std::string> delimiter_;
  std::shared_ptr<rocksdb::MergeOperator> operator_;
};

class Reader {
 public:
  explicit Reader(Request request) : request_(std::move(request)), directory_(request_.directory) {}

  int Run() {
    WriteFrame(kHello, kHelloText);
    int code = LoadOptions();
    if (code == 0) code = FindLogs();
    if (code == 0) code = Open();
    if (code == 0) code = LeaveOutStatistics();
    if (code == 0) code = StreamAll();
    return code;
  }

 private:
  struct Family {
    std::string name, comparator;
    std::unique_ptr<rocksdb_files::SourceCursor> cursor;
  };

  // The newest OPTIONS file says what the manifest does not: merge operators, and where the logs were.
  int LoadOptions() {
    const std::string file = NewestOptions();
    if (!file.empty()) written_ = ReadOptionsFile(directory_ + "/" + file);
    if (!written_.pebble_version.empty()) return RefusePebble(directory_, file, written_);
    return 0;
  }

  std::string NewestOptions() const {
    std::string newest;
    uint64_t most = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
      const std::string name = entry.path().filename();
      constexpr std::string_view kPrefix = "OPTIONS-";
      uint64_t number = 0;
      if (!name.starts_with(kPrefix)) continue;
      const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
      if (error != std::errc() || end != name.data() + name.size() || (number < most && !newest.empty())) continue;
      most = number;
      newest = name;
    }
    return newest;
  }

  int FindLogs() {
    LogPlaces places(directory_, written_.wal_dir);
    std::string refusal;
    if (!places.Choose(request_.wal_dir, &refusal, &logs_note_)) return Refuse(refusal);
    if (places.chosen() != directory_) logs_ = places.chosen();
    logs_lost_ = places.lost();
    newest_log_ = places.newest();
    return 0;
  }

  int Open() {
    rocksdb_files::SourceOptions options;
    options.fs = compassdb::PosixFileSystem();
    options.dir = directory_;
    options.log_dir = logs_;
    options.db_paths = request_.db_paths;
    options.comparator = [](const std::string& name) -> const rocksdb::Comparator* {
      if (name == kBytewise) return rocksdb::BytewiseComparator();
      return name == kReverseBytewise ? rocksdb::ReverseBytewiseComparator() : nullptr;
    };
    const Status s = rocksdb_files::SourceDatabase::Open(options, &database_);
    if (!s.ok()) return Refuse("cannot open " + directory_ + ": " + s.ToString());
    const std::vector<std::string> prepared = database_->PreparedTransactions();
    if (!prepared.empty()) return RefusePrepared(directory_, prepared[0]);
    if (!logs_lost_.empty() && database_->manifest().min_log_to_keep > newest_log_) return Refuse(logs_lost_);
    if (!logs_note_.empty()) Note(logs_note_);
    if (database_->log_torn()) Note("the last log ends inside of a record: what was written last before a crash is not there");
    if (database_->manifest_torn()) Note("the manifest ends inside of an edit, which was not committed before a crash");
    for (const auto& [id, family] : database_->manifest().families) {
      if (const int code = AddFamily(id, family.name, family.comparator.empty() ? kBytewise : family.comparator); code != 0) return code;
    }
    return 0;
  }

  int AddFamily(uint32_t id, const std::string& name, const std::string& comparator) {
    if (const int code = CheckComparator(name, comparator); code != 0) return code;
    WrittenFamily& written = written_.families[name];
    written.name = name;
    folders_[name] = Folder(written, request_.merge_delimiter);
    Family family;
    family.name = name;
    family.comparator = comparator;
    const Status s = database_->NewCursor(id, &family.cursor);
    if (IsOtherTable(s)) return StartOther();
    if (!s.ok()) return Refuse("cannot open " + directory_ + ": " + s.ToString() + HintOf(s.ToString()));
    families_.push_back(std::move(family));
    return 0;
  }

  static bool IsOtherTable(const Status& s) {
    const std::string text = s.ToString();
    return s.IsNotSupported() && (text.find("class PlainTable") != text.npos || text.find("class CuckooTable") != text.npos);
  }

  // The program that contains RocksDB begins again. What was written so far is small, still in the buffer, and ends here.
  int StartOther() const {
    std::error_code error;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string other = self.substr(0, self.rfind('/') + 1) + kOtherReader;
    execv(other.c_str(), request_.argv);
    return Refuse("cannot start " + other + ", which reads tables of the classes PlainTable and CuckooTable");
  }

  // A user may have a family of that name.
  int LeaveOutStatistics() {
    for (auto family = families_.begin(); family != families_.end(); ++family) {
      if (family->name != kStatsFamily) continue;
      rocksdb_files::SourceCursor* const it = family->cursor.get();
      it->SeekToFirst();
      bool all = it->Valid();
      for (; it->Valid() && all; it->Next()) all = IsStatisticsKey(it->key());
      if (!all || !it->status().ok()) continue;  // StreamFamily reports it
      NoteStatistics();
      families_.erase(family);
      break;
    }
    return 0;
  }

  int StreamAll() {
    std::string list;
    for (const Family& family : families_) {
      AppendString(&list, family.name);
      AppendString(&list, family.comparator);
    }
    WriteFrame(kFamilies, list);
    for (const Family& family : families_) bytes_in_all_ += family.cursor->BytesInAll();
    for (Family& family : families_) {
      const int code = StreamFamily(&family);
      if (code != 0) return code;
    }
    return WriteFrame(kDone, "") && std::fflush(stdout) == 0 ? 0 : 1;
  }

  void Progress(const rocksdb_files::SourceCursor& cursor) {
    std::string payload;
    AppendNumber(&payload, bytes_before_ + cursor.BytesRead());
    AppendNumber(&payload, bytes_in_all_);
    WriteFrame(kProgress, payload);
  }

  int StreamFamily(Family* family) {
    std::string payload, folded;
    AppendString(&payload, family->name);
    WriteFrame(kFamilyBegin, payload);
    rocksdb_files::SourceCursor* const it = family->cursor.get();
    uint64_t count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++count) {
      if (it->entity()) return RefuseEntity(family->name, Slice(it->key()).ToString(true));
      const std::string* value = it->value();
      if (!it->operands().empty()) {
        const std::string refusal = folders_[family->name].Fold(*it, &folded);
        if (!refusal.empty()) return Refuse(refusal);
        value = &folded;
      }
      payload.clear();
      AppendString(&payload, it->key());
      payload.append(*value);
      if (!WriteFrame(kRecord, payload)) return 1;
      if (count % kRecordsPerProgress == 0) Progress(*it);
    }
    bytes_before_ += it->BytesInAll();
    if (!it->status().ok()) return Refuse("column family '" + family->name + "' of " + directory_ + ": " + it->status().ToString());
    payload.clear();
    AppendNumber(&payload, count);
    return WriteFrame(kFamilyEnd, payload) ? 0 : 1;
  }

  const Request request_;
  const std::string directory_;
  WrittenOptions written_;
  std::map<std::string, Folder> folders_;  // by family
  std::string logs_;                       // empty: the database's directory
  std::string logs_lost_;                  // the refusal, if logs after newest_log_ are needed; empty: none
  uint64_t newest_log_ = 0;
  std::string logs_note_;  // what the user must know
  std::unique_ptr<rocksdb_files::SourceDatabase> database_;
  std::vector<Family> families_;
  uint64_t bytes_before_ = 0;  // of the families that are done
  uint64_t bytes_in_all_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return RunReader(argc, argv, "compassdb-rocksdb-reader", "the reading ended: ",
                   [](Request request) { return Reader(std::move(request)).Run(); });
}
