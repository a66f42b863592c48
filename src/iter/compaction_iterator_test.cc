// SPDX-License-Identifier: Apache-2.0
// Scenarios as text, then random histories against a naive reader.
#include "iter/compaction_iterator.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <sstream>

#include "api/comparator_u64ts.h"
#include "iter/merging_iterator.h"
#include "iter/test_support.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::BytewiseComparator;
using rocksdb::CompactionFilter;
using test::AppendOperator;
using test::TestRecord;
using test::VectorIterator;

char TypeChar(ValueType type) {
  switch (type) {
    case kTypeValue:
      return 'P';
    case kTypeDeletion:
      return 'D';
    case kTypeSingleDeletion:
      return 'S';
    case kTypeWideColumnEntity:
      return 'E';
    default:
      return 'M';
  }
}

// Values say what is to be done with them: drop, purge, change, skip:KEY, fail.
class ScriptFilter : public CompactionFilter {
 public:
  const char* Name() const override { return "ScriptFilter"; }
  Decision FilterV2(int, const Slice&, ValueType, const Slice& value, std::string* new_value,
                    std::string* skip_until) const override {
    const std::string v = value.ToString();
    if (v == "drop") return Decision::kRemove;
    if (v == "purge") return Decision::kPurge;
    if (v == "undetermined") return Decision::kUndetermined;
    if (v == "change") {
      *new_value = "changed";
      return Decision::kChangeValue;
    }
    if (v.starts_with("skip:")) {
      *skip_until = v.substr(5);
      return Decision::kRemoveAndSkipUntil;
    }
    return Decision::kKeep;
  }
};

std::string TimeBytes(const std::string& number) {
  std::string bytes;
  PutFixed64(&bytes, std::stoull(number));
  return bytes;
}
std::string StoredKey(const std::string& word) {
  const size_t at = word.find('@');
  return at == std::string::npos ? word : word.substr(0, at) + TimeBytes(word.substr(at + 1));
}
std::string BareKey(const Slice& key) { return key.ToString().substr(0, 1); }
std::string ShownKey(const Slice& key, const Comparator* comparator) {
  if (comparator->timestamp_size() == 0) return key.ToString();
  return BareKey(key) + "@" + std::to_string(DecodeFixed64(key.data() + key.size() - 8));
}

// One line per item:
//   snap N...   outside KEY...   stale KEY...   zero   filter   nopartial
//   contracts   conflict N
//   del A B N   a range tombstone [A, B) at N
//   times       keys have timestamps: KEY@TIME          low TIME   full_history_ts_low
//   KEY N T [V] a record; T is P, D, S, M or E
// The answer lists the surviving records; stale ones end in " stale".
std::string Compact(const std::string& text, CompactionIteratorStats* stats = nullptr) {
  CompactionIteratorOptions o;
  const Comparator* comparator = BytewiseComparator();
  std::set<std::string> outside, stale;
  std::vector<RangeTombstone> tombstones;
  std::vector<TestRecord> records;
  bool partial = true;
  ScriptFilter filter;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string word, item;
    if (!(in >> word)) continue;
    if (word == "snap") {
      for (SequenceNumber s; in >> s;) o.snapshots.push_back(s);
    } else if (word == "outside") {
      while (in >> item) outside.insert(item);
    } else if (word == "stale") {
      while (in >> item) stale.insert(item);
    } else if (word == "zero") {
      o.allow_zero_sequence = true;
    } else if (word == "times") {
      comparator = BytewiseComparatorWithU64Ts();
    } else if (word == "low") {
      in >> item;
      o.history_low = TimeBytes(item);
    } else if (word == "filter") {
      o.filter = &filter;
    } else if (word == "nopartial") {
      partial = false;
    } else if (word == "contracts") {
      o.enforce_single_delete_contracts = true;
    } else if (word == "conflict") {
      in >> o.earliest_write_conflict_snapshot;
    } else if (word == "del") {
      RangeTombstone t;
      in >> t.start >> t.end >> t.sequence;
      tombstones.push_back(t);
    } else {
      TestRecord r;
      char type;
      r.key = StoredKey(word);
      in >> r.sequence >> type >> r.value;
      r.type = type == 'P'   ? kTypeValue
               : type == 'D' ? kTypeDeletion
               : type == 'S' ? kTypeSingleDeletion
               : type == 'E' ? kTypeWideColumnEntity
                             : kTypeMerge;
      records.push_back(r);
    }
  }
  AppendOperator op(partial);
  o.merge.op = &op;
  o.comparator = comparator;
  RangeTombstoneSet set(comparator);
  set.Add(std::make_shared<RangeTombstoneList>(tombstones, comparator));
  o.tombstones = &set;
  o.may_exist_outside = [&](const Slice& key) { return outside.contains(BareKey(key)); };
  o.is_stale = [&](const Slice& key) { return stale.contains(key.ToString()); };
  InternalKeyComparator cmp(comparator);
  VectorIterator input(records, cmp);
  CompactionIterator it(&input, o);
  std::string out = "\n";
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    out += ShownKey(it.user_key(), comparator) + " " + std::to_string(ExtractSequence(it.key())) + " " +
           TypeChar(ExtractType(it.key()));
    if (!it.value().empty()) out += " " + it.value().ToString();
    out += it.stale() ? " stale\n" : "\n";
  }
  if (!it.status().ok()) out += it.status().ToString() + "\n";
  if (stats != nullptr) stats->Add(it.stats());
  return out;
}

TEST(CompactionIterator, CountsWhyRecordsWereLeftOut) {
  CompactionIteratorStats stats;
  EXPECT_EQ(Compact("a 9 P x\na 7 P y\nb 6 D\nc 5 S\nd 4 S\nd 3 P v\n", &stats), "\na 9 P x\n");
  EXPECT_EQ(stats.deletions_in, 3u);
  EXPECT_EQ(stats.dropped_hidden, 2u);
  EXPECT_EQ(stats.dropped_tombstones, 3u);
  EXPECT_EQ(stats.dropped_early, 3u);  // the job is not at the bottom
  EXPECT_EQ(stats.single_deletes_alone, 1u);
  EXPECT_EQ(stats.single_delete_pairs, 1u);
  // A record that the filter removes becomes a deletion, until that is dropped.
  EXPECT_EQ(Compact("filter\noutside a\na 9 P drop\nb 8 P drop\n", &stats), "\na 9 D\n");
  EXPECT_EQ(stats.dropped_by_filter, 2u);
  EXPECT_EQ(stats.dropped_tombstones, 4u);
  EXPECT_EQ(stats.deletions_in, 3u);
}

TEST(CompactionIterator, ShadowedVersionsGoUnlessASnapshotSeparatesThem) {
  EXPECT_EQ(Compact("a 9 P x\na 7 P y\na 3 P z\nb 2 P v\n"), "\na 9 P x\nb 2 P v\n");
  EXPECT_EQ(Compact("snap 5\na 9 P x\na 7 P y\na 3 P z\na 2 P w\n"), "\na 9 P x\na 3 P z\n");
  EXPECT_EQ(Compact("snap 3 7 8\na 9 P x\na 7 P y\na 3 P z\n"), "\na 9 P x\na 7 P y\na 3 P z\n");
}

TEST(CompactionIterator, DeletionsGoWhenNothingIsLeftToHide) {
  EXPECT_EQ(Compact("a 9 D\na 7 P y\n"), "\n");
  EXPECT_EQ(Compact("outside a\na 9 D\na 7 P y\n"), "\na 9 D\n");
  EXPECT_EQ(Compact("snap 8\na 9 D\na 7 P y\n"), "\na 9 D\na 7 P y\n");
  EXPECT_EQ(Compact("snap 8\na 9 D\n"), "\n");
  EXPECT_EQ(Compact("snap 5 8\na 9 D\na 7 D\na 3 D\na 2 P x\n"), "\n");
  EXPECT_EQ(Compact("snap 2 5\na 9 D\na 4 D\na 2 P x\n"), "\na 9 D\na 4 D\na 2 P x\n");
}

TEST(CompactionIterator, SingleDeleteAndItsPutAnnihilate) {
  EXPECT_EQ(Compact("a 9 S\na 7 P y\n"), "\n");
  EXPECT_EQ(Compact("a 9 S\n"), "\n");
  EXPECT_EQ(Compact("outside a\na 9 S\n"), "\na 9 S\n");
  // The pair is the newest of the key, and older data may be outside.
  EXPECT_EQ(Compact("outside a\na 9 S\na 7 P y\n"), "\na 9 D\n");
  EXPECT_EQ(Compact("snap 8\na 9 S\na 7 P y\n"), "\na 9 S\na 7 P y\n");
  EXPECT_EQ(Compact("snap 5\na 9 S\na 7 P y\na 4 S\na 3 P x\n"), "\n");
  EXPECT_EQ(Compact("snap 3\na 9 S\na 7 P y\na 4 S\na 3 P x\n"), "\na 9 D\na 3 P x\n");
  EXPECT_EQ(Compact("a 9 S\na 8 S\na 7 P y\n"), "\n");
}

TEST(CompactionIterator, SingleDeleteOfADeletionBreaksTheContract) {
  EXPECT_EQ(Compact("outside a\na 9 S\na 7 D\n"), "\na 9 D\n");
  EXPECT_NE(Compact("contracts\na 9 S\na 7 D\n").find("Corruption: Found SD"), std::string::npos);
}

TEST(CompactionIterator, PairsThatTransactionsWatchLeaveADeletion) {
  EXPECT_EQ(Compact("conflict 5\na 9 S\na 7 P y\n"), "\na 9 D\n");
  EXPECT_EQ(Compact("conflict 9\na 9 S\na 7 P y\n"), "\n");
}

TEST(CompactionIterator, OperandsFoldIntoTheirBase) {
  EXPECT_EQ(Compact("a 9 M x\na 8 M y\na 7 P z\na 6 P w\n"), "\na 9 P z,y,x\n");
  EXPECT_EQ(Compact("a 9 M x\na 8 M y\na 7 D\na 6 P w\n"), "\na 9 P y,x\n");
  EXPECT_EQ(Compact("a 9 M x\na 8 M y\n"), "\na 9 P y,x\n");
  EXPECT_EQ(Compact("a 9 M x\na 8 S\na 7 P w\n"), "\na 9 P x\n");
}

TEST(CompactionIterator, VersionsAtTimesAreKeysOfTheirOwn) {
  EXPECT_EQ(Compact("times\na@9 9 P x\na@7 7 P y\na@7 6 P z\na@3 3 P w\n"),
            "\na@9 9 P x\na@7 7 P y\na@3 3 P w\n");
  // Tombstones hide older times: they stay, even if nothing is left at their own.
  EXPECT_EQ(Compact("times\na@9 9 D\na@7 7 S\na@3 3 P w\nb@5 5 D\n"),
            "\na@9 9 D\na@7 7 S\na@3 3 P w\nb@5 5 D\n");
  EXPECT_EQ(Compact("times\nfilter\na@9 9 P drop\na@7 7 P y\n"), "\na@9 9 D\na@7 7 P y\n");
}

TEST(CompactionIterator, BelowTheHistoryOneVersionIsLeft) {
  EXPECT_EQ(Compact("times\nlow 7\na@9 9 P x\na@7 7 P y\na@5 5 P z\na@3 3 P w\nb@2 2 P v\n"),
            "\na@9 9 P x\na@7 7 P y\na@5 5 P z\nb@2 2 P v\n");
  EXPECT_EQ(Compact("times\nlow 9\na@9 9 D\na@7 7 P y\na@5 5 P z\n"), "\na@9 9 D\na@7 7 P y\n");
  EXPECT_EQ(Compact("times\nlow 9\na@7 7 D\na@5 5 P z\n"), "\n");
  EXPECT_EQ(Compact("times\nlow 9\noutside a\na@7 7 D\na@5 5 P z\n"), "\na@7 7 D\n");
  EXPECT_EQ(Compact("times\nlow 9\na@7 7 S\na@5 5 P z\n"), "\n");
  EXPECT_EQ(Compact("times\nlow 9\nzero\na@7 7 P x\na@5 5 P z\n"), "\na@7 0 P x\n");
  // Snapshots keep what they see.
  EXPECT_EQ(Compact("times\nlow 9\nsnap 6\na@7 7 D\na@5 5 P z\na@4 4 P w\n"),
            "\na@7 7 D\na@5 5 P z\n");
}

TEST(CompactionIterator, EntitiesAreValuesThatNothingFoldsInto) {
  EXPECT_EQ(Compact("a 9 E x\na 7 P y\nb 5 P v\nb 4 E w\n"), "\na 9 E x\nb 5 P v\n");
  EXPECT_EQ(Compact("zero\na 9 E x\na 7 D\n"), "\na 0 E x\n");
  EXPECT_EQ(Compact("a 9 S\na 7 E y\n"), "\n");
  // Operands above one stay separate from it, in every stripe.
  EXPECT_EQ(Compact("a 9 M x\na 8 M y\na 7 E z\na 6 P w\n"), "\na 9 M y,x\na 7 E z\n");
  EXPECT_EQ(Compact("snap 8\na 9 M x\na 8 M y\na 7 E z\n"), "\na 9 M x\na 8 M y\na 7 E z\n");
  EXPECT_EQ(Compact("filter\na 9 E drop\nb 8 P drop\n"), "\na 9 E drop\n");
}

TEST(CompactionIterator, OperandsWithoutBaseAreCombined) {
  EXPECT_EQ(Compact("outside a\na 9 M x\na 8 M y\n"), "\na 9 M y,x\n");
  EXPECT_EQ(Compact("outside a\nnopartial\na 9 M x\na 8 M y\n"), "\na 9 M x\na 8 M y\n");
  EXPECT_EQ(Compact("snap 7\na 9 M x\na 8 M y\na 7 P z\n"), "\na 9 M y,x\na 7 P z\n");
  EXPECT_EQ(Compact("snap 8\na 9 M x\na 8 M y\na 7 P z\n"), "\na 9 M x\na 8 P z,y\n");
}

TEST(CompactionIterator, AFailingMergeFailsTheJob) {
  EXPECT_EQ(Compact("a 9 M fail\na 7 P z\n"), "\nCorruption: Merge operator failed: Could not perform merge of key 61\n");
}

TEST(CompactionIterator, RangeTombstonesDropWithinTheirStripe) {
  EXPECT_EQ(Compact("del a c 8\na 7 P x\na 9 P y\nb 7 P z\nc 7 P w\n"), "\na 9 P y\nc 7 P w\n");
  EXPECT_EQ(Compact("snap 7\ndel a c 8\na 7 P x\nb 6 P x\n"), "\na 7 P x\nb 6 P x\n");
  EXPECT_EQ(Compact("outside a\ndel a c 8\na 7 P x\nb 7 P x\n"), "\na 7 D\n");
  EXPECT_EQ(Compact("del a c 8\na 9 M x\na 7 P y\n"), "\na 9 P x\n");
  EXPECT_EQ(Compact("outside a\ndel a c 8\na 9 M x\na 7 M y\na 6 P z\n"), "\na 9 P x\n");
}

TEST(CompactionIterator, SequencesBecomeZeroOnlyIfNoReaderNeedsThem) {
  EXPECT_EQ(Compact("zero\na 9 P x\n"), "\na 0 P x\n");
  EXPECT_EQ(Compact("zero\nsnap 9\na 9 P x\n"), "\na 0 P x\n");
  EXPECT_EQ(Compact("zero\nsnap 8\na 9 P x\na 7 P y\n"), "\na 9 P x\na 0 P y\n");
  EXPECT_EQ(Compact("zero\noutside a\na 9 P x\n"), "\na 9 P x\n");
  EXPECT_EQ(Compact("zero\nstale a\na 9 P x\n"), "\na 9 P x stale\n");
  // An older tombstone over the value would come to cover it.
  EXPECT_EQ(Compact("zero\ndel a b 5\na 9 P x\n"), "\na 9 P x\n");
}

TEST(CompactionIterator, StaleKeysKeepWhatReadersMayNeed) {
  EXPECT_EQ(Compact("stale a\na 9 D\na 7 P x\n"), "\na 9 D stale\n");
  EXPECT_EQ(Compact("stale a\nfilter\na 9 P drop\n"), "\na 9 P drop stale\n");
  EXPECT_EQ(Compact("stale a\na 9 M x\n"), "\na 9 M x stale\n");
  EXPECT_EQ(Compact("stale a\ndel a b 10\na 9 P x\n"), "\n");
  EXPECT_EQ(Compact("stale a\na 9 S\na 7 P x\n"), "\na 9 D stale\n");
}

TEST(CompactionIterator, TheFilterSeesTheNewestVersion) {
  EXPECT_EQ(Compact("filter\na 9 P drop\na 7 P x\n"), "\n");
  EXPECT_EQ(Compact("filter\noutside a\na 9 P drop\n"), "\na 9 D\n");
  EXPECT_EQ(Compact("filter\nsnap 8\na 9 P x\na 7 P drop\n"), "\na 9 P x\na 7 P drop\n");
  EXPECT_EQ(Compact("filter\nsnap 8\na 9 P drop\na 7 P x\n"), "\na 9 D\na 7 P x\n");
  // Snapshots do not protect from it.
  EXPECT_EQ(Compact("filter\nsnap 9\na 9 P drop\n"), "\n");
  EXPECT_EQ(Compact("filter\na 9 P change\nb 8 P x\n"), "\na 9 P changed\nb 8 P x\n");
  EXPECT_EQ(Compact("filter\noutside a\na 9 P purge\na 8 P x\n"), "\na 9 D\n");
  EXPECT_NE(Compact("filter\na 9 P undetermined\n").find("Not implemented"), std::string::npos);
}

TEST(CompactionIterator, TheFilterMaySkipAhead) {
  EXPECT_EQ(Compact("filter\na 9 P skip:c\na 7 P x\nb 8 P x\nc 7 P y\n"), "\nc 7 P y\n");
  EXPECT_EQ(Compact("filter\noutside a b\na 9 P skip:c\nb 8 P x\nb 7 P x\nc 7 P y\n"),
            "\na 9 D\nb 8 D\nc 7 P y\n");
  EXPECT_EQ(Compact("filter\nstale b\na 9 P skip:c\nb 8 P x\nc 7 P y\n"),
            "\nb 8 P x stale\nc 7 P y\n");
  // A target that is not ahead asks for nothing.
  EXPECT_EQ(Compact("filter\nb 9 P skip:a\n"), "\nb 9 P skip:a\n");
}

TEST(CompactionIterator, TheFilterSeesOperands) {
  EXPECT_EQ(Compact("filter\na 9 M drop\na 8 M y\na 7 P z\n"), "\na 8 P z,y\n");
  EXPECT_EQ(Compact("filter\na 9 M change\na 7 P z\n"), "\na 9 P z,changed\n");
  EXPECT_EQ(Compact("filter\nsnap 9\na 9 M drop\na 7 P z\n"), "\na 9 P z,drop\n");
  EXPECT_EQ(Compact("filter\na 9 M drop\na 7 P z\n"), "\na 7 P z\n");
  EXPECT_EQ(Compact("filter\na 9 M drop\n"), "\n");
  // Removing it would have to uncover, not delete, what is outside.
  EXPECT_EQ(Compact("filter\noutside a\na 9 M drop\n"), "\na 9 M drop\n");
  EXPECT_EQ(Compact("filter\na 9 M skip:b\na 7 P z\nb 3 P x\n"), "\nb 3 P x\n");
}

TEST(CompactionIterator, InputErrorsSurface) {
  InternalKeyComparator cmp(BytewiseComparator());
  VectorIterator input({{"a", 1, kTypeValue, "x"}, {"b", 2, kTypeValue, "y"}}, cmp);
  input.FailAfter(1);
  CompactionIteratorOptions o;
  o.comparator = BytewiseComparator();
  CompactionIterator it(&input, o);
  it.SeekToFirst();
  ASSERT_TRUE(it.Valid());
  it.Next();
  EXPECT_FALSE(it.Valid());
  EXPECT_TRUE(it.status().IsIOError());
}

TEST(CompactionIterator, MalformedKeysAreCorruption) {
  class Bad : public VectorIterator {
   public:
    using VectorIterator::VectorIterator;
    Slice key() const override { return "short"; }
  };
  InternalKeyComparator cmp(BytewiseComparator());
  Bad input({{"a", 1, kTypeValue, "x"}}, cmp);
  CompactionIteratorOptions o;
  o.comparator = BytewiseComparator();
  CompactionIterator it(&input, o);
  it.SeekToFirst();
  EXPECT_FALSE(it.Valid());
  EXPECT_TRUE(it.status().IsCorruption());
}

// A random history is split by sequence into a part deeper than the job, the
// job's input, and a newer part; every reader must see the same before and after.
class History {
 public:
  explicit History(Random* rnd) : rnd_(rnd) {
    const SequenceNumber end = rnd->Between(5, 60);
    for (SequenceNumber seq = 1; seq <= end; ++seq) Write(seq);
    // Per key two cuts: records at or below are outside, records above are newer.
    for (const TestRecord& r : all) {
      if (!cuts_.contains(r.key)) {
        SequenceNumber low = rnd->OneIn(2) ? 0 : rnd->Uniform(end);
        SequenceNumber high = rnd->OneIn(2) ? end : rnd->Between(low, end);
        cuts_[r.key] = {low, high};
      }
      const auto [low, high] = cuts_[r.key];
      (r.sequence <= low ? older : r.sequence > high ? newer : input).push_back(r);
    }
    for (int i = static_cast<int>(rnd->Uniform(4)); i > 0; --i) {
      snapshots.insert(rnd->Between(1, end));
    }
    last = end;
  }

  bool Outside(const std::string& key) const { return Has(older, key); }
  bool Stale(const std::string& key) const { return Has(newer, key); }

  SequenceNumber last = 0;
  std::vector<TestRecord> all, older, input, newer;
  std::vector<RangeTombstone> tombstones;
  std::set<SequenceNumber> snapshots;

 private:
  static bool Has(const std::vector<TestRecord>& records, const std::string& key) {
    return std::any_of(records.begin(), records.end(),
                       [&](const TestRecord& r) { return r.key == key; });
  }
  void Write(SequenceNumber seq) {
    const std::string key(1, static_cast<char>('a' + rnd_->Uniform(6)));
    const uint64_t what = rnd_->Uniform(20);
    if (what == 0) {
      tombstones.push_back({key, std::string(1, static_cast<char>(key[0] + 1 + rnd_->Uniform(3))),
                            seq});
    } else if (what < 8) {
      // SingleDelete needs exactly one Put below it: keep keys "e", "f" for that.
      if (key >= "e" && live_.contains(key)) {
        all.push_back({key, seq, kTypeSingleDeletion, ""});
        live_.erase(key);
        return;
      }
      live_.insert(key);
      all.push_back({key, seq, kTypeValue, "v" + std::to_string(seq)});
    } else if (key < "e" && what < 14) {
      all.push_back({key, seq, kTypeMerge, "m" + std::to_string(seq)});
    } else if (key < "e") {
      all.push_back({key, seq, kTypeDeletion, ""});
    }
  }

  Random* rnd_;
  std::set<std::string> live_;
  std::map<std::string, std::pair<SequenceNumber, SequenceNumber>> cuts_;
};

std::string Describe(const std::vector<TestRecord>& records) {
  std::string s;
  for (const TestRecord& r : records) {
    s += r.key + "@" + std::to_string(r.sequence) + TypeChar(r.type) + ":" + r.value + " ";
  }
  return s;
}

void CheckRandomHistory(uint64_t seed) {
  Random rnd(seed);
  History h(&rnd);
  AppendOperator op(rnd.OneIn(2));
  CompactionIteratorOptions o;
  o.comparator = BytewiseComparator();
  o.merge.op = &op;
  o.snapshots.assign(h.snapshots.begin(), h.snapshots.end());
  o.allow_zero_sequence = rnd.OneIn(2);
  const bool cautious = rnd.OneIn(4);  // the answer may be "perhaps" for any key
  o.may_exist_outside = [&](const Slice& k) { return cautious || h.Outside(k.ToString()); };
  o.is_stale = [&](const Slice& k) { return h.Stale(k.ToString()); };
  RangeTombstoneSet set(BytewiseComparator());
  for (const RangeTombstone& t : h.tombstones) {
    set.Add(std::make_shared<RangeTombstoneList>(std::vector<RangeTombstone>{t},
                                                 BytewiseComparator()));
  }
  o.tombstones = &set;

  InternalKeyComparator cmp(BytewiseComparator());
  std::vector<std::vector<TestRecord>> parts(rnd.Between(1, 4));
  for (const TestRecord& r : h.input) parts[rnd.Uniform(parts.size())].push_back(r);
  std::vector<InternalIteratorPtr> children;
  for (const auto& part : parts) children.push_back(std::make_unique<VectorIterator>(part, cmp));
  InternalIteratorPtr input = NewMergingIterator(&cmp, std::move(children));

  CompactionIterator it(input.get(), o);
  std::vector<TestRecord> output;
  std::string previous;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    if (!previous.empty()) {
      ASSERT_LT(cmp.Compare(previous, it.key()), 0);
    }
    previous = it.key().ToString();
    output.push_back({it.user_key().ToString(), ExtractSequence(it.key()), ExtractType(it.key()),
                      it.value().ToString()});
    ASSERT_EQ(it.stale(), h.Stale(output.back().key));
  }
  ASSERT_TRUE(it.status().ok()) << it.status().ToString();
  ASSERT_EQ(it.stats().records_in, h.input.size());
  ASSERT_EQ(it.stats().records_out, output.size());

  SCOPED_TRACE("in " + Describe(h.input) + " out " + Describe(output));
  std::vector<TestRecord> after = output;
  after.insert(after.end(), h.older.begin(), h.older.end());
  after.insert(after.end(), h.newer.begin(), h.newer.end());
  std::vector<SequenceNumber> readers = o.snapshots;
  readers.push_back(h.last + 1);
  for (SequenceNumber reader : readers) {
    ASSERT_EQ(test::ViewOf(h.all, h.tombstones, reader),
              test::ViewOf(after, h.tombstones, reader))
        << "read at " << reader;
  }
  // Rule 4: with older data outside, the newest record leaves a trace.
  for (char c = 'a'; c <= 'f'; ++c) {
    const std::string key(1, c);
    SequenceNumber newest_in = 0, newest_out = 0;
    for (const TestRecord& r : h.input) {
      if (r.key == key) newest_in = std::max(newest_in, r.sequence);
    }
    for (const TestRecord& r : output) {
      if (r.key == key) newest_out = std::max(newest_out, r.sequence);
    }
    if ((cautious || h.Outside(key)) && !h.Stale(key)) {
      ASSERT_EQ(newest_in, newest_out) << key;
    }
  }
  // Without snapshots and outside data one value per key remains.
  if (o.snapshots.empty() && h.older.empty() && h.newer.empty() && !cautious) {
    ASSERT_EQ(output.size(), test::ViewOf(h.all, h.tombstones, h.last).size());
  }
}

TEST(CompactionIterator, RandomHistoriesReadTheSameAfterwards) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    CheckRandomHistory(seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace compassdb
