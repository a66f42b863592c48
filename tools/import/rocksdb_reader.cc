// SPDX-License-Identifier: Apache-2.0
// compassdb-rocksdb-reader-of-all DIR [--wal-dir DIR] [--db-path DIR]... [--merge-delimiter TEXT]: streams a RocksDB database to standard output
// for `compassdb import` (protocol.h), if source_reader.cc does not know a class of its tables. Links RocksDB itself. Opens read-only
// and changes nothing; what it cannot carry over exactly it refuses by name.
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>
#include <rocksdb/wal_filter.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "log_places.h"
#include "reader_program.h"

namespace {

using namespace compassdb_import;  // NOLINT: the protocol is all of it
using rocksdb::Slice;
using rocksdb::Status;

// Replaces a merge operator that cannot be built here. Without any,
// RocksDB's iterators may pass over merge operands in silence; with this one
// the first operand ends the reading.
class RefusingMergeOperator : public rocksdb::MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override {
    refused_ = true;
    return false;
  }
  const char* Name() const override { return "CompassdbImportRefuses"; }
  bool refused() const { return refused_; }

 protected:
  mutable std::atomic<bool> refused_{false};
};

// RocksDB's StringAppendOperator, without its parser of options: that one loses delimiters of white space or brackets.
// If the delimiter is not known, only values of one part are merged.
class StringAppend : public RefusingMergeOperator {
 public:
  explicit StringAppend(std::optional<std::string> delimiter) : delimiter_(std::move(delimiter)) {}
  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override {
    std::string& value = output->new_value;
    value.clear();
    bool first = true;
    const auto add = [&](const rocksdb::Slice& part) {
      if (!first && !delimiter_) refused_ = true;
      if (!first && delimiter_) value += *delimiter_;
      first = false;
      value.append(part.data(), part.size());
    };
    if (input.existing_value != nullptr) add(*input.existing_value);
    for (const rocksdb::Slice& operand : input.operand_list) add(operand);
    return !refused_;
  }

 private:
  const std::optional<std::string> delimiter_;
};

// Reads the logs that are replayed, to find transactions that were prepared, and neither committed nor rolled back. A
// reader does not see them.
class PreparedWatch : public rocksdb::WalFilter, public rocksdb::WriteBatch::Handler {
 public:
  WalProcessingOption LogRecordFound(unsigned long long, const std::string&, const rocksdb::WriteBatch& batch,
                                     rocksdb::WriteBatch*, bool*) override {
    batch.Iterate(this).PermitUncheckedError();  // what is wrong with it is the replay's to find
    return WalProcessingOption::kContinueProcessing;
  }
  const char* Name() const override { return "CompassdbImportPreparedWatch"; }
  const std::set<std::string>& open() const { return open_; }

  Status MarkBeginPrepare(bool) override { return Status::OK(); }
  Status MarkEndPrepare(const Slice& name) override {
    open_.insert(name.ToString());
    return Status::OK();
  }
  Status MarkCommit(const Slice& name) override { return MarkRollback(name); }
  Status MarkCommitWithTimestamp(const Slice& name, const Slice&) override { return MarkRollback(name); }
  Status MarkRollback(const Slice& name) override {
    open_.erase(name.ToString());
    return Status::OK();
  }
  Status MarkNoop(bool) override { return Status::OK(); }
  Status PutCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status PutEntityCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status SingleDeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status PutBlobIndexCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }

 private:
  std::set<std::string> open_;
};

class Reader {
 public:
  explicit Reader(Request request) : request_(std::move(request)), directory_(request_.directory) {}
  ~Reader() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
  }

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
  // Only the stored options that reads depend on are used. The database's options name directories of the machine on
  // which it was written.
  int LoadOptions() {
    std::string file;
    if (rocksdb::GetLatestOptionsFileName(directory_, rocksdb::Env::Default(), &file).ok()) {
      written_ = ReadOptionsFile(directory_ + "/" + file);
    }
    if (!written_.pebble_version.empty()) return RefusePebble(directory_, file, written_);
    for (const std::string& path : request_.db_paths) db_options_.db_paths.emplace_back(path, UINT64_MAX);
    db_options_.create_if_missing = false;
    db_options_.allow_2pc = true;
    db_options_.wal_filter = &prepared_;
    db_options_.max_open_files = 1000;
    db_options_.max_file_opening_threads = 1;  // if the system has no threads, more of them end the process
    // The file is written after the manifest, and an older one stays if that fails. So the manifest decides which
    // families exist. A family that is not in the file, or without a file, has default options.
    std::vector<std::string> names;
    const Status s = rocksdb::DB::ListColumnFamilies(db_options_, directory_, &names);
    if (!s.ok()) return Refuse("cannot read the manifest of " + directory_ + ": " + s.ToString());
    const std::vector<rocksdb::ColumnFamilyDescriptor> stored = StoredFamilies();
    for (const std::string& name : names) {
      if (const int code = AddFamily(name, stored); code != 0) return code;
    }
    return 0;
  }

  // As LoadLatestOptions builds them; none if it cannot.
  std::vector<rocksdb::ColumnFamilyDescriptor> StoredFamilies() const {
    rocksdb::ConfigOptions config;
    config.ignore_unknown_options = true;
    config.ignore_unsupported_options = true;
    rocksdb::DBOptions unused;
    std::vector<rocksdb::ColumnFamilyDescriptor> stored;
    if (!rocksdb::LoadLatestOptions(config, directory_, &unused, &stored).ok()) stored.clear();
    return stored;
  }

  int AddFamily(const std::string& name, const std::vector<rocksdb::ColumnFamilyDescriptor>& stored) {
    WrittenFamily& written = written_.families[name];
    written.name = name;
    const auto known = std::find_if(stored.begin(), stored.end(), [&](const auto& family) { return family.name == name; });
    rocksdb::ColumnFamilyOptions options;
    if (known != stored.end()) {
      options = known->options;
      if (options.table_factory == nullptr) {
        options.table_factory.reset(rocksdb::NewAdaptiveTableFactory());  // of a class not known
      }
    } else {
      options.table_factory.reset(rocksdb::NewAdaptiveTableFactory());
      options.num_levels = std::max(options.num_levels, written.num_levels);
      if (!written.prefix_extractor.empty()) {
        rocksdb::SliceTransform::CreateFromString(rocksdb::ConfigOptions(), written.prefix_extractor, &options.prefix_extractor)
            .PermitUncheckedError();
      }
    }
    if (const int code = CheckComparator(name, written.comparator); code != 0) return code;
    options.comparator = written.comparator == kBytewise ? rocksdb::BytewiseComparator() : rocksdb::ReverseBytewiseComparator();
    options.merge_operator = MergeOperatorOf(written);
    if (options.table_factory->IsInstanceOf("CuckooTable")) db_options_.allow_mmap_reads = true;  // it needs that
    // Readers never compact, and what is not registered here must not keep them from opening.
    options.compaction_filter = nullptr;
    options.compaction_filter_factory = nullptr;
    options.sst_partitioner_factory = nullptr;
    options.memtable_factory = std::make_shared<rocksdb::SkipListFactory>();
    options.cf_paths.clear();
    families_.emplace_back(name, options);
    return 0;
  }

  std::shared_ptr<rocksdb::MergeOperator> MergeOperatorOf(const WrittenFamily& written) {
    if (written.AppendsStrings()) {
      refusing_[written.name] =
          std::make_shared<StringAppend>(written.delimiter ? written.delimiter : request_.merge_delimiter);
      return refusing_[written.name];
    }
    for (const char* own : kFoldedOperators) {
      std::shared_ptr<rocksdb::MergeOperator> known;
      if (written.merge_operator == own &&
          rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), own, &known).ok() && known != nullptr) {
        return known;
      }
    }
    refusing_[written.name] = std::make_shared<RefusingMergeOperator>();
    return refusing_[written.name];
  }

  int FindLogs() {
    LogPlaces places(directory_, written_.wal_dir);
    std::string refusal;
    if (!places.Choose(request_.wal_dir, &refusal, &logs_note_)) return Refuse(refusal);
    if (places.chosen() != directory_) db_options_.wal_dir = places.chosen();
    logs_lost_ = places.lost();
    newest_log_ = places.newest();
    return 0;
  }

  int Open() {
    rocksdb::DB* db = nullptr;
    const Status s =
        rocksdb::DB::OpenForReadOnly(db_options_, directory_, families_, &handles_, &db);
    if (!s.ok()) return Refuse("cannot open " + directory_ + ": " + s.ToString() + HintOf(s.ToString()));
    db_.reset(db);
    if (!prepared_.open().empty()) return RefusePrepared(directory_, *prepared_.open().begin());
    uint64_t needed = 0;
    const bool known = db_->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &needed);
    if (known && !logs_lost_.empty() && needed > newest_log_) return Refuse(logs_lost_);
    if (!logs_note_.empty()) Note(logs_note_);
    return 0;
  }

  // A user may have a family of that name.
  int LeaveOutStatistics() {
    for (size_t i = 0; i < handles_.size(); ++i) {
      if (handles_[i]->GetName() != kStatsFamily) continue;
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handles_[i]));
      it->SeekToFirst();
      bool all = it->Valid();
      for (; it->Valid() && all; it->Next()) all = IsStatisticsKey({it->key().data(), it->key().size()});
      if (!all || !it->status().ok()) continue;  // StreamFamily reports it
      NoteStatistics();
      db_->DestroyColumnFamilyHandle(handles_[i]).PermitUncheckedError();
      handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(i));
      families_.erase(families_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    return 0;
  }

  int StreamAll() {
    std::string list;
    for (const rocksdb::ColumnFamilyDescriptor& family : families_) {
      AppendString(&list, family.name);
      AppendString(&list, family.options.comparator->Name());
    }
    WriteFrame(kFamilies, list);
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      const int code = StreamFamily(handle);
      if (code != 0) return code;
    }
    return WriteFrame(kDone, "") && std::fflush(stdout) == 0 ? 0 : 1;
  }

  int StreamFamily(rocksdb::ColumnFamilyHandle* handle) {
    const std::string name = handle->GetName();
    try {
      return StreamRecords(handle, name);
    } catch (const std::invalid_argument& e) {
      return Refuse("column family '" + name + "': merge_operator '" + written_.families[name].merge_operator +
                    "' does not take one of its operands: " + e.what());
    }
  }

  int StreamRecords(rocksdb::ColumnFamilyHandle* handle, const std::string& name) {
    std::string payload;
    AppendString(&payload, name);
    WriteFrame(kFamilyBegin, payload);
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    options.fill_cache = false;
    options.readahead_size = 2 << 20;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, handle));
    uint64_t count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++count) {
      const rocksdb::WideColumns& columns = it->columns();
      if (columns.size() > 1 || (columns.size() == 1 && !columns[0].name().empty())) {
        return RefuseEntity(name, it->key().ToString(true));
      }
      payload.clear();
      AppendString(&payload, {it->key().data(), it->key().size()});
      payload.append(it->value().data(), it->value().size());
      if (!WriteFrame(kRecord, payload)) return 1;
    }
    if (!it->status().ok() || Refused(name)) return Refuse(ExplainReadError(name, it->status()));
    payload.clear();
    AppendNumber(&payload, count);
    return WriteFrame(kFamilyEnd, payload) ? 0 : 1;
  }

  bool Refused(const std::string& family) const {
    const auto known = refusing_.find(family);
    return known != refusing_.end() && known->second->refused();
  }

  std::string ExplainReadError(const std::string& family, const Status& status) {
    if (!Refused(family)) return "column family '" + family + "' of " + directory_ + ": " + status.ToString();
    return CannotFold(written_.families[family]);
  }

  const Request request_;
  const std::string directory_;
  // By family: operators that may refuse.
  std::map<std::string, std::shared_ptr<RefusingMergeOperator>> refusing_;
  PreparedWatch prepared_;
  rocksdb::DBOptions db_options_;
  std::vector<rocksdb::ColumnFamilyDescriptor> families_;
  WrittenOptions written_;
  std::string logs_lost_;  // the refusal, if logs after newest_log_ are needed; empty: none
  uint64_t newest_log_ = 0;
  std::string logs_note_;  // what the user must know
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace

int main(int argc, char** argv) {
  return RunReader(argc, argv, "compassdb-rocksdb-reader-of-all", "RocksDB ended the reading: ",
                   [](Request request) { return Reader(std::move(request)).Run(); });
}
