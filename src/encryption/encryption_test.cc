// SPDX-License-Identifier: Apache-2.0
// Encrypted files: what is written is read, hidden, and, if sealed, not changed unnoticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "compassdb/encryption.h"
#include "encryption/seal.h"
#include "env/rocksdb/env_adapter.h"
#include "rocksdb/config_options.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/file_system.h"
#include "rocksdb/utilities/object_registry.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace compassdb {
namespace {

using rocksdb::Env;
using rocksdb::EnvOptions;
using rocksdb::Slice;
using rocksdb::Status;

const std::string kKey(kSealKeyBytes, 'k');
const std::string kFile = "/e/file";

std::string RandomText(size_t n, uint32_t seed) {
  std::minstd_rand random(seed);
  std::string text(n, '\0');
  for (char& c : text) c = static_cast<char>(random() >> 8);
  return text;
}

class EncryptionTest : public ::testing::Test {
 protected:
  EncryptionTest() : base_(rocksdb::NewMemEnv(Env::Default())) {
    EXPECT_TRUE(base_->CreateDir("/e").ok());
    Sealed(kKey);
  }
  void Sealed(const std::string& key) {
    ASSERT_TRUE(NewSealingProvider(key, &provider_).ok());
    env_.reset(rocksdb::NewEncryptedEnv(base_.get(), provider_));
  }
  // Each part becomes a segment, or several.
  void Write(const std::vector<std::string>& parts) {
    std::unique_ptr<rocksdb::WritableFile> file;
    ASSERT_TRUE(env_->NewWritableFile(kFile, &file, EnvOptions()).ok());
    for (const std::string& part : parts) {
      ASSERT_TRUE(file->Append(part).ok());
      ASSERT_TRUE(file->Flush().ok());
    }
    ASSERT_TRUE(file->Close().ok());
  }
  Status Sequential(std::string* data) { return rocksdb::ReadFileToString(env_.get(), kFile, data); }
  Status Random(uint64_t offset, size_t n, std::string* data) {
    std::unique_ptr<rocksdb::RandomAccessFile> file;
    Status s = env_->NewRandomAccessFile(kFile, &file, EnvOptions());
    if (!s.ok()) return s;
    std::string scratch(n, '\0');
    Slice result;
    s = file->Read(offset, n, &result, scratch.data());
    *data = result.ToString();
    return s;
  }
  std::string Stored() {
    std::string stored;
    EXPECT_TRUE(rocksdb::ReadFileToString(base_.get(), kFile, &stored).ok());
    return stored;
  }
  void Store(const std::string& stored) {
    ASSERT_TRUE(rocksdb::WriteStringToFile(base_.get(), stored, kFile, true).ok());
  }

  std::unique_ptr<Env> base_, env_;
  std::shared_ptr<rocksdb::EncryptionProvider> provider_;
};

TEST_F(EncryptionTest, SealedFilesOfAllSizesComeBack) {
  for (size_t n : {0, 1, 4095, 4096, 4097, 8192, 70000, (1 << 20), (1 << 20) + 1, 3000000}) {
    const std::string text = RandomText(n, static_cast<uint32_t>(n) + 1);
    Write({text});
    std::string read;
    ASSERT_TRUE(Sequential(&read).ok()) << n;
    ASSERT_EQ(read, text) << n;
    uint64_t size = 1;
    ASSERT_TRUE(env_->GetFileSize(kFile, &size).ok());
    EXPECT_EQ(size, n);
    std::vector<Env::FileAttributes> files;
    ASSERT_TRUE(env_->GetChildrenFileAttributes("/e", &files).ok());
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].size_bytes, n);
  }
}

// Puts another file in a file's place as soon as it is open.
class ReplacingEnv : public rocksdb::EnvWrapper {
 public:
  using rocksdb::EnvWrapper::EnvWrapper;
  Status NewRandomAccessFile(const std::string& path, std::unique_ptr<rocksdb::RandomAccessFile>* file,
                             const EnvOptions& options) override {
    Status s = target()->NewRandomAccessFile(path, file, options);
    if (s.ok() && !successor.empty()) s = RenameFile(successor, path);
    successor.clear();
    return s;
  }
  std::string successor;
};

TEST_F(EncryptionTest, AFileThatIsReplacedWhileItIsOpenedIsReadWhole) {
  ReplacingEnv replacing(base_.get());
  env_.reset(rocksdb::NewEncryptedEnv(&replacing, provider_));
  for (const int bytes : {0, 1, 19, 3000, 5000, 70000}) {
    Write({RandomText(5000, 3)});
    ASSERT_TRUE(env_->RenameFile(kFile, "/e/first").ok());
    Write({RandomText(bytes, 4)});
    ASSERT_TRUE(env_->RenameFile(kFile, "/e/successor").ok());
    ASSERT_TRUE(env_->RenameFile("/e/first", kFile).ok());
    replacing.successor = "/e/successor";
    std::string read;
    const Status s = Sequential(&read);
    EXPECT_TRUE(s.ok()) << bytes << s.ToString();
    EXPECT_TRUE(read == RandomText(5000, 3)) << bytes;
    ASSERT_TRUE(Sequential(&read).ok());
    EXPECT_TRUE(read == RandomText(bytes, 4)) << bytes;
  }
}

TEST_F(EncryptionTest, RandomReadsOfManySegments) {
  std::vector<std::string> parts;
  std::string text;
  for (uint32_t i = 0; i < 400; ++i) {
    parts.push_back(RandomText(i % 7 == 0 ? 100000 : i * 13 % 9000 + 1, i));
    text += parts.back();
  }
  Write(parts);
  std::minstd_rand random(7);
  std::string read;
  for (int i = 0; i < 500; ++i) {
    const uint64_t offset = random() % (text.size() + 10);
    const size_t n = random() % 20000;
    ASSERT_TRUE(Random(offset, n, &read).ok());
    ASSERT_EQ(read, offset < text.size() ? text.substr(offset, n) : "") << offset << " " << n;
  }
}

TEST_F(EncryptionTest, NothingOfThePlainTextIsStoredAndNoNonceTwice) {
  const std::string secret(5000, 's');
  Write({secret, secret, secret});
  const std::string first = Stored();
  EXPECT_EQ(first.find("ssss"), std::string::npos);
  Write({secret, secret, secret});
  const std::string second = Stored();
  ASSERT_EQ(first.size(), second.size());
  const size_t segment = StoredSegmentBytes(secret.size());
  std::vector<std::string> nonces;
  for (const std::string& stored : {first, second}) {
    for (size_t i = 0; i < 3; ++i) {
      nonces.push_back(stored.substr(kSealFileHeaderBytes + i * segment + 4, kSealNonceBytes));
    }
  }
  std::sort(nonces.begin(), nonces.end());
  EXPECT_EQ(std::unique(nonces.begin(), nonces.end()), nonces.end());
}

// Every byte of an encrypted file matters; only sequential readers take a broken last segment for
// the end of the file, since a crash may cost it.
TEST_F(EncryptionTest, EveryFlippedBitIsNoticed) {
  const std::string text = RandomText(6000, 1);
  Write({text, "the end"});
  const std::string stored = Stored();
  const size_t last = stored.size() - StoredSegmentBytes(7);
  for (size_t at = 0; at < stored.size(); at += at < 300 ? 1 : 97) {
    if (at >= 40 && at < kSealFileHeaderBytes) continue;  // zeros that nothing reads
    std::string changed = stored;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    Store(changed);
    std::string read;
    Status s = Random(0, text.size() + 7, &read);
    EXPECT_TRUE(s.IsCorruption()) << at << " " << s.ToString();
    EXPECT_NE(s.ToString().find(kFile), std::string::npos) << s.ToString();
    s = Sequential(&read);
    if (at < last + kSegmentHeaderBytes) {
      EXPECT_TRUE(s.IsCorruption()) << at << " " << s.ToString();
    } else {
      EXPECT_TRUE(s.ok() && read == text) << at << " " << s.ToString();
    }
  }
}

TEST_F(EncryptionTest, SegmentsCannotBeSwappedOrBroughtFromOtherFiles) {
  const std::string a(100, 'a'), b(100, 'b');
  Write({a, b, "end"});
  const std::string stored = Stored();
  const size_t n = StoredSegmentBytes(100);
  std::string swapped = stored.substr(0, kSealFileHeaderBytes) +
                        stored.substr(kSealFileHeaderBytes + n, n) +
                        stored.substr(kSealFileHeaderBytes, n) +
                        stored.substr(kSealFileHeaderBytes + 2 * n);
  Store(swapped);
  std::string read;
  EXPECT_TRUE(Random(0, 10, &read).IsCorruption());
  Write({a, b, "end"});
  std::string mixed = Stored();
  mixed.replace(kSealFileHeaderBytes, n, stored.substr(kSealFileHeaderBytes, n));
  Store(mixed);
  EXPECT_TRUE(Random(0, 10, &read).IsCorruption());
  EXPECT_TRUE(Random(100, 10, &read).ok());
}

TEST_F(EncryptionTest, FilesThatLostTheirEndEndEarlier) {
  Write({"first", "second"});
  const std::string stored = Stored();
  const size_t whole = kSealFileHeaderBytes + StoredSegmentBytes(5);
  std::string read;
  for (size_t n = 0; n < stored.size(); ++n) {
    Store(stored.substr(0, n));
    ASSERT_TRUE(Random(0, 100, &read).ok()) << n;
    EXPECT_EQ(read, n < whole ? "" : "first") << n;
    // A sequential read reports a part of a segment, like a part of a record.
    const bool clean = n <= kSealFileHeaderBytes || n == whole;
    EXPECT_EQ(Sequential(&read).ok(), clean) << n;
  }
  // What a crash leaves: the size without the data.
  Store(stored.substr(0, stored.size() - 4) + std::string(4, '\0'));
  EXPECT_TRUE(Random(0, 11, &read).IsCorruption());
  Store(stored + std::string(5000, '\0'));
  ASSERT_TRUE(Random(0, 100, &read).ok());
  EXPECT_EQ(read, "firstsecond");
}

// Files are created in advance and begun later: a reader that opened one in between continues with its header.
TEST_F(EncryptionTest, AFileThatIsMadeAndBegunLaterHasOneHeader) {
  Write({});
  EXPECT_EQ(Stored(), "");
  std::string read = "?";
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "");
  std::unique_ptr<rocksdb::SequentialFile> reader;
  ASSERT_TRUE(env_->NewSequentialFile(kFile, &reader, EnvOptions()).ok());
  char scratch[20];
  Slice bytes;
  ASSERT_TRUE(reader->Read(20, &bytes, scratch).ok());
  EXPECT_EQ(bytes, "");
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(env_->NewWritableFile(kFile, &file, EnvOptions()).ok());
  ASSERT_TRUE(file->Append("one ").ok());
  EXPECT_EQ(Stored(), "");
  ASSERT_TRUE(file->Flush().ok());
  const std::string header = Stored().substr(0, kSealFileHeaderBytes);
  ASSERT_TRUE(reader->Read(20, &bytes, scratch).ok());
  EXPECT_EQ(bytes, "one ");
  ASSERT_TRUE(file->Append("two").ok());
  ASSERT_TRUE(file->Close().ok());
  ASSERT_TRUE(reader->Read(20, &bytes, scratch).ok());
  EXPECT_EQ(bytes, "two");
  EXPECT_EQ(Stored().substr(0, kSealFileHeaderBytes), header);
}

// A reader that skips damage finds nothing of a segment that is being written, not even its end.
TEST_F(EncryptionTest, ATailThatIsCompletedDuringTheReadStaysATail) {
  Write({"first", "second"});
  const std::string stored = Stored();
  Store(stored.substr(0, stored.size() - 3));
  std::unique_ptr<rocksdb::SequentialFile> reader;
  ASSERT_TRUE(env_->NewSequentialFile(kFile, &reader, EnvOptions()).ok());
  char scratch[20];
  Slice bytes;
  EXPECT_TRUE(reader->Read(20, &bytes, scratch).IsCorruption());
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(base_->ReopenWritableFile(kFile, &file, EnvOptions()).ok());
  ASSERT_TRUE(file->Append(stored.substr(stored.size() - 3)).ok());
  ASSERT_TRUE(file->Close().ok());
  ASSERT_TRUE(reader->Read(5, &bytes, scratch).ok());
  EXPECT_EQ(bytes, "first");
  EXPECT_TRUE(reader->Read(2, &bytes, scratch).IsCorruption());
  ASSERT_TRUE(reader->Skip(1).ok());
  EXPECT_TRUE(reader->Read(1, &bytes, scratch).IsCorruption());
  std::string read;
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "firstsecond");
}

// An attacker without the key can write headers of segments, behind damage. It must not take the square of the file's size to try
// them all: of 50,000 these would be hours.
TEST_F(EncryptionTest, ForgedHeadersAreNotTriedForEver) {
  Write({"first", "second"});
  std::string forged = Stored();
  forged[kSealFileHeaderBytes] ^= 1;
  for (uint32_t i = 0; i < 50000; ++i) {
    std::string header;
    PutFixed32(&header, 1 + i % 40);
    header += RandomText(kSealNonceBytes, i);
    PutFixed32(&header, Crc32c(header.data(), header.size()));
    forged += header;
  }
  Store(forged);
  std::string read;
  EXPECT_TRUE(Sequential(&read).IsCorruption());
}

TEST_F(EncryptionTest, FilesAreGoneOnWith) {
  Write({"one ", "two "});
  const std::string stored = Stored();
  Store(stored + "torn");  // the length of a segment that did not make it
  std::unique_ptr<rocksdb::RandomAccessFile> reader;
  ASSERT_TRUE(env_->NewRandomAccessFile(kFile, &reader, EnvOptions()).ok());
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(env_->ReopenWritableFile(kFile, &file, EnvOptions()).ok());
  EXPECT_EQ(file->GetFileSize(), 8u);
  ASSERT_TRUE(file->Append("three").ok());
  EXPECT_EQ(file->GetFileSize(), 13u);
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Close().ok());
  std::string read;
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "one two three");
  char scratch[20];
  Slice grown;  // a reader that was there before sees it
  ASSERT_TRUE(reader->Read(0, 20, &grown, scratch).ok());
  EXPECT_EQ(grown, "one two three");
  ASSERT_TRUE(env_->ReopenWritableFile("/e/new", &file, EnvOptions()).ok());
  ASSERT_TRUE(file->Close().ok());
}

// A part of a segment gives way to a whole one of just its length: readers that knew the one see the other.
TEST_F(EncryptionTest, ATailGivesWayToASegmentOfItsLength) {
  Write({"one ", RandomText(100, 1)});
  Store(Stored().substr(0, kSealFileHeaderBytes + StoredSegmentBytes(4) + StoredSegmentBytes(4)));
  std::unique_ptr<rocksdb::RandomAccessFile> reader;
  ASSERT_TRUE(env_->NewRandomAccessFile(kFile, &reader, EnvOptions()).ok());
  char scratch[20];
  Slice read;
  ASSERT_TRUE(reader->Read(0, 20, &read, scratch).ok());
  EXPECT_EQ(read, "one ");
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(env_->ReopenWritableFile(kFile, &file, EnvOptions()).ok());
  ASSERT_TRUE(file->Append("more").ok());
  ASSERT_TRUE(file->Close().ok());
  ASSERT_TRUE(reader->Read(0, 20, &read, scratch).ok());
  EXPECT_EQ(read, "one more");
}

// Logs must be able to read on behind damage, to know whether it was synced.
TEST_F(EncryptionTest, BehindDamageFilesAreReadOn) {
  std::vector<std::string> parts;
  std::string text;
  for (uint32_t i = 0; i < 40; ++i) {
    parts.push_back(RandomText(i * 401 % 9000 + 1, i));
    text += parts.back();
  }
  Write(parts);
  const std::string stored = Stored();
  std::minstd_rand random(3);
  for (int round = 0; round < 15; ++round) {
    const size_t from = kSealFileHeaderBytes + random() % (stored.size() - 20000), n = 1 + random() % 9000;
    std::string damaged = stored;
    std::fill(damaged.begin() + from, damaged.begin() + from + n, static_cast<char>(round % 2));
    if (damaged == stored) continue;
    Store(damaged);
    std::unique_ptr<rocksdb::RandomAccessFile> file;
    ASSERT_TRUE(env_->NewRandomAccessFile(kFile, &file, EnvOptions()).ok());
    size_t refused = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      char scratch;
      Slice byte;
      const Status s = file->Read(at, 1, &byte, &scratch);
      ASSERT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
      refused += s.ok() ? 0 : 1;
      if (s.ok()) {
        ASSERT_EQ(byte, text.substr(at, 1)) << at;
      }
    }
    ASSERT_GT(refused, 0u);
    ASSERT_LT(refused, n + 2 * 9000 + 2 * kSealChunkBytes);
  }
}

TEST_F(EncryptionTest, KeysAreNeededAndCanChange) {
  Write({"old"});
  const std::string other(kSealKeyBytes, 'o');
  Sealed(other);
  std::string read;
  Status s = Sequential(&read);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("key"), std::string::npos);
  ASSERT_TRUE(provider_->AddCipher("old", kKey.data(), kKey.size(), false).ok());
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "old");
  Write({"new"});
  Sealed(other);
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "new");
  EXPECT_TRUE(provider_->AddCipher("short", "x", 1, true).IsInvalidArgument());
  std::shared_ptr<rocksdb::EncryptionProvider> none;
  EXPECT_TRUE(NewSealingProvider("short", &none).IsInvalidArgument());
}

TEST_F(EncryptionTest, KeysByCallback) {
  std::map<uint64_t, std::string> keys{{SealingKeyId(kKey), kKey}};
  std::string newest = kKey;
  int asked_for_old = 0;
  const auto call = [&](uint64_t id, std::string* key) {
    if (id == 0) {
      *key = newest;
      return Status::OK();
    }
    ++asked_for_old;
    const auto it = keys.find(id);
    if (it == keys.end()) return Status::Aborted("the key was withdrawn");
    *key = it->second;
    return Status::OK();
  };
  const auto open = [&] {
    ASSERT_TRUE(NewSealingProvider(call, &provider_).ok());
    env_.reset(rocksdb::NewEncryptedEnv(base_.get(), provider_));
  };
  open();
  Write({"first"});
  std::string read;
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(asked_for_old, 0);  // it knows what it was given for writing
  open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "first");
  EXPECT_EQ(asked_for_old, 1);
  // The key changes while the environment is open.
  newest = std::string(32, 'n');
  EXPECT_NE(SealingKeyId(newest), SealingKeyId(kKey));
  Write({"second"});
  open();
  Status s = Sequential(&read);
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
  keys[SealingKeyId(newest)] = kKey;
  s = Sequential(&read);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  keys[SealingKeyId(newest)] = newest;
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "second");
  newest = "short";
  std::unique_ptr<rocksdb::WritableFile> file;
  s = env_->NewWritableFile(kFile, &file, EnvOptions());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(SealingKeyId(newest), 0u);
  EXPECT_TRUE(NewSealingProvider(KeyCallback(), &provider_).IsInvalidArgument());
}

// An error of a key callback is not an error of a file: RepairDB must not take it for a lost or damaged file.
TEST_F(EncryptionTest, AMissingKeyIsNoMissingFile) {
  Write({"text"});
  for (const Status& answer : {Status::NotFound("here"), Status::PathNotFound("here"), Status::Corruption("here"), Status::IOError("here"),
                               Status::TryAgain("here"), Status::ShutdownInProgress("here"), Status::ColumnFamilyDropped("here")}) {
    ASSERT_TRUE(NewSealingProvider([&](uint64_t, std::string*) { return answer; }, &provider_).ok());
    env_.reset(rocksdb::NewEncryptedEnv(base_.get(), provider_));
    std::string read;
    const Status s = Sequential(&read);
    EXPECT_EQ(s.code(), answer.IsIOError() && !answer.IsPathNotFound() ? Status::kIOError
                        : answer.IsTryAgain()                          ? Status::kTryAgain
                                                                       : Status::kInvalidArgument) << s.ToString();
    EXPECT_FALSE(s.IsPathNotFound()) << s.ToString();
    EXPECT_NE(s.ToString().find(kFile), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find("here"), std::string::npos) << s.ToString();
  }
}

TEST_F(EncryptionTest, PlainFilesAreNotTakenForSealedOnes) {
  Store(std::string(1000, 'p'));
  std::string read;
  EXPECT_TRUE(Sequential(&read).IsInvalidArgument());
  Store("shorter than a header");
  EXPECT_TRUE(Sequential(&read).IsInvalidArgument());
  Store(std::string(1000, '\x91'));
  EXPECT_TRUE(Sequential(&read).IsCorruption());
}

TEST_F(EncryptionTest, WhatCannotBeSealedIsRefused) {
  Write({"data"});
  EnvOptions direct;
  direct.use_direct_reads = true;
  std::unique_ptr<rocksdb::RandomAccessFile> reader;
  EXPECT_TRUE(env_->NewRandomAccessFile(kFile, &reader, direct).IsNotSupported());
  EnvOptions mapped;
  mapped.use_mmap_reads = true;
  EXPECT_TRUE(env_->NewRandomAccessFile(kFile, &reader, mapped).IsNotSupported());
  std::unique_ptr<rocksdb::RandomRWFile> in_place;
  EXPECT_TRUE(env_->NewRandomRWFile(kFile, &in_place, EnvOptions()).IsNotSupported());
  const std::shared_ptr<FileSystem> fs = FileSystemOfEnv(env_.get());
  std::unique_ptr<PageFile> pages;
  for (const char* path : {"/e/pages", kFile.c_str()}) {
    Status s = fs->NewPageFile(path, FileOptions(), /*create=*/true, &pages);
    EXPECT_TRUE(s.IsNotSupported());
    EXPECT_NE(s.ToString().find("encrypted files are not written in place"), std::string::npos);
    EXPECT_NE(s.ToString().find(path), std::string::npos);
  }
  EXPECT_TRUE(fs->FileExists("/e/pages").IsNotFound());
  std::string kept;
  ASSERT_TRUE(Sequential(&kept).ok());
  EXPECT_EQ(kept, "data");
  EXPECT_TRUE(env_->Truncate(kFile, 2).IsNotSupported());
  EXPECT_TRUE(env_->Truncate(kFile, 0).ok());
  std::string read;
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "");
}

// It is written in place, and says nothing that sizes do not show.
TEST_F(EncryptionTest, TheMarkOfWhatWasSyncedIsInTheClear) {
  const std::string path = "/e/SYNCED";
  for (const bool sealed : {true, false}) {
    SCOPED_TRACE(sealed);
    if (!sealed) {
      env_.reset(rocksdb::NewEncryptedEnv(
          base_.get(), rocksdb::EncryptionProvider::NewCTRProvider(rocksdb::BlockCipher::NewROT13Cipher(16))));
    }
    const std::shared_ptr<FileSystem> fs = FileSystemOfEnv(env_.get());
    std::unique_ptr<PageFile> file;
    Status s = fs->NewPageFile(path, FileOptions(), /*create=*/true, &file);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (const char* text : {"first", "again"}) {
      ASSERT_TRUE(file->Write(0, text).ok());
      std::string stored, read;
      ASSERT_TRUE(rocksdb::ReadFileToString(base_.get(), path, &stored).ok());
      EXPECT_EQ(stored, text);
      ASSERT_TRUE(rocksdb::ReadFileToString(env_.get(), path, &read).ok());
      EXPECT_EQ(read, text);
    }
    uint64_t size = 0;
    EXPECT_TRUE(env_->GetFileSize(path, &size).ok());
    EXPECT_EQ(size, 5u);
    std::vector<Env::FileAttributes> files;
    EXPECT_TRUE(env_->GetChildrenFileAttributes("/e", &files).ok());
    ASSERT_TRUE(file->Close().ok());
    EXPECT_TRUE(env_->DeleteFile(path).ok());
  }
}

TEST_F(EncryptionTest, StreamsOfAUsersCipher) {
  auto cipher = rocksdb::BlockCipher::NewROT13Cipher(32);
  provider_ = rocksdb::EncryptionProvider::NewCTRProvider(cipher);
  env_.reset(rocksdb::NewEncryptedEnv(base_.get(), provider_));
  const std::string a = RandomText(1000, 1), b = RandomText(70001, 2);
  Write({a, b});
  EXPECT_EQ(Stored().size(), 4096 + a.size() + b.size());
  EXPECT_EQ(Stored().find(a.substr(0, 64)), std::string::npos);
  std::string read;
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, a + b);
  for (uint64_t offset : {0, 1, 31, 32, 999, 1000, 40007}) {
    ASSERT_TRUE(Random(offset, 100, &read).ok());
    EXPECT_EQ(read, (a + b).substr(offset, 100));
  }
  uint64_t size = 0;
  ASSERT_TRUE(env_->GetFileSize(kFile, &size).ok());
  EXPECT_EQ(size, a.size() + b.size());
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(env_->ReopenWritableFile(kFile, &file, EnvOptions()).ok());
  ASSERT_TRUE(file->Append("tail").ok());
  ASSERT_TRUE(file->Close().ok());
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, a + b + "tail");
  // A reader that opened a file before its first bytes takes none of them for plain bytes.
  Write({});
  EXPECT_EQ(Stored(), "");
  std::unique_ptr<rocksdb::SequentialFile> early;
  ASSERT_TRUE(env_->NewSequentialFile(kFile, &early, EnvOptions()).ok());
  std::unique_ptr<rocksdb::RandomAccessFile> early_random;
  ASSERT_TRUE(env_->NewRandomAccessFile(kFile, &early_random, EnvOptions()).ok());
  Write({"begun"});
  char scratch[20];
  Slice bytes;
  ASSERT_TRUE(early->Read(20, &bytes, scratch).ok());
  EXPECT_EQ(bytes, "");
  ASSERT_TRUE(early_random->Read(0, 20, &bytes, scratch).ok());
  EXPECT_EQ(bytes, "");
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "begun");
  Store("a part of a prefix");
  EXPECT_TRUE(env_->GetFileSystem()->Truncate(kFile, 1, rocksdb::IOOptions(), nullptr).IsNotSupported());
  ASSERT_TRUE(env_->GetFileSystem()->Truncate(kFile, 0, rocksdb::IOOptions(), nullptr).ok());
  EXPECT_EQ(Stored(), "");
  // Cut to nothing, and gone on with from nothing.
  for (const bool begun : {true, false}) {
    Write({begun ? "begun" : ""});
    ASSERT_TRUE(env_->GetFileSystem()->Truncate(kFile, 0, rocksdb::IOOptions(), nullptr).ok());
    ASSERT_TRUE(env_->ReopenWritableFile(kFile, &file, EnvOptions()).ok());
    EXPECT_EQ(file->GetFileSize(), 0u);
    ASSERT_TRUE(file->Append("tail").ok());
    EXPECT_EQ(file->GetFileSize(), 4u);
    ASSERT_TRUE(file->Close().ok());
    ASSERT_TRUE(Sequential(&read).ok());
    EXPECT_EQ(read, "tail");
  }
}

// Keeps a part of each prefix encrypted, and decrypts it in place, as providers may.
class SecretPrefixProvider final : public rocksdb::EncryptionProvider {
 public:
  SecretPrefixProvider() : streams_(rocksdb::EncryptionProvider::NewCTRProvider(rocksdb::BlockCipher::NewROT13Cipher(32))) {}
  const char* Name() const override { return "SecretPrefix"; }
  size_t GetPrefixLength() const override { return streams_->GetPrefixLength(); }
  Status CreateNewPrefix(const std::string& path, char* prefix, size_t length) const override {
    Status s = streams_->CreateNewPrefix(path, prefix, length);
    memcpy(prefix + 1000, kSecret, sizeof(kSecret));
    Turn(prefix + 1000);
    return s;
  }
  Status AddCipher(const std::string&, const char*, size_t, bool) override { return Status::NotSupported(); }
  Status CreateCipherStream(const std::string& path, const EnvOptions& options, Slice& prefix,
                            std::unique_ptr<rocksdb::BlockAccessCipherStream>* result) override {
    char* const secret = const_cast<char*>(prefix.data()) + 1000;
    Turn(secret);
    if (memcmp(secret, kSecret, sizeof(kSecret)) != 0) return Status::Corruption(path, "the secret is another");
    return streams_->CreateCipherStream(path, options, prefix, result);
  }
  static constexpr char kSecret[] = "the key of the file";

 private:
  static void Turn(char* secret) {
    for (size_t i = 0; i < sizeof(kSecret); ++i) secret[i] ^= 0x55;
  }
  const std::shared_ptr<rocksdb::EncryptionProvider> streams_;
};

TEST_F(EncryptionTest, ProvidersMayDecryptPrefixesInPlace) {
  provider_ = std::make_shared<SecretPrefixProvider>();
  env_.reset(rocksdb::NewEncryptedEnv(base_.get(), provider_));
  Write({"text"});
  EXPECT_EQ(Stored().find(SecretPrefixProvider::kSecret), std::string::npos);
  std::string read;
  ASSERT_TRUE(Sequential(&read).ok());
  EXPECT_EQ(read, "text");
}

// Like a provider with an unknown name.
TEST_F(EncryptionTest, WithoutAProviderNothingIsWritten) {
  ASSERT_TRUE(rocksdb::EncryptionProvider::CreateFromString(rocksdb::ConfigOptions(), "ROT14", &provider_).ok());
  env_.reset(rocksdb::NewEncryptedEnv(base_.get(), nullptr));
  std::unique_ptr<rocksdb::WritableFile> file;
  Status s = env_->NewWritableFile(kFile, &file, EnvOptions());
  if (s.ok()) s = file->Append("text");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("encryption provider"), std::string::npos) << s.ToString();
  Store(RandomText(5000, 1));
  std::string read;
  EXPECT_TRUE(Sequential(&read).IsInvalidArgument());
  EXPECT_TRUE(Random(0, 10, &read).IsInvalidArgument());
}

TEST_F(EncryptionTest, ProvidersByTheirIds) {
  const rocksdb::ConfigOptions config;
  const auto make = [&](const std::string& id) {
    provider_.reset();
    return rocksdb::EncryptionProvider::CreateFromString(config, id, &provider_);
  };
  for (const char* id :
       {"{id=CTR;cipher=ROT13}", "id=CTR; cipher=ROT13:16", "id=CTR;cipher={id=ROT13}", "CTR://test"}) {
    ASSERT_TRUE(make(id).ok()) << id;
    ASSERT_NE(provider_, nullptr) << id;
    EXPECT_STREQ(provider_->Name(), "CTR");
    env_.reset(rocksdb::NewEncryptedEnv(base_.get(), provider_));
    Write({"some text"});
    EXPECT_EQ(Stored().find("some text"), std::string::npos);
    std::string read;
    ASSERT_TRUE(Sequential(&read).ok()) << id;
    EXPECT_EQ(read, "some text");
  }
  // Nothing of a known one is passed over.
  for (const char* id : {"id=CTR;cipher=AES", "id=CTR;key=x", "id=AES256GCM;cipher=ROT13"}) {
    EXPECT_FALSE(make(id).ok()) << id;
    EXPECT_EQ(provider_, nullptr) << id;
  }
}

class NamedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "Named"; }
};

TEST_F(EncryptionTest, AnEnvOfAFileSystemsUri) {
  rocksdb::ConfigOptions config;
  config.env = base_.get();
  config.registry = rocksdb::ObjectRegistry::NewInstance();
  config.registry->AddLibrary("test")->AddFactory<rocksdb::FileSystem>(
      "named", [&](const std::string&, std::unique_ptr<rocksdb::FileSystem>* guard, std::string*) {
        guard->reset(new NamedFileSystem(base_->GetFileSystem()));
        return guard->get();
      });
  Env* env = nullptr;
  std::shared_ptr<Env> guard;
  ASSERT_TRUE(Env::CreateFromUri(config, "", "named", &env, &guard).ok());
  ASSERT_EQ(env, guard.get());
  EXPECT_STREQ(env->GetFileSystem()->Name(), "Named");
  for (const char* uri : {"id=EncryptedFileSystem; provider=CTR://test; target=named",
                          "id=EncryptedFileSystem; provider={id=CTR;cipher=ROT13}; target=named"}) {
    ASSERT_TRUE(Env::CreateFromUri(config, "", uri, &env, &guard).ok()) << uri;
    ASSERT_EQ(env, guard.get());
    ASSERT_TRUE(rocksdb::WriteStringToFile(env, "some text", kFile).ok());
    EXPECT_EQ(Stored().find("some text"), std::string::npos);
    EXPECT_EQ(Stored().size(), 4096u + 9);
    std::string read;
    ASSERT_TRUE(rocksdb::ReadFileToString(env, kFile, &read).ok());
    EXPECT_EQ(read, "some text");
  }
  // Never another one than was asked for.
  for (const char* uri : {"EncryptedFileSystem", "id=EncryptedFileSystem", "id=EncryptedFileSystem; provider=nope",
                          "id=EncryptedFileSystem; provider=CTR://test; target=nope",
                          "id=EncryptedFileSystem; provider=CTR://test; mode=x", "id=EncryptedFileSystem; provider"}) {
    guard.reset();
    env = nullptr;
    const Status s = Env::CreateFromUri(config, "", uri, &env, &guard);
    EXPECT_FALSE(s.ok()) << uri;
    EXPECT_EQ(guard, nullptr) << uri;
  }
  // Without a provider nothing is built on the default file system either.
  std::shared_ptr<rocksdb::FileSystem> fs;
  EXPECT_FALSE(rocksdb::FileSystem::CreateFromString(config, "EncryptedFileSystem", &fs).ok());
  ASSERT_TRUE(rocksdb::FileSystem::CreateFromString(config, "id=EncryptedFileSystem; provider=CTR://test", &fs).ok());
  EXPECT_STREQ(fs->Name(), "EncryptedFileSystem");
  EXPECT_TRUE(Env::CreateFromUri(config, "x", "y", &env, &guard).IsInvalidArgument());
}

TEST(FileSystemByName, OneThatIsUnknownLeavesWhatIsThere) {
  std::shared_ptr<rocksdb::FileSystem> fs;
  ASSERT_TRUE(rocksdb::FileSystem::Load("posix", &fs).ok());
  EXPECT_EQ(fs, rocksdb::FileSystem::Default());
  const auto present = fs;
  EXPECT_TRUE(rocksdb::FileSystem::Load("nowhere", &fs).ok());
  EXPECT_EQ(fs, present);
  rocksdb::ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  EXPECT_TRUE(rocksdb::FileSystem::CreateFromString(strict, "nowhere", &fs).IsNotSupported());
}

}  // namespace
}  // namespace compassdb
