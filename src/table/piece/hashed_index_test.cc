// SPDX-License-Identifier: Apache-2.0
#include "table/piece/hashed_index.h"

#include "table/piece/piece_format.h"
#include "table/table_test_util.h"

namespace compassdb {
namespace {

// A piece of 1025 keys in hash order: two blocks, two pages of the reverse index.
class HashedIndexTest : public ::testing::Test {
 protected:
  HashedIndexTest() {
    footer_.data_order = static_cast<uint64_t>(DataOrder::kHash);
    footer_.num_blocks = 2;
    footer_.num_keys = OrderPage::kKeys + 1;
    footer_.data_bytes = 1000;
    footer_.order_bytes = 510;
    std::vector<uint64_t> h1;
    std::vector<uint32_t> bytes;
    for (uint64_t i = 0; i < 2; ++i) {
      h1.push_back(i << 63);
      bytes.push_back(500);
    }
    HashedLayout layout;
    EXPECT_TRUE(PlanHashedLayout(DataOrder::kHash, h1, bytes, 500, 450, {.seed = 1}, &layout));
    EXPECT_EQ(layout.block_end.size(), 2u);
    locator_ = layout.locator;
    widths_.index = 10;
    widths_.difference = 7;
  }
  std::string Encoded(uint64_t page_length = 500) const {
    std::string out;
    const uint64_t offsets[] = {0, 400, 1000};
    EXPECT_TRUE(HashedIndex::Encode(offsets, widths_, page_length, locator_, &out));
    return out;
  }
  std::string Parse(const std::string& section, const PieceFooter& footer) {
    return HashedIndex::Parse(section, footer, "piece", &index_).ToString();
  }

  PieceFooter footer_;
  OrderWidths widths_;
  std::string locator_;
  HashedIndex index_;
};

TEST_F(HashedIndexTest, SaysWhereBlocksAndPagesLie) {
  ASSERT_EQ(Parse(Encoded(), footer_), "OK");
  EXPECT_EQ(index_.BlockOffset(1), 400u);
  EXPECT_EQ(index_.BlockLength(1), 600u);
  EXPECT_EQ(index_.num_pages(), 2u);
  EXPECT_EQ(index_.KeysOfPage(1), 1u);
  EXPECT_EQ(index_.Page(1).offset, 1500u);
  EXPECT_EQ(index_.Page(1).length, 10u);
  EXPECT_EQ(index_.Locate(0), 0u);
  EXPECT_EQ(index_.Locate(UINT64_MAX), 1u);
}

TEST_F(HashedIndexTest, OffsetsBeyondTheFormatAreNotEncoded) {
  std::string out;
  const uint64_t offsets[] = {0, uint64_t{1} << 47};
  EXPECT_FALSE(HashedIndex::Encode(offsets, widths_, 500, locator_, &out));
}

TEST_F(HashedIndexTest, HeadersAreChecked) {
  const std::string good = Encoded();
  PieceFooter footer = footer_;
  EXPECT_EQ(Parse("", footer), "Corruption: piece: hashed index: cut off");
  EXPECT_EQ(Parse("x", footer), "Corruption: piece: hashed index: cut off");
  footer.num_blocks = UINT32_MAX;
  EXPECT_EQ(Parse(good, footer), "Corruption: piece: hashed index: cut off");
  const std::string malformed = "Corruption: piece: hashed index: malformed header";
  EXPECT_EQ(Parse(good.substr(0, 2), footer_), malformed);  // no length of a page
  std::string bad = good;
  bad[0] = OrderWidths::kMax;  // and one bit for the block
  EXPECT_EQ(Parse(bad, footer_), malformed);
  bad = good;
  bad[1] = OrderWidths::kMax + 1;
  EXPECT_EQ(Parse(bad, footer_), malformed);
}

TEST_F(HashedIndexTest, PagesFillTheirPlace) {
  const std::string good = Encoded();
  const std::string error = "Corruption: piece: hashed index: the pages of the reverse index do not fill their place";
  PieceFooter footer = footer_;
  footer.num_keys = UINT32_MAX;
  EXPECT_EQ(Parse(good, footer), error);
  footer.num_keys = 0;
  EXPECT_EQ(Parse(good, footer), error);  // but there are blocks
  footer.num_blocks = 0;
  EXPECT_EQ(Parse(good, footer), error);  // but there are bytes of pages
  footer = footer_;
  footer.num_blocks = 0;
  EXPECT_EQ(Parse(good, footer), error);
  footer = footer_;
  footer.order_bytes = 500;  // nothing is left for the second page
  EXPECT_EQ(Parse(good, footer), error);
  footer.order_bytes = 1001;  // more than two
  EXPECT_EQ(Parse(good, footer), error);
  footer.order_bytes = 1000;
  EXPECT_EQ(Parse(good, footer), "OK");
}

TEST_F(HashedIndexTest, BlockOffsetsAndLocatorAreChecked) {
  const std::string good = Encoded();
  PieceFooter footer = footer_;
  footer.data_bytes = uint64_t{1} << 47;
  EXPECT_EQ(Parse(good, footer), "Corruption: piece: hashed index: malformed block offsets");
  EXPECT_EQ(Parse(good.substr(0, 10), footer_), "Corruption: piece: hashed index: malformed block offsets");
  EXPECT_EQ(Parse(good + "x", footer_), "Corruption: piece: hashed index: malformed locator");
  EXPECT_EQ(Parse(good.substr(0, good.size() - 1), footer_), "Corruption: piece: hashed index: malformed locator");
}

}  // namespace
}  // namespace compassdb
