// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_run.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"
#include "store/store.h"
#include "util/hash.h"
#include "util/random.h"
#include "value_store/value_cache.h"
#include "value_store/value_format.h"
#include "value_store/value_gc.h"
#include "value_store/value_gc_policy.h"
#include "value_store/value_ref.h"
#include "value_store/value_version.h"

namespace compassdb {
namespace {

class ValueRunTest : public ::testing::Test {
 protected:
  ValueRunTest()
      : files_(&fs_, "/db", FileOptions(), 0), ledger_(&fs_, &files_, 0), hasher_(7) {
    EXPECT_TRUE(fs_.CreateDir("/db").ok());
    TableReaderOptions reader;
    reader.comparator = rocksdb::BytewiseComparator();
    auto context = std::make_shared<ValueContext>();
    context->tables = std::make_shared<const TableContext>(&files_, reader);
    context->ledger = &ledger_;
    context->cache_space = NewValueCacheSpace();
    context_ = context;
  }

  std::unique_ptr<CompactionFileWriter> NewFile(uint64_t number) {
    std::unique_ptr<CompactionFileWriter> file;
    EXPECT_TRUE(CompactionFileWriter::Create(&fs_, PieceFileName("/db", number), number,
                                             number * 1000003, FileOptions(), &file)
                    .ok());
    return file;
  }
  ValueWriter::Options WriterOptions(CompactionFileWriter* file, uint32_t bits = 2) {
    ValueWriter::Options o;
    o.group_bits = bits;
    o.file = [file](CompactionFileWriter** out) {
      *out = file;
      return Status::OK();
    };
    o.new_number = [this] { return next_++; };
    return o;
  }
  static std::string Key(int i) { return "key" + std::to_string(i); }
  static std::string Value(int i) { return std::string(20 + i % 300, static_cast<char>('a' + i % 26)); }
  std::vector<ValueRunRef> Open(const std::vector<ValueRunMeta>& metas) {
    std::vector<ValueRunRef> runs;
    for (const ValueRunMeta& m : metas) runs.push_back(std::make_shared<ValueRun>(context_, m));
    return runs;
  }
  // n values in file 1; their refs by key.
  std::vector<ValueRunMeta> Write(int n, std::vector<std::string>* refs) {
    auto file = NewFile(1);
    ValueWriter writer(WriterOptions(file.get()));
    refs->resize(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) {
      EXPECT_TRUE(writer.Add(Key(i), hasher_(Key(i)), static_cast<uint64_t>(i + 1), Value(i), false,
                             &(*refs)[static_cast<size_t>(i)])
                      .ok());
    }
    writer.AddNotice({hasher_("gone").h1, 5, 17});
    writer.AddDeath({hasher_("dead").h1, 99});
    EXPECT_TRUE(writer.Finish().ok());
    EXPECT_TRUE(file->Finish().ok());
    return writer.runs();
  }

  void Rewrite(const std::string& data) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile(PieceFileName("/db", 1), FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(data).ok());
    ASSERT_TRUE(file->Close().ok());
    files_.Evict(1);
  }

  FaultInjectionFileSystem fs_;
  FileCache files_;
  ExtentLedger ledger_;
  const KeyHasher hasher_;
  std::shared_ptr<const ValueContext> context_;
  uint64_t next_ = 10;
};

TEST_F(ValueRunTest, AnExtentThatDoesNotFitItsFileIsCorruption) {
  std::vector<std::string> refs;
  ValueRunMeta meta = Write(50, &refs).front();
  meta.extent.length = uint64_t{1} << 60;
  meta.keys_bytes = meta.places_bytes = uint64_t{1} << 50;
  const ValueRun run(context_, meta);
  std::vector<ValueEntry> v;
  std::vector<ValueNotice> n;
  std::vector<ValueDeath> d;
  EXPECT_TRUE(run.ReadKeys(&v, &n, &d).IsCorruption());
  bool found = false;
  ValuePlace place;
  EXPECT_TRUE(run.Find(meta.min_number, false, &found, &place).IsCorruption());
  EXPECT_TRUE(run.Verify().IsCorruption());
}

// A merge of small runs copies large ones with them whose values a snapshot held. Its job has to have room for these.
TEST_F(ValueRunTest, MergesCountLargeRunsThatDoNotStay) {
  std::vector<std::string> refs;
  std::vector<ValueRunMeta> metas = Write(2000, &refs);
  ASSERT_EQ(metas.size(), 4u);
  metas[1].pinned_hint = 1000;
  metas[1].pinned_from = 30;
  metas[1].pinned_to = 40;
  const std::vector<ValueVersion::Group> groups = ValueVersion(context_, Open(metas)).Groups();
  ASSERT_EQ(groups.size(), 4u);
  for (size_t i = 0; i < groups.size(); ++i) {
    ASSERT_EQ(groups[i].group, metas[i].group);
    EXPECT_FALSE(IsSmallRun(metas[i]));
    EXPECT_EQ(groups[i].small_runs, 0u);
    EXPECT_EQ(groups[i].small_bytes, i == 1 ? metas[1].extent.length : 0) << i;
  }
}

TEST_F(ValueRunTest, RunsEndBeforePlacesDo) {
  auto file = NewFile(1);
  ValueWriter::Options options = WriterOptions(file.get(), /*bits=*/0);
  options.most_records_bytes = 1000;
  ValueWriter writer(options);
  std::vector<std::string> refs(40);
  for (int i = 0; i < 40; ++i) {
    const Status s = writer.Add(Key(i), hasher_(Key(i)), static_cast<uint64_t>(i + 1), Value(i * 20), false, &refs[i]);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(file->Finish().ok());
  EXPECT_GT(writer.runs().size(), 5u);
  EXPECT_LT(writer.runs().size(), 20u);
  for (const ValueRunMeta& meta : writer.runs()) EXPECT_LE(meta.records_bytes, 1000u);
  const ValueVersion version(context_, Open(writer.runs()));
  for (int i = 0; i < 40; ++i) {
    rocksdb::PinnableSlice value;
    const Status s = version.Read({}, Key(i), hasher_(Key(i)), refs[i], &value);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(value.ToString(), Value(i * 20));
  }
}

// A run made by hand, whose checksums are right.
TEST_F(ValueRunTest, RecordsOfNoBytesAreCorruption) {
  auto file = NewFile(1);
  std::string keys;
  const uint64_t at = file->offset();
  for (const uint64_t count : {2, 0, 0}) PutVarint64(&keys, count);
  for (int i = 0; i < 2; ++i) {
    PutFixed64(&keys, 1);
    PutFixed32(&keys, 2);
    PutVarint64(&keys, 10 + i);
    PutVarint64(&keys, 500);
    PutVarint32(&keys, 0);
  }
  PutFixed32(&keys, Checksum32(keys, ValueContextOf(file->file_id(), at)));
  ValueRunMeta meta;
  meta.run_id = 1;
  meta.file_id = file->file_id();
  meta.num_values = 2;
  meta.keys_bytes = keys.size();
  meta.min_number = 500;
  meta.max_number = 1000;
  meta.extent = {1, at, keys.size()};
  ASSERT_TRUE(file->Append(keys).ok());
  ASSERT_TRUE(file->Finish().ok());
  std::vector<ValueEntry> values;
  std::vector<ValueNotice> notices;
  std::vector<ValueDeath> deaths;
  const Status s = ValueRun(context_, meta).ReadKeys(&values, &notices, &deaths);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("keys: malformed"), std::string::npos) << s.ToString();
}

TEST_F(ValueRunTest, WhatIsWrittenIsFoundByItsRef) {
  std::vector<std::string> refs;
  const auto metas = Write(2000, &refs);
  ASSERT_GE(metas.size(), 4u);
  const ValueVersion version(context_, Open(metas));
  for (int i = 0; i < 2000; ++i) {
    rocksdb::PinnableSlice value;
    const Status s = version.Read({}, Key(i), hasher_(Key(i)), refs[static_cast<size_t>(i)], &value);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(value.ToString(), Value(i));
  }
  uint64_t values = 0, notices = 0, deaths = 0;
  for (const ValueRunRef& run : version.runs()) {
    EXPECT_TRUE(run->Verify().ok());
    std::vector<ValueEntry> v;
    std::vector<ValueNotice> n;
    std::vector<ValueDeath> d;
    ASSERT_TRUE(run->ReadKeys(&v, &n, &d).ok());
    values += v.size();
    notices += n.size();
    deaths += d.size();
    for (const ValueEntry& e : v) EXPECT_TRUE(run->meta().group.Contains(e.h1));
  }
  EXPECT_EQ(values, 2000u);
  EXPECT_EQ(notices, 1u);
  EXPECT_EQ(deaths, 1u);
  // Places take less than five bytes per value.
  EXPECT_LT(context_->tables->index_usage.Get().values, 2000u * 5 + metas.size() * 128);
}

TEST_F(ValueRunTest, UnknownNumbersAndMalformedRefs) {
  std::vector<std::string> refs;
  const ValueVersion version(context_, Open(Write(100, &refs)));
  rocksdb::PinnableSlice value;
  std::string other;
  ValueRef{12345, 3}.AppendTo(&other);
  EXPECT_TRUE(version.Read({}, Key(1), hasher_(Key(1)), other, &value).IsNotFound());
  EXPECT_TRUE(version.Read({}, Key(1), hasher_(Key(1)), "junk", &value).IsCorruption());
  EXPECT_TRUE(version.Read({}, Key(1), hasher_(Key(1)), "", &value).IsCorruption());
  // Another key's value is never given.
  const Status s = version.Read({}, Key(1), hasher_(Key(2)), refs[2], &value);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

TEST_F(ValueRunTest, FlippedBitsAreFound) {
  std::vector<std::string> refs;
  const auto metas = Write(60, &refs);
  std::string whole;
  ASSERT_TRUE(ReadFileToString(&fs_, PieceFileName("/db", 1), &whole).ok());
  Random rnd(5);
  const uint64_t begin = metas.front().extent.offset;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = whole;
    const uint64_t at = begin + rnd.Uniform(whole.size() - begin);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << rnd.Uniform(8)));
    Rewrite(damaged);
    bool found = false;
    for (const ValueRunRef& run : Open(metas)) found = found || run->Verify().IsCorruption();
    EXPECT_TRUE(found) << "byte " << at;
  }
}

TEST_F(ValueRunTest, TruncatedFilesAreFound) {
  std::vector<std::string> refs;
  const auto metas = Write(60, &refs);
  std::string whole;
  ASSERT_TRUE(ReadFileToString(&fs_, PieceFileName("/db", 1), &whole).ok());
  for (size_t size = metas.front().extent.offset; size < whole.size(); size += 37) {
    Rewrite(whole.substr(0, size));
    bool found = false;
    for (const ValueRunRef& run : Open(metas)) found = found || !run->Verify().ok();
    EXPECT_TRUE(found) << size;
  }
}

class ValueReadsTest : public ValueRunTest {
 protected:
  static constexpr int kValues = 200;

  void Make() {
    metas_ = Write(kValues, &refs_);
    Reopen();
  }
  // Runs hold the files that they have opened.
  void Reopen() {
    version_ = std::make_unique<ValueVersion>(context_, Open(metas_));
    for (const ValueRunRef& run : version_->runs()) run->Load().PermitUncheckedError();
  }
  std::vector<ValueRequest> Requests() {
    std::vector<ValueRequest> requests;
    values_ = std::vector<rocksdb::PinnableSlice>(kValues);
    keys_.clear();
    for (int i = 0; i < kValues; ++i) keys_.push_back(Key(i));
    for (size_t i = 0; i < kValues; ++i) {
      requests.push_back({keys_[i], hasher_(keys_[i]), refs_[i], &values_[i], Status()});
    }
    return requests;
  }
  // How many of them have their value, which all others must not have.
  static int CountRight(const std::vector<ValueRequest>& requests) {
    int right = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      if (!requests[i].status.ok()) continue;
      ++right;
      EXPECT_EQ(requests[i].value->ToString(), Value(static_cast<int>(i)));
    }
    return right;
  }

  std::vector<ValueRunMeta> metas_;
  std::vector<std::string> refs_, keys_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::unique_ptr<ValueVersion> version_;
  const BlockReadOptions read_ = BlockReadOptions();  // outlives the reads
};

TEST_F(ValueReadsTest, NeighboursAreOneRead) {
  Make();
  for (const bool share : {false, true}) {
    std::vector<ValueRequest> requests = Requests();
    fs_.ResetCounts();
    ValueReads reads;
    reads.Start(*version_, read_, /*fill_cache=*/false, share, requests);
    reads.Finish();
    EXPECT_EQ(CountRight(requests), kValues);
    // Of about 40 KB, in reads of 16 KB.
    EXPECT_LE(fs_.Count(FaultOp::kRead), 5u);
    EXPECT_EQ(values_.front().IsPinned(), share);
  }
}

TEST_F(ValueReadsTest, SharedMemoryStaysWithItsValues) {
  Make();
  std::vector<ValueRequest> requests = Requests();
  rocksdb::PinnableSlice kept;
  {
    ValueReads reads;
    reads.Start(*version_, read_, false, /*share=*/true, requests);
    reads.Finish();
    kept.PinSlice(values_[7], &values_[7]);
    requests = Requests();  // releases the others
    reads.Start(*version_, read_, false, /*share=*/true, requests);
    reads.Finish();
    EXPECT_EQ(CountRight(requests), kValues);
    requests = Requests();
  }
  EXPECT_EQ(kept.ToString(), Value(7));
}

TEST_F(ValueReadsTest, AFailedReadOfSeveralIsRepeatedForEach) {
  Make();
  for (const bool share : {false, true}) {
    std::vector<ValueRequest> requests = Requests();
    fs_.FailNth(FaultOp::kRead, 1, "", Status::IOError("injected"));
    ValueReads reads;
    reads.Start(*version_, read_, false, share, requests);
    reads.Finish();
    EXPECT_EQ(CountRight(requests), kValues);
  }
  std::vector<ValueRequest> requests = Requests();
  fs_.FailAll(FaultOp::kRead, "", Status::IOError("injected"));
  version_->ReadMany({}, requests);
  for (const ValueRequest& r : requests) EXPECT_TRUE(r.status.IsIOError()) << r.status.ToString();
}

TEST_F(ValueReadsTest, DamageOfOneValueIsNotThatOfItsNeighbours) {
  Make();
  std::string whole;
  ASSERT_TRUE(ReadFileToString(&fs_, PieceFileName("/db", 1), &whole).ok());
  whole[metas_[1].extent.offset + 40] ^= 1;
  Rewrite(whole);
  Reopen();
  std::vector<ValueRequest> requests = Requests();
  version_->ReadMany({}, requests);
  EXPECT_EQ(CountRight(requests), kValues - 1);
  // The file ends within a run.
  Rewrite(whole.substr(0, metas_[1].extent.offset + 1000));
  Reopen();
  requests = Requests();
  version_->ReadMany({}, requests);
  EXPECT_GT(CountRight(requests), 0);
  for (const ValueRequest& r : requests) EXPECT_TRUE(r.status.ok() || r.status.IsCorruption()) << r.status.ToString();
}

TEST_F(ValueReadsTest, OneValueMayBeWantedTwice) {
  Make();
  std::vector<ValueRequest> requests = Requests();
  rocksdb::PinnableSlice again;
  requests.push_back(requests[3]);
  requests.back().value = &again;
  version_->ReadMany({}, requests);
  ASSERT_TRUE(requests.back().status.ok());
  EXPECT_EQ(again.ToString(), Value(3));
  requests.pop_back();
  EXPECT_EQ(CountRight(requests), kValues);
}

class ValueGcTest : public ValueRunTest {
 protected:
  struct Item {
    int key;
    SequenceNumber sequence;
  };
  // One run of values, by key and sequence, with notices and deaths.
  ValueRunMeta WriteRun(const std::vector<Item>& values, const std::vector<Item>& notices = {},
                        const std::vector<std::pair<int, SequenceNumber>>& deaths = {},
                        bool cold = false) {
    auto file = NewFile(next_++);
    ValueWriter::Options o = WriterOptions(file.get(), 0);
    o.cold = cold;
    ValueWriter writer(o);
    for (const Item& v : values) {
      std::string ref;
      EXPECT_TRUE(writer.Add(Key(v.key), hasher_(Key(v.key)), v.sequence, Key(v.key), false, &ref).ok());
      refs_[{v.key, v.sequence}] = ref;
    }
    for (const Item& n : notices) {
      const KeyHash h = hasher_(Key(n.key));
      writer.AddNotice({h.h1, StoredH2(h.h2), n.sequence});
    }
    for (const auto& [key, sequence] : deaths) {
      ValueRef ref;
      EXPECT_TRUE(ref.Parse(refs_[{key, sequence}]));
      writer.AddDeath({hasher_(Key(key)).h1, ref.number});
    }
    EXPECT_TRUE(writer.Finish().ok());
    EXPECT_TRUE(file->Finish().ok());
    EXPECT_EQ(writer.runs().size(), 1u);
    return writer.runs().front();
  }
  // Collects; the group's runs are then those of the result.
  void Collect(std::vector<ValueRunMeta>* metas, std::vector<SequenceNumber> snapshots = {},
               SequenceNumber retain_above = kMaxSequenceNumber,
               const UpdateCounts* updates = nullptr, std::function<void()> meanwhile = [] {},
               uint64_t believed_dead = 0) {
    auto file = NewFile(next_++);
    ValueGcJob job;
    job.inputs = Open(*metas);
    job.snapshots = std::move(snapshots);
    job.retain_above = retain_above;
    job.updates = updates;
    job.believed_dead = believed_dead;
    job.old_until = old_until_;
    job.vacated = vacated_;
    job.tail = tail_;
    job.file = [&](CompactionFileWriter** out) {
      *out = file.get();
      return Status::OK();
    };
    job.new_number = [this] { return next_++; };
    job.pause = [&] {
      meanwhile();
      return Status::OK();
    };
    VersionEdit edit;
    ValueGcReport& report = report_ = ValueGcReport();
    const Status s = CollectValueGroup(job, &edit, &report);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_TRUE(file->Finish().ok());
    for (uint64_t id : edit.deleted_values) {
      std::erase_if(*metas, [id](const ValueRunMeta& m) { return m.run_id == id; });
    }
    metas->insert(metas->end(), edit.added_values.begin(), edit.added_values.end());
  }
  bool Has(const std::vector<ValueRunMeta>& metas, int key, SequenceNumber sequence) {
    const ValueVersion version(context_, Open(metas));
    rocksdb::PinnableSlice value;
    const Status s = version.Read({}, Key(key), hasher_(Key(key)), refs_[{key, sequence}], &value);
    EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    return s.ok() && value.ToString() == Key(key);
  }
  static uint64_t Notices(const std::vector<ValueRunMeta>& metas) {
    uint64_t n = 0;
    for (const ValueRunMeta& m : metas) n += m.num_notices;
    return n;
  }

  std::map<std::pair<int, SequenceNumber>, std::string> refs_;
  ValueGcReport report_;  // of the last collection
  uint64_t old_until_ = UINT64_MAX;
  std::unordered_set<uint64_t> vacated_;
  bool tail_ = false;
};

TEST_F(ValueGcTest, TheNewestOfAKeyLives) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {2, 2}, {3, 3}}), WriteRun({{1, 4}, {3, 5}})};
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 1, 1));
  EXPECT_TRUE(Has(runs, 2, 2));
  EXPECT_FALSE(Has(runs, 3, 3));
  EXPECT_TRUE(Has(runs, 1, 4));
  EXPECT_TRUE(Has(runs, 3, 5));
}

// Of a log: its oldest runs are moved behind the others, with garbage or not; the others stay, with any garbage.
TEST_F(ValueGcTest, ALogsTailMovesToItsHead) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {2, 2}}), WriteRun({{3, 3}, {4, 4}}), WriteRun({{3, 5}}),
                                    WriteRun({{3, 6}})};
  const std::vector<ValueRunMeta> before = runs;
  tail_ = true;
  for (size_t moved = 0; moved < 2; ++moved) {
    old_until_ = before[moved].run_id;
    Collect(&runs);
    ASSERT_EQ(runs.size(), 4u);
    EXPECT_EQ(runs[0].run_id, before[moved + 1].run_id);
    EXPECT_GT(runs[3].run_id, before[3].run_id);
  }
  EXPECT_FALSE(Has(runs, 3, 3));
  EXPECT_TRUE(Has(runs, 3, 5));  // garbage, but not of the tail
  for (int key : {1, 2, 4}) EXPECT_TRUE(Has(runs, key, static_cast<SequenceNumber>(key))) << key;
  EXPECT_TRUE(Has(runs, 3, 6));
}

TEST_F(ValueGcTest, TheTailIsTheOldestRunsOfThatSize) {
  std::vector<ValueRunMeta> runs;
  for (int i = 1; i <= 4; ++i) runs.push_back(WriteRun({{i, static_cast<SequenceNumber>(i)}}));
  const ValueVersion version(context_, Open(runs));
  const uint64_t bytes = runs[0].extent.length;
  EXPECT_EQ(version.TailUntil({}, 0), runs[0].run_id);
  EXPECT_EQ(version.TailUntil({}, 3 * bytes), runs[2].run_id);
  EXPECT_EQ(version.TailUntil({}, 3 * bytes - 1), runs[1].run_id);
  EXPECT_EQ(version.TailUntil({}, 100 * bytes), runs[3].run_id);
}

TEST_F(ValueGcTest, NoticesAndDeathsEndValues) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {2, 2}, {3, 3}})};
  runs.push_back(WriteRun({}, {{1, 9}}, {{2, 2}}));
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 1, 1));
  EXPECT_FALSE(Has(runs, 2, 2));
  EXPECT_TRUE(Has(runs, 3, 3));
  EXPECT_EQ(Notices(runs), 0u);
}

// Nothing is moved where there is less garbage than was believed: what there is is known then.
TEST_F(ValueGcTest, CountsBeforeItMovesAnything) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {2, 2}, {3, 3}, {4, 4}}), WriteRun({{1, 7}}),
                                    WriteRun({}, {{2, 8}, {9, 9}}), WriteRun({}, {{8, 10}})};
  const auto collect = [&](uint64_t believed) {
    Collect(&runs, {}, kMaxSequenceNumber, nullptr, [] {}, believed);
  };
  collect(1 << 20);
  EXPECT_TRUE(report_.counted);
  ASSERT_EQ(runs.size(), 4u);
  ASSERT_EQ(report_.hints.size(), 4u);
  EXPECT_GT(report_.hints[0].dead, 0);
  EXPECT_LT(report_.hints[0].dead, static_cast<int64_t>(runs[0].extent.length));
  EXPECT_EQ(report_.hints[1].dead, 0);
  // Runs without values that a reader needs are nothing but garbage.
  for (size_t i : {2, 3}) EXPECT_EQ(report_.hints[i].dead, static_cast<int64_t>(runs[i].extent.length));
  EXPECT_EQ(report_.notices, 3u);
  EXPECT_GT(report_.ended_bytes, 0u);
  EXPECT_LT(report_.ended_bytes, 100u);
  int64_t dead = 0;
  for (const ValueHints& h : report_.hints) dead += h.dead;
  collect(static_cast<uint64_t>(dead));
  EXPECT_FALSE(report_.counted);
  EXPECT_TRUE(Has(runs, 1, 7));
  EXPECT_TRUE(Has(runs, 3, 3));
  EXPECT_FALSE(Has(runs, 2, 2));
  EXPECT_EQ(Notices(runs), 0u);
  collect(0);
  EXPECT_EQ(report_.hints[0].dead, 0);
}

// Runs that are too young stay with their garbage, which does not count.
TEST_F(ValueGcTest, YoungRunsStayAsTheyAre) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {2, 2}}), WriteRun({{1, 3}, {3, 4}}), WriteRun({{3, 5}, {4, 6}}),
                                    WriteRun({{4, 7}})};
  old_until_ = runs[0].run_id;
  std::vector<ValueRunMeta> all = runs;
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 1, 1));
  for (const auto& [key, sequence] : {std::pair(2, 2), {1, 3}, {3, 4}, {3, 5}, {4, 6}, {4, 7}}) {
    EXPECT_TRUE(Has(runs, key, static_cast<SequenceNumber>(sequence))) << key << " " << sequence;
  }
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(runs[i - 1].run_id, all[i].run_id);
  // Only young ones have garbage: it is worth nothing.
  Collect(&runs, {}, kMaxSequenceNumber, nullptr, [] {}, /*believed_dead=*/2);
  EXPECT_TRUE(report_.counted);
  old_until_ = UINT64_MAX;
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 3, 4));
  EXPECT_FALSE(Has(runs, 4, 6));
  for (const auto& [key, sequence] : {std::pair(2, 2), {1, 3}, {3, 5}, {4, 7}}) {
    EXPECT_TRUE(Has(runs, key, static_cast<SequenceNumber>(sequence)));
  }
}

// The job has room for these. A group that is collected for space has a few runs after it.
TEST_F(ValueGcTest, RunsOfOtherFilesStayHoweverManyTheyAre) {
  std::vector<ValueRunMeta> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(WriteRun({{i, static_cast<SequenceNumber>(i + 1)}}));
  const std::vector<ValueRunMeta> all = runs;
  vacated_ = {all[3].extent.file_number, all[70].extent.file_number};
  Collect(&runs);
  EXPECT_EQ(report_.values_moved, 2u);
  EXPECT_EQ(runs.size(), 99u);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(Has(runs, i, static_cast<SequenceNumber>(i + 1))) << i;
  for (const ValueRunMeta& m : runs) EXPECT_FALSE(vacated_.contains(m.extent.file_number));
  vacated_.clear();
  Collect(&runs);
  EXPECT_LT(runs.size(), 30u);
}

// Whole files, from the one that was written first.
TEST_F(ValueGcTest, TheOldestShareOfTheBytes) {
  std::vector<ValueRunMeta> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(WriteRun({{10 * i, static_cast<SequenceNumber>(i + 1)}}));
  const ValueVersion version(context_, Open(runs));
  EXPECT_EQ(version.OldUntil(0), 0u);
  EXPECT_EQ(version.OldUntil(0.1), runs[0].run_id);
  EXPECT_EQ(version.OldUntil(0.3), runs[1].run_id);
  EXPECT_EQ(version.OldUntil(0.9), runs[3].run_id);
  EXPECT_EQ(version.OldUntil(1), UINT64_MAX);
  std::vector<std::string> refs;
  const std::vector<ValueRunMeta> of_one_file = Write(100, &refs);
  ASSERT_GT(of_one_file.size(), 1u);
  EXPECT_EQ(ValueVersion(context_, Open(of_one_file)).OldUntil(0.01), of_one_file.back().run_id);
}

TEST_F(ValueGcTest, AnOlderNoticeEndsNothing) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 5}}), WriteRun({}, {{1, 3}})};
  Collect(&runs);
  EXPECT_TRUE(Has(runs, 1, 5));
}

TEST_F(ValueGcTest, SnapshotsKeepWhatTheySee) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {1, 5}, {1, 9}, {2, 2}}), WriteRun({}, {{2, 8}})};
  Collect(&runs, {3, 6});
  EXPECT_TRUE(Has(runs, 1, 1));
  EXPECT_TRUE(Has(runs, 1, 5));
  EXPECT_TRUE(Has(runs, 1, 9));
  EXPECT_TRUE(Has(runs, 2, 2));  // and the notice that ends it for others stays
  EXPECT_GT(Notices(runs), 0u);
  Collect(&runs, {6});
  EXPECT_FALSE(Has(runs, 1, 1));
  EXPECT_TRUE(Has(runs, 1, 5));
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 1, 5));
  EXPECT_FALSE(Has(runs, 2, 2));
  EXPECT_TRUE(Has(runs, 1, 9));
  EXPECT_EQ(Notices(runs), 0u);
}

TEST_F(ValueGcTest, NoticesStayForJobsThatMayBringOlderValues) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {2, 2}}), WriteRun({}, {{1, 9}, {2, 4}})};
  Collect(&runs, {}, /*retain_above=*/5);
  EXPECT_EQ(Notices(runs), 1u);
  runs.push_back(WriteRun({{1, 7}}));  // late
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 1, 7));
}

TEST_F(ValueGcTest, AValueThatWasDeadStillHidesOlderOnes) {
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {1, 5}})};
  runs.push_back(WriteRun({}, {}, {{1, 5}}));
  Collect(&runs, {3});
  EXPECT_TRUE(Has(runs, 1, 1));
  EXPECT_FALSE(Has(runs, 1, 5));
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 1, 1));
}

TEST_F(ValueGcTest, TwoValuesOfOneSequenceLiveByThemselves) {
  // A filter changed the value: the record kept its sequence.
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 5}})};
  const std::string old_ref = refs_[{1, 5}];
  runs.push_back(WriteRun({{1, 5}}));
  std::swap(refs_[{1, 5}], refs_[{1, 4}]);
  refs_[{1, 5}] = old_ref;
  runs.push_back(WriteRun({}, {}, {{1, 5}}));
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 1, 5));
  EXPECT_TRUE(Has(runs, 1, 4));
}

TEST_F(ValueGcTest, ColdValuesAreLeftAlone) {
  std::vector<Item> first;
  for (int i = 0; i < 100; ++i) first.push_back({i, static_cast<SequenceNumber>(i + 1)});
  UpdateCounts updates;
  updates.Reserve(1 << 16);
  for (int key : {1, 1, 2, 2}) updates.Add(hasher_(Key(key)).h1);
  std::vector<ValueRunMeta> runs = {WriteRun(first), WriteRun({{1, 200}, {2, 201}})};
  Collect(&runs, {}, kMaxSequenceNumber, &updates);
  ASSERT_EQ(runs.size(), 2u);
  const ValueRunMeta cold = runs[0].cold ? runs[0] : runs[1];
  EXPECT_TRUE(cold.cold);
  EXPECT_EQ(cold.num_values, 98u);
  const uint64_t cold_id = cold.run_id;
  // Two cold values end while there is a run that is nothing but garbage: that one is deleted, they stay,
  // known to be garbage.
  std::vector<Item> young, younger;
  for (int i = 200; i < 240; ++i) {
    young.push_back({i, static_cast<SequenceNumber>(i + 100)});
    younger.push_back({i, static_cast<SequenceNumber>(i + 200)});
  }
  younger.push_back({50, 500});
  runs.push_back(WriteRun(young));
  runs.back().dead_hint = 12345;  // a wrong earlier estimate
  const uint64_t young_id = runs.back().run_id;
  runs.push_back(WriteRun(younger));
  runs.back().dead_hint = 678;
  runs.push_back(WriteRun({}, {{51, 501}}));
  for (int round = 0; round < 3; ++round) {
    Collect(&runs, {}, kMaxSequenceNumber, &updates);
    const auto has = [&](uint64_t id) {
      return std::any_of(runs.begin(), runs.end(), [id](const ValueRunMeta& m) { return m.run_id == id; });
    };
    EXPECT_FALSE(has(young_id));
    if (round > 0) break;
    EXPECT_TRUE(has(cold_id));
    int64_t garbage = 0;
    for (const ValueRunMeta& m : runs) garbage += m.dead_hint;
    const auto of_two = static_cast<int64_t>(2 * cold.extent.length / 98);
    EXPECT_GE(garbage, of_two * 9 / 10);
    EXPECT_LE(garbage, of_two * 11 / 10);
  }
  EXPECT_TRUE(Has(runs, 50, 500));
  EXPECT_TRUE(Has(runs, 220, 420));
  EXPECT_FALSE(Has(runs, 220, 320));
  // The option off: everything is rewritten, without the garbage.
  Collect(&runs);
  EXPECT_FALSE(Has(runs, 50, 51));
  EXPECT_FALSE(Has(runs, 51, 52));
  EXPECT_TRUE(Has(runs, 52, 53));
  EXPECT_TRUE(Has(runs, 50, 500));
}

// A small run of notices about cold values is all garbage, as it seems, but must be written again
// while those stay. Each collection takes something away, or there would be one after the other
// without end.
TEST_F(ValueGcTest, NoticesGoWithTheColdValuesThatTheyEnded) {
  std::vector<Item> first;
  for (int i = 0; i < 100; ++i) first.push_back({i, static_cast<SequenceNumber>(i + 1)});
  UpdateCounts updates;
  updates.Reserve(1 << 16);
  std::vector<ValueRunMeta> runs = {WriteRun(first)};
  Collect(&runs, {}, kMaxSequenceNumber, &updates);
  runs.push_back(WriteRun({{200, 300}}, {{50, 301}, {51, 302}}));
  Collect(&runs, {}, kMaxSequenceNumber, &updates);
  EXPECT_FALSE(Has(runs, 50, 51));
  EXPECT_FALSE(Has(runs, 51, 52));
  EXPECT_TRUE(Has(runs, 52, 53));
  EXPECT_TRUE(Has(runs, 200, 300));
  Collect(&runs, {}, kMaxSequenceNumber, &updates);
  EXPECT_EQ(Notices(runs), 0u);
}

// A run's counts of values that snapshots held are right again after the collection, also if other
// snapshots are held now: or the group would be collected without end.
TEST_F(ValueGcTest, ValuesOfReleasedSnapshotsAreNotGarbageForEver) {
  UpdateCounts updates;
  updates.Reserve(1 << 16);
  std::vector<ValueRunMeta> runs = {WriteRun({{1, 1}, {2, 2}}), WriteRun({{3, 5}}), WriteRun({{3, 55}})};
  runs[0].pinned_hint = 1000;  // of values that other runs held; they are gone
  runs[0].pinned_from = 30;
  runs[0].pinned_to = 40;
  auto context = std::make_shared<ValueContext>();
  context->tables = context_->tables;
  context->ledger = &ledger_;
  context->cache_space = context_->cache_space;
  context->snapshots = [] { return std::vector<SequenceNumber>{52}; };
  context_ = context;
  Collect(&runs, {52}, kMaxSequenceNumber, &updates);
  const std::vector<ValueVersion::Group> groups = ValueVersion(context_, Open(runs)).Groups();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].dead_bytes, 0u);
  EXPECT_GT(groups[0].pinned_bytes, 0u);
  EXPECT_TRUE(Has(runs, 1, 1));
  EXPECT_TRUE(Has(runs, 3, 5));
  EXPECT_TRUE(Has(runs, 3, 55));
}

// Flushes count on while a collection runs.
TEST_F(ValueGcTest, WhatBecomesHotDuringACollectionIsNotLost) {
  std::vector<Item> values;
  for (int i = 0; i < 100; ++i) values.push_back({i, static_cast<SequenceNumber>(i + 1)});
  UpdateCounts updates;
  updates.Reserve(1 << 16);
  for (int i = 0; i < 10; ++i) {
    for (int n = 0; n < 2; ++n) updates.Add(hasher_(Key(i)).h1);
  }
  std::vector<ValueRunMeta> runs = {WriteRun(values), WriteRun({{99, 200}})};
  int more = 10;
  Collect(&runs, {}, kMaxSequenceNumber, &updates, [&] {
    for (int n = 0; n < 2; ++n) updates.Add(hasher_(Key(more)).h1);
    ++more;
  });
  EXPECT_GT(more, 12);
  for (int i = 0; i < 99; ++i) EXPECT_TRUE(Has(runs, i, static_cast<SequenceNumber>(i + 1))) << i;
  EXPECT_TRUE(Has(runs, 99, 200));
}

std::optional<ValueGroup> FirstOf(const ValueGroups& groups) {
  return groups.empty() ? std::nullopt : std::optional(groups.front());
}

TEST(ValueGcPolicyTest, CollectsBeyondTheReserveOnly) {
  ValueOptions options;
  Random rnd(1);
  ValueGcInput input;
  for (uint32_t i = 0; i < 64; ++i) {
    input.groups.push_back({{i, 6}, 10 << 20, 100, i == 7 ? 3u << 20 : 1u << 20, 1000});
  }
  options.flush_bytes = 32 << 20;
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
  for (auto& g : input.groups) g.dead_bytes += 1 << 20;
  const ValueGroups picked = PickValueGroups(input, options, &rnd);
  ASSERT_EQ(picked.size(), 1u);
  EXPECT_EQ(picked[0].prefix, 7u);  // the most garbage
  input.busy.push_back(picked);
  const auto next = FirstOf(PickValueGroups(input, options, &rnd));
  ASSERT_TRUE(next);
  EXPECT_NE(next->prefix, 7u);
  // One at a time where the copies of two would not fit.
  for (auto& g : input.groups) g.dead_bytes += 1 << 20;
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
  input.busy.clear();
  EXPECT_TRUE(FirstOf(PickValueGroups(input, options, &rnd)));
  options.collect = false;
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
}

TEST(ValueGcPolicyTest, PoliciesChooseAsTheySay) {
  ValueOptions options;
  Random rnd(1);
  ValueGcInput input;
  input.now_seconds = 2000;
  for (uint32_t i = 0; i < 64; ++i) input.groups.push_back({{i, 6}, 10 << 20, 100, 4 << 20, 1990});
  input.groups[3].dead_bytes = 6 << 20;
  input.groups[9].newest = 100;  // long left alone
  EXPECT_EQ(FirstOf(PickValueGroups(input, options, &rnd))->prefix, 3u);
  options.policy = ValueGcPolicy::kCostBenefit;
  EXPECT_EQ(FirstOf(PickValueGroups(input, options, &rnd))->prefix, 9u);
  options.policy = ValueGcPolicy::kGreedyRandom;
  options.policy_d = 1;
  EXPECT_EQ(FirstOf(PickValueGroups(input, options, &rnd))->prefix, 3u);
  options.policy = ValueGcPolicy::kRandom;
  std::set<uint32_t> seen;
  for (int i = 0; i < 500; ++i) seen.insert(FirstOf(PickValueGroups(input, options, &rnd))->prefix);
  EXPECT_GT(seen.size(), 50u);
}

// One job takes small groups until they are a 64th of the live bytes, so that syncs depend on the volume.
TEST(ValueGcPolicyTest, SmallGroupsShareAJob) {
  ValueOptions options;
  options.group_bytes = 1 << 20;
  Random rnd(1);
  ValueGcInput input;
  for (uint32_t i = 0; i < 512; ++i) input.groups.push_back({{i, 9}, 1 << 20, 100, 215 << 10, 1000});
  input.incoming_bytes = 8 << 20;
  for (uint32_t i : {3, 77, 500}) input.groups[i].dead_bytes += 100 << 10;
  const ValueLoad load(input.groups);
  EXPECT_EQ(load.copy_bytes, load.JobBytes());
  const auto live_of = [&](const ValueGroups& groups) {
    uint64_t bytes = 0;
    for (const ValueGroup& g : groups) bytes += input.groups[g.prefix].bytes - input.groups[g.prefix].dead_bytes;
    return bytes;
  };
  for (const ValueGcPolicy policy : {ValueGcPolicy::kGreedy, ValueGcPolicy::kCostBenefit,
                                     ValueGcPolicy::kGreedyRandom, ValueGcPolicy::kRandom}) {
    options.policy = policy;
    const ValueGroups first = PickValueGroups(input, options, &rnd);
    EXPECT_GE(first.size(), 7u);
    EXPECT_LE(live_of(first), load.JobBytes());
    EXPECT_GT(live_of(first), load.JobBytes() / 8 * 6);
    if (policy == ValueGcPolicy::kGreedy) {
      EXPECT_EQ(first[0].prefix, 3u);
      EXPECT_EQ(first[1].prefix, 77u);
      EXPECT_EQ(first[2].prefix, 500u);
    }
    // A second job takes others. It counts as one copy of that volume, whichever groups it takes.
    input.busy = {first};
    const ValueGroups second = PickValueGroups(input, options, &rnd);
    EXPECT_GE(second.size(), 7u);
    std::set<uint32_t> all;
    for (const ValueGroups& job : {first, second}) {
      for (const ValueGroup& g : job) EXPECT_TRUE(all.insert(g.prefix).second);
    }
    // Not while a flush is written that would not fit as well.
    input.flushing_bytes = 8 << 20;
    EXPECT_TRUE(PickValueGroups(input, options, &rnd).empty());
    input.flushing_bytes = 0;
    input.busy.clear();
  }
  options.policy = ValueGcPolicy::kOldestFirst;
  input.incoming_bytes = 16 << 20;
  EXPECT_EQ(PickValueGroups(input, options, &rnd).size(), 1u);
  // A larger group than that is taken alone.
  options.policy = ValueGcPolicy::kGreedy;
  input.groups[9].bytes = 400 << 20;
  input.groups[9].dead_bytes = 200 << 20;
  const ValueGroups large = PickValueGroups(input, options, &rnd);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(large[0].prefix, 9u);
  EXPECT_EQ(ValueLoad(input.groups).copy_bytes, 200u << 20);
}

// One log is collected a part of its tail at a time, so that this part is what needs room.
TEST(ValueGcPolicyTest, OldestFirstIsOneLog) {
  ValueOptions options;
  options.policy = ValueGcPolicy::kOldestFirst;
  options.group_bytes = 16 << 20;
  options.flush_bytes = 8 << 20;
  Random rnd(1);
  ValueGcInput input;
  input.groups.push_back({.group = {}, .bytes = 1000 << 20, .values = 100, .dead_bytes = 100 << 20, .oldest_run = 7});
  const auto load = [&] { return ValueLoad(input.groups); };
  EXPECT_EQ(load().TailBytes(options), options.group_bytes);
  EXPECT_EQ(load().CopyRoom(options, 2), 2 * options.group_bytes);
  options.group_bytes = 1 << 20;
  EXPECT_EQ(load().TailBytes(options), options.flush_bytes);
  options.group_bytes = uint64_t{1} << 30;
  EXPECT_EQ(load().TailBytes(options), load().Bound(options) / 4 - (900 << 20) / 4);  // of the reserve
  options.group_bytes = 16 << 20;
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
  input.groups[0].bytes = 1170 << 20;
  input.groups[0].dead_bytes = 270 << 20;
  EXPECT_EQ(FirstOf(PickValueGroups(input, options, &rnd)), ValueGroup());
  // Groups of another policy, which are still there: by age.
  input.groups.clear();
  for (uint32_t i = 0; i < 64; ++i) {
    input.groups.push_back({.group = {i, 6}, .bytes = 10 << 20, .values = 100, .dead_bytes = 4 << 20});
    input.groups[i].oldest_run = 100 - i;
  }
  input.groups[9].dead_bytes = 8 << 20;
  EXPECT_EQ(FirstOf(PickValueGroups(input, options, &rnd))->prefix, 63u);
}

TEST(ValueGcPolicyTest, CountsWhereMostMayHaveEnded) {
  ValueGcInput input;
  for (uint32_t i = 0; i < 64; ++i) input.groups.push_back({{i, 6}, 10 << 20, 100, 0, 1000});
  EXPECT_FALSE(PickGroupToCount(input));
  input.groups[5].events = 3;
  input.groups[6].events = 7;
  EXPECT_EQ(PickGroupToCount(input)->prefix, 6u);
  input.busy.push_back({{6, 6}});
  EXPECT_EQ(PickGroupToCount(input)->prefix, 5u);
}

TEST(ValueGcPolicyTest, WithoutCollectionsAGroupIsRewrittenWhenAlmostNothingIsLive) {
  ValueOptions options;
  options.collect = false;
  Random rnd(1);
  ValueGcInput input;
  for (uint32_t i = 0; i < 64; ++i) input.groups.push_back({{i, 6}, 10 << 20, 100, 9 << 20, 1000});
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
  input.groups[8].dead_bytes = input.groups[8].bytes;
  ASSERT_TRUE(FirstOf(PickValueGroups(input, options, &rnd)));
  EXPECT_EQ(FirstOf(PickValueGroups(input, options, &rnd))->prefix, 8u);
  input.groups[8].dead_bytes -= 1 << 20;
  input.groups[8].pinned_bytes = 1 << 20;  // which snapshots see
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
}

TEST(ValueGcPolicyTest, ManySmallRunsBecomeOne) {
  const ValueOptions options;
  ValueGcInput input;
  for (uint32_t i = 0; i < 64; ++i) input.groups.push_back({{i, 6}, 10 << 20, 100, 0, 1000});
  for (auto& g : input.groups) g.small_runs = kMaxSmallRuns;
  EXPECT_FALSE(FirstOf(PickGroupsToMerge(input, options)));
  input.groups[5].small_runs += 1;
  input.groups[6].small_runs += 7;
  EXPECT_EQ(FirstOf(PickGroupsToMerge(input, options))->prefix, 6u);
  input.busy.push_back({{6, 6}});
  EXPECT_EQ(FirstOf(PickGroupsToMerge(input, options))->prefix, 5u);
  // Its copy needs room in addition to that one's and a flush.
  const uint64_t room = ValueLoad(input.groups).Bound(options) - (640 << 20);
  input.flushing_bytes = room - (20 << 20);
  EXPECT_TRUE(FirstOf(PickGroupsToMerge(input, options)));
  ++input.flushing_bytes;
  EXPECT_FALSE(FirstOf(PickGroupsToMerge(input, options)));
  input.busy.clear();
  EXPECT_TRUE(FirstOf(PickGroupsToMerge(input, options)));
}

// As many as their small runs together are a job's volume.
TEST(ValueGcPolicyTest, MergesShareAJob) {
  ValueGcInput input;
  for (uint32_t i = 0; i < 512; ++i) {
    input.groups.push_back({{i, 9}, 1 << 20, 100, 0, 1000});
    input.groups[i].small_runs = kMaxSmallRuns + 1;
    input.groups[i].small_bytes = 256 << 10;
  }
  EXPECT_EQ(PickGroupsToMerge(input, ValueOptions()).size(), 32u);
}

TEST(ValueGcPolicyTest, TheThresholdForcesACollectionWithinTheReserve) {
  ValueOptions options;
  Random rnd(1);
  ValueGcInput input;
  for (uint32_t i = 0; i < 64; ++i) input.groups.push_back({{i, 6}, 10 << 20, 100, 0, 1000});
  input.groups[5].dead_bytes = 5 << 20;
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
  options.force_threshold = 0.4;
  ASSERT_TRUE(FirstOf(PickValueGroups(input, options, &rnd)));
  EXPECT_EQ(FirstOf(PickValueGroups(input, options, &rnd))->prefix, 5u);
  // Of the oldest share alone.
  for (auto& g : input.groups) g.oldest_run = 100 + g.group.prefix;
  input.old_until = 104;
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
  input.groups[3].dead_bytes = 5 << 20;
  ASSERT_TRUE(FirstOf(PickValueGroups(input, options, &rnd)));
  EXPECT_EQ(FirstOf(PickValueGroups(input, options, &rnd))->prefix, 3u);
  input.old_until = 105;
  EXPECT_TRUE(FirstOf(PickValueGroups(input, options, &rnd)));
  // The bound holds for all.
  input.old_until = 0;
  EXPECT_FALSE(FirstOf(PickValueGroups(input, options, &rnd)));
  for (auto& g : input.groups) g.dead_bytes = 4 << 20;
  EXPECT_TRUE(FirstOf(PickValueGroups(input, options, &rnd)));
}

}  // namespace
}  // namespace compassdb
