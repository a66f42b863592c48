// SPDX-License-Identifier: Apache-2.0
// Tests only: an LSM store without a database around it, over an in-memory
// file system, next to a model that keeps every version.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "env/sim/fault_injection_file_system.h"
#include "iter/merge_helper.h"
#include "iter/merging_iterator.h"
#include "lsm/lsm_store.h"
#include "lsm/version/lsm_version.h"
#include "store/levels.h"

namespace compassdb {

// Appends operands with commas.
class AppendOperator : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    *result = existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "AppendOperator"; }
};

class StoreHarness {
 public:
  explicit StoreHarness(StoreOptions options = SmallOptions()) : options_(std::move(options)) {
    EXPECT_TRUE(fs_.CreateDir("/db").ok());
    EXPECT_TRUE(fs_.SyncDir("/").ok());
    context_.fs = &fs_;
    context_.clock = SystemClock();
    context_.files = &files_;
    context_.ledger = &ledger_;
    context_.hasher = KeyHasher(77);
    context_.new_number = [this] { return next_number_++; };
    context_.oldest_snapshot = [this] { return snapshots_.empty() ? kMaxSequenceNumber : *snapshots_.begin(); };
    store_ = NewLsmStore(&context_, options_);
    EXPECT_TRUE(store_->Open().ok());
    NewMemTable();
  }

  static StoreOptions SmallOptions() {
    StoreOptions o;
    o.comparator = rocksdb::BytewiseComparator();
    o.merge_operator = std::make_shared<AppendOperator>();
    o.block_size = 256;
    o.level0_trigger = 2;
    o.level1_max_bytes = 8 << 10;
    o.level_multiplier = 4;
    o.target_table_bytes = 4 << 10;
    o.max_pieces = 4;
    o.num_levels = 4;
    o.compression.assign(4, rocksdb::kNoCompression);
    return o;
  }

  void Put(const std::string& k, const std::string& v) { Write(k, kTypeValue, v); }
  void Delete(const std::string& k) { Write(k, kTypeDeletion, ""); }
  void SingleDelete(const std::string& k) { Write(k, kTypeSingleDeletion, ""); }
  void Merge(const std::string& k, const std::string& v) { Write(k, kTypeMerge, v); }
  void DeleteRange(const std::string& a, const std::string& b) {
    ++seq_;
    ASSERT_TRUE(mem_->Add(seq_, kTypeRangeDeletion, a, b, false).ok());
    ranges_.push_back({a, b, seq_});
  }
  SequenceNumber Snapshot() {
    snapshots_.insert(seq_);
    return seq_;
  }
  void ReleaseSnapshot(SequenceNumber s) { snapshots_.erase(snapshots_.find(s)); }
  const std::multiset<SequenceNumber>& snapshots() const { return snapshots_; }
  SequenceNumber sequence() const { return seq_; }

  // Full memtables may merge straight into level 1; otherwise they become runs on level 0.
  bool merge_memtables = false;
  std::function<bool(double, uint64_t)> hurry;
  void Flush(JobReport* report = nullptr) {
    const FlushRequest request{{mem_}, Snapshots(), 1, hurry};
    const bool merge = merge_memtables || options_.one_level;
    if (!merge || !Run(store_->levels()->PickFlush(request), report)) {
      VersionEdit edit;
      JobReport local;
      Status s = store_->Flush(request, &edit, report == nullptr ? &local : report);
      ASSERT_TRUE(s.ok()) << s.ToString();
      Commit(edit);
    }
    NewMemTable();
  }
  // One picked compaction; false if there was nothing to do.
  bool CompactOnce(JobReport* report = nullptr) { return Run(store_->PickCompaction(), report); }
  void CompactAll() {
    while (CompactOnce()) {
    }
  }
  bool Manual(int from, int to, const Slice* begin = nullptr, const Slice* end = nullptr,
              JobReport* report = nullptr) {
    ManualCompaction m;
    m.begin = begin;
    m.end = end;
    m.input_level = from;
    m.output_level = to;
    m.created_before = from == to ? next_number_.load() : 0;
    bool conflict = false;
    return Run(store_->PickManual(m, &conflict), report);
  }
  bool Run(std::unique_ptr<CompactionTask> task, JobReport* report = nullptr) {
    if (task == nullptr) return false;
    VersionEdit edit;
    JobReport local;
    if (report == nullptr) report = &local;
    Status s = task->Run(Snapshots(), nullptr, &edit, report);
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (s.ok()) Commit(edit);
    store_->Release(task.get());
    return s.ok();
  }
  // A new store from what a manifest would hold, with other options perhaps.
  void Reopen(const StoreOptions& options) {
    options_ = options;
    Reopen();
  }
  void Reopen() {
    VersionEdit edit;
    store_->Snapshot(&edit);
    std::string bytes;
    edit.EncodeTo(&bytes);
    VersionEdit decoded;
    ASSERT_TRUE(decoded.DecodeFrom(bytes).ok());
    store_ = NewLsmStore(&context_, options_);
    Status s = store_->ApplyRecovered(decoded);
    if (s.ok()) s = store_->Open();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  using Answer = std::optional<std::string>;
  // Through the directories, as a user reads.
  Answer Get(const std::string& k, SequenceNumber snapshot = kMaxSequenceNumber) {
    rocksdb::PinnableSlice value;
    GetContext ctx(k, snapshot, options_.merge_operator.get(), &value);
    mem_->Get(LookupKey(k, snapshot), &ctx);
    if (!ctx.done()) {
      Status s = store_->view()->Get({}, k, context_.hasher(k), &ctx);
      EXPECT_TRUE(s.ok()) << s.ToString();
    }
    Status s = ctx.Finish();
    if (s.IsNotFound()) return std::nullopt;
    EXPECT_TRUE(s.ok()) << s.ToString();
    return value.ToString();
  }
  // Through the iterators: the merge of everything, directories left out.
  Answer GetByScan(const std::string& k, SequenceNumber snapshot = kMaxSequenceNumber) {
    std::vector<InternalIteratorPtr> children;
    RangeTombstoneSet tombstones(options_.comparator);
    children.push_back(mem_->NewIterator());
    tombstones.Add(mem_->RangeTombstones());
    EXPECT_TRUE(store_->view()->AddIterators({}, &children, &tombstones).ok());
    InternalKeyComparator icmp(options_.comparator);
    InternalIteratorPtr it = NewMergingIterator(&icmp, std::move(children));
    rocksdb::PinnableSlice value;
    GetContext ctx(k, snapshot, options_.merge_operator.get(), &value);
    const std::unique_ptr<ValueResolver> values = store_->view()->NewValueResolver({});
    ctx.SetValues(values.get());
    ctx.AddCoveringTombstone(tombstones.MaxCovering(k, snapshot));
    LookupKey target(k, snapshot);
    for (it->Seek(target.internal_key()); it->Valid(); it->Next()) {
      if (ExtractUserKey(it->key()) != Slice(k)) break;
      if (!ctx.Add(ExtractSequence(it->key()), ExtractType(it->key()), it->value(), nullptr)) break;
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    Status s = ctx.Finish();
    if (s.IsNotFound()) return std::nullopt;
    EXPECT_TRUE(s.ok()) << s.ToString();
    return value.ToString();
  }
  Answer Expected(const std::string& k, SequenceNumber snapshot = kMaxSequenceNumber) const {
    SequenceNumber covered = 0;
    for (const RangeTombstone& r : ranges_) {
      if (r.sequence <= snapshot && r.start <= k && k < r.end && r.sequence > covered) {
        covered = r.sequence;
      }
    }
    auto it = model_.find(k);
    if (it == model_.end()) return std::nullopt;
    Answer result;
    for (const Version& v : it->second) {  // oldest first
      if (v.sequence > snapshot || v.sequence < covered) continue;
      if (v.type == kTypeValue) {
        result = v.value;
      } else if (v.type == kTypeMerge) {
        result = result ? *result + "," + v.value : v.value;
      } else {
        result.reset();
      }
    }
    return result;
  }
  // All keys ever written, at the latest state and every live snapshot.
  void CheckAll(const std::string& note) {
    std::set<SequenceNumber> at(snapshots_.begin(), snapshots_.end());
    at.insert(kMaxSequenceNumber);
    for (SequenceNumber s : at) {
      for (const auto& [key, versions] : model_) {
        const Answer expected = Expected(key, s);
        ASSERT_EQ(Get(key, s), expected) << note << ": get " << key << " at " << s;
        ASSERT_EQ(GetByScan(key, s), expected) << note << ": scan " << key << " at " << s;
      }
    }
  }
  void Verify() {
    Status s = store_->view()->Verify();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  std::vector<std::vector<TphMeta>> Tables() {
    std::vector<std::vector<TphMeta>> levels(options_.num_levels);
    store_->view()->ForEachTable(
        [&](int level, const TphMeta& meta) { levels[level].push_back(meta); });
    return levels;
  }
  uint64_t RecordsIn(int level) {
    uint64_t n = 0;
    const auto levels = Tables();
    for (const TphMeta& t : levels[level]) n += t.NumRecords();
    return n;
  }
  Store* store() { return store_.get(); }
  FaultInjectionFileSystem* fs() { return &fs_; }
  ExtentLedger* ledger() { return &ledger_; }
  StoreContext* context() { return &context_; }
  // For another store in the same surroundings.
  void CopyContext(StoreContext* to) const {
    to->fs = context_.fs;
    to->clock = context_.clock;
    to->files = context_.files;
    to->ledger = context_.ledger;
    to->hasher = context_.hasher;
    to->new_number = context_.new_number;
  }

  void Commit(const VersionEdit& edit) {
    std::unique_ptr<Store::Prepared> prepared;
    Status s = store_->Prepare(edit, &prepared);
    ASSERT_TRUE(s.ok()) << s.ToString();
    store_->Install(edit, std::move(prepared));
    s = Free();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Deletes and punches all that may go.
  Status Free() {
    Status s = ledger_.Purge(nullptr);
    uint64_t punched = 0;
    return s.ok() ? ledger_.Punch({.small = true}, &punched) : s;
  }
  std::vector<SequenceNumber> Snapshots() const {
    const std::set<SequenceNumber> distinct(snapshots_.begin(), snapshots_.end());
    return {distinct.begin(), distinct.end()};
  }

 private:
  struct Version {
    SequenceNumber sequence;
    ValueType type;
    std::string value;
  };
  void Write(const std::string& k, ValueType type, const std::string& v) {
    ++seq_;
    ASSERT_TRUE(mem_->Add(seq_, type, k, v, false).ok());
    model_[k].push_back({seq_, type, v});
  }
  void NewMemTable() {
    MemTableOptions o;
    o.comparator = options_.comparator;
    o.arena_block_size = 4096;
    mem_ = std::make_shared<MemTable>(o, next_number_++);
  }

  StoreOptions options_;
  FaultInjectionFileSystem fs_;
  FileCache files_{&fs_, "/db", FileOptions(), 0};
  ExtentLedger ledger_{&fs_, &files_, 16 << 10};
  StoreContext context_;
  std::atomic<uint64_t> next_number_{1};
  SequenceNumber seq_ = 0;
  std::shared_ptr<MemTable> mem_;
  std::unique_ptr<Store> store_;
  std::multiset<SequenceNumber> snapshots_;
  std::map<std::string, std::vector<Version>> model_;
  std::vector<RangeTombstone> ranges_;
};

}  // namespace compassdb
