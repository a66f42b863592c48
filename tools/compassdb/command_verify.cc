// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <rocksdb/comparator.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>

#include <sstream>
#include <string>
#include <vector>

#include "codec.h"
#include "commands.h"
#include "other_writer.h"
#include "progress.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

constexpr size_t kBatch = 256;

// Walks all records of a family through its data blocks and looks each one up
// through the point index: both must agree. Counts what is wrong.
class FamilyCheck {
 public:
  FamilyCheck(Database* database, rocksdb::ColumnFamilyHandle* family, Progress* progress)
      : database_(database), family_(family), progress_(progress) {}

  int Run(uint64_t* records, uint64_t* bytes) {
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    options.fill_cache = false;
    // With timestamps, the newest version.
    const std::string newest(family_->GetComparator()->timestamp_size(), '\xff');
    const rocksdb::Slice timestamp = newest;
    if (!newest.empty()) options.timestamp = &timestamp;
    const std::unique_ptr<rocksdb::Iterator> it(database_->db()->NewIterator(options, family_));
    if (it->status().IsNotSupported()) {
      // For pages without a key store only checksums can be verified.
      if (!progress_->quiet()) {
        PrintError("column family {}: records are not looked up: {}\n", family_->GetName(), it->status().ToString());
      }
      return code_;
    }
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      keys_.push_back(it->key().ToString());
      values_.push_back(it->value().ToString());
      ++*records;
      *bytes += keys_.back().size() + values_.back().size();
      if (keys_.size() == kBatch) {
        LookUp(options);
        progress_->Update(*records, *bytes);
      }
    }
    LookUp(options);
    if (!it->status().ok()) Report(it->status(), "after the last record read");
    return code_;
  }

 private:
  void LookUp(const rocksdb::ReadOptions& options) {
    const std::vector<rocksdb::Slice> keys(keys_.begin(), keys_.end());
    std::vector<rocksdb::PinnableSlice> found(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    if (!keys.empty()) {
      database_->db()->MultiGet(options, family_, keys.size(), keys.data(), found.data(),
                                statuses.data());
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      if (statuses[i].IsNotFound()) {
        Report(
            rocksdb::Status::Corruption("a record of a data block is not found through the index"),
            Printable(keys_[i]));
      } else if (!statuses[i].ok()) {
        Report(statuses[i], Printable(keys_[i]));
      } else if (found[i] != values_[i]) {
        Report(rocksdb::Status::Corruption("index and data blocks give different values"),
               Printable(keys_[i]));
      }
    }
    keys_.clear();
    values_.clear();
  }

  void Report(const rocksdb::Status& found, const std::string& where) {
    const rocksdb::Status status = BusyIfWritten(found);
    constexpr int kMostMessages = 20;
    if (++reported_ <= kMostMessages) {
      Fail(kCorrupt, "verify: column family " + family_->GetName(),
           status.ToString() + ": " + where);
    }
    if (code_ != kCorrupt) code_ = ExitCodeOf(status);
  }

  Database* const database_;
  rocksdb::ColumnFamilyHandle* const family_;
  Progress* const progress_;
  std::vector<std::string> keys_, values_;
  int reported_ = 0;
  int code_ = kOk;
};

int Verify(const Globals& globals, bool quick, Database* database) {
  std::vector<rocksdb::ColumnFamilyHandle*> families = database->families();
  if (!globals.cf.empty()) {
    families = {database->Family("verify", globals)};
    if (families[0] == nullptr) return kFailed;
  }
  int code = kOk;
  rocksdb::ReadOptions options;
  const rocksdb::Status s = database->db()->VerifyChecksum(options);
  if (!s.ok()) {
    code = ExitCodeOf(s);
    std::istringstream findings(BusyIfWritten(s).ToString());
    for (std::string line; std::getline(findings, line);) Fail(code, "verify", line);
  }
  if (quick) return code;
  Progress progress("verified", globals.quiet);
  uint64_t records = 0, bytes = 0;
  for (rocksdb::ColumnFamilyHandle* family : families) {
    const int result = FamilyCheck(database, family, &progress).Run(&records, &bytes);
    if (code == kOk || result == kCorrupt) code = result == kOk ? code : result;
  }
  if (code == kOk) progress.Finish(records, bytes);
  return code;
}

}  // namespace

void AddVerify(CLI::App* app, Globals* globals) {
  auto quick = std::make_shared<bool>(false);
  CLI::App* command = AddDatabaseCommand(
      app, globals, "verify", "Read every block and index entry; name what is corrupt",
      OpenMode::kRead, [=](Database* database) { return Verify(*globals, *quick, database); });
  command->add_flag("--checksums-only", *quick,
                    "only checksums of blocks and index; records are not looked up");
}

}  // namespace compassdb_cli
