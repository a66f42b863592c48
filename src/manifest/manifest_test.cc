// SPDX-License-Identifier: Apache-2.0
#include "manifest/manifest.h"

#include <gtest/gtest.h>

#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {
namespace {

VersionEdit FullEdit(uint64_t n) {
  VersionEdit e;
  e.db_id = "id";
  e.hash_seed = 42 + n;
  e.next_number = 100 + n;
  e.last_sequence = 1000 + n;
  e.max_column_family = 7;
  e.min_log_number = 3;
  e.synced_log = {9, 4711 + n};
  e.file_checksums = {{21, std::string("\0\xfe", 2), "F"}, {22, "", ""}};
  e.column_family = 5;
  e.add_column_family = "family";
  e.comparator = "cmp";
  e.log_number = 9;
  e.history_low = std::string("low\0", 4);
  e.deleted.push_back({2, 77});
  TphMeta t;
  t.tph_id = 12 + n;
  t.smallest = std::string("a\0b", 3);
  t.largest = "z";
  t.largest_exclusive = true;
  t.directory = {4, 4096, 100};
  t.num_keys = 10;
  t.hash_range = n % 2 == 1;
  if (t.hash_range) t.search = {1u << 30, (2u << 30) - 1};
  PieceMeta p;
  p.piece_id = 99;
  p.extent = {4, 32, 4000};
  p.num_records = 12;
  p.num_keys = 10;
  p.smallest = "b";
  p.largest = "y";
  t.pieces.assign(3, {std::make_shared<const PieceMeta>(p), 8});
  e.added.push_back({3, t});
  e.deleted_values.push_back(31);
  ValueRunMeta values;
  values.run_id = 32 + n;
  values.extent = {5, 64, 900};
  values.group = {2, 3};
  values.num_values = 6;
  values.num_notices = 4;
  values.records_bytes = 500;
  values.keys_bytes = 300;
  values.places_bytes = 100;
  e.added_values.push_back(values);
  e.page_geometry = PageGeometry{16, 8192};
  e.page_sections.push_back({3, 50 + n, 1000, 5000, 400000, 20, 1600, 7});
  e.deleted_page_runs.push_back(8);
  e.added_page_runs.push_back({9 + n, PageRunKind::kOverflow, {6, 32, 100}, 77, 5});
  e.folded_sequence = 999;
  e.in_place_sequence = 1999;
  e.keys_whole = n % 2 == 0;
  return e;
}

TEST(VersionEditTest, RoundTrip) {
  std::string bytes, again;
  FullEdit(1).EncodeTo(&bytes);
  VersionEdit e;
  ASSERT_TRUE(e.DecodeFrom(bytes).ok());
  e.EncodeTo(&again);
  EXPECT_EQ(bytes, again);
  EXPECT_EQ(e.added[0].tph.pieces[1].live_keys, 8u);
  EXPECT_EQ(e.added[0].tph.smallest.size(), 3u);
  EXPECT_EQ(e.history_low, std::string("low\0", 4));
  ASSERT_EQ(e.file_checksums.size(), 2u);
  EXPECT_EQ(e.file_checksums[0].file_number, 21u);
  EXPECT_EQ(e.file_checksums[0].checksum, std::string("\0\xfe", 2));
  EXPECT_EQ(e.file_checksums[0].function, "F");
  EXPECT_EQ(e.file_checksums[1].checksum, "");
  EXPECT_TRUE(e.added[0].tph.hash_range);
  EXPECT_EQ(e.added[0].tph.search, (SearchRange{1u << 30, (2u << 30) - 1}));
  FullEdit(2).EncodeTo(&(bytes = ""));
  ASSERT_TRUE((e = VersionEdit()).DecodeFrom(bytes).ok());
  EXPECT_FALSE(e.added[0].tph.hash_range);
}

TEST(VersionEditTest, EveryTruncationIsCorruption) {
  std::string bytes;
  FullEdit(1).EncodeTo(&bytes);
  for (size_t n = 0; n < bytes.size(); ++n) {
    VersionEdit e;
    EXPECT_TRUE(e.DecodeFrom(Slice(bytes.data(), n)).IsCorruption()) << n;
  }
}

// A field whose own length is right, but which ends before its content, or behind it.
TEST(VersionEditTest, TruncatedBodiesAreCorruption) {
  const VersionEdit full = FullEdit(1);
  std::vector<VersionEdit> single(4);
  single[0].added = full.added;
  single[1].added_values = full.added_values;
  single[2].page_sections = full.page_sections;
  single[3].added_page_runs = full.added_page_runs;
  for (const VersionEdit& e : single) {
    std::string bytes;
    e.EncodeTo(&bytes);
    Slice rest = bytes;
    uint64_t tag = 0, number = 0;
    Slice body;
    ASSERT_TRUE(GetVarint64(&rest, &tag) && GetVarint64(&rest, &number) && GetLengthPrefixedSlice(&rest, &body));
    ASSERT_EQ(rest.size(), 1u);  // the end
    const auto decode = [&](const std::string& changed) {
      std::string again;
      PutVarint64(&again, tag);
      PutVarint64(&again, number);
      PutLengthPrefixedSlice(&again, changed);
      again += rest.ToString();
      return VersionEdit().DecodeFrom(again);
    };
    EXPECT_TRUE(decode(body.ToString()).ok());
    for (size_t n = 0; n < body.size(); ++n) {
      EXPECT_TRUE(decode(std::string(body.data(), n)).IsCorruption()) << tag << ": " << n;
    }
    EXPECT_TRUE(decode(body.ToString() + '\0').IsCorruption()) << tag;
  }
}

TEST(VersionEditTest, RecordsOfSeveralEdits) {
  std::string bytes;
  EncodeEdits({FullEdit(1), FullEdit(2)}, &bytes);
  EditRecord edits;
  ASSERT_TRUE(edits.Open(bytes).ok());
  ASSERT_EQ(edits.size(), 2u);
  std::vector<uint64_t> numbers;
  for (const VersionEdit& edit : edits) numbers.push_back(*edit.next_number);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{101, 102}));
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_TRUE(edits.Open(Slice(bytes.data(), n)).IsCorruption()) << n;
  EXPECT_NE(edits.Open(bytes + '\0').ToString().find("trailing bytes"), std::string::npos);
  EXPECT_NE(edits.Open("\x7f").ToString().find("edit count"), std::string::npos);
  bytes.back() = 9;  // within the last edit
  EXPECT_TRUE(edits.Open(bytes).IsCorruption());
}

TEST(VersionEditTest, FlippedBitsNeverCrash) {
  std::string bytes;
  FullEdit(1).EncodeTo(&bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    VersionEdit e;
    Status s = e.DecodeFrom(damaged);
    if (s.ok()) {
      std::string again;
      e.EncodeTo(&again);  // any result is a whole edit
      EXPECT_FALSE(again.empty());
    }
  }
}

class ManifestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/db").ok());
    ASSERT_TRUE(Manifest::Create(&fs_, "/db", 5, {FullEdit(0)}, &manifest_).ok());
    for (uint64_t i = 1; i < 4; ++i) ASSERT_TRUE(manifest_->Append({FullEdit(i)}).ok());
    ASSERT_TRUE(manifest_->Close().ok());
    path_ = ManifestFileName("/db", 5);
  }
  Status Replay(std::vector<uint64_t>* seen) {
    return Manifest::Replay(&fs_, "/db", 5, [&](const EditRecord& edits) {
      for (const VersionEdit& e : edits) seen->push_back(*e.next_number);
      return Status::OK();
    });
  }
  Status Salvage(std::vector<uint64_t>* seen, bool* whole) {
    uint64_t records = 0;
    seen->clear();
    Status s = Manifest::Salvage(
        &fs_, "/db", 5,
        [&](const EditRecord& edits) {
          for (const VersionEdit& e : edits) seen->push_back(*e.next_number);
          return Status::OK();
        },
        &records, whole);
    EXPECT_EQ(records, seen->size());
    return s;
  }
  void Overwrite(const std::string& path, const std::string& data) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile(path, FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(data).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  MemoryFileSystem fs_;
  std::unique_ptr<Manifest> manifest_;
  std::string path_;
};

TEST_F(ManifestTest, ReplaysInOrder) {
  uint64_t number = 0;
  ASSERT_TRUE(Manifest::ReadCurrent(&fs_, "/db", &number).ok());
  EXPECT_EQ(number, 5u);
  std::vector<uint64_t> seen;
  ASSERT_TRUE(Replay(&seen).ok());
  EXPECT_EQ(seen, (std::vector<uint64_t>{100, 101, 102, 103}));
}

TEST_F(ManifestTest, TruncationKeepsAPrefixOrIsReported) {
  ASSERT_TRUE(fs_.DeleteFile(MirrorFileName("/db", 5)).ok());
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, path_, &data).ok());
  const std::vector<uint64_t> all = {100, 101, 102, 103};
  for (size_t n = 0; n < data.size(); ++n) {
    Overwrite(path_, data.substr(0, n));
    std::vector<uint64_t> seen;
    Status s = Replay(&seen);
    if (s.ok()) {
      ASSERT_GE(seen.size(), 1u) << n;
      EXPECT_TRUE(std::equal(seen.begin(), seen.end(), all.begin())) << n;
    } else {
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    }
  }
}

TEST_F(ManifestTest, FlippedBitIsNeverAnotherState) {
  ASSERT_TRUE(fs_.DeleteFile(MirrorFileName("/db", 5)).ok());
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, path_, &data).ok());
  const std::vector<uint64_t> all = {100, 101, 102, 103};
  for (size_t bit = 0; bit < data.size() * 8; bit += 3) {
    std::string damaged = data;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    Overwrite(path_, damaged);
    std::vector<uint64_t> seen;
    Status s = Replay(&seen);
    // Damage in the last record looks like a commit that never returned.
    if (s.ok()) {
      EXPECT_GE(seen.size(), 3u) << bit;
      EXPECT_TRUE(std::equal(seen.begin(), seen.end(), all.begin())) << bit;
    } else {
      EXPECT_FALSE(s.ToString().find("MANIFEST-000005") == std::string::npos) << s.ToString();
    }
  }
}

// The mirror has nothing that was not durable in the manifest before.
TEST_F(ManifestTest, WhatTheMirrorHasIsMissed) {
  const std::vector<uint64_t> all = {100, 101, 102, 103};
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, path_, &data).ok());
  for (size_t at = 0; at < data.size(); ++at) {
    for (const bool cut : {true, false}) {
      std::string damaged = cut ? data.substr(0, at) : data;
      if (!cut) damaged[at] ^= 0x10;
      Overwrite(path_, damaged);
      std::vector<uint64_t> seen;
      const Status s = Replay(&seen);
      ASSERT_TRUE(s.IsCorruption()) << at << ": " << s.ToString();
      EXPECT_NE(s.ToString().find(path_), std::string::npos) << s.ToString();
      ASSERT_TRUE(std::equal(seen.begin(), seen.end(), all.begin())) << at;
      if (seen.empty()) continue;  // neither header nor snapshot: it says so as it does without a mirror
      EXPECT_NE(s.ToString().find(" at offset "), std::string::npos) << s.ToString();
    }
  }
}

// A mirror that ends early, or is itself damaged there, has nothing to say of a torn commit.
TEST_F(ManifestTest, ATornCommitIsNotMissedByTheMirror) {
  const std::string mirror = MirrorFileName("/db", 5);
  std::string data, without;
  ASSERT_TRUE(ReadFileToString(&fs_, path_, &data).ok());
  {
    std::unique_ptr<Manifest> manifest;
    ASSERT_TRUE(Manifest::Create(&fs_, "/db", 5, {FullEdit(0)}, &manifest).ok());
    for (uint64_t i = 1; i < 3; ++i) ASSERT_TRUE(manifest->Append({FullEdit(i)}).ok());
    ASSERT_TRUE(manifest->Close().ok());
  }
  ASSERT_TRUE(ReadFileToString(&fs_, mirror, &without).ok());
  ASSERT_LT(without.size(), data.size());
  for (size_t end = 0; end < data.size(); end += end < without.size() ? 50 : 1) {
    Overwrite(path_, data.substr(0, std::max(end, without.size())));
    Overwrite(mirror, data.substr(0, end));
    std::vector<uint64_t> seen;
    const Status s = Replay(&seen);
    ASSERT_TRUE(s.ok()) << end << ": " << s.ToString();
    EXPECT_EQ(seen, (std::vector<uint64_t>{100, 101, 102}));
  }
}

// A reader next to a writer may come to the end of the manifest, and then find a newer record in the
// mirror.
TEST_F(ManifestTest, ACommitWhileTheManifestIsReadIsNoDamage) {
  FaultInjectionFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("/db").ok());
  std::unique_ptr<Manifest> manifest;
  ASSERT_TRUE(Manifest::Create(&fs, "/db", 5, {FullEdit(0)}, &manifest).ok());
  uint64_t commits = 0;
  fs.SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kOpen || path.find("MIRROR") == std::string::npos || commits == 3) return;
    ASSERT_TRUE(manifest->Append({FullEdit(++commits)}).ok());
  });
  std::vector<uint64_t> seen;
  uint64_t offset = 0;
  for (const uint64_t expected : {3, 3}) {
    const Status s = Manifest::Follow(&fs, "/db", 5, &offset, [&](const EditRecord& edits) {
      for (const VersionEdit& e : edits) seen.push_back(*e.next_number);
      return Status::OK();
    });
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(seen.size(), expected + 1);
  }
}

// If one of the two is damaged or lost, the other one has everything.
TEST_F(ManifestTest, TheMirrorIsUsedInstead) {
  const std::vector<uint64_t> all = {100, 101, 102, 103};
  const std::string mirror = MirrorFileName("/db", 5);
  std::string data, same;
  ASSERT_TRUE(ReadFileToString(&fs_, path_, &data).ok());
  ASSERT_TRUE(ReadFileToString(&fs_, mirror, &same).ok());
  ASSERT_EQ(data, same);
  std::vector<uint64_t> seen;
  bool whole = false;
  ASSERT_TRUE(Salvage(&seen, &whole).ok());
  EXPECT_TRUE(whole);
  EXPECT_EQ(seen, all);
  for (const std::string& victim : {path_, mirror}) {
    for (size_t at = 0; at < data.size(); ++at) {
      std::string damaged = data;
      damaged[at] ^= 0x20;
      Overwrite(victim, damaged);
      Salvage(&seen, &whole).PermitUncheckedError();
      ASSERT_EQ(seen, all) << at;
      ASSERT_EQ(whole, victim == mirror) << at;
      Overwrite(victim, data.substr(0, at));
      Salvage(&seen, &whole).PermitUncheckedError();
      ASSERT_EQ(seen, all) << at;
    }
    ASSERT_TRUE(fs_.DeleteFile(victim).ok());
    Salvage(&seen, &whole).PermitUncheckedError();
    EXPECT_EQ(seen, all);
    Overwrite(victim, data);
  }
  // Both, at different places; then at the same one.
  std::string first = data, second = data;
  first[data.size() / 4] ^= 1;
  second[data.size() - 20] ^= 1;
  Overwrite(path_, first);
  Overwrite(mirror, second);
  Salvage(&seen, &whole).PermitUncheckedError();
  EXPECT_EQ(seen, all);
  Overwrite(path_, second);
  Salvage(&seen, &whole).PermitUncheckedError();
  EXPECT_EQ(seen, (std::vector<uint64_t>{100, 101, 102}));
}

TEST_F(ManifestTest, AMirrorThatCannotBeWrittenIsDoneWithout) {
  FaultInjectionFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("/db").ok());
  fs.FailNth(FaultOp::kWrite, 3, "MIRROR", Status::IOError("injected"));
  std::unique_ptr<Manifest> manifest;
  ASSERT_TRUE(Manifest::Create(&fs, "/db", 5, {FullEdit(0)}, &manifest).ok());
  for (uint64_t i = 1; i < 4; ++i) ASSERT_TRUE(manifest->Append({FullEdit(i)}).ok());
  EXPECT_EQ(fs.faults_injected(), 1u);
  ASSERT_TRUE(manifest->Close().ok());
  for (FaultOp op : {FaultOp::kCreate, FaultOp::kSync}) {
    fs.FailAll(op, "MIRROR", Status::IOError("injected"));
    ASSERT_TRUE(Manifest::Create(&fs, "/db", 6, {FullEdit(0)}, &manifest).ok());
    ASSERT_TRUE(manifest->Append({FullEdit(1)}).ok());
    ASSERT_TRUE(manifest->Close().ok());
    fs.ClearFaults();
  }
}

TEST_F(ManifestTest, ALargeCurrentIsNotReadWhole) {
  Overwrite("/db/CURRENT", std::string(100000, 'x'));
  uint64_t number = 0;
  const Status s = Manifest::ReadCurrent(&fs_, "/db", &number);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("/db/CURRENT: is larger than 8192 bytes"), std::string::npos) << s.ToString();
}

TEST_F(ManifestTest, DamagedCurrentIsCorruption) {
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, "/db/CURRENT", &data).ok());
  for (size_t bit = 0; bit < data.size() * 8; ++bit) {
    std::string damaged = data;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    Overwrite("/db/CURRENT", damaged);
    uint64_t number = 0;
    const Status s = Manifest::ReadCurrent(&fs_, "/db", &number);
    EXPECT_TRUE(s.IsCorruption()) << bit << ": " << s.ToString();
  }
}

TEST_F(ManifestTest, NewerCurrentIsRefusedByItsVersion) {
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, "/db/CURRENT", &data).ok());
  data.replace(data.find(" 1 "), std::string::npos, " 12 ");
  const uint32_t checksum = Checksum32(data, 0x43555252454e5421);  // docs/formats/manifest.md
  Overwrite("/db/CURRENT", data + std::to_string(checksum) + "\n");
  uint64_t number = 0;
  const Status s = Manifest::ReadCurrent(&fs_, "/db", &number);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find("/db/CURRENT: format version 12"), std::string::npos) << s.ToString();
}

TEST_F(ManifestTest, RocksDBDirectoryIsRefusedByName) {
  Overwrite("/db/CURRENT", "MANIFEST-000005\n");
  ASSERT_TRUE(fs_.DeleteFile(MirrorFileName("/db", 5)).ok());
  uint64_t number = 0;
  Status s = Manifest::ReadCurrent(&fs_, "/db", &number);
  EXPECT_TRUE(s.IsCorruption());  // the manifest is ours
  Overwrite("/db/MANIFEST-000005", "not ours");
  s = Manifest::ReadCurrent(&fs_, "/db", &number);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("compassdb import"), std::string::npos);
}

// Theirs has no mirror.
TEST_F(ManifestTest, CurrentThatWasCutOffIsDamage) {
  Overwrite("/db/CURRENT", "MANIFEST-000005\n");
  uint64_t number = 0;
  const Status s = Manifest::ReadCurrent(&fs_, "/db", &number);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

}  // namespace
}  // namespace compassdb
