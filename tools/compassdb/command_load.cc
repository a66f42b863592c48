// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <unistd.h>

#include <map>
#include <vector>

#include "commands.h"
#include "interruption.h"
#include "progress.h"
#include "record_reader.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

constexpr size_t kLoadBatchBytes = 1 << 20;

struct LoadFlags {
  std::vector<std::string> files;
  Format format = Format::kAuto;
  bool escaped = false;
  bool create_cf = false;
  bool disable_wal = false;
};

class Loader {
 public:
  Loader(const Globals& globals, const LoadFlags& flags, Database* database,
         rocksdb::ColumnFamilyHandle* family)
      : flags_(flags), database_(database), family_(family), quiet_(globals.quiet), progress_("loaded", globals.quiet) {
    write_options_.disableWAL = flags.disable_wal;
  }

  int Load(const std::string& path) {
    RecordReader reader(path, flags_.format, flags_.escaped);
    Record record;
    const uint64_t bytes_before = bytes_;
    while (reader.Next(&record)) {
      rocksdb::Status s = batch_.Put(family_, record.key, record.value);
      reader.Release();
      if (s.ok() && batch_.GetDataSize() >= kLoadBatchBytes) s = WriteBatch();
      if (!s.ok()) return Fail("load", s);
      bytes_ = bytes_before + reader.bytes();
      progress_.Update(records_ + static_cast<uint64_t>(batch_.Count()), bytes_);
    }
    // Records before a bad line are kept: loading the corrected file again
    // writes the same records again and changes nothing.
    const rocksdb::Status s = WriteBatch();
    if (!s.ok()) return Fail("load", s);
    if (reader.keeps_return() && !quiet_) {
      PrintError("compassdb: load: {}: the lines end with CR LF; the CR is part of each value (not with --escaped)\n",
           reader.name());
    }
    if (reader.error().empty()) return kOk;
    return Fail(reader.error_code(), "load",
                fmt::format("{} ({} records before it were loaded)", reader.error(), records_));
  }

  // Whether a failed load has written something to keep.
  bool HasLoaded() const { return records_ > 0; }

  // Makes the records durable, in tables.
  int Finish() {
    if (write_failed_) return kFailed;  // which was said
    const rocksdb::Status s = database_->db()->Flush(rocksdb::FlushOptions(), family_);
    if (!s.ok()) return Fail("load", s);
    progress_.Finish(records_, bytes_);
    return kOk;
  }

 private:
  rocksdb::Status WriteBatch() {
    if (batch_.Count() == 0) return rocksdb::Status::OK();
    const rocksdb::Status s = database_->db()->Write(write_options_, &batch_);
    if (s.ok()) records_ += static_cast<uint64_t>(batch_.Count());
    if (batch_.GetDataSize() > 4 * kLoadBatchBytes) {
      batch_ = rocksdb::WriteBatch();  // Clear keeps the memory
    } else {
      batch_.Clear();
    }
    write_failed_ = !s.ok();
    return s;
  }

  const LoadFlags& flags_;
  Database* const database_;
  rocksdb::ColumnFamilyHandle* const family_;
  const bool quiet_;
  rocksdb::WriteOptions write_options_;
  rocksdb::WriteBatch batch_;
  Progress progress_;
  uint64_t records_ = 0;
  uint64_t bytes_ = 0;
  bool write_failed_ = false;
};

int Load(const Globals& globals, const LoadFlags& flags) {
  if (flags.create_cf && globals.cf.empty())
    return Fail(kUsage, "load", "--create-cf needs --cf NAME");
  for (const std::string& name : flags.files) {
    // Before a useless database is made.
    if (name != "-" && access(name.c_str(), R_OK) != 0) return Fail(kFailed, "load: cannot read", name);
  }
  const Interruption interruption;
  std::unique_ptr<Database> database;
  int code = Database::Open("load", globals, Database::ModeToMake(globals, flags.create_cf), &database);
  if (code != kOk) return code;
  if (flags.create_cf) {
    const rocksdb::Status s = database->CreateFamily(globals);
    if (!s.ok()) return Fail("load", s);
  }
  rocksdb::ColumnFamilyHandle* family = database->Family("load", globals);
  if (family == nullptr) return kFailed;
  Loader loader(globals, flags, database.get(), family);
  for (size_t i = 0; i < flags.files.size() && code == kOk; ++i) code = loader.Load(flags.files[i]);
  const int finished = loader.Finish();
  if (code == kOk) code = finished;
  if (code != kOk && !loader.HasLoaded()) return code;  // a database that was made is removed
  const rocksdb::Status s = database->Close(/*keep=*/code != kOk);
  return code == kOk && !s.ok() ? Fail("load", s) : code;
}

}  // namespace

void AddLoad(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<LoadFlags>();
  CLI::App* command =
      AddCommand(app, globals, "load", "Load records from files or standard input", [=] {
        if (flags->files.empty()) flags->files.push_back("-");
        return Load(*globals, *flags);
      });
  static const std::map<std::string, Format> formats = {{"auto", Format::kAuto},
                                                        {"tsv", Format::kTsv},
                                                        {"json", Format::kJson},
                                                        {"hex", Format::kHex}};
  command->add_option("FILE", flags->files, "files to load (-: standard input, the default)");
  command
      ->add_option("--format", flags->format,
                   "tsv, json (lines) or hex (ldb dump --hex); default: by the first line")
      ->transform(CLI::CheckedTransformer(formats));
  command->add_flag("--escaped", flags->escaped,
                    "TSV has backslash escapes, as scan --format text writes them");
  command->add_flag("--create-cf", flags->create_cf, "make the column family if missing");
  command->add_flag("--disable-wal", flags->disable_wal,
                    "faster; after a crash the load must be run again");
}

}  // namespace compassdb_cli
