// SPDX-License-Identifier: Apache-2.0
// compassdb-rocksdb-writer DIR: makes a RocksDB database of what `compassdb export` sends on standard
// input (protocol.h). Links RocksDB itself. DIR must not exist, and exists once the stream came to its
// end (compassdb/unfinished.h). The reason of a failure, and nothing else, is written to standard output.
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "../compassdb/unfinished.h"
#include "protocol.h"

namespace {

using namespace compassdb_import;  // NOLINT: the protocol is all of it
using rocksdb::Status;

constexpr size_t kBatchBytes = 1 << 20;

class Writer {
 public:
  explicit Writer(std::string directory) : directory_(std::move(directory)) {}

  int Run() {
    Status s = CopyAll();
    for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
    if (db_ != nullptr) {
      const Status closed = db_->Close();
      if (s.ok()) s = closed;
      db_.reset();
    }
    if (s.ok()) s = unfinished_.Publish();
    if (s.ok()) return 0;
    std::printf("%s\n", s.ToString().c_str());
    return 1;
  }

 private:
  static bool Read(char* buffer, size_t size) {
    return std::fread(buffer, 1, size, stdin) == size;
  }

  // The next frame; an error if there is none.
  Status Next(char* type) {
    char head[9];
    if (!Read(head, sizeof(head))) return Status::Aborted("compassdb export ended before its end");
    *type = head[0];
    const uint64_t size = DecodeNumber(head + 1);
    if (size > kMostPayload) return Status::Corruption("the stream holds something else");
    payload_.resize(size);
    if (size > 0 && !Read(payload_.data(), size)) {
      return Status::Aborted("compassdb export ended before its end");
    }
    return Status::OK();
  }

  static Status Unexpected() { return Status::Corruption("compassdb speaks another protocol version"); }

  Status CopyAll() {
    char type = 0;
    Status s = Next(&type);
    if (s.ok() && (type != kHello || payload_ != kHelloText)) return Unexpected();
    if (s.ok()) s = Next(&type);
    if (s.ok() && type != kFamilies) return Unexpected();
    if (s.ok()) s = Create();
    while (s.ok()) {
      s = Next(&type);
      if (s.ok() && type == kDone) return db_->Flush(rocksdb::FlushOptions(), handles_);
      std::string_view in = payload_, name;
      if (s.ok() && (type != kFamilyBegin || !TakeString(&in, &name))) return Unexpected();
      if (s.ok()) s = CopyFamily(std::string(name));
    }
    return s;
  }

  Status Create() {
    std::string_view in = payload_, name, comparator;
    while (!in.empty()) {
      if (!TakeString(&in, &name) || !TakeString(&in, &comparator)) return Unexpected();
      rocksdb::ColumnFamilyOptions options;
      if (comparator == rocksdb::ReverseBytewiseComparator()->Name()) {
        options.comparator = rocksdb::ReverseBytewiseComparator();
      } else if (comparator != rocksdb::BytewiseComparator()->Name()) {
        return Status::NotSupported("column family '" + std::string(name) + "': comparator '" +
                                    std::string(comparator) + "' is not one of RocksDB's own");
      }
      descriptors_.emplace_back(std::string(name), options);
    }
    rocksdb::DBOptions options;
    std::error_code ec;
    if (std::filesystem::exists(std::filesystem::symlink_status(directory_, ec))) {
      return Status::InvalidArgument(directory_, "exists");
    }
    const std::filesystem::path parent = std::filesystem::absolute(directory_, ec).parent_path();
    if (!std::filesystem::exists(parent, ec)) return Status::IOError(directory_, "there is no " + parent.string());
    if (Status made = unfinished_.Begin("export", directory_); !made.ok()) return made;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.error_if_exists = true;
    rocksdb::DB* db = nullptr;
    const Status s = rocksdb::DB::Open(options, unfinished_.directory(), descriptors_, &handles_, &db);
    db_.reset(db);
    return s;
  }

  Status CopyFamily(const std::string& name) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      if (handle->GetName() == name) family = handle;
    }
    if (family == nullptr) return Unexpected();
    char type = 0;
    Status s;
    for (uint64_t records = 0; s.ok(); ++records) {
      s = Next(&type);
      if (!s.ok()) break;
      std::string_view in = payload_, key;
      if (type == kFamilyEnd) {
        uint64_t count = 0;
        if (!TakeNumber(&in, &count)) return Unexpected();
        if (count != records) return Status::Corruption("records are missing in", name);
        return Write();
      }
      if (type != kRecord || !TakeString(&in, &key)) return Unexpected();
      s = batch_.Put(family, rocksdb::Slice(key.data(), key.size()),
                     rocksdb::Slice(in.data(), in.size()));
      if (s.ok() && batch_.GetDataSize() >= kBatchBytes) s = Write();
    }
    return s;
  }

  Status Write() {
    rocksdb::WriteOptions options;
    options.disableWAL = true;  // an export that is cut off is removed and begins again
    const Status s = batch_.Count() == 0 ? Status::OK() : db_->Write(options, &batch_);
    batch_.Clear();
    return s;
  }

  const std::string directory_;
  compassdb_cli::Unfinished unfinished_;  // removed when the database is closed
  std::string payload_;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  rocksdb::WriteBatch batch_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: compassdb-rocksdb-writer DIR (run by `compassdb export`)\n");
    return 2;
  }
  // Signals to the whole group end the sender, and by that the stream; then what was begun is removed.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  try {
    return Writer(argv[1]).Run();
  } catch (const std::exception& e) {
    std::printf("RocksDB ended the writing: %s\n", WhatEnded(e).c_str());
    return 1;
  }
}
