// SPDX-License-Identifier: Apache-2.0
#include "corruption/specimen.h"

#include <cstdio>
#include <cstdlib>

#include "rocksdb/table.h"
#include "support/family.h"
#include "support/history.h"
#include "support/random.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Status;

namespace {

constexpr int kFamilies = 2;
constexpr int kLogBatches = 40;

std::vector<FamilySpec> Specs() {
  return {{.merge = MergeKind::kAppend}, {.reverse_order = true}};
}

rocksdb::ColumnFamilyOptions FamilyOptions(const FamilySpec& spec) {
  rocksdb::ColumnFamilyOptions options;
  options.comparator = ComparatorOf(spec);
  options.merge_operator = MergeOperatorOf(spec.merge);
  options.disable_auto_compactions = true;
  options.target_file_size_base = 16 << 10;
  options.max_bytes_for_level_base = 64 << 10;
  options.compression = spec.reverse_order ? rocksdb::kNoCompression : rocksdb::kLZ4Compression;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 1 << 10;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

struct Opened {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  Status status;
  ~Opened() {
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
};

void Open(const std::string& path, bool read_only, bool create, Opened* out) {
  rocksdb::DBOptions options;
  options.create_if_missing = create;
  options.create_missing_column_families = create;
  options.avoid_flush_during_shutdown = true;
  options.max_bgerror_resume_count = 0;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  std::vector<FamilySpec> specs = Specs();
  families.emplace_back("default", FamilyOptions(specs[0]));
  families.emplace_back("second", FamilyOptions(specs[1]));
  rocksdb::DB* db = nullptr;
  out->status = read_only
                    ? rocksdb::DB::OpenForReadOnly(options, path, families, &out->handles, &db)
                    : rocksdb::DB::Open(options, path, families, &out->handles, &db);
  if (!out->status.ok()) {
    out->handles.clear();
  } else {
    out->db.reset(db);
  }
}

void Must(const Status& s, const char* what) {
  if (s.ok()) return;
  fprintf(stderr, "cannot make the specimen: %s: %s\n", what, s.ToString().c_str());
  exit(1);
}

std::vector<WriteItem> SomeItems(Random* random, int count) {
  std::vector<WriteItem> items;
  for (int i = 0; i < count; i++) {
    WriteItem item;
    item.family = static_cast<int>(random->Uniform(kFamilies));
    item.key = "key" + std::to_string(random->Uniform(700));
    item.value = random->Bytes(random->Uniform(160));
    if (random->OneIn(8)) {
      item.kind = WriteItem::Kind::kDelete;
    } else if (item.family == 0 && random->OneIn(6)) {
      item.kind = WriteItem::Kind::kMerge;
      item.value = random->Text(5);
    } else if (item.family == 0 && random->OneIn(60)) {
      item.kind = WriteItem::Kind::kDeleteRange;
      item.value = item.key + "9";
    }
    items.push_back(std::move(item));
  }
  return items;
}

Status Write(const Opened& opened, const std::vector<WriteItem>& items) {
  rocksdb::WriteBatch batch;
  for (const WriteItem& item : items) {
    auto* family = opened.handles[item.family];
    Status s;
    switch (item.kind) {
      case WriteItem::Kind::kPut: s = batch.Put(family, item.key, item.value); break;
      case WriteItem::Kind::kDelete: s = batch.Delete(family, item.key); break;
      case WriteItem::Kind::kMerge: s = batch.Merge(family, item.key, item.value); break;
      default: s = batch.DeleteRange(family, item.key, item.value);
    }
    if (!s.ok()) return s;
  }
  rocksdb::WriteOptions options;
  options.sync = true;
  return opened.db->Write(options, &batch);
}

Specimen::State StateOf(const Model& model) {
  Specimen::State state;
  for (int family = 0; family < kFamilies; family++) {
    Entries entries = model.Scan(family, model.sequence());
    state.emplace_back(entries.begin(), entries.end());
  }
  return state;
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  static const char* const kNames[] = {"refused", "read error", "exact", "log tail lost"};
  return kNames[static_cast<int>(verdict)];
}

Specimen MakeSpecimen(const std::string& path, uint64_t seed) {
  Specimen specimen;
  specimen.path = path;
  Random random(seed);
  Model model(Specs());
  model.CreateFamily(1);
  Opened opened;
  Open(path, false, true, &opened);
  Must(opened.status, "open");
  uint64_t number = 0;
  auto write = [&](int count) {
    std::vector<WriteItem> items = SomeItems(&random, count);
    WriteItem counter;
    counter.key = History::kCounterKey;
    counter.value = std::to_string(++number);
    items.push_back(counter);
    Must(Write(opened, items), "write");
    model.Write(items);
  };
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < 15; i++) write(20);
    Must(opened.db->Flush(rocksdb::FlushOptions(), opened.handles), "flush");
    if (round != 1 && round != 3) continue;
    for (auto* family : opened.handles) {
      Must(opened.db->CompactRange(rocksdb::CompactRangeOptions(), family, nullptr, nullptr),
           "compact");
    }
  }
  // State 0 belongs to counter value `number` as of here.
  specimen.states.push_back(StateOf(model));
  for (int i = 0; i < kLogBatches; i++) {
    write(6);
    specimen.states.push_back(StateOf(model));
  }
  return specimen;
}

namespace {

// Reads of one damaged database, against the state that it claims to be in.
class Reader {
 public:
  Reader(const Opened& opened, const Specimen& specimen) : opened_(opened), specimen_(specimen) {}

  // False when something is wrong; see wrong().
  bool ReadEverything() {
    if (!ChooseState()) return false;
    for (int family = 0; family < kFamilies; family++) {
      if (!Scan(family, false) || !Scan(family, true) || !Gets(family)) return false;
    }
    return true;
  }
  const std::string& wrong() const { return wrong_; }
  bool errors() const { return errors_; }
  bool tail_lost() const { return state_ != &specimen_.states.back(); }

 private:
  bool Wrong(const std::string& what) {
    wrong_ = what;
    return false;
  }

  // By the counter; when that cannot be read, the truth.
  bool ChooseState() {
    state_ = &specimen_.states.back();
    std::string value;
    Status s = opened_.db->Get(rocksdb::ReadOptions(), opened_.handles[0],
                               History::kCounterKey, &value);
    if (s.IsNotFound()) return Wrong("the counter is gone");
    if (!s.ok()) {
      errors_ = true;
      return true;
    }
    for (const Specimen::State& state : specimen_.states) {
      auto counter = state[0].find(History::kCounterKey);
      if (counter->second != value) continue;
      state_ = &state;
      return true;
    }
    return Wrong("the counter is " + Show(value) + ", which it was before the last flush, or never");
  }

  bool Scan(int family, bool backward) {
    const auto& expected = (*state_)[family];
    std::unique_ptr<rocksdb::Iterator> it(
        opened_.db->NewIterator(rocksdb::ReadOptions(), opened_.handles[family]));
    size_t seen = 0;
    if (backward) {
      it->SeekToLast();
    } else {
      it->SeekToFirst();
    }
    while (it->Valid()) {
      auto found = expected.find(it->key().ToString());
      if (found == expected.end()) return Wrong("a scan shows " + Show(it->key().ToString()));
      if (it->value() != found->second) {
        return Wrong("a scan shows a wrong value of " + Show(found->first));
      }
      seen++;
      if (backward) {
        it->Prev();
      } else {
        it->Next();
      }
    }
    if (!it->status().ok()) {
      errors_ = true;
    } else if (seen != expected.size()) {
      return Wrong(std::string(backward ? "a backward" : "a forward") + " scan without error shows " + std::to_string(seen) + " of " +
                   std::to_string(expected.size()) + " entries");
    }
    return true;
  }

  bool Gets(int family) {
    const auto& expected = (*state_)[family];
    for (int i = 0; i < 700; i += 3) {
      std::string key = "key" + std::to_string(i);
      std::string value;
      Status s = opened_.db->Get(rocksdb::ReadOptions(), opened_.handles[family], key, &value);
      auto found = expected.find(key);
      if (s.ok() && (found == expected.end() || found->second != value)) {
        return Wrong("Get shows a wrong value of " + key);
      }
      if (s.IsNotFound() && found != expected.end()) return Wrong("Get does not find " + key);
      if (!s.ok() && !s.IsNotFound()) errors_ = true;
    }
    return true;
  }

  const Opened& opened_;
  const Specimen& specimen_;
  const Specimen::State* state_ = nullptr;
  std::string wrong_;
  bool errors_ = false;
};

}  // namespace

Examination Examine(const Specimen& specimen, const std::string& path, bool read_only,
                    bool compact) {
  Examination result;
  Opened opened;
  Open(path, read_only, false, &opened);
  if (!opened.status.ok()) {
    result.verdict = Verdict::kOpenError;
    return result;
  }
  bool errors = false;
  bool tail_lost = false;
  for (int round = 0; round < (compact && !read_only ? 2 : 1); round++) {
    Reader reader(opened, specimen);
    if (!reader.ReadEverything()) {
      result.wrong = reader.wrong() + (round == 1 ? " (after compaction)" : "");
      return result;
    }
    errors |= reader.errors();
    tail_lost |= reader.tail_lost();
    if (round == 1 || !compact || read_only) break;
    for (auto* family : opened.handles) {
      rocksdb::CompactRangeOptions options;
      options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      errors |= !opened.db->CompactRange(options, family, nullptr, nullptr).ok();
    }
  }
  result.verdict = errors      ? Verdict::kReadError
                   : tail_lost ? Verdict::kLogTailLost
                               : Verdict::kExact;
  return result;
}

}  // namespace compassdb_test
