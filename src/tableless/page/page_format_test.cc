// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_format.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tableless/page/page_hash.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/random.h"

namespace compassdb {
namespace {

std::string Image(std::vector<PageRecord>* records) {
  static const std::string values[] = {"", "one", std::string(300, 'x')};
  static const std::string keys[] = {"", "key", std::string(200, 'k')};
  records->clear();
  for (int i = 0; i < 3; ++i) {
    records->push_back({keys[i], values[i], static_cast<SequenceNumber>(i) << 40, i == 1});
  }
  std::string image = "before";
  const size_t begin = image.size();
  PageBuilder builder(&image);
  for (const PageRecord& r : *records) builder.Add(r);
  builder.Finish(12, 34, 77);
  return image.substr(begin);
}

TEST(PageFormatTest, RoundTrip) {
  std::vector<PageRecord> records, again;
  const std::string image = Image(&records);
  size_t size = kPageHeaderBytes;
  for (const PageRecord& r : records) size += EncodedSize(r);
  EXPECT_EQ(image.size(), size);
  Slice found;
  const std::string page = image + std::string(1000, '\0');
  ASSERT_TRUE(CheckPage(page, 12, 34, &found).ok());
  EXPECT_EQ(FoldedOf(found), 77u);
  ASSERT_TRUE(ListPageRecords(found, &again).ok());
  ASSERT_EQ(again.size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(again[i].user_key, records[i].user_key);
    EXPECT_EQ(again[i].value, records[i].value);
    EXPECT_EQ(again[i].sequence, records[i].sequence);
    EXPECT_EQ(again[i].entity, records[i].entity);
    PageRecord one;
    bool damaged = false;
    EXPECT_TRUE(FindPageRecord(found, records[i].user_key, &one, &damaged));
    EXPECT_EQ(one.value, records[i].value);
  }
  PageRecord none;
  bool damaged = false;
  EXPECT_FALSE(FindPageRecord(found, "other", &none, &damaged));
  EXPECT_FALSE(damaged);
}

TEST(PageFormatTest, WithoutAJournal) {
  std::vector<PageRecord> records, again;
  const std::string journaled = Image(&records);
  std::string image;
  PageBuilder builder(&image);
  for (const PageRecord& r : records) builder.Add(r);
  builder.FinishInPlace(12, 34, 78, {-3, 4000});
  EXPECT_EQ(image.size(), journaled.size() + kPageChangeBytes);
  Slice found;
  PageChange change;
  ASSERT_TRUE(CheckPage(journaled, 12, 34, &found).ok());
  EXPECT_FALSE(WrittenInPlace(found));
  image += std::string(1000, '\0');
  ASSERT_TRUE(CheckPage(image, 12, 34, &found).ok());
  EXPECT_EQ(found.size(), journaled.size() - kPageHeaderBytes);
  EXPECT_EQ(FoldedOf(found), 78u);
  EXPECT_TRUE(WrittenInPlace(found, &change));
  EXPECT_EQ(change.records, -3);
  EXPECT_EQ(change.bytes, 4000);
  ASSERT_TRUE(ListPageRecords(found, &again).ok());
  EXPECT_EQ(again.size(), records.size());
  for (size_t i = 0; i < journaled.size() + kPageChangeBytes; ++i) {
    image[i] ^= 1;
    EXPECT_FALSE(CheckPage(image, 12, 34, &found).ok()) << i;
    image[i] ^= 1;
  }
  // Records that leave no room for the change.
  std::string none;
  PageBuilder(&none).FinishInPlace(12, 34, 78, {});
  ASSERT_TRUE(CheckPage(none, 12, 34, &found).ok());
  EXPECT_TRUE(found.empty());
  EncodeFixed32(none.data() + 4, kPageHeaderBytes + 4);
  char place[16];
  EncodeFixed64(place, 12);
  EncodeFixed64(place + 8, 34);
  EncodeFixed32(none.data(), Crc32cExtend(Crc32c(place, sizeof(place)), none.data() + 4, kPageHeaderBytes));
  EXPECT_TRUE(CheckPage(none, 12, 34, &found).IsCorruption());
}

TEST(PageFormatTest, TheFirstVersionIsRead) {
  std::vector<PageRecord> records, again;
  std::string image = Image(&records);
  const auto as_version = [&](uint64_t last) {
    EncodeFixed64(image.data() + 8, last);
    char place[16];
    EncodeFixed64(place, 12);
    EncodeFixed64(place + 8, 34);
    EncodeFixed32(image.data(), Crc32cExtend(Crc32c(place, sizeof(place)), image.data() + 4, image.size() - 4));
  };
  Slice found;
  as_version(uint64_t{1} << 32 | 3);
  ASSERT_TRUE(CheckPage(image, 12, 34, &found).ok());
  EXPECT_EQ(FoldedOf(found), 0u);
  ASSERT_TRUE(ListPageRecords(found, &again).ok());
  EXPECT_EQ(again.size(), 3u);
  for (const uint64_t version : {uint64_t{0}, uint64_t{2} << 32, uint64_t{4} << 56}) {
    as_version(version | 3);
    EXPECT_TRUE(CheckPage(image, 12, 34, &found).IsNotSupported()) << version;
  }
}

TEST(PageFormatTest, EveryFlippedBitAndEveryCutIsNoticed) {
  std::vector<PageRecord> records;
  const std::string image = Image(&records);
  Slice found;
  for (size_t bit = 0; bit < 8 * image.size(); ++bit) {
    std::string damaged = image;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_TRUE(CheckPage(damaged, 12, 34, &found).IsCorruption()) << bit;
  }
  for (size_t n = 0; n < image.size(); ++n) {
    EXPECT_TRUE(CheckPage(Slice(image.data(), n), 12, 34, &found).IsCorruption()) << n;
  }
}

TEST(PageFormatTest, TornZeroedAndMisplacedPagesAreNoticed) {
  std::vector<PageRecord> records;
  const std::string image = Image(&records);
  std::string older;
  PageBuilder builder(&older);
  const std::string value(600, 'o');
  builder.Add({"key", value, 5, false});
  builder.Finish(12, 34, 77);
  Slice found;
  ASSERT_TRUE(CheckPage(older, 12, 34, &found).ok());
  for (size_t torn = 1; torn < image.size(); ++torn) {
    const std::string mixed = image.substr(0, torn) + older.substr(torn);
    EXPECT_TRUE(CheckPage(mixed, 12, 34, &found).IsCorruption()) << torn;
  }
  EXPECT_TRUE(CheckPage(std::string(4096, '\0'), 12, 34, &found).IsCorruption());
  EXPECT_TRUE(CheckPage(image, 13, 34, &found).IsCorruption());
  EXPECT_TRUE(CheckPage(image, 12, 35, &found).IsCorruption());
}

TEST(PageHashTest, RehashKeepsTheOrder) {
  Random rnd(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t wanted = 1 + rnd.Uniform(1 << (1 + rnd.Uniform(29)));
    const uint64_t pages = NormalPages(wanted);
    EXPECT_LE(pages, wanted);
    EXPECT_GE(2 * pages, wanted);
    EXPECT_EQ(NormalPages(pages), pages);
    const uint64_t last = (uint64_t{1} << kMasterBits) - 1;
    EXPECT_EQ(last / PageDivisor(pages), pages - 1);
  }
  // Every section and page gets its share.
  constexpr uint32_t kSections = 7;
  const uint64_t pages = NormalPages(100);
  std::vector<int> counts(kSections * pages);
  const KeyHasher hasher(42);
  for (int i = 0; i < 200000; ++i) {
    const MasterHash master = MasterHashOf(hasher("key" + std::to_string(i)), kSections);
    ASSERT_LT(master.section, kSections);
    ++counts[master.section * pages + master.value / PageDivisor(pages)];
  }
  const double mean = 200000.0 / static_cast<double>(counts.size());
  for (int count : counts) EXPECT_NEAR(count, mean, 6 * std::sqrt(mean));
}

}  // namespace
}  // namespace compassdb
