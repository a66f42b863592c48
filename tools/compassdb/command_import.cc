// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <rocksdb/comparator.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <filesystem>
#include <vector>

#include "../import/protocol.h"
#include "commands.h"
#include "import_source.h"
#include "interruption.h"
#include "progress.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

namespace wire = compassdb_import;
namespace fs = std::filesystem;
using rocksdb::Status;

constexpr size_t kImportBatchBytes = 1 << 20;

// Copies one RocksDB directory. What it began is removed again if the copy
// does not come to its end: a database half imported looks like a whole one.
class Import {
 public:
  Import(const Globals& globals, std::string source)
      : globals_(globals), source_(std::move(source)), progress_("imported", globals.quiet) {}

  int Run(const std::string& reader) {
    if (!globals_.cf.empty()) {
      return Fail(kUsage, "import", "--cf is not for import, which copies all column families");
    }
    std::vector<rocksdb::ColumnFamilyDescriptor> any{{rocksdb::kDefaultColumnFamilyName, {}}};
    if (Status s = UsePreset(globals_, &any); !s.ok()) return Fail(kUsage, "import", s.ToString());
    std::error_code ec;
    if (!fs::exists(fs::path(source_) / "CURRENT", ec)) {
      return Fail(kFailed, "import", "no RocksDB database in " + source_);
    }
    if (fs::exists(globals_.db, ec) &&
        !(fs::is_directory(globals_.db, ec) && fs::is_empty(globals_.db, ec))) {
      return Fail(kFailed, "import", globals_.db + " exists and is not an empty directory");
    }
    made_directory_ = !fs::exists(globals_.db, ec);
    const Interruption interruption;
    int code = pipe_.Start(reader, source_) ? Copy() : Fail(kFailed, "import", pipe_.error());
    const Status closed = Close();
    if (code == kOk && !closed.ok()) code = Fail("import", closed);
    if (code == kOk && Interruption::noted() != 0) code = Interrupted();
    if (code != kOk) RemoveDestination();
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

  // Makes the database with the families of the frame at hand.
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
    std::error_code ec;
    fs::create_directories(globals_.db, ec);
    if (ec) return Status::IOError(globals_.db, ec.message());
    created_ = true;
    rocksdb::DB* db = nullptr;
    Status s = rocksdb::DB::Open(options, globals_.db, descriptors_, &handles_, &db);
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
    // Without a log: an import that is cut off is removed and begins anew.
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    const Status s = batch_.Count() == 0 ? Status::OK() : db_->Write(options, &batch_);
    batch_.Clear();
    return s;
  }

  int Finish() {
    const Status s = db_->Flush(rocksdb::FlushOptions(), handles_);
    if (!s.ok()) return Fail("import", s);
    std::string names;
    for (rocksdb::ColumnFamilyHandle* handle : handles_) names += " " + handle->GetName();
    progress_.Finish(records_, bytes_);
    if (!globals_.quiet) Tell("column families:{}\n", names);
    return kOk;
  }

  Status Close() {
    if (db_ == nullptr) return Status::OK();
    for (rocksdb::ColumnFamilyHandle* handle : handles_)
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    const Status s = db_->Close();
    db_.reset();
    return s;
  }

  void RemoveDestination() {
    if (!created_) return;
    const Status s = rocksdb::DestroyDB(globals_.db, rocksdb::Options(), descriptors_);
    std::error_code ec;
    if (s.ok() && made_directory_) fs::remove(globals_.db, ec);
    if (!s.ok() || ec) Fail("import: cannot remove what it began", s);
  }

  const Globals& globals_;
  const std::string source_;
  Progress progress_;
  ImportSource pipe_;
  std::string payload_;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch batch_;
  uint64_t records_ = 0;
  uint64_t bytes_ = 0;
  bool made_directory_ = false;
  bool created_ = false;
};

}  // namespace

void AddImport(CLI::App* app, Globals* globals) {
  auto source = std::make_shared<std::string>();
  auto reader = std::make_shared<std::string>();
  CLI::App* command = AddCommand(
      app, globals, "import", "Copy a RocksDB directory, column families kept, to a new --db",
      [=] { return Import(*globals, *source).Run(reader->empty() ? FindReader() : *reader); });
  command->add_option("SOURCE", *source, "directory of the RocksDB database; it is not changed")
      ->required();
  command->add_option("--reader", *reader,
                      "the helper program (default: beside this one, or in PATH)");
}

}  // namespace compassdb_cli
