// SPDX-License-Identifier: Apache-2.0
#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "iter/test_support.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::BytewiseComparator;
using rocksdb::PinnableSlice;
using test::TestRecord;

// Values as text: the address of a value.
class Addresses final : public ValueResolver {
 public:
  Status Resolve(const Slice& user_key, const Slice& ref, PinnableSlice* value) const override {
    LogRef at;
    EXPECT_TRUE(at.Parse(ref)) << user_key.ToString(true);
    value->PinSelf(Text(at));
    return Status::OK();
  }
  static std::string Text(const LogRef& ref) {
    return "log " + std::to_string(ref.log) + " at " + std::to_string(ref.offset) + ": " +
           std::to_string(ref.size) + ", " + std::to_string(ref.checksum);
  }
};
const Addresses kAddresses;

std::shared_ptr<MemTable> NewMemTable(size_t write_buffer = 64 << 20, bool index = false, uint32_t parts = 1) {
  MemTableOptions options;
  options.parts = parts;
  options.comparator = BytewiseComparator();
  options.arena_block_size = 64 << 10;
  options.write_buffer_size = write_buffer;
  if (index) options.log_values = &kAddresses;
  return std::make_shared<MemTable>(options, 1);
}

// Of a memtable that indexes the log.
LogRef AddressOf(uint64_t n, uint64_t log = 7) {
  return {log, 1000 * n, static_cast<uint32_t>(64 + n % 1000), static_cast<uint32_t>(n * n)};
}
Status AddAddress(MemTable* m, SequenceNumber seq, const std::string& key, const LogRef& address,
                  bool concurrent = false) {
  m->KeepLog(address.log, nullptr);
  return m->AddAddress(seq, key, address, concurrent);
}

std::string GetAt(const MemTable& m, const std::string& key, SequenceNumber seq) {
  test::AppendOperator op;
  PinnableSlice value;
  GetContext ctx(key, seq, &op, &value);
  m.Get(LookupKey(key, seq), &ctx);
  const Status s = ctx.Finish();
  return s.ok() ? value.ToString() : s.ToString();
}

TEST(MemTable, ReadsSeeWhatTheirSequenceSees) {
  auto m = NewMemTable();
  ASSERT_TRUE(m->Add(5, kTypeValue, "k", "five", false).ok());
  ASSERT_TRUE(m->Add(7, kTypeDeletion, "k", "", false).ok());
  ASSERT_TRUE(m->Add(9, kTypeMerge, "k", "nine", false).ok());
  EXPECT_EQ(GetAt(*m, "k", 4), "NotFound: ");
  EXPECT_EQ(GetAt(*m, "k", 6), "five");
  EXPECT_EQ(GetAt(*m, "k", 8), "NotFound: ");
  EXPECT_EQ(GetAt(*m, "k", 9), "nine");
  EXPECT_EQ(GetAt(*m, "j", 9), "NotFound: ");
  EXPECT_EQ(m->num_entries(), 3u);
  EXPECT_EQ(m->num_deletes(), 1u);
  EXPECT_EQ(m->first_sequence(), 5u);
  EXPECT_EQ(m->largest_sequence(), 9u);
}

TEST(MemTable, CountsWhatWillBeSeparated) {
  MemTableOptions options;
  options.comparator = BytewiseComparator();
  options.separated_from = 100;
  MemTable m(options, 1);
  m.Add(1, kTypeValue, "a", std::string(99, 'x'), false);
  EXPECT_EQ(m.separated_size(), 0u);
  m.Add(2, kTypeValue, "b", std::string(100, 'x'), false);
  m.Add(3, kTypeMerge, "c", std::string(200, 'x'), false);  // operands stay in tables
  m.Add(4, kTypeValue, "d", std::string(300, 'x'), true);
  EXPECT_EQ(m.separated_size(), 400u);
  EXPECT_EQ(m.table_size(), m.data_size() - 400);
}

TEST(MemTable, RangeTombstonesCover) {
  auto m = NewMemTable();
  EXPECT_TRUE(m->RangeTombstones()->empty());
  m->Add(1, kTypeValue, "b", "1", false);
  m->Add(2, kTypeRangeDeletion, "a", "c", false);
  EXPECT_EQ(GetAt(*m, "b", 1), "1");
  EXPECT_EQ(GetAt(*m, "b", 2), "NotFound: ");
  m->Add(3, kTypeMerge, "b", "3", false);
  EXPECT_EQ(GetAt(*m, "b", 3), "3");
  const auto before = m->RangeTombstones();
  EXPECT_EQ(before, m->RangeTombstones());
  m->Add(4, kTypeRangeDeletion, "b", "d", false);
  EXPECT_EQ(GetAt(*m, "b", 4), "NotFound: ");
  EXPECT_EQ(m->RawRangeTombstones().size(), 2u);
  EXPECT_EQ(before->MaxCoveringSequence("b", 10), 2u);
  EXPECT_EQ(m->RangeTombstones()->MaxCoveringSequence("b", 10), 4u);
}

TEST(MemTable, ManyRangeTombstonesReadLikeTheirHistory) {
  Random rnd(17);
  auto m = NewMemTable();
  std::vector<TestRecord> records;
  std::vector<RangeTombstone> tombstones;
  const auto key = [&] { return std::to_string(100 + rnd.Uniform(100)); };
  for (SequenceNumber seq = 1; seq <= 1500; ++seq) {
    if (rnd.OneIn(3)) {
      tombstones.push_back({key(), key(), seq});
      m->Add(seq, kTypeRangeDeletion, tombstones.back().start, tombstones.back().end, false);
    } else {
      records.push_back({key(), seq, kTypeValue, std::to_string(seq)});
      m->Add(seq, kTypeValue, records.back().key, records.back().value, false);
    }
    if (rnd.OneIn(50)) m->RangeTombstones();
    const std::string k = key();
    const SequenceNumber at = rnd.OneIn(2) ? seq : rnd.Between(1, seq);
    ASSERT_EQ(GetAt(*m, k, at),
              test::ReadHistory(records, tombstones, k, at).value_or("NotFound: "));
  }
}

TEST(MemTable, ADuplicateIsTryAgain) {
  auto m = NewMemTable();
  ASSERT_TRUE(m->Add(5, kTypeValue, "k", "a", false).ok());
  EXPECT_TRUE(m->Add(5, kTypeValue, "k", "b", false).IsTryAgain());
  EXPECT_TRUE(m->Add(5, kTypeValue, "k", "b", true).IsTryAgain());
  EXPECT_EQ(GetAt(*m, "k", 5), "a");
  EXPECT_EQ(m->num_entries(), 1u);
}

TEST(MemTable, UnknownTypesAreRefused) {
  EXPECT_TRUE(NewMemTable()->Add(1, kTypeLogData, "k", "", false).IsCorruption());
}

TEST(MemTable, FillsUp) {
  auto m = NewMemTable(256 << 10);
  SequenceNumber seq = 0;
  while (!m->ShouldFlush()) {
    ++seq;
    m->Add(seq, kTypeValue, std::to_string(seq), std::string(100, 'v'), false);
  }
  EXPECT_GT(seq, 1000u);
  EXPECT_LT(seq, 2600u);
  EXPECT_GE(m->MemoryAllocatedBytes(), m->ApproximateMemoryUsage());
  uint64_t count = 0, bytes = 0;
  m->ApproximateStats("1", "2", &count, &bytes);
  EXPECT_GT(count, 0u);
  EXPECT_LE(count, seq);
}

// Short ones are in their entries, others separate; range tombstones' ends and operands, too.
TEST(MemTable, ValuesOfAllSizes) {
  constexpr int kSizes = 400;
  auto m = NewMemTable(4 << 20);
  const auto key = [](int i) { return "key" + std::to_string(1000 + i); };
  const auto value = [](int i) { return std::string(i, static_cast<char>('a' + i % 26)); };
  size_t bytes = 0;
  for (int i = 0; i < kSizes; ++i) {
    ASSERT_TRUE(m->Add(i + 1, i % 3 == 0 ? kTypeMerge : kTypeValue, key(i), value(i), i % 2 == 0).ok());
    bytes += key(i).size() + 8 + value(i).size();
  }
  EXPECT_GE(m->data_size(), bytes);
  EXPECT_LT(m->data_size(), bytes + 4 * kSizes);
  EXPECT_GE(m->ApproximateMemoryUsage(), bytes);
  for (int i = 0; i < kSizes; ++i) EXPECT_EQ(GetAt(*m, key(i), kSizes), value(i)) << i;
  const InternalIteratorPtr it = m->NewIterator();
  it->SeekToFirst();
  for (int i = 0; i < kSizes; ++i, it->Next()) {
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(ExtractUserKey(it->key()).ToString(), key(i));
    EXPECT_EQ(it->value().ToString(), value(i));
  }
  EXPECT_FALSE(it->Valid());
  const std::string end(300, 'z');
  ASSERT_TRUE(m->Add(kSizes + 1, kTypeRangeDeletion, "key", end, false).ok());
  EXPECT_EQ(m->RawRangeTombstones().at(0).end, end);
}

TEST(MemTable, EmptyKeysAndValues) {
  for (const bool index : {false, true}) {
    auto m = NewMemTable(1 << 20, index);
    m->Add(1, kTypeValue, "", "", false);
    EXPECT_EQ(GetAt(*m, "", 1), "");
    if (!index) continue;
    ASSERT_TRUE(AddAddress(m.get(), 2, "", AddressOf(2)).ok());
    EXPECT_EQ(GetAt(*m, "", 2), Addresses::Text(AddressOf(2)));
  }
}

// KallaxDB 3.2: at most 24 bytes next to the key.
TEST(MemTable, AnAddressTakesLittleMemory) {
  auto m = NewMemTable(64 << 20, /*index=*/true);
  constexpr uint64_t kPairs = 50000;
  Random rnd(1);
  const SequenceNumber first = uint64_t{1} << 50;
  for (uint64_t i = 0; i < kPairs; ++i) {
    std::string key = std::to_string(rnd.Next());
    key.resize(16, '0');
    ASSERT_TRUE(AddAddress(m.get(), first + i, key, AddressOf(i), rnd.OneIn(2)).ok());
  }
  EXPECT_EQ(m->num_in_log(), kPairs);
  const double filter = (64 << 20) / 64;
  const double bytes = (static_cast<double>(m->ApproximateMemoryUsage()) - filter) / kPairs - 16;
  EXPECT_LE(bytes, 22);
  EXPECT_GE(bytes, 16);
}

// Those that a short entry cannot have, too.
TEST(MemTable, AddressesOfAllKinds) {
  auto m = NewMemTable(16 << 20, /*index=*/true);
  struct Added {
    LogRef address;
    SequenceNumber sequence;
  };
  std::map<std::string, Added> all;
  SequenceNumber seq = uint64_t{1} << 40;
  const auto add = [&](const std::string& key, const LogRef& address, SequenceNumber at) {
    ASSERT_TRUE(AddAddress(m.get(), at, key, address).ok());
    all[key] = {address, at};
  };
  add("first", AddressOf(1), seq);
  add("size", {7, 5, UINT16_MAX, 9}, ++seq);
  add("larger size", {7, 5, UINT16_MAX + 1, 9}, ++seq);
  add("offset", {7, UINT32_MAX, 100, UINT32_MAX}, ++seq);
  add("larger offset", {7, uint64_t{UINT32_MAX} + 1, 100, 0}, ++seq);
  add(std::string(70000, 'k'), AddressOf(3), ++seq);
  add("much older", AddressOf(4), 1);
  add("older", AddressOf(5), seq - 1000);
  add("much newer", AddressOf(6), seq + (uint64_t{1} << 33));
  for (uint64_t log = 8; log < 8 + 2 * IndexEntries::kMostLogs; ++log) {
    add("log " + std::to_string(log), AddressOf(log, uint64_t{1} << log % 60), ++seq);
  }
  m->CheckInvariants();
  for (const auto& [key, added] : all) {
    const std::string text = Addresses::Text(added.address);
    EXPECT_EQ(GetAt(*m, key, added.sequence), text) << key.substr(0, 20);
    EXPECT_EQ(GetAt(*m, key, added.sequence - 1), "NotFound: ") << key.substr(0, 20);
  }
  size_t seen = 0;
  m->ForEach([&](const MemTable::Record& record) {
    std::string room;
    LogRef ref;
    ASSERT_TRUE(ref.Parse(record.value(&room)));
    EXPECT_EQ(record.type(), kTypeBlobIndex);
    const Added& added = all.at(record.user_key().ToString());
    EXPECT_EQ(record.sequence(), added.sequence);
    EXPECT_EQ(Addresses::Text(ref), Addresses::Text(added.address));
    ++seen;
  });
  EXPECT_EQ(seen, all.size());
  const MemTablePart& part = m->part(0);
  part.ForEachWithAddress([&](const MemTable::Record& record, uint32_t address) {
    ASSERT_NE(address, 0u);
    EXPECT_EQ(part.At(address).trailer(), record.trailer());
    EXPECT_EQ(part.At(address).user_key(), record.user_key());
    --seen;
  });
  EXPECT_EQ(seen, 0u);
  EXPECT_TRUE(AddAddress(m.get(), uint64_t{1} << 40, "first", AddressOf(2)).IsTryAgain());
}

// A sealed part takes its memory along. What stays is never more than the limit, and each part gets about twice its
// share of it before its turn.
TEST(MemTable, PartsTakeTurns) {
  constexpr uint32_t kParts = 8;
  constexpr size_t kLimit = 4 << 20;
  MemTableOptions options;
  options.comparator = BytewiseComparator();
  options.arena_block_size = kLimit / 8;
  options.write_buffer_size = kLimit;
  options.log_values = &kAddresses;
  options.parts = kParts;
  auto m = std::make_unique<MemTable>(options, 1);
  SequenceNumber seq = 0;
  size_t most = 0;
  uint64_t records = 0, sealed_records = 0, last_records = 0;
  for (uint32_t turn = 0; turn < 3 * kParts; ++turn) {
    while (!m->ShouldFlush()) {
      ++seq;
      const std::string key = "key " + std::to_string(seq * 0x9e3779b97f4a7c15);
      ASSERT_TRUE(AddAddress(m.get(), seq, key, AddressOf(seq % 1000)).ok());
      ++records;
    }
    EXPECT_EQ(m->num_entries(), records - sealed_records);
    const size_t before = m->MemoryAllocatedBytes();
    MemTable::Sealed made = m->SealPart(turn % kParts, options, turn + 2);
    EXPECT_EQ(made.sealed->largest_sequence(), seq);
    EXPECT_TRUE(made.sealed->is_part());
    EXPECT_FALSE(made.next->is_part());
    EXPECT_LT(made.next->MemoryAllocatedBytes() + made.sealed->MemoryAllocatedBytes(), before + (64 << 10));
    most = std::max(most, before);
    last_records = made.sealed->num_entries();
    sealed_records += last_records;
    m->CheckInvariants();
    m = std::move(made.next);
  }
  EXPECT_LT(most, kLimit + kLimit / 16);
  // Of records of about 50 bytes.
  EXPECT_GT(last_records, kLimit / 60 * 3 / 2 / kParts);
}

TEST(MemTable, IteratorsWalkBothWays) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random rnd(seed);
    const bool index = seed % 2 == 0;
    auto m = NewMemTable(64 << 20, index, seed % 3 == 0 ? 4 : 1);
    InternalKeyComparator cmp(BytewiseComparator());
    std::vector<TestRecord> records;
    for (SequenceNumber seq = 1; seq <= 300; ++seq) {
      records.push_back({std::to_string(rnd.Uniform(80)), seq, kTypeValue, std::to_string(seq)});
    }
    // Neighbours in time are neighbours in space, or are not.
    if (rnd.OneIn(2)) std::shuffle(records.begin(), records.end(), rnd);
    for (TestRecord& r : records) {
      if (index && rnd.OneIn(2)) {
        r.type = kTypeBlobIndex;
        AddressOf(r.sequence).EncodeTo(&r.value);
        ASSERT_TRUE(AddAddress(m.get(), r.sequence, r.key, AddressOf(r.sequence), rnd.OneIn(4)).ok());
      } else {
        ASSERT_TRUE(m->Add(r.sequence, r.type, r.key, r.value, rnd.OneIn(4)).ok());
      }
    }
    test::VectorIterator model(records, cmp);
    auto it = m->NewIterator();
    for (int step = 0; step < 1000; ++step) {
      const std::string target = test::InternalKeyOf(
          {std::to_string(rnd.Uniform(90)), rnd.Uniform(301), kValueTypeForSeek, ""});
      switch (rnd.Uniform(model.Valid() ? 12 : 4)) {
        case 0:
          it->SeekToFirst();
          model.SeekToFirst();
          break;
        case 1:
          it->SeekToLast();
          model.SeekToLast();
          break;
        case 2:
          it->Seek(target);
          model.Seek(target);
          break;
        case 3:
          it->SeekForPrev(target);
          model.SeekForPrev(target);
          break;
        case 4:
        case 5:
        case 6:
        case 7:
          it->Next();
          model.Next();
          break;
        default:
          it->Prev();
          model.Prev();
      }
      ASSERT_EQ(it->Valid(), model.Valid());
      if (it->Valid()) {
        ASSERT_EQ(it->key().ToString(), model.key().ToString());
        ASSERT_EQ(it->value().ToString(), model.value().ToString());
      }
    }
  }
}

// Writers own disjoint sequences; readers check that what they see is ordered,
// whole, and only grows. Run under TSan.
void AddConcurrently(bool index) {
  constexpr int kWriters = 3;
  constexpr SequenceNumber kEach = 4000;
  auto m = NewMemTable(64 << 20, index);
  std::atomic<int> running{kWriters};
  std::atomic<bool> failed{false};
  const auto write = [&](int w) {
    Random rnd(static_cast<uint64_t>(w));
    for (SequenceNumber i = 0; i < kEach; ++i) {
      const SequenceNumber seq = i * kWriters + static_cast<SequenceNumber>(w) + 1;
      const std::string key = std::to_string(rnd.Uniform(500));
      Status s;
      if (i % 100 == 0) {
        s = m->Add(seq, kTypeRangeDeletion, key, key + "~", true);
      } else if (index && i % 4 != 0) {
        s = AddAddress(m.get(), seq, key, AddressOf(seq, 1 + i / 100), true);
      } else {
        s = m->Add(seq, kTypeValue, key, key + "#" + std::to_string(seq), true);
      }
      if (!s.ok()) failed = true;
    }
    --running;
  };
  const auto read = [&] {
    size_t seen = 0;
    while (running.load() > 0) {
      auto it = m->NewIterator();
      std::string previous;
      size_t n = 0;
      for (it->SeekToFirst(); it->Valid(); it->Next(), ++n) {
        const std::string key = ExtractUserKey(it->key()).ToString();
        const SequenceNumber seq = ExtractSequence(it->key());
        std::string value = key + "#" + std::to_string(seq);
        if (ExtractType(it->key()) == kTypeBlobIndex) {
          LogRef ref;
          if (!ref.Parse(it->value())) failed = true;
          AddressOf(seq, ref.log).EncodeTo(&value);
        }
        if (it->value() != Slice(value)) failed = true;
        if (!previous.empty() && m->comparator().Compare(previous, it->key()) >= 0) failed = true;
        previous = it->key().ToString();
      }
      if (n < seen) failed = true;
      seen = n;
      m->RangeTombstones()->MaxCoveringSequence("250", kMaxSequenceNumber);
      GetAt(*m, "250", kMaxSequenceNumber);
    }
  };
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) threads.emplace_back(write, w);
  threads.emplace_back(read);
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(failed);
  EXPECT_EQ(m->num_entries(), kWriters * kEach);
  EXPECT_EQ(m->largest_sequence(), kWriters * kEach);
  EXPECT_EQ(m->first_sequence(), 1u);
  size_t points = 0;
  auto it = m->NewIterator();
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++points;
  EXPECT_EQ(points + m->RawRangeTombstones().size(), kWriters * kEach);
}

TEST(MemTable, ConcurrentAddsAreSeenWhole) { AddConcurrently(false); }
TEST(MemTable, ConcurrentAddressesAreSeenWhole) { AddConcurrently(true); }

}  // namespace
}  // namespace compassdb
