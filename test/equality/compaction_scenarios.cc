// SPDX-License-Identifier: Apache-2.0
// Compaction filters, listeners, manual compactions: what their users see.

#include <atomic>
#include <chrono>
#include <thread>

#include "equality/transcript.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/listener.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::CompactionFilter;
using rocksdb::CompactRangeOptions;
using rocksdb::Options;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::WriteOptions;

namespace {

CompactRangeOptions WholeAndForced() {
  CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  return options;
}

// By value: "drop", "change", "skip:KEY" (remove and skip until KEY).
class WordFilter : public CompactionFilter {
 public:
  const char* Name() const override { return "Words"; }
  Decision FilterV2(int, const Slice&, ValueType type, const Slice& value, std::string* new_value,
                    std::string* skip_until) const override {
    if (type == ValueType::kMergeOperand) return Decision::kKeep;
    if (value == "drop") return Decision::kRemove;
    if (value == "change") {
      *new_value = "changed";
      return Decision::kChangeValue;
    }
    if (value.starts_with("skip:")) {
      *skip_until = value.ToString().substr(5);
      return Decision::kRemoveAndSkipUntil;
    }
    return Decision::kKeep;
  }
};

void Filter(Transcript* t) {
  static WordFilter filter;
  Options options = FreshOptions();
  options.compaction_filter = &filter;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  auto put = [&](const char* key, const char* value) {
    db->Put(WriteOptions(), key, value).PermitUncheckedError();
  };
  put("a", "keep");
  put("b", "old");
  put("c", "old");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  put("b", "drop");
  put("c", "change");
  put("d", "drop");
  put("e", "change");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("compact", db->CompactRange(WholeAndForced(), nullptr, nullptr));
  t->Scan("compacted", db.get());
  put("f", "skip:i");
  put("g", "skipped");
  put("h", "skipped");
  put("i", "stays");
  put("j", "drop");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("compact", db->CompactRange(WholeAndForced(), nullptr, nullptr));
  t->Scan("compacted", db.get());
  // A snapshot does not protect from a filter.
  put("k", "drop");
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  put("l", "after");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("compact", db->CompactRange(WholeAndForced(), nullptr, nullptr));
  t->Scan("compacted", db.get());
  ReadOptions at;
  at.snapshot = snapshot;
  t->Scan("at snapshot", db.get(), nullptr, at);
  db->ReleaseSnapshot(snapshot);
}

// A legacy filter (Filter, not FilterV2) and a factory.
class OddFilter : public CompactionFilter {
 public:
  const char* Name() const override { return "Odd"; }
  bool Filter(int, const Slice& key, const Slice&, std::string* new_value,
              bool* value_changed) const override {
    int last = key[key.size() - 1] - '0';
    if (last % 3 == 0) return true;
    if (last % 3 == 1) {
      *new_value = "changed";
      *value_changed = true;
    }
    return false;
  }
};

class OddFactory : public rocksdb::CompactionFilterFactory {
 public:
  const char* Name() const override { return "OddFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    if (context.is_manual_compaction) manual = true;
    return std::make_unique<OddFilter>();
  }
  std::atomic<bool> manual = false;
};

void FilterFactory(Transcript* t) {
  auto factory = std::make_shared<OddFactory>();
  Options options = FreshOptions();
  options.compaction_filter_factory = factory;
  options.disable_auto_compactions = true;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  for (int i = 0; i < 30; i++) {
    db->Put(WriteOptions(), "k" + std::to_string(i), "v").PermitUncheckedError();
  }
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Scan("a flush does not filter", db.get());
  t->Code("compact", db->CompactRange(WholeAndForced(), nullptr, nullptr));
  t->Scan("compacted", db.get());
  t->Line(factory->manual ? "manual" : "not manual");
}

class LevelFilter : public CompactionFilter {
 public:
  const char* Name() const override { return "Levels"; }
  bool Filter(int level, const Slice&, const Slice&, std::string*, bool*) const override {
    levels |= 1u << level;
    return false;
  }
  mutable std::atomic<unsigned> levels = 0;
};

void FilterLevels(Transcript* t) {
  LevelFilter filter;
  Options options = FreshOptions();
  options.compaction_filter = &filter;
  options.disable_auto_compactions = true;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  t->Code("put", db->Put(WriteOptions(), "a", "v"));
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  for (const char* what : {"from level 0", "within level 1"}) {
    filter.levels = 0;
    t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    t->Line(std::string(what) + ": " + std::to_string(filter.levels));
  }
}

class Listener : public rocksdb::EventListener {
 public:
  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo& info) override {
    begun++;
    NoteFamily(info.cf_name);
  }
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& info) override {
    smallest = info.smallest_seqno;
    largest = info.largest_seqno;
    completed++;
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    if (info.status.ok()) compactions++;
  }
  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    deleted = handle->GetName();
  }
  void NoteFamily(const std::string& name) { family = name; }

  std::atomic<int> begun = 0;
  std::atomic<int> completed = 0;
  std::atomic<int> compactions = 0;
  std::atomic<uint64_t> smallest = 0;
  std::atomic<uint64_t> largest = 0;
  std::string family;   // written by a flush, read after it
  std::string deleted;
};

void Listeners(Transcript* t) {
  auto listener = std::make_shared<Listener>();
  Options options = FreshOptions();
  options.listeners.push_back(listener);
  options.disable_auto_compactions = true;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 10; i++) {
      db->Put(WriteOptions(), "k" + std::to_string(i), "v").PermitUncheckedError();
    }
    t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    // Neither engine promises to call the listener before Flush returns.
    for (int wait = 0; wait < 5000 && listener->completed <= round; wait++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    t->Line("flushes " + std::to_string(listener->begun) + " " +
            std::to_string(listener->completed) + " of " + listener->family + " sequences " +
            std::to_string(listener->smallest) + " to " + std::to_string(listener->largest));
  }
  t->Code("flush of nothing", db->Flush(rocksdb::FlushOptions()));
  t->Line("flushes " + std::to_string(listener->completed));
  t->Code("compact", db->CompactRange(WholeAndForced(), nullptr, nullptr));
  t->Line(listener->compactions > 0 ? "compacted" : "no compaction seen");
  rocksdb::ColumnFamilyHandle* family = nullptr;
  t->Code("create", db->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "family", &family));
  if (family == nullptr) return;
  db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  t->Line("handle " + listener->deleted);
}

void ManualCompaction(Transcript* t) {
  Options options = FreshOptions();
  options.disable_auto_compactions = true;
  options.num_levels = 4;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 200; i++) {
      db->Put(WriteOptions(), "k" + std::to_string((i * 7 + round) % 300), std::to_string(round))
          .PermitUncheckedError();
    }
    t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  }
  auto digest = [&] {
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(ReadOptions()));
    uint64_t hash = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      hash = HashBytes(it->value().ToString(), HashBytes(it->key().ToString(), hash));
    }
    t->Line(std::to_string(hash) + " " + ShowCode(it->status()));
  };
  digest();
  Slice begin = "k1";
  Slice end = "k2";
  t->Code("part", db->CompactRange(CompactRangeOptions(), &begin, &end));
  digest();
  t->Code("backwards", db->CompactRange(CompactRangeOptions(), &end, &begin));
  digest();
  std::atomic<bool> canceled = true;
  CompactRangeOptions cancel;
  cancel.canceled = &canceled;
  t->Code("canceled", db->CompactRange(cancel, nullptr, nullptr));
  digest();
  db->DisableManualCompaction();
  db->DisableManualCompaction();
  db->EnableManualCompaction();
  t->Code("disabled", db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  db->EnableManualCompaction();
  t->Code("enabled", db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  digest();
}

}  // namespace

std::vector<Scenario> CompactionScenarios() {
  return {{"filter", Filter},
          {"filter_factory", FilterFactory},
          {"filter_levels", FilterLevels},
          {"listeners", Listeners},
          {"manual_compaction", ManualCompaction}};
}

}  // namespace compassdb_test
