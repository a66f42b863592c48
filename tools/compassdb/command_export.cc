// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <rocksdb/comparator.h>

#include <filesystem>
#include <vector>

#include "../import/protocol.h"
#include "commands.h"
#include "export_sink.h"
#include "progress.h"
#include "scanner.h"

namespace compassdb_cli {
namespace {

namespace wire = compassdb_import;

// Sends all families of an open database, as one snapshot, to the helper that writes RocksDB's files.
class Export {
 public:
  Export(Database* database, const Globals& globals, std::string destination)
      : db_(database->db()),
        families_(database->families()),
        destination_(std::move(destination)),
        progress_("exported", globals.quiet) {}

  int Run(const std::string& writer, const Globals& globals) {
    if (!globals.cf.empty()) {
      return Fail(kUsage, "export", "--cf is not for export, which copies all column families");
    }
    std::error_code ec;
    if (std::filesystem::exists(destination_, ec)) {
      return Fail(kFailed, "export", destination_ + " exists");
    }
    if (!sink_.Start(writer, destination_)) return Fail(kFailed, "export", sink_.error());
    int code = SendAll();
    if (code == kOk) {
      code = sink_.Finish() ? kOk : Failed();
    }
    if (code == kOk) progress_.Finish(records_, bytes_);
    return code;
  }

 private:
  int SendAll() {
    std::string list;
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      wire::AppendString(&list, family->GetName());
      wire::AppendString(&list, family->GetComparator()->Name());
    }
    if (!sink_.Send(wire::kHello, wire::kHelloText) || !sink_.Send(wire::kFamilies, list)) {
      return Broken();
    }
    std::vector<rocksdb::Iterator*> iterators;
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    options.fill_cache = false;
    const rocksdb::Status s = db_->NewIterators(options, families_, &iterators);
    if (!s.ok()) return Fail("export", s);
    int code = kOk;
    for (size_t i = 0; i < iterators.size(); ++i) {
      const std::unique_ptr<rocksdb::Iterator> it(iterators[i]);
      if (code == kOk) code = SendFamily(families_[i]->GetName(), it.get());
    }
    return code == kOk && !sink_.Send(wire::kDone, "") ? Broken() : code;
  }

  int SendFamily(const std::string& name, rocksdb::Iterator* it) {
    std::string payload;
    wire::AppendString(&payload, name);
    if (!sink_.Send(wire::kFamilyBegin, payload)) return Broken();
    uint64_t count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++count) {
      if (const int code = RefuseEntity("export", name, *it); code != kOk) return code;
      payload.clear();
      wire::AppendString(&payload, {it->key().data(), it->key().size()});
      payload.append(it->value().data(), it->value().size());
      if (!sink_.Send(wire::kRecord, payload)) return Broken();
      bytes_ += it->key().size() + it->value().size();
      progress_.Update(++records_, bytes_);
    }
    if (!it->status().ok()) return Fail("export: column family " + name, it->status());
    payload.clear();
    wire::AppendNumber(&payload, count);
    return sink_.Send(wire::kFamilyEnd, payload) ? kOk : Broken();
  }

  // The helper has ended: its message, or that there is none.
  int Broken() {
    sink_.Finish();
    return Failed();
  }
  int Failed() { return Fail(kFailed, "export", sink_.error() + "; " + destination_ + " was not made"); }

  rocksdb::DB* const db_;
  const std::vector<rocksdb::ColumnFamilyHandle*>& families_;
  const std::string destination_;
  Progress progress_;
  ExportSink sink_;
  uint64_t records_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

void AddExport(CLI::App* app, Globals* globals) {
  auto destination = std::make_shared<std::string>();
  auto writer = std::make_shared<std::string>();
  CLI::App* command = AddDatabaseCommand(
      app, globals, "export", "Copy --db, column families kept, to a new RocksDB directory",
      OpenMode::kRead, [=](Database* database) {
        return Export(database, *globals, *destination)
            .Run(writer->empty() ? FindWriter() : *writer, *globals);
      });
  command->add_option("DESTINATION", *destination, "directory of RocksDB's, to be made")
      ->required();
  command->add_option("--writer", *writer,
                      "the helper program (default: next to this one, or in PATH)");
}

}  // namespace compassdb_cli
