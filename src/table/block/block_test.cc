// SPDX-License-Identifier: Apache-2.0
#include "table/block/block.h"

#include <gtest/gtest.h>

#include "table/table_test_util.h"
#include "util/random.h"

namespace compassdb {
namespace {

// A poor hash: that of different keys is often the same.
KeyHash HashOf(const std::string& key) {
  return {0, key.empty() ? 0 : static_cast<uint64_t>(static_cast<unsigned char>(key.back())) % 8};
}

std::string Build(const std::vector<TestRecord>& records, bool share_prefix = true,
                  bool fingerprints = true) {
  BlockBuilder builder(share_prefix, fingerprints);
  for (const TestRecord& r : records) {
    builder.Add(r.key, BlockFingerprint(HashOf(r.key)), r.seq, r.type, r.value);
  }
  const size_t estimate = builder.EstimatedSize();
  std::string payload;
  builder.Finish(&payload);
  EXPECT_TRUE(builder.empty());
  EXPECT_GE(estimate + estimate / 4 + 64, payload.size());
  return payload;
}

std::vector<TestRecord> RandomRecords(Random* rnd, size_t n, const std::string& prefix) {
  std::map<std::string, std::vector<TestRecord>> by_key;
  for (size_t i = 0; i < n; ++i) {
    const std::string key = prefix + rnd->Text(rnd->Uniform(6));
    by_key[key].push_back({key, 1000 + i, kTypeValue, rnd->Bytes(rnd->Skewed(7))});
  }
  std::vector<TestRecord> out;
  for (auto& [key, versions] : by_key) {
    out.insert(out.end(), versions.rbegin(), versions.rend());
  }
  return out;
}

TEST(BlockTest, RoundTripBothWays) {
  Random rnd(1);
  const KeyOrder order;
  for (int round = 0; round < 50; ++round) {
    const auto records = RandomRecords(&rnd, 1 + rnd.Uniform(60), round % 2 ? "some/prefix/" : "");
    const std::string payload = Build(records);
    Block block;
    ASSERT_TRUE(Block::Parse(payload, &block));
    ASSERT_EQ(block.count(), records.size());
    BlockIter iter(block, order);
    size_t i = 0;
    for (iter.SeekToFirst(); iter.Valid(); iter.Next(), ++i) {
      EXPECT_EQ(iter.key().ToString(), IKey(records[i].key, records[i].seq, records[i].type));
      EXPECT_EQ(iter.value().ToString(), records[i].value);
    }
    EXPECT_EQ(i, records.size());
    for (iter.SeekToLast(); iter.Valid(); iter.Prev()) {
      --i;
      EXPECT_EQ(iter.key().ToString(), IKey(records[i].key, records[i].seq, records[i].type));
    }
    EXPECT_EQ(i, 0u);
    EXPECT_OK(iter.status());
  }
}

TEST(BlockTest, SeekAgreesWithAModel) {
  Random rnd(2);
  const KeyOrder order;
  const InternalKeyComparator icmp(rocksdb::BytewiseComparator());
  for (int round = 0; round < 30; ++round) {
    const std::string prefix = round % 2 ? "ab" : "";
    const auto records = RandomRecords(&rnd, 40, prefix);
    const std::string payload = Build(records, true, round % 3 != 0);
    Block block;
    ASSERT_TRUE(Block::Parse(payload, &block));
    BlockIter iter(block, order);
    for (int probe = 0; probe < 200; ++probe) {
      std::string key = rnd.OneIn(2) ? records[rnd.Uniform(records.size())].key
                                     : prefix.substr(0, rnd.Uniform(3)) + rnd.Text(rnd.Uniform(5));
      const SequenceNumber seq = 995 + rnd.Uniform(60);
      const std::string target = IKey(key, seq, kValueTypeForSeek);
      size_t at = 0;
      while (at < records.size() &&
             icmp.Compare(IKey(records[at].key, records[at].seq, records[at].type), target) < 0) {
        ++at;
      }
      iter.Seek(target);
      ASSERT_EQ(iter.Valid(), at < records.size());
      if (iter.Valid()) {
        EXPECT_EQ(iter.index(), at);
      }
      iter.SeekForPrev(target);
      ASSERT_EQ(iter.Valid(), at > 0);
      if (iter.Valid()) {
        EXPECT_EQ(iter.index(), at - 1);
      }

      Block::FindResult found;
      const KeyHash hash = HashOf(key);
      ASSERT_TRUE(block.Find(order, key, probe % 2 ? &hash : nullptr, seq, &found));
      const bool visible = at < records.size() && records[at].key == key;
      EXPECT_EQ(found.found, visible);
      if (visible) {
        EXPECT_EQ(found.record.sequence, records[at].seq);
      }
      const bool present = std::any_of(records.begin(), records.end(),
                                       [&](const TestRecord& r) { return r.key == key; });
      EXPECT_EQ(found.key_present, present);
    }
  }
}

TEST(BlockTest, OddSizes) {
  const std::string big(1 << 20, 'v');
  const std::vector<TestRecord> records = {
      {"", 7, kTypeValue, ""},           {"", 3, kTypeDeletion, ""},
      {std::string(1, '\0'), 1, kTypeMerge, "m"}, {"a", 9, kTypeValue, big},
      {"a", 2, kTypeSingleDeletion, ""}, {std::string(70000, 'z'), 5, kTypeValue, "tail"}};
  for (bool share : {false, true}) {
    const std::string payload = Build(records, share);
    Block block;
    ASSERT_TRUE(Block::Parse(payload, &block));
    BlockIter iter(block, KeyOrder());
    size_t i = 0;
    for (iter.SeekToFirst(); iter.Valid(); iter.Next(), ++i) {
      EXPECT_EQ(iter.key().ToString(), IKey(records[i].key, records[i].seq, records[i].type));
      EXPECT_EQ(iter.value().ToString(), records[i].value);
    }
    EXPECT_EQ(i, records.size());
  }
}

TEST(BlockTest, LargestSequencesAndOneKeyOnly) {
  const std::vector<TestRecord> records = {{"only", kMaxSequenceNumber, kTypeValue, "new"},
                                           {"only", 0, kTypeValue, "old"}};
  const std::string payload = Build(records);
  Block block;
  ASSERT_TRUE(Block::Parse(payload, &block));
  EXPECT_EQ(block.prefix().ToString(), "only");
  const KeyHash only = HashOf("only");
  Block::FindResult found;
  ASSERT_TRUE(block.Find(KeyOrder(), "only", &only, kMaxSequenceNumber, &found));
  EXPECT_TRUE(found.first);
  ASSERT_TRUE(block.Find(KeyOrder(), "only", &only, 5, &found));
  EXPECT_TRUE(found.found);
  EXPECT_FALSE(found.first);
  EXPECT_EQ(found.record.value.ToString(), "old");
  ASSERT_TRUE(block.Find(KeyOrder(), "onl", nullptr, 5, &found));
  EXPECT_FALSE(found.key_present);
  ASSERT_TRUE(block.Find(KeyOrder(), "onlyy", &only, 5, &found));
  EXPECT_FALSE(found.key_present);
}

TEST(BlockTest, CustomComparatorKeepsItsOrder) {
  LengthFirstComparator comparator;
  const KeyOrder order(&comparator);
  const std::vector<TestRecord> records = {
      {"z", 1, kTypeValue, "1"}, {"aa", 2, kTypeValue, "2"}, {"aaa", 3, kTypeValue, "3"}};
  const std::string payload = Build(records, order.bytewise(), false);
  Block block;
  ASSERT_TRUE(Block::Parse(payload, &block));
  EXPECT_TRUE(block.prefix().empty());
  for (const TestRecord& r : records) {
    Block::FindResult found;
    ASSERT_TRUE(block.Find(order, r.key, nullptr, 10, &found));
    ASSERT_TRUE(found.found);
    EXPECT_EQ(found.record.value.ToString(), r.value);
  }
}

// Uses every entry point; memory errors are for the sanitizers to see.
void Exercise(const Slice& payload, const std::string& key) {
  Block block;
  if (!Block::Parse(payload, &block)) return;
  const KeyOrder order;
  Block::FindResult found;
  size_t bytes = 0;
  const KeyHash hash = HashOf(key);
  for (const KeyHash* h : {static_cast<const KeyHash*>(nullptr), &hash}) {
    if (block.Find(order, key, h, 100, &found) && found.found) bytes += found.record.value.size();
  }
  BlockIter iter(block, order);
  int steps = 0;
  for (iter.SeekToFirst(); iter.Valid() && steps < 2000; iter.Next(), ++steps) {
    bytes += iter.key().size() + iter.value().size();
  }
  for (iter.SeekToLast(); iter.Valid() && steps < 4000; iter.Prev(), ++steps) {
    bytes += iter.value().ToString().size();
  }
  iter.Seek(IKey(key, 5));
  iter.SeekForPrev(IKey(key, 5));
  if (iter.Valid()) bytes += iter.key().size();
  EXPECT_LE(bytes, payload.size() * 20000);
}

TEST(BlockTest, DamagedBytesNeverLeaveThePayload) {
  Random rnd(3);
  for (int round = 0; round < 20000; ++round) {
    const std::string bytes = rnd.Bytes(rnd.Skewed(8));
    // A copy of exact size, so that a sanitizer sees the first byte too far.
    std::vector<char> exact(bytes.begin(), bytes.end());
    Exercise(Slice(exact.data(), exact.size()), rnd.Text(3));
  }
  const std::string good = Build(RandomRecords(&rnd, 30, "pre"));
  for (size_t cut = 0; cut < good.size(); ++cut) {
    std::vector<char> exact(good.begin(), good.begin() + static_cast<long>(cut));
    Exercise(Slice(exact.data(), exact.size()), "preabc");
  }
  for (int round = 0; round < 20000; ++round) {
    std::vector<char> exact(good.begin(), good.end());
    for (uint64_t i = 0; i <= rnd.Uniform(3); ++i) {
      exact[rnd.Uniform(exact.size())] = static_cast<char>(rnd.Next());
    }
    Exercise(Slice(exact.data(), exact.size()), "pre" + rnd.Text(2));
  }
}

// More records than a vector register has bytes, all of one fingerprint.
TEST(BlockTest, EveryRecordIsFoundByItsFingerprint) {
  std::vector<TestRecord> records;
  for (int i = 100; i < 180; ++i) {
    records.push_back({"key" + std::to_string(i), 5, kTypeValue, std::to_string(i)});
  }
  for (const bool same : {true, false}) {
    BlockBuilder builder(true, true);
    const auto hash_of = [&](const TestRecord& r) {
      return KeyHash{0, uint64_t{same ? 9u : static_cast<unsigned>(std::stoi(r.value))} << 32};
    };
    for (const TestRecord& r : records) {
      builder.Add(r.key, BlockFingerprint(hash_of(r)), r.seq, r.type, r.value);
    }
    std::string payload;
    builder.Finish(&payload);
    Block block;
    ASSERT_TRUE(Block::Parse(payload, &block));
    Block::FindResult found;
    for (const TestRecord& r : records) {
      const KeyHash hash = hash_of(r);
      ASSERT_TRUE(block.Find(KeyOrder(), r.key, &hash, 10, &found));
      ASSERT_TRUE(found.found) << r.key;
      EXPECT_EQ(found.record.value.ToString(), r.value);
      // The fingerprint decides, not the key: another one is another key's.
      const KeyHash other{0, 255};
      ASSERT_TRUE(block.Find(KeyOrder(), r.key, &other, 10, &found));
      EXPECT_FALSE(found.key_present);
    }
  }
}

TEST(BlockTest, MalformedRecordIsCorruption) {
  std::string payload = Build({{"k", 1, kTypeValue, "value"}});
  payload.resize(payload.size() - 1);
  Block block;
  ASSERT_TRUE(Block::Parse(payload, &block));
  BlockIter iter(block, KeyOrder());
  iter.SeekToFirst();
  EXPECT_FALSE(iter.Valid());
  EXPECT_TRUE(iter.status().IsCorruption());
}

TEST(BlockTest, EstimatesOfNoRecords) {
  for (const bool share : {false, true}) {
    BlockBuilder builder(share, false);
    EXPECT_EQ(builder.EstimatedSize(), 16u);
    // The first record's key is all prefix, if that is shared: the suffix takes no byte.
    const size_t with = builder.EstimatedSizeWith("key", 5, "value");
    EXPECT_EQ(with, 16u + 3 + 5 + 2 + 3);
    builder.Add("key", 0, 5, kTypeValue, "value");
    EXPECT_EQ(builder.EstimatedSize(), with);
  }
}

TEST(BlockTest, HeadersAreChecked) {
  Block block;
  const auto parse = [&](const std::string& count_to_prefix, uint64_t sequence) {
    std::string payload = count_to_prefix;
    PutVarint64(&payload, sequence);
    payload.append(2, '\0');  // an offset
    return Block::Parse(payload, &block);
  };
  const std::string one("\1\0\0", 3);
  EXPECT_TRUE(parse(one, kMaxSequenceNumber));
  EXPECT_FALSE(parse(one, kMaxSequenceNumber + 1));
  EXPECT_FALSE(parse(std::string("\0\0\0", 3), 1));   // no records
  EXPECT_FALSE(parse(std::string("\1\4\0", 3), 1));   // unknown flags
  EXPECT_FALSE(parse(std::string("\1\0\x7f", 3), 1));  // a prefix longer than all
  EXPECT_FALSE(parse(std::string("\7\0\0", 3), 1));   // offsets of seven records
  EXPECT_FALSE(parse(std::string("\7\2\0", 3), 1));   // their fingerprints
  EXPECT_FALSE(Block::Parse(std::string("\1\0\0\xff", 4), &block));
}

TEST(BlockTest, SeeksInNoBlockFindNothing) {
  BlockIter iter;
  iter.Seek(IKey("k", 1));
  EXPECT_FALSE(iter.Valid());
  iter.SeekForPrev(IKey("k", 1));
  EXPECT_FALSE(iter.Valid());
  EXPECT_OK(iter.status());
}

TEST(BlockTest, SeekForPrevStaysOnTheRecordItself) {
  const std::string payload = Build({{"a", 5, kTypeValue, "a5"}, {"a", 3, kTypeValue, "a3"}, {"c", 5, kTypeValue, "c5"}});
  Block block;
  ASSERT_TRUE(Block::Parse(payload, &block));
  BlockIter iter(block, KeyOrder());
  const auto at = [&](const std::string& key, SequenceNumber seq) {
    iter.SeekForPrev(IKey(key, seq));
    EXPECT_OK(iter.status());
    return iter.Valid() ? iter.value().ToString() : "(none)";
  };
  EXPECT_EQ(at("a", 5), "a5");
  EXPECT_EQ(at("a", 3), "a3");
  EXPECT_EQ(at("a", 4), "a5");
  EXPECT_EQ(at("a", 9), "(none)");
  EXPECT_EQ(at("b", 5), "a3");  // c's record has the sequence, but not the key
  EXPECT_EQ(at("c", 5), "c5");
  EXPECT_EQ(at("d", 5), "c5");
}

TEST(BlockTest, SeekForPrevOnADamagedRecordIsCorruption) {
  std::string payload = Build({{"k", 1, kTypeValue, "value"}});
  payload.resize(payload.size() - 1);
  Block block;
  ASSERT_TRUE(Block::Parse(payload, &block));
  BlockIter iter(block, KeyOrder());
  iter.SeekForPrev(IKey("k", 1));
  EXPECT_FALSE(iter.Valid());
  EXPECT_EQ(iter.status().ToString(), "Corruption: data block: malformed record");
  iter.Reset(block, KeyOrder());
  iter.SeekForPrev("short");  // no internal key
  EXPECT_TRUE(iter.status().IsCorruption());
}

}  // namespace
}  // namespace compassdb
