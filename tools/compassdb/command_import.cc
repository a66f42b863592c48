// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <rocksdb/comparator.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "../import/protocol.h"
#include "commands.h"
#include "import_source.h"
#include "interruption.h"
#include "progress.h"
#include "streams.h"
#include "unfinished.h"

namespace compassdb_cli {
namespace {

namespace wire = compassdb_import;
namespace fs = std::filesystem;
using rocksdb::Status;

constexpr size_t kImportBatchBytes = 1 << 20;

struct ImportFlags {
  std::string source, reader, wal_dir;
  std::vector<std::string> db_paths;
  std::optional<std::string> merge_delimiter;
};

// A table of RocksDB or LevelDB, or only of the latter.
bool IsTable(const std::string& extension) { return extension == ".sst" || extension == ".ldb"; }

// The advice for a missing manifest. `leveldb`: `ldb repair` would drop the tables.
std::string RepairAdvice(const std::string& source, bool leveldb) {
  return leveldb ? "; LevelDB's RepairDB can make another" : "; `ldb --db=" + source + " repair` of RocksDB can make another, if it is not LevelDB's";
}

// Checks the names in the directory to import. Returns the error; empty: none.
std::string WrongSource(const std::string& source) {
  std::error_code ec;
  const fs::path current = fs::path(source) / "CURRENT";
  std::string theirs;  // a file that shows that there was a database
  bool leveldb = false;
  for (fs::directory_iterator it(source, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string(), kind = it->path().extension().string();
    if (IsTable(kind) || kind == ".log" || name.compare(0, 9, "MANIFEST-") == 0) theirs = name;
    leveldb = leveldb || kind == ".ldb";
    if (name.compare(0, 7, "MIRROR-") != 0 && kind != ".ph" && kind != ".pages") continue;
    return source + " is a CompassDB database already (" + name + "): there is nothing to import";
  }
  if (!fs::exists(current, ec)) {
    if (theirs.empty()) return "no RocksDB database in " + source;
    return current.string() + " is missing, but " + theirs + " exists" + RepairAdvice(source, leveldb);
  }
  std::ifstream in(current, std::ios::binary);
  std::string manifest;
  std::getline(in, manifest);
  if (manifest.empty()) return current.string() + " is empty, or cannot be read";
  if (manifest.compare(0, 9, "MANIFEST-") != 0) {
    return current.string() + " names no manifest: it is damaged, or encrypted by the program that wrote it";
  }
  if (!fs::exists(fs::path(source) / manifest, ec)) {
    return current.string() + " names " + manifest + ", which is missing" + RepairAdvice(source, leveldb);
  }
  return "";
}

bool IsInside(const std::string& path, const std::string& dir) {
  std::error_code ec;
  const fs::path inner = fs::weakly_canonical(path, ec), outer = fs::weakly_canonical(dir, ec);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// Copies one RocksDB directory.
class Import {
 public:
  Import(const Globals& globals, const ImportFlags& flags)
      : globals_(globals), flags_(flags), progress_("imported", globals.quiet) {}

  int Run(const std::string& reader) {
    if (!globals_.cf.empty()) {
      return Fail(kUsage, "import", "--cf is not for import, which copies all column families");
    }
    if (!globals_.wal_dir.empty()) {
      return Fail(kUsage, "import", "--wal-dir before import is of --db, the new database; put that of SOURCE after import");
    }
    std::vector<rocksdb::ColumnFamilyDescriptor> any{{rocksdb::kDefaultColumnFamilyName, {}}};
    if (Status s = UsePreset(globals_, &any); !s.ok()) return Fail(kUsage, "import", s.ToString());
    const std::string wrong = WrongSource(flags_.source);
    if (!wrong.empty()) return Fail(kFailed, "import", wrong);
    if (IsInside(globals_.db, flags_.source)) {
      return Fail(kFailed, "import", globals_.db + " is inside of " + flags_.source + ", which import does not change");
    }
    if (!Unfinished::IsVacant(globals_.db, /*foreign=*/false)) {
      return Fail(kFailed, "import", globals_.db + " exists and is not an empty directory");
    }
    const Interruption interruption;
    int code = pipe_.Start(reader, Arguments()) ? Copy() : Fail(kFailed, "import", pipe_.error());
    const Status closed = Close();
    if (code == kOk && !closed.ok()) code = Fail("import", closed);
    if (code == kOk && Interruption::noted() != 0) code = Interrupted();
    if (code == kOk) {
      if (Status s = unfinished_->Publish(); !s.ok()) code = Fail("import", s);
    }
    unfinished_.reset();  // what was begun is removed before the signal ends the process
    if (code == kOk) Report();
    return code;
  }

 private:
  int Copy() {
    char type = 0;
    if (!Expect(wire::kHello) || payload_ != wire::kHelloText) return Protocol();
    if (!Expect(wire::kFamilies)) return Protocol();
    const Status s = Create();
    if (!s.ok()) return Fail("import", s);
    for (;;) {
      if (!pipe_.Next(&type, &payload_)) return Fail(kFailed, "import", pipe_.error());
      if (type == wire::kDone) return Finish();
      std::string_view in = payload_, name;
      if (type != wire::kFamilyBegin || !wire::TakeString(&in, &name)) return Protocol();
      const int code = CopyFamily(std::string(name));
      if (code != kOk) return code;
    }
  }

  int Interrupted() {
    return Fail(kFailed, "import", fmt::format("interrupted by signal {}", Interruption::noted()));
  }

  bool Expect(char wanted) {
    char type = 0;
    return pipe_.Next(&type, &payload_) && type == wanted;
  }

  int Protocol() {
    return Fail(kFailed, "import",
                pipe_.error().empty() ? "the reader of RocksDB speaks another protocol version"
                                      : pipe_.error());
  }

  // Makes the database with the families of the current frame.
  Status Create() {
    std::string_view in = payload_, name, comparator;
    while (!in.empty()) {
      if (!wire::TakeString(&in, &name) || !wire::TakeString(&in, &comparator)) {
        return Status::InvalidArgument("list of column families from the reader of RocksDB");
      }
      rocksdb::ColumnFamilyOptions options;
      if (comparator == rocksdb::ReverseBytewiseComparator()->Name()) {
        options.comparator = rocksdb::ReverseBytewiseComparator();
      } else if (comparator != rocksdb::BytewiseComparator()->Name()) {
        return Status::NotSupported("comparator of column family " + std::string(name),
                                    std::string(comparator));
      }
      descriptors_.emplace_back(std::string(name), options);
    }
    if (Status s = UsePreset(globals_, &descriptors_); !s.ok()) return s;
    rocksdb::DBOptions options = globals_.DbOptions();
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.error_if_exists = true;
    if (globals_.memory_mb > 0) options.memory_limit = globals_.memory_mb << 20;
    unfinished_.emplace();
    if (Status s = unfinished_->Begin("import", globals_.db); !s.ok()) return s;
    rocksdb::DB* db = nullptr;
    Status s = rocksdb::DB::Open(options, unfinished_->directory(), descriptors_, &handles_, &db);
    if (s.ok()) db_.reset(db);
    return s;
  }

  int CopyFamily(const std::string& name) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      if (handle->GetName() == name) family = handle;
    }
    if (family == nullptr) return Protocol();
    const uint64_t before = records_;
    char type = 0;
    while (pipe_.Next(&type, &payload_)) {
      std::string_view in = payload_;
      if (type == wire::kFamilyEnd) {
        uint64_t count = 0;
        if (!wire::TakeNumber(&in, &count)) return Protocol();
        const Status s = WriteBatch();
        if (!s.ok()) return Fail("import: column family " + name, s);
        if (count == records_ - before) return kOk;
        return Fail(kFailed, "import: column family " + name,
                    fmt::format("{} records sent, {} received", count, records_ - before));
      }
      if (type == wire::kProgress) {
        uint64_t done = 0, all = 0;
        if (!wire::TakeNumber(&in, &done) || !wire::TakeNumber(&in, &all)) return Protocol();
        progress_.SetShare(done, all);
        continue;
      }
      std::string_view key;
      if (type != wire::kRecord || !wire::TakeString(&in, &key)) return Protocol();
      Status s = batch_.Put(family, rocksdb::Slice(key.data(), key.size()),
                            rocksdb::Slice(in.data(), in.size()));
      ++records_;
      bytes_ += key.size() + in.size();
      if (s.ok() && batch_.GetDataSize() >= kImportBatchBytes) s = WriteBatch();
      if (!s.ok()) return Fail("import: column family " + name, s);
      progress_.Update(records_, bytes_);
      if (Interruption::noted() != 0) return Interrupted();
    }
    return Fail(kFailed, "import", pipe_.error());
  }

  Status WriteBatch() {
    // Without a log: an import that is cut off is removed, and starts from the beginning.
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    const Status s = batch_.Count() == 0 ? Status::OK() : db_->Write(options, &batch_);
    batch_.Clear();
    return s;
  }

  int Finish() {
    const Status s = db_->Flush(rocksdb::FlushOptions(), handles_);
    if (!s.ok()) return Fail("import", s);
    return kOk;
  }

  void Report() {
    progress_.Finish(records_, bytes_);
    std::string names;
    for (const rocksdb::ColumnFamilyDescriptor& family : descriptors_) names += " " + family.name;
    if (!globals_.quiet) PrintError("column families:{}\n", names);
  }

  std::vector<std::string> Arguments() const {
    std::vector<std::string> arguments{flags_.source};
    if (!flags_.wal_dir.empty()) arguments.insert(arguments.end(), {"--wal-dir", flags_.wal_dir});
    for (const std::string& path : flags_.db_paths) arguments.insert(arguments.end(), {"--db-path", path});
    if (flags_.merge_delimiter) arguments.insert(arguments.end(), {"--merge-delimiter", *flags_.merge_delimiter});
    return arguments;
  }

  Status Close() {
    if (db_ == nullptr) return Status::OK();
    for (rocksdb::ColumnFamilyHandle* handle : handles_)
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    const Status s = db_->Close();
    db_.reset();
    return s;
  }

  const Globals& globals_;
  const ImportFlags& flags_;
  Progress progress_;
  ImportSource pipe_;
  std::string payload_;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::optional<Unfinished> unfinished_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch batch_;
  uint64_t records_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

void AddImport(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* command = AddCommand(
      app, globals, "import", "Copy a RocksDB directory, column families kept, to a new --db",
      [=] { return Import(*globals, *flags).Run(flags->reader.empty() ? FindReader() : flags->reader); });
  command->add_option("SOURCE", flags->source, "directory of the RocksDB database; it is not changed")
      ->required();
  command->add_option("--wal-dir", flags->wal_dir,
                      "where its logs are (default: in SOURCE, or in the folder of it that its OPTIONS name)");
  command->add_option("--db-path", flags->db_paths, "its db_paths, each, in their order")->allow_extra_args(false);
  command->add_option("--merge-delimiter", flags->merge_delimiter,
                      "delimiter of its StringAppendOperator, where its OPTIONS do not record it");
  command->add_option("--reader", flags->reader,
                      "the helper program (default: the one in this program's directory, or in PATH)");
}

}  // namespace compassdb_cli
