// SPDX-License-Identifier: Apache-2.0
#include "stress/entities.h"

#include "rocksdb/wide_columns.h"
#include "support/generator.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Status;
using rocksdb::WideColumns;

namespace {

constexpr int kFamilies = kFilteredFamily;  // those before it
constexpr int kKeys = 60;

WideColumns AsWide(const std::map<std::string, std::string>& columns) {
  WideColumns wide;
  for (const auto& [name, value] : columns) wide.emplace_back(name, value);
  return wide;
}

std::string ShowColumns(const WideColumns& columns) {
  std::string out;
  for (const auto& column : columns) {
    out += Show(column.name().ToString()) + ":" + Show(column.value().ToString()) + " ";
  }
  return out;
}

std::string DefaultOf(const std::map<std::string, std::string>& columns) {
  auto found = columns.find("");
  return found == columns.end() ? "" : found->second;
}

}  // namespace

Entities::Entities(int thread, uint64_t seed)
    : thread_(thread), prefix_(1, static_cast<char>('A' + thread)), random_(seed) {}

std::string Entities::Key() { return prefix_ + "e" + std::to_string(random_.Uniform(kKeys)); }

Entities::Columns Entities::SomeColumns() {
  Columns columns;
  for (uint64_t n = random_.Uniform(5); n > 0; n--) {
    columns[random_.OneIn(3) ? "" : random_.Text(1 + random_.Uniform(2))] = random_.Bytes(random_.Skewed(9));
  }
  return columns;
}

size_t Entities::count(int family) const {
  size_t count = 0;
  for (const auto& [place, columns] : state_) count += place.first == family;
  return count;
}

std::string Entities::Write(const StressDb& db, int family, std::string* done) {
  const std::string key = Key();
  auto* handle = db.Handles(thread_)[family];
  const rocksdb::WriteOptions options;
  const uint64_t what = random_.Uniform(10);
  Status s;
  if (what == 0) {
    s = db.db()->Delete(options, handle, key);
    state_.erase({family, key});
  } else if (what < 3) {
    const std::string value = random_.Bytes(random_.Skewed(9));
    s = db.db()->Put(options, handle, key, value);
    state_[{family, key}] = {{"", value}};
  } else {
    const Columns columns = SomeColumns();
    s = db.db()->PutEntity(options, handle, key, AsWide(columns));
    state_[{family, key}] = columns;
  }
  *done = (what == 0 ? "delete " : what < 3 ? "put " : "entity ") + std::to_string(family) + " " + key;
  return s.ok() ? "" : s.ToString();
}

std::string Entities::WriteMany(const StressDb& db) {
  rocksdb::WriteBatch batch;
  const auto handles = db.Handles(thread_);
  Status s;
  for (int i = 0; i < 4 && s.ok(); i++) {
    const int family = static_cast<int>(random_.Uniform(kFamilies));
    const std::string key = Key();
    const Columns columns = SomeColumns();
    s = batch.PutEntity(handles[family], key, AsWide(columns));
    state_[{family, key}] = columns;
  }
  if (s.ok() && random_.OneIn(8)) {
    const int family = static_cast<int>(random_.Uniform(kFamilies));
    const auto [begin, end] = OwnRange(prefix_, StressFamilies(thread_)[family].reverse_order);
    s = batch.DeleteRange(handles[family], begin, end);
    for (auto it = state_.begin(); it != state_.end();) {
      it = it->first.first == family ? state_.erase(it) : std::next(it);
    }
  }
  if (s.ok()) s = db.db()->Write(rocksdb::WriteOptions(), &batch);
  return s.ok() ? "" : s.ToString();
}

std::string Entities::Read(const StressDb& db, int family, const std::string& key, const State& state,
                           const rocksdb::Snapshot* snapshot) const {
  auto* handle = db.Handles(thread_)[family];
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  auto found = state.find({family, key});
  std::string value;
  Status s = db.db()->Get(read, handle, key, &value);
  rocksdb::PinnableWideColumns columns;
  Status entity = db.db()->GetEntity(read, handle, key, &columns);
  if (found == state.end()) {
    return s.IsNotFound() && entity.IsNotFound() ? "" : key + " exists: " + s.ToString() + ", " + entity.ToString();
  }
  if (!s.ok() || value != DefaultOf(found->second)) {
    return key + ": expected " + Show(DefaultOf(found->second)) + ", got " + s.ToString() + " " + Show(value);
  }
  if (!entity.ok() || columns.columns() != AsWide(found->second)) {
    return key + ": expected " + ShowColumns(AsWide(found->second)) + ", got " + entity.ToString() + " " +
           ShowColumns(columns.columns());
  }
  return "";
}

std::string Entities::Walk(const StressDb& db, int family, const State& state,
                           const rocksdb::Snapshot* snapshot) const {
  const bool reverse = StressFamilies(thread_)[family].reverse_order;
  const auto [begin, end] = OwnRange(prefix_, reverse);
  const rocksdb::Slice lower = begin, upper = end;
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  read.total_order_seek = true;
  read.iterate_lower_bound = &lower;
  read.iterate_upper_bound = &upper;
  std::unique_ptr<rocksdb::Iterator> it(db.db()->NewIterator(read, db.Handles(thread_)[family]));
  // A reversed family is walked from its end, so that both go upwards.
  reverse ? it->SeekToLast() : it->SeekToFirst();
  for (const auto& [place, columns] : state) {
    if (place.first != family) continue;
    if (!it->Valid()) return "the walk ends before " + place.second + ": " + it->status().ToString();
    if (it->key() != place.second || it->value() != DefaultOf(columns) || it->columns() != AsWide(columns)) {
      return "expected " + place.second + " " + ShowColumns(AsWide(columns)) + ", found " + Show(it->key().ToString()) +
             "=" + Show(it->value().ToString()) + " " + ShowColumns(it->columns());
    }
    reverse ? it->Prev() : it->Next();
  }
  if (it->Valid()) return "invented " + Show(it->key().ToString());
  return it->status().ok() ? "" : it->status().ToString();
}

std::string Entities::Step(const StressDb& db, std::string* done) {
  const int family = static_cast<int>(random_.Uniform(kFamilies));
  const bool then = snapshot_ != nullptr && random_.OneIn(3);
  switch (random_.Uniform(16)) {
    case 0:
      *done = "walk " + std::to_string(family) + (then ? " at the snapshot" : "");
      return Walk(db, family, then ? then_ : state_, then ? snapshot_ : nullptr);
    case 1:
      *done = "snapshot";
      if (snapshot_ != nullptr) return Release(db);
      snapshot_ = db.db()->GetSnapshot();
      then_ = state_;
      return snapshot_ == nullptr ? "no snapshot" : "";
    case 2:
    case 3:
      // Neither kind of transactions takes range deletions.
      *done = "batch";
      return db.kind() == StressDb::Kind::kPlain ? WriteMany(db) : "";
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9: return Write(db, family, done);
    default: {
      const std::string key = Key();
      *done = "read " + std::to_string(family) + " " + key + (then ? " at the snapshot" : "");
      return Read(db, family, key, then ? then_ : state_, then ? snapshot_ : nullptr);
    }
  }
}

std::string Entities::Release(const StressDb& db) {
  std::string wrong;
  if (snapshot_ == nullptr) return wrong;
  for (int family = 0; family < kFamilies && wrong.empty(); family++) wrong = Walk(db, family, then_, snapshot_);
  db.db()->ReleaseSnapshot(snapshot_);
  snapshot_ = nullptr;
  return wrong;
}

std::string Entities::Compare(const StressDb& db, int family) const {
  std::string wrong = Walk(db, family, state_, nullptr);
  for (int number = 0; number < kKeys && wrong.empty() && family < kFamilies; number++) {
    wrong = Read(db, family, prefix_ + "e" + std::to_string(number), state_, nullptr);
  }
  return wrong;
}

}  // namespace compassdb_test
