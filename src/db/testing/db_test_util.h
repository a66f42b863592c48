// SPDX-License-Identifier: Apache-2.0
// A database over a file system in memory that fails on demand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "env/rocksdb/env_adapter.h"
#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"
#include "rocksdb/db.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/statistics.h"

namespace compassdb {

class DbTest : public ::testing::Test {
 protected:
  DbTest() : fs_(std::make_shared<FaultInjectionFileSystem>()), env_(NewEnvForFileSystem(fs_)) {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 64 << 10;
    options_.max_bytes_for_level_base = 256 << 10;
    options_.compression = rocksdb::kNoCompression;
  }
  ~DbTest() override { CloseDb(); }

  // Instead of the one at hand; the database is closed, or was never open.
  void UseDisk(std::shared_ptr<FaultInjectionFileSystem> disk) {
    fs_ = std::move(disk);
    env_ = NewEnvForFileSystem(fs_);
    options_.env = env_.get();
  }

  // While this thread's first read of a file whose name ends with `end` waits, another thread runs `action`.
  void DuringFirstRead(const std::string& end, std::function<void()> action) {
    const auto met = std::make_shared<bool>(false);  // of this thread alone
    fs_->SetHook([=, reader = std::this_thread::get_id()](FaultOp op, const std::string& path) {
      if (op != FaultOp::kRead || !path.ends_with(end) || std::this_thread::get_id() != reader) return;
      if (!std::exchange(*met, true)) std::thread(action).join();
    });
  }

  Status TryOpen() {
    CloseDb();
    if (families_.empty()) {
      rocksdb::DB* db = nullptr;
      Status s = rocksdb::DB::Open(options_, name_, &db);
      db_.reset(db);
      return s;
    }
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& family : families_) descriptors.emplace_back(family, options_);
    rocksdb::DB* db = nullptr;
    Status s = rocksdb::DB::Open(options_, name_, descriptors, &handles_, &db);
    db_.reset(db);
    return s;
  }
  void OpenDb() {
    Status s = TryOpen();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void CloseDb() {
    if (db_ != nullptr) {
      for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
    }
    handles_.clear();
    db_.reset();
  }
  // Power off and on: what was not synced may be gone.
  void Crash(CutMode mode = CutMode::kDropUnsynced, uint64_t seed = 1) {
    fs_->PowerCut(seed, mode);
    CloseDb();
    fs_->Restart();
  }

  Status Put(const std::string& key, const std::string& value, bool sync = false) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    return db_->Put(options, key, value);
  }
  std::string Get(const std::string& key, const rocksdb::Snapshot* snapshot = nullptr) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    std::string value;
    Status s = db_->Get(options, key, &value);
    if (s.IsNotFound()) return "NOT_FOUND";
    return s.ok() ? value : s.ToString();
  }
  std::string GetIn(int family, const std::string& key) {
    std::string value;
    Status s = db_->Get(rocksdb::ReadOptions(), handles_[family], key, &value);
    if (s.IsNotFound()) return "NOT_FOUND";
    return s.ok() ? value : s.ToString();
  }
  void Flush() {
    const Status s = db_->Flush(rocksdb::FlushOptions());
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Compact(bool force = false) {
    rocksdb::CompactRangeOptions options;
    if (force) options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    const Status s = db_->CompactRange(options, nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // "k=v,k=v"
  std::string Scan(rocksdb::ReadOptions options = rocksdb::ReadOptions()) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
    std::string out;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      out += (out.empty() ? "" : ",") + it->key().ToString() + "=" + it->value().ToString();
    }
    if (!it->status().ok()) out += "!" + it->status().ToString();
    return out;
  }
  uint64_t IntProperty(const std::string& name) {
    uint64_t value = 0;
    EXPECT_TRUE(db_->GetIntProperty(name, &value)) << name;
    return value;
  }
  // Names of the files of a kind, sorted; none if there is no such directory.
  std::vector<std::string> FilesOf(FileType type, const std::string& dir = "/db") {
    std::vector<std::string> names;
    fs_->GetChildren(dir, &names).PermitUncheckedError();
    std::erase_if(names, [type](const std::string& name) {
      uint64_t number = 0;
      FileType found;
      return !ParseFileName(name, &number, &found) || found != type;
    });
    std::sort(names.begin(), names.end());
    return names;
  }
  // The bytes of the files of pieces and values, by their lengths.
  uint64_t TableBytes() {
    uint64_t sum = 0;
    for (const std::string& name : FilesOf(FileType::kPieceFile)) {
      uint64_t size = 0;
      if (fs_->GetFileSize(JoinPath(name_, name), &size).ok()) sum += size;
    }
    return sum;
  }
  // The newest that was begun; spare ones are empty.
  std::string NewestLog() {
    std::string newest;
    for (const std::string& log : FilesOf(FileType::kWal)) {
      uint64_t bytes = 0;
      const Status s = fs_->GetFileSize(JoinPath(name_, log), &bytes);
      if (s.ok() && bytes > 0) newest = JoinPath(name_, log);
    }
    return newest;
  }
  std::string ReadFile(const std::string& path) {
    std::string data;
    const Status s = ReadFileToString(fs_.get(), path, &data);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return data;
  }
  // The files of the database's directory by name, without files that are no part of its state.
  using SavedFiles = std::map<std::string, std::string>;
  SavedFiles SaveFiles() {
    SavedFiles files;
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(name_, &names).ok());
    for (const std::string& name : names) {
      if (name == "lost" || name == "LOG" || name == "LOCK" || name.rfind("LOG.", 0) == 0) continue;
      files[name] = ReadFile(JoinPath(name_, name));
    }
    return files;
  }
  void SetFile(const std::string& path, const Slice& data) {
    const Status s = WriteFileAtomically(fs_.get(), path, data);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void FlipBit(const std::string& path, size_t at) {
    std::string data = ReadFile(path);
    ASSERT_LT(at, data.size());
    data[at] = static_cast<char>(data[at] ^ 0x40);
    SetFile(path, data);
  }
  static std::string Key(int i) {
    char buffer[16];
    snprintf(buffer, sizeof(buffer), "key%06d", i);
    return buffer;
  }

  const std::string name_ = "/db";
  std::shared_ptr<FaultInjectionFileSystem> fs_;
  std::unique_ptr<rocksdb::Env> env_;
  rocksdb::Options options_;
  std::vector<std::string> families_;  // empty: the default family only
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

// Joins operands by commas.
class AppendOperator : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    *result = existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "Append"; }
};

}  // namespace compassdb
