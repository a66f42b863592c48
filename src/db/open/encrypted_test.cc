// SPDX-License-Identifier: Apache-2.0
// Whole databases in encrypted files, and in those of a user's file system.
#include <gtest/gtest.h>

#include <map>

#include "compassdb/encryption.h"
#include "rocksdb/db.h"
#include "rocksdb/env_encryption.h"

namespace compassdb {
namespace {

using rocksdb::Env;
using rocksdb::Status;

std::string Key(int i) { return "secret-key-" + std::to_string(100000 + i); }

class EncryptedDbTest : public ::testing::Test {
 protected:
  EncryptedDbTest() : base_(rocksdb::NewMemEnv(Env::Default())) {
    options_.create_if_missing = true;
    options_.write_buffer_size = 64 << 10;
  }
  void UseProvider(const std::shared_ptr<rocksdb::EncryptionProvider>& provider) {
    env_.reset(rocksdb::NewEncryptedEnv(base_.get(), provider));
    options_.env = env_.get();
  }
  // Of both kinds.
  static std::vector<std::shared_ptr<rocksdb::EncryptionProvider>> Providers() {
    std::shared_ptr<rocksdb::EncryptionProvider> sealing;
    EXPECT_TRUE(NewSealingProvider(std::string(32, 'k'), &sealing).ok());
    return {sealing, rocksdb::EncryptionProvider::NewCTRProvider(rocksdb::BlockCipher::NewROT13Cipher(16))};
  }
  Status Open() {
    db_.reset();
    rocksdb::DB* db = nullptr;
    Status s = rocksdb::DB::Open(options_, "/db", &db);
    db_.reset(db);
    return s;
  }
  void FillAndCheck() {
    ASSERT_TRUE(Open().ok());
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 2000; ++i) {
        const std::string value = "secret-value-" + std::to_string(round) + std::string(100, 'v');
        ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), Key(i), value).ok());
      }
      if (round == 1) {
        ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
      }
      Status s = Open();
      ASSERT_TRUE(s.ok()) << s.ToString();
      for (int i = 0; i < 2000; i += 7) {
        std::string value;
        ASSERT_TRUE(db_->Get(rocksdb::ReadOptions(), Key(i), &value).ok()) << i;
        EXPECT_EQ(value.substr(0, 14), "secret-value-" + std::to_string(round));
      }
    }
    std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(rocksdb::ReadOptions()));
    int n = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++n;
    EXPECT_TRUE(iterator->status().ok());
    EXPECT_EQ(n, 2000);
    iterator.reset();
    db_.reset();
    // No file but LOG, which holds none of them, shows keys or values.
    std::vector<std::string> names;
    ASSERT_TRUE(base_->GetChildren("/db", &names).ok());
    size_t files = 0;
    for (const std::string& name : names) {
      std::string bytes;
      if (!rocksdb::ReadFileToString(base_.get(), "/db/" + name, &bytes).ok()) continue;
      ++files;
      EXPECT_EQ(bytes.find("secret-"), std::string::npos) << name;
    }
    EXPECT_GT(files, 3u);
  }

  std::unique_ptr<Env> base_, env_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
};

TEST_F(EncryptedDbTest, SealedDatabase) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'k'), &provider).ok());
  UseProvider(provider);
  FillAndCheck();
}

TEST_F(EncryptedDbTest, SealedDatabaseNeedsItsKey) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'k'), &provider).ok());
  UseProvider(provider);
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "a", "1").ok());
  db_.reset();
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'x'), &provider).ok());
  std::unique_ptr<Env> first = std::move(env_);
  UseProvider(provider);
  EXPECT_TRUE(Open().IsInvalidArgument());
  options_.env = base_.get();
  EXPECT_FALSE(Open().ok());
  options_.env = first.get();
  ASSERT_TRUE(Open().ok());
  std::string value;
  ASSERT_TRUE(db_->Get(rocksdb::ReadOptions(), "a", &value).ok());
  db_.reset();
}

TEST_F(EncryptedDbTest, DatabaseUnderAStreamCipher) {
  UseProvider(
      rocksdb::EncryptionProvider::NewCTRProvider(rocksdb::BlockCipher::NewROT13Cipher(16)));
  FillAndCheck();
}

// Nothing is encrypted twice in one place: the file of an obsolete log begins again.
TEST_F(EncryptedDbTest, RecycledLogs) {
  for (const auto& provider : Providers()) {
    UseProvider(provider);
    options_.recycle_log_file_num = 2;
    options_.avoid_flush_during_shutdown = true;
    options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
    ASSERT_TRUE(Open().ok());
    for (int round = 0; round < 5; ++round) {
      for (int i = 50 - 10 * round; i > 0; --i) {
        ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), Key(i), std::to_string(round)).ok());
      }
      if (round < 4) {
        ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
      }
    }
    options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
    ASSERT_TRUE(Open().ok());
    std::string value;
    ASSERT_TRUE(db_->Get(rocksdb::ReadOptions(), Key(5), &value).ok());
    EXPECT_EQ(value, "4");
    ASSERT_TRUE(db_->Get(rocksdb::ReadOptions(), Key(15), &value).ok());
    EXPECT_EQ(value, "3");
    db_.reset();
    ASSERT_TRUE(rocksdb::DestroyDB("/db", options_).ok());
  }
}

TEST_F(EncryptedDbTest, DirectReadsOfSealedFilesAreRefused) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'k'), &provider).ok());
  UseProvider(provider);
  options_.use_direct_reads = true;
  EXPECT_TRUE(Open().IsNotSupported());
  options_.use_direct_reads = false;
  options_.use_direct_io_for_flush_and_compaction = true;
  Status s = Open();
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("/db/"), std::string::npos) << s.ToString();
  options_.use_direct_io_for_flush_and_compaction = false;
  EXPECT_TRUE(Open().ok());
  db_.reset();
}

// A log whose synced part was lost or damaged, after a kill.
TEST_F(EncryptedDbTest, WhatWasSyncedIsMissed) {
  for (const auto& provider : Providers()) {
    UseProvider(provider);
    ASSERT_TRUE(Open().ok());
    rocksdb::WriteOptions synced;
    synced.sync = true;
    ASSERT_TRUE(db_->Put(synced, "first", "1").ok());
    ASSERT_TRUE(db_->Put(synced, "last", "2").ok());
    std::map<std::string, std::string> files;
    std::vector<std::string> names;
    ASSERT_TRUE(base_->GetChildren("/db", &names).ok());
    std::string log;  // the newest one that is in use
    for (const std::string& name : names) {
      if (!rocksdb::ReadFileToString(base_.get(), "/db/" + name, &files[name]).ok()) files.erase(name);
      if (name.ends_with(".log") && files[name].size() > 100 && name > log) log = name;
    }
    ASSERT_EQ(files.count("SYNCED"), 1u);
    db_.reset();
    const std::string whole = files.at(log);
    enum Damage { kNone, kFlipped, kCut, kHeaderOnly, kGone };
    for (const Damage damage : {kFlipped, kCut, kHeaderOnly, kGone, kNone}) {
      SCOPED_TRACE(damage);
      files[log] = whole.substr(0, whole.size() - (damage == kCut ? 1 : 0));
      if (damage == kFlipped) files[log].back() ^= 1;
      if (damage == kHeaderOnly) files[log].resize(64);
      if (damage == kGone) files.erase(log);
      ASSERT_TRUE(rocksdb::DestroyDB("/db", options_).ok());
      ASSERT_TRUE(base_->CreateDirIfMissing("/db").ok());
      for (const auto& [name, bytes] : files) {
        ASSERT_TRUE(rocksdb::WriteStringToFile(base_.get(), bytes, "/db/" + name).ok());
      }
      const Status s = Open();
      if (damage == kNone) {
        ASSERT_TRUE(s.ok()) << s.ToString();
        std::string value;
        EXPECT_TRUE(db_->Get({}, "last", &value).ok());
      } else {
        EXPECT_TRUE(s.IsCorruption()) << s.ToString();
        EXPECT_NE(s.ToString().find(log), std::string::npos) << s.ToString();
      }
    }
    db_.reset();
    ASSERT_TRUE(rocksdb::DestroyDB("/db", options_).ok());
  }
}

// Damage shows there as errors of reading that are Corruption.
TEST_F(EncryptedDbTest, RepairOfSealedTables) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'k'), &provider).ok());
  UseProvider(provider);
  options_.write_buffer_size = 4 << 20;
  for (int part = 0; part < 8; ++part) {
    ASSERT_TRUE(rocksdb::DestroyDB("/db", options_).ok());
    ASSERT_TRUE(Open().ok());
    for (int i = 0; i < 3000; ++i) ASSERT_TRUE(db_->Put({}, Key(i), std::string(20, 'v') + Key(i * 7)).ok());
    ASSERT_TRUE(db_->Flush({}).ok());
    db_.reset();
    std::vector<std::string> names;
    ASSERT_TRUE(base_->GetChildren("/db", &names).ok());
    for (const std::string& name : names) {
      std::string data;
      ASSERT_TRUE(name.find(".ph") == std::string::npos || rocksdb::ReadFileToString(base_.get(), "/db/" + name, &data).ok());
      if (data.empty()) continue;
      const size_t at = part == 0 ? 3 : data.size() / 7 * static_cast<size_t>(part) - 3;
      data[at] = static_cast<char>(data[at] ^ 1);
      ASSERT_TRUE(rocksdb::WriteStringToFile(base_.get(), data, "/db/" + name).ok());
    }
    const Status s = rocksdb::RepairDB("/db", options_);
    ASSERT_TRUE(s.ok()) << part << ": " << s.ToString();
    ASSERT_TRUE(Open().ok());
    std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
    int n = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++n;
    EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
    EXPECT_TRUE(db_->VerifyChecksum().ok());
    if (part > 1 && part < 7) {
      EXPECT_GT(n, 2000) << part;
    }
    iterator.reset();
    db_.reset();
  }
}

}  // namespace
}  // namespace compassdb
