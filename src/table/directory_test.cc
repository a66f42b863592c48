// SPDX-License-Identifier: Apache-2.0
#include "table/directory.h"

#include "table/table_test_util.h"

namespace compassdb {
namespace {

struct Model {
  std::vector<DirectoryEntry> entries;  // by h1
  std::vector<uint64_t> blocks;
};

Model RandomModel(Random* rnd, size_t keys, std::vector<uint64_t> blocks) {
  Model m;
  m.blocks = std::move(blocks);
  for (size_t i = 0; i < keys; ++i) {
    DirectoryEntry e;
    e.h1 = rnd->Next();
    e.h2 = rnd->Next();
    do {
      e.piece = static_cast<uint32_t>(rnd->Uniform(m.blocks.size()));
    } while (m.blocks[e.piece] == 0);
    e.block = static_cast<uint32_t>(rnd->Uniform(m.blocks[e.piece]));
    m.entries.push_back(e);
  }
  std::sort(m.entries.begin(), m.entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.h1 < b.h1; });
  return m;
}

std::unique_ptr<Directory> Open(const Model& m, std::string* bytes) {
  EXPECT_TRUE(BuildDirectory(m.entries, m.blocks, 7, bytes));
  std::unique_ptr<Directory> d;
  EXPECT_OK(Directory::Open(*bytes, &d));
  return d;
}

TEST(DirectoryTest, EveryKeyIsAtItsPlace) {
  Random rnd(1);
  const std::vector<std::vector<uint64_t>> shapes = {
      {1},          {2},       {1000000}, {0, 5, 0, 0, 3, 0}, std::vector<uint64_t>(16, 100),
      {3, 1, 4000}, {1 << 30}, std::vector<uint64_t>(17, 9),  std::vector<uint64_t>(1024, 50)};
  for (const auto& shape : shapes) {
    for (size_t keys : {1, 2, 5, 100, 20000}) {
      const Model m = RandomModel(&rnd, keys, shape);
      std::string bytes;
      const auto d = Open(m, &bytes);
      ASSERT_NE(d, nullptr);
      EXPECT_EQ(d->num_keys(), keys);
      for (const DirectoryEntry& e : m.entries) {
        const DirectoryHit hit = d->Lookup({e.h1, e.h2});
        ASSERT_EQ(hit.kind, DirectoryHit::kPlace);
        ASSERT_EQ(hit.piece, e.piece);
        ASSERT_EQ(hit.block, e.block);
      }
      EXPECT_GE(d->Memory().total(), bytes.size());
    }
  }
}

TEST(DirectoryTest, AbsentKeysRarelyMatch) {
  Random rnd(2);
  for (const std::vector<uint64_t>& shape :
       {std::vector<uint64_t>{255}, std::vector<uint64_t>{257}, std::vector<uint64_t>(16, 1000)}) {
    const Model m = RandomModel(&rnd, 50000, shape);
    std::string bytes;
    const auto d = Open(m, &bytes);
    int matches = 0;
    for (int i = 0; i < 100000; ++i) {
      if (d->Lookup({rnd.Next(), rnd.Next()}).kind != DirectoryHit::kAbsent) ++matches;
    }
    EXPECT_LE(matches, 500);  // 1 in 200; 1 in 256 is expected at most
  }
}

TEST(DirectoryTest, NoKeys) {
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{}, std::vector<uint64_t>{0, 4}}) {
    Model m;
    m.blocks = shape;
    std::string bytes;
    const auto d = Open(m, &bytes);
    EXPECT_EQ(d->Lookup({1, 2}).kind, DirectoryHit::kAbsent);
    EXPECT_EQ(d->num_keys(), 0u);
    EXPECT_EQ(d->num_pieces(), shape.size());
  }
}

TEST(DirectoryTest, KeysOfOneHashAreAmbiguous) {
  Random rnd(3);
  Model m = RandomModel(&rnd, 1000, {100});
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
    ASSERT_EQ(hit.kind, ambiguous ? DirectoryHit::kAmbiguous : DirectoryHit::kPlace);
    if (!ambiguous) {
      ASSERT_EQ(hit.block, e.block);
    }
  }
}

TEST(DirectoryTest, RefusesWhatDoesNotFit) {
  std::string bytes;
  const std::vector<uint64_t> blocks = {4};
  EXPECT_FALSE(BuildDirectory(std::vector<DirectoryEntry>{{1, 1, 0, 4}}, blocks, 0, &bytes));
  EXPECT_FALSE(BuildDirectory(std::vector<DirectoryEntry>{{1, 1, 1, 0}}, blocks, 0, &bytes));
  EXPECT_FALSE(
      BuildDirectory(std::vector<DirectoryEntry>{{2, 1, 0, 0}, {1, 1, 0, 0}}, blocks, 0, &bytes));
  EXPECT_FALSE(BuildDirectory({}, std::vector<uint64_t>(1025, 1), 0, &bytes));
  EXPECT_FALSE(BuildDirectory({}, std::vector<uint64_t>(4, UINT64_MAX / 2), 0, &bytes));
}

TEST(DirectoryTest, DamagedBytesStayInBounds) {
  Random rnd(4);
  Model m = RandomModel(&rnd, 300, {20, 3, 9});
  m.entries[5].h1 = m.entries[4].h1;
  std::string good;
  Open(m, &good);
  const auto use = [&](const std::string& bytes) {
    std::unique_ptr<Directory> d;
    if (!Directory::Open(bytes, &d).ok()) return;
    for (const DirectoryEntry& e : m.entries) {
      const DirectoryHit hit = d->Lookup({e.h1, e.h2});
      if (hit.kind == DirectoryHit::kPlace) {
        ASSERT_LT(hit.piece, d->num_pieces());
        ASSERT_LT(hit.block, d->BlocksOfPiece(hit.piece));
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

class DirectoryFileTest : public TableTest {};

TEST_F(DirectoryFileTest, ExtentRoundTripAndEveryFlippedBit) {
  Random rnd(5);
  const Model m = RandomModel(&rnd, 50, {7, 7});
  std::string bytes;
  ASSERT_TRUE(BuildDirectory(m.entries, m.blocks, 7, &bytes));
  std::unique_ptr<CompactionFileWriter> file;
  ASSERT_OK(CompactionFileWriter::Create(&fs_, PathOf(9), 9, 555, FileOptions(), &file));
  Extent extent;
  ASSERT_OK(WriteDirectory(file.get(), bytes, &extent));
  ASSERT_OK(file->Finish());
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

}  // namespace
}  // namespace compassdb
