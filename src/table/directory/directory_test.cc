// SPDX-License-Identifier: Apache-2.0
#include "table/directory/directory.h"

#include "table/directory/paged_directory.h"
#include "table/table_test_util.h"

namespace compassdb {
namespace {

struct Model {
  std::vector<DirectoryEntry> entries;  // by h1
  size_t pieces = 0;
};

Model RandomModel(Random* rnd, size_t keys, size_t pieces) {
  Model m;
  m.pieces = pieces;
  for (size_t i = 0; i < keys; ++i) {
    m.entries.push_back({rnd->Next(), rnd->Next(), static_cast<uint32_t>(rnd->Uniform(pieces))});
  }
  std::sort(m.entries.begin(), m.entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.h1 < b.h1; });
  return m;
}

std::unique_ptr<Directory> Open(const Model& m, std::string* bytes,
                                uint32_t fingerprints = kBottomFingerprints,
                                perfect_hash::Kind kind = perfect_hash::Kind::kPilot) {
  EXPECT_TRUE(BuildDirectory(m.entries, m.pieces, fingerprints, {.kind = kind, .seed = 7}, bytes));
  std::unique_ptr<Directory> d;
  EXPECT_OK(Directory::Open(*bytes, &d));
  return d;
}

TEST(DirectoryTest, EveryKeyNamesItsPiece) {
  Random rnd(1);
  for (size_t pieces : {1, 2, 3, 16, 17, 1024}) {
    for (size_t keys : {1, 2, 5, 100, 20000}) {
      for (uint32_t fingerprints : {1u, kBottomFingerprints, kUpperFingerprints, 1u << 20}) {
        const Model m = RandomModel(&rnd, keys, pieces);
        std::string bytes;
        const auto d = Open(m, &bytes, fingerprints);
        ASSERT_NE(d, nullptr);
        EXPECT_EQ(d->num_keys(), keys);
        EXPECT_GE(d->fingerprints(), fingerprints);
        for (const DirectoryEntry& e : m.entries) {
          const DirectoryHit hit = d->Lookup({e.h1, e.h2});
          ASSERT_EQ(hit.kind, DirectoryHit::kPiece);
          ASSERT_EQ(hit.piece, e.piece);
        }
        const IndexMemory memory = d->Memory();
        EXPECT_GE(memory.perfect_hash + memory.fingerprints + memory.pieces + memory.other,
                  bytes.size());
      }
    }
  }
}

TEST(DirectoryTest, EveryKindOfPerfectHash) {
  Random rnd(4);
  for (const size_t keys : {0, 1, 5, 30000}) {
    const Model m = RandomModel(&rnd, keys, 2);
    std::string default_bytes;
    std::string bytes;
    Open(m, &default_bytes);
    const auto d = Open(m, &bytes, kBottomFingerprints, perfect_hash::Kind::kCpHash);
    ASSERT_NE(d, nullptr);
    EXPECT_NE(bytes, default_bytes);
    for (const DirectoryEntry& e : m.entries) {
      const DirectoryHit hit = d->Lookup({e.h1, e.h2});
      ASSERT_EQ(hit.kind, DirectoryHit::kPiece);
      ASSERT_EQ(hit.piece, e.piece);
    }
    std::string threaded;
    ASSERT_TRUE(BuildDirectory(m.entries, m.pieces, kBottomFingerprints,
                               {.kind = perfect_hash::Kind::kCpHash, .seed = 7, .threads = 2},
                               &threaded));
    EXPECT_EQ(bytes, threaded);
  }
}

TEST(DirectoryTest, AbsentKeysRarelyMatch) {
  Random rnd(2);
  for (size_t pieces : {1, 3, 16, 17}) {
    for (uint32_t fingerprints : {kBottomFingerprints, kUpperFingerprints}) {
      const Model m = RandomModel(&rnd, 50000, pieces);
      std::string bytes;
      const auto d = Open(m, &bytes, fingerprints);
      uint32_t matches = 0;
      for (int i = 0; i < 100000; ++i) {
        if (d->Lookup({rnd.Next(), rnd.Next()}).kind != DirectoryHit::kAbsent) ++matches;
      }
      EXPECT_LE(matches, 130000 / fingerprints) << pieces;
    }
  }
}

TEST(DirectoryTest, SixteenPiecesTakeTwelveBits) {
  Random rnd(6);
  const Model m = RandomModel(&rnd, 50000, 16);
  std::string bytes;
  const IndexMemory memory = Open(m, &bytes)->Memory();
  EXPECT_LT((memory.fingerprints + memory.pieces) * 8, 50000 * 12.3);
  EXPECT_LT(bytes.size() * 8, 50000 * 14.8);
}

TEST(DirectoryTest, NoKeys) {
  for (size_t pieces : {0, 2}) {
    Model m;
    m.pieces = pieces;
    std::string bytes;
    const auto d = Open(m, &bytes);
    EXPECT_EQ(d->Lookup({1, 2}).kind, DirectoryHit::kAbsent);
    EXPECT_EQ(d->num_keys(), 0u);
    EXPECT_EQ(d->num_pieces(), pieces);
  }
}

TEST(DirectoryTest, KeysOfOneHashAreAmbiguous) {
  Random rnd(3);
  Model m = RandomModel(&rnd, 1000, 10);
  std::vector<uint64_t> shared;
  for (size_t i = 10; i < 500; i += 50) {
    for (size_t k = 1; k <= i % 3 + 1; ++k) m.entries[i + k].h1 = m.entries[i].h1;
    shared.push_back(m.entries[i].h1);
  }
  std::string bytes;
  const auto d = Open(m, &bytes);
  EXPECT_EQ(d->num_keys(), 1000u);
  for (const DirectoryEntry& e : m.entries) {
    const bool ambiguous = std::count(shared.begin(), shared.end(), e.h1) > 0;
    EXPECT_EQ(d->IsAmbiguous(e.h1), ambiguous);
    const DirectoryHit hit = d->Lookup({e.h1, e.h2});
    ASSERT_EQ(hit.kind, ambiguous ? DirectoryHit::kAmbiguous : DirectoryHit::kPiece);
    if (!ambiguous) {
      ASSERT_EQ(hit.piece, e.piece);
    }
  }
}

TEST(DirectoryTest, RefusesWhatDoesNotFit) {
  std::string bytes;
  using Entries = std::vector<DirectoryEntry>;
  EXPECT_FALSE(BuildDirectory(Entries{{1, 1, 1}}, 1, 255, {}, &bytes));
  EXPECT_FALSE(BuildDirectory(Entries{{2, 1, 0}, {1, 1, 0}}, 1, 255, {}, &bytes));
  EXPECT_FALSE(BuildDirectory({}, 1025, 255, {}, &bytes));
  EXPECT_FALSE(BuildDirectory({}, 1, 0, {}, &bytes));
  EXPECT_FALSE(BuildDirectory({}, 1, UINT32_MAX, {}, &bytes));
}

TEST(DirectoryTest, DamagedBytesStayInBounds) {
  Random rnd(4);
  Model m = RandomModel(&rnd, 300, 3);
  m.entries[5].h1 = m.entries[4].h1;
  std::string good;
  Open(m, &good);
  const auto use = [&](const std::string& bytes) {
    std::unique_ptr<Directory> d;
    if (!Directory::Open(bytes, &d).ok()) return;
    for (const DirectoryEntry& e : m.entries) {
      const DirectoryHit hit = d->Lookup({e.h1, e.h2});
      if (hit.kind == DirectoryHit::kPiece) {
        ASSERT_LT(hit.piece, d->num_pieces());
      }
    }
  };
  for (size_t cut = 0; cut < good.size(); ++cut) {
    std::unique_ptr<Directory> d;
    EXPECT_FALSE(Directory::Open(good.substr(0, cut), &d).ok()) << cut;
  }
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    for (uint64_t i = 0; i <= rnd.Uniform(3); ++i) {
      bad[rnd.Uniform(bad.size())] = static_cast<char>(rnd.Next());
    }
    use(bad);
  }
}

class DirectoryFileTest : public TableTest {
 protected:
  // As the whole of file 9, with id 555.
  void WriteAsFile(const Model& m, Extent* extent) {
    std::string bytes;
    ASSERT_TRUE(BuildDirectory(m.entries, m.pieces, kBottomFingerprints, {.seed = 7}, &bytes));
    std::unique_ptr<CompactionFileWriter> file;
    ASSERT_OK(CompactionFileWriter::Create(&fs_, PathOf(9), 9, 555, FileOptions(), &file));
    ASSERT_OK(WriteDirectory(file.get(), bytes, extent));
    ASSERT_OK(file->Finish());
  }
};

TEST_F(DirectoryFileTest, ExtentRoundTripAndEveryFlippedBit) {
  Random rnd(5);
  const Model m = RandomModel(&rnd, 50, 2);
  Extent extent;
  WriteAsFile(m, &extent);
  std::unique_ptr<Directory> d;
  ASSERT_OK(ReadDirectory(files_.get(), extent, 555, &d));
  EXPECT_EQ(d->num_keys(), 50u);
  EXPECT_TRUE(ReadDirectory(files_.get(), extent, 556, &d).IsCorruption());
  Extent longer = extent;
  ++longer.length;
  EXPECT_TRUE(ReadDirectory(files_.get(), longer, 555, &d).IsCorruption());

  const std::string good = ReadFile(9);
  for (size_t byte = extent.offset; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << rnd.Uniform(8)));
    WriteFile(9, bad);
    Status s = ReadDirectory(files_.get(), extent, 555, &d);
    EXPECT_TRUE(s.IsCorruption()) << byte;
    EXPECT_NE(s.ToString().find(PathOf(9)), std::string::npos);
    WriteFile(9, good.substr(0, byte));
    EXPECT_TRUE(ReadDirectory(files_.get(), extent, 555, &d).IsCorruption()) << byte;
  }
}

// Head and pages, each read alone: the answers of the whole, and damage noticed by the part it is in.
TEST_F(DirectoryFileTest, PartsReadAlone) {
  Random rnd(6);
  const Model m = RandomModel(&rnd, 5000, 3);
  Extent extent;
  WriteAsFile(m, &extent);

  std::unique_ptr<const DirectoryHead> head;
  std::vector<std::unique_ptr<char[]>> pages;
  const auto read = [&](uint64_t keys) {
    pages.clear();
    Status s = ReadDirectoryHead(files_.get(), extent, 555, keys, &head);
    for (uint64_t i = 0; s.ok() && i < head->num_pages(); ++i) {
      s = ReadDirectoryPage(files_.get(), extent, 555, *head, i, &pages.emplace_back());
    }
    return s;
  };
  for (const uint64_t expected_keys : {uint64_t{0}, uint64_t{5000}, uint64_t{1} << 30}) {
    ASSERT_OK(read(expected_keys));
    EXPECT_EQ(head->num_keys(), 5000u);
    ASSERT_EQ(pages.size(), 3u);
    for (const DirectoryEntry& e : m.entries) {
      const uint64_t slot = head->SlotOf({e.h1, e.h2});
      const char* page = pages[slot / head->page_slots()].get();
      const DirectoryHit hit =
          head->Read(head->SlotAt(page, slot % head->page_slots()), {e.h1, e.h2});
      ASSERT_EQ(hit.kind, DirectoryHit::kPiece);
      ASSERT_EQ(hit.piece, e.piece);
    }
  }
  const std::string good = ReadFile(9);
  for (size_t byte = extent.offset; byte < good.size(); byte += 1 + rnd.Uniform(5)) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << rnd.Uniform(8)));
    WriteFile(9, bad);
    const Status s = read(5000);
    EXPECT_TRUE(s.IsCorruption()) << byte;
    EXPECT_NE(s.ToString().find(PathOf(9)), std::string::npos);
  }
  WriteFile(9, good.substr(0, good.size() - 1));
  EXPECT_TRUE(read(5000).IsCorruption());
}

// The parts of a head must agree with each other.
TEST(DirectoryTest, HeadsMustAgreeWithThemselves) {
  Random rnd(8);
  const Model m = RandomModel(&rnd, 300, 3);
  std::string whole;
  Open(m, &whole);
  uint64_t length = 0;
  ASSERT_TRUE(DirectoryHead::Length(whole.data(), whole.size(), &length));
  const std::string good = whole.substr(0, length);
  const auto open = [](const std::string& bytes) {
    std::unique_ptr<const DirectoryHead> head;
    const Status s = DirectoryHead::Open(bytes, &head);
    EXPECT_EQ(s.ok(), head != nullptr);
    return s.ToString();
  };
  EXPECT_EQ(open(good), "OK");
  EXPECT_EQ(open(good.substr(0, kDirectoryHeaderBytes - 1)), "Corruption: directory: shorter than its header");
  EXPECT_EQ(open(good + "x"), "Corruption: directory: parts do not fill it");
  const auto with32 = [&](size_t at, uint32_t v) {
    std::string bad = good;
    EncodeFixed32(bad.data() + at, v);
    return open(bad);
  };
  const auto with64 = [&](size_t at, uint64_t v) {
    std::string bad = good;
    EncodeFixed64(bad.data() + at, v);
    return open(bad);
  };
  EXPECT_EQ(with64(0, 1), "Corruption: directory: bad magic number");
  EXPECT_EQ(with32(8, kDirectoryVersion + 1),
            "Not implemented: directory: has format version 4, this release reads version 3");
  EXPECT_EQ(with64(56, (uint64_t{1} << 48) + 1), "Corruption: directory: parts do not fill it");
  EXPECT_EQ(with32(12, kMaxDirectoryPieces + 1), "Corruption: directory: too many pieces");
  EXPECT_EQ(with32(48, kMaxSlotBits + 1), "Corruption: directory: slot layout does not fit the number of pieces");
  EXPECT_EQ(with64(40, 1), "Corruption: directory: slot layout does not fit the number of pieces");
  EXPECT_EQ(with64(64, 0), "Corruption: directory: bad page size");
  EXPECT_EQ(with64(64, 12), "Corruption: directory: bad page size");
  EXPECT_EQ(with64(64, uint64_t{1} << 40), "Corruption: directory: bad page size");
  EXPECT_EQ(with64(24, 5), "Corruption: directory: slots do not fit the perfect hash function");
  EXPECT_EQ(with64(16, 299), "Corruption: directory: bad key count");
  // Keys, but slots that cannot hold any.
  std::string bad = good;
  EncodeFixed32(bad.data() + 12, 0);
  EncodeFixed64(bad.data() + 40, 0);
  EXPECT_EQ(open(bad), "Corruption: directory: bad key count");
  EncodeFixed32(bad.data() + 12, 3);
  EncodeFixed32(bad.data() + 48, 1);
  EXPECT_EQ(open(bad), "Corruption: directory: bad key count");
}

TEST(DirectoryTest, SlotsOfNoPiecesTakeNoMemory) {
  Model m;
  std::string bytes;
  const IndexMemory memory = Open(m, &bytes)->Memory();
  EXPECT_EQ(memory.pieces, 0u);
  EXPECT_EQ(memory.fingerprints, 0u);
}

TEST_F(DirectoryFileTest, ExtentsMustLieInTheFile) {
  Random rnd(9);
  Extent extent;
  WriteAsFile(RandomModel(&rnd, 50, 2), &extent);
  std::unique_ptr<Directory> d;
  const auto error = [&](uint64_t offset, uint64_t length) {
    return ReadDirectory(files_.get(), {9, offset, length}, 555, &d).ToString();
  };
  EXPECT_EQ(error(extent.offset, extent.length), "OK");
  EXPECT_EQ(error(extent.offset, kDirectoryHeaderBytes + 3),
            "Corruption: /db/000009.ph: directory at offset " + std::to_string(extent.offset) + ": extent of " +
                std::to_string(kDirectoryHeaderBytes + 3) + " bytes is too short for its header");
  for (const auto& [offset, length] : std::vector<std::pair<uint64_t, uint64_t>>{
           {1 << 20, extent.length}, {UINT64_MAX, extent.length}, {extent.offset + 1, extent.length},
           {extent.offset, UINT64_MAX}}) {
    EXPECT_EQ(error(offset, length), "Corruption: /db/000009.ph: extent of " + std::to_string(length) +
                                         " bytes at offset " + std::to_string(offset) + " does not fit the file of " +
                                         std::to_string(extent.offset + extent.length));
  }
}

TEST_F(DirectoryFileTest, AnExtentLongerThanTheDirectoryIsRefused) {
  Random rnd(9);
  Extent extent;
  WriteAsFile(RandomModel(&rnd, 50, 2), &extent);
  WriteFile(9, ReadFile(9) + std::string(100, 'x'));
  extent.length += 100;
  std::unique_ptr<Directory> d;
  std::unique_ptr<const DirectoryHead> head;
  const std::string error = "Corruption: /db/000009.ph: directory at offset 36: parts do not fill it";
  EXPECT_EQ(ReadDirectory(files_.get(), extent, 555, &d).ToString(), error);
  EXPECT_EQ(ReadDirectoryHead(files_.get(), extent, 555, 50, &head).ToString(), error);
}

// Heads whose checksum is right say where they are, too.
TEST_F(DirectoryFileTest, ForgedHeadsAreRefused) {
  Random rnd(9);
  const Model m = RandomModel(&rnd, 50, 2);
  std::string good;
  ASSERT_TRUE(BuildDirectory(m.entries, m.pieces, kBottomFingerprints, {.seed = 7}, &good));
  const auto error = [&](const std::string& bytes) {
    std::unique_ptr<CompactionFileWriter> file;
    EXPECT_OK(CompactionFileWriter::Create(&fs_, PathOf(9), 9, 555, FileOptions(), &file));
    Extent extent;
    Status s = WriteDirectory(file.get(), bytes, &extent);
    if (!s.ok()) return s.ToString();
    EXPECT_OK(file->Finish());
    files_->Evict(9);
    std::unique_ptr<Directory> d;
    return ReadDirectory(files_.get(), extent, 555, &d).ToString();
  };
  EXPECT_EQ(error(good), "OK");
  std::string bad = good;
  EncodeFixed64(bad.data(), 1);
  EXPECT_EQ(error(bad), "Corruption: /db/000009.ph: directory at offset 36: Corruption: directory: bad magic number");
  bad = good;
  EncodeFixed32(bad.data() + 8, 4);
  EXPECT_EQ(error(bad), "Not implemented: /db/000009.ph: directory at offset 36: Not implemented: directory: "
                        "has format version 4, this release reads version 3");
  EXPECT_EQ(error("short"), "Invalid argument: not a directory");
  bad = good;
  EncodeFixed64(bad.data() + 56, 1 << 20);  // of the function: more than there is
  EXPECT_EQ(error(bad), "Invalid argument: not a directory");
}

TEST_F(DirectoryFileTest, PagedDirectoriesReportDamageInHeadsAndPages) {
  Random rnd(10);
  const Model m = RandomModel(&rnd, 5000, 3);
  TphMeta meta;
  WriteAsFile(m, &meta.directory);
  meta.directory_file_id = 555;
  meta.num_keys = 5000;
  meta.pieces.resize(3);
  const std::string good = ReadFile(9);
  const auto load = [&] { return PagedDirectory(Context(), meta).Load({}).ToString(); };
  const auto lookup = [&](const DirectoryEntry& e) {
    DirectoryHit hit;
    const Status s = PagedDirectory(Context(), meta).Lookup({}, {e.h1, e.h2}, &hit);
    if (s.ok()) {
      EXPECT_EQ(hit.piece, e.piece);
    }
    return s.ToString();
  };
  EXPECT_EQ(load(), "OK");
  EXPECT_EQ(lookup(m.entries[0]), "OK");
  const std::string error = "Corruption: /db/000009.ph: directory at offset 36: checksum mismatch";
  std::string bad = good;
  bad[meta.directory.offset + 16] ^= 1;
  WriteFile(9, bad);
  EXPECT_EQ(load(), error);
  EXPECT_EQ(lookup(m.entries[0]), error);
  bad = good;
  bad[good.size() - 20] ^= 1;  // in the last page
  WriteFile(9, bad);
  EXPECT_EQ(load(), error);
  size_t refused = 0;
  for (size_t i = 0; i < 100; ++i) refused += lookup(m.entries[i]) == error ? 1 : 0;
  EXPECT_GT(refused, 5u);
  EXPECT_LT(refused, 60u);
  WriteFile(9, good);
  meta.num_keys = 4999;
  EXPECT_EQ(load(), "Corruption: table 0: the directory has 5000 keys, the manifest says 4999");
  meta.num_keys = 5000;
  meta.pieces.resize(4);
  EXPECT_EQ(load(), "Corruption: table 0: the directory is of 3 pieces, the manifest names 4");
}

}  // namespace
}  // namespace compassdb
