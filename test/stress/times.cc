// SPDX-License-Identifier: Apache-2.0
#include "stress/times.h"

#include "stress/engine_options.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Slice;
using rocksdb::Status;

namespace {

constexpr int kTimedKeys = 80;
constexpr char kTypeValue = 1;  // of an internal key: dbformat.h of RocksDB

std::string Text(const Status& s) { return s.ok() ? "" : s.ToString(); }

// The last version by `time`, or null.
template <typename Versions>
auto* VersionAt(const Versions& versions, uint64_t time) {
  auto after = versions.upper_bound(time);
  return after == versions.begin() ? nullptr : &*std::prev(after);
}

// Of a version that was written at `written` and is read back.
bool IsTime(const Slice& found, uint64_t written, uint64_t low) {
  return found == EncodeNumber(written) || (!Limits().times_kept && written < low && found == EncodeNumber(0));
}

std::string ShowEntry(const std::string& key, uint64_t time, const std::string& value) {
  return key + "@" + std::to_string(time) + "=" + Show(value);
}

}  // namespace

Times::Times(int thread, uint64_t seed) : thread_(thread), random_(seed) {}

std::string Times::Key() { return "t" + std::to_string(random_.Uniform(kTimedKeys)); }

uint64_t Times::SomeTime() { return random_.OneIn(2) ? now_ : random_.Range(low_, now_); }

std::string Times::Write(const StressDb& db) {
  const std::string key = Key();
  const std::string time = EncodeNumber(++now_);
  if (random_.OneIn(4)) {
    state_[key][now_] = std::nullopt;
    return Text(db.db()->Delete(rocksdb::WriteOptions(), db.TimedFamily(thread_), key, time));
  }
  const std::string value = random_.Bytes(random_.Skewed(10));
  state_[key][now_] = value;
  return Text(db.db()->Put(rocksdb::WriteOptions(), db.TimedFamily(thread_), key, time, value));
}

std::string Times::WriteMany(const StressDb& db) {
  rocksdb::WriteBatch batch;
  ++now_;
  Status s;
  for (int i = 0; i < 4 && s.ok(); i++) {
    const std::string key = Key();
    const std::string value = random_.Bytes(random_.Skewed(8));
    state_[key][now_] = value;
    s = batch.Put(db.TimedFamily(thread_), key, EncodeNumber(now_), value);
  }
  if (s.ok()) s = db.db()->Write(rocksdb::WriteOptions(), &batch);
  return Text(s);
}

std::string Times::Read(const StressDb& db, const std::string& key, uint64_t time) const {
  const std::string asked = EncodeNumber(time);
  const Slice slice = asked;
  rocksdb::ReadOptions read;
  read.timestamp = &slice;
  std::string value, found;
  // A stacked database does not report the time.
  const Status s = db.db()->GetRootDB()->Get(read, db.TimedFamily(thread_), key, &value, &found);
  auto versions = state_.find(key);
  const auto* expected = versions == state_.end() ? nullptr : VersionAt(versions->second, time);
  const std::string what = key + " at " + std::to_string(time) + " is ";
  if (expected == nullptr || !expected->second) return s.IsNotFound() ? "" : what + s.ToString() + " " + Show(value);
  if (s.ok() && value == *expected->second && IsTime(found, expected->first, low_)) return "";
  return what + s.ToString() + " " + Show(value) + " of " + Show(found) + ", not " +
         ShowEntry(key, expected->first, *expected->second);
}

std::string Times::Walk(const StressDb& db, uint64_t time, bool backward) const {
  const std::string asked = EncodeNumber(time);
  const Slice slice = asked;
  rocksdb::ReadOptions read;
  read.timestamp = &slice;
  std::unique_ptr<rocksdb::Iterator> it(db.db()->NewIterator(read, db.TimedFamily(thread_)));
  backward ? it->SeekToLast() : it->SeekToFirst();
  auto compare = [&](const std::string& key, const Versions& versions) -> std::string {
    const auto* expected = VersionAt(versions, time);
    if (expected == nullptr || !expected->second) return "";
    if (!it->Valid()) return "the walk ends before " + key + ": " + it->status().ToString();
    if (it->key() != key || it->value() != *expected->second || !IsTime(it->timestamp(), expected->first, low_)) {
      return "expected " + ShowEntry(key, expected->first, *expected->second) + ", found " + Show(it->key().ToString()) + "@" +
             Show(it->timestamp().ToString()) + "=" + Show(it->value().ToString());
    }
    backward ? it->Prev() : it->Next();
    return "";
  };
  std::string wrong;
  if (backward) {
    for (auto each = state_.rbegin(); each != state_.rend() && wrong.empty(); ++each) wrong = compare(each->first, each->second);
  } else {
    for (auto each = state_.begin(); each != state_.end() && wrong.empty(); ++each) wrong = compare(each->first, each->second);
  }
  if (!wrong.empty()) return wrong;
  return it->Valid() ? "invented " + Show(it->key().ToString()) : Text(it->status());
}

std::string Times::WalkHistory(const StressDb& db, uint64_t start, uint64_t time) const {
  const std::string from = EncodeNumber(start), to = EncodeNumber(time);
  const Slice first = from, last = to;
  rocksdb::ReadOptions read;
  read.timestamp = &last;
  read.iter_start_ts = &first;
  std::unique_ptr<rocksdb::Iterator> it(db.db()->NewIterator(read, db.TimedFamily(thread_)));
  it->SeekToFirst();
  for (const auto& [key, versions] : state_) {
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
      if (version->first > time || version->first < start) continue;
      const std::string expected = ShowEntry(key, version->first, version->second.value_or("deleted"));
      if (!it->Valid()) return "the history ends before " + expected + ": " + it->status().ToString();
      // An internal key: the user's, 8 bytes of time, 7 of a sequence number, and the type before them.
      const std::string internal = it->key().ToString();
      const bool put = internal.size() >= 16 && internal[internal.size() - 8] == kTypeValue;
      const bool fits = internal.size() >= 16 && internal.substr(0, internal.size() - 16) == key &&
                        it->timestamp() == EncodeNumber(version->first) && put == version->second.has_value() &&
                        (!put || it->value() == *version->second);
      if (!fits) return "expected in the history " + expected + ", found " + Show(internal) + "=" + Show(it->value().ToString());
      it->Next();
    }
  }
  return it->Valid() ? "invented in the history: " + Show(it->key().ToString()) : Text(it->status());
}

std::string Times::Forget(const StressDb& db, bool compact) {
  low_ = random_.Range(low_, now_);
  for (auto& [key, versions] : state_) {
    const auto* kept = VersionAt(versions, low_);
    if (kept != nullptr) versions.erase(versions.begin(), versions.find(kept->first));
  }
  const std::string time = EncodeNumber(low_);
  if (!compact) return Text(db.db()->IncreaseFullHistoryTsLow(db.TimedFamily(thread_), time));
  const Slice slice = time;
  rocksdb::CompactRangeOptions options;
  options.full_history_ts_low = &slice;
  return Text(db.db()->CompactRange(options, db.TimedFamily(thread_), nullptr, nullptr));
}

std::string Times::Step(const StressDb& db, std::string* done) {
  const uint64_t roll = random_.Uniform(100);
  const uint64_t time = SomeTime();
  const std::string at = " at " + std::to_string(time);
  if (roll < 50) {
    *done = "write" + at;
    // The locks of a TransactionDB are for its own writes.
    return roll < 10 && db.kind() != StressDb::Kind::kLocking ? WriteMany(db) : Write(db);
  }
  if (roll < 85) {
    const std::string key = Key();
    *done = "read " + key + at;
    return Read(db, key, time);
  }
  if (roll < 92) {
    *done = "walk" + at;
    return Walk(db, time, random_.OneIn(2));
  }
  if (roll < 96) {
    const uint64_t start = random_.Range(low_, time);
    *done = "history since " + std::to_string(start) + at;
    return WalkHistory(db, start, time);
  }
  *done = roll < 98 ? "flush" : "earlier times given up";
  if (roll < 98) return Text(db.db()->Flush(rocksdb::FlushOptions(), db.TimedFamily(thread_)));
  return Forget(db, roll == 98);
}

std::string Times::Compare(const StressDb& db) const {
  for (const bool backward : {false, true}) {
    for (const uint64_t time : {low_, now_}) {
      const std::string wrong = Walk(db, time, backward);
      if (!wrong.empty()) return wrong;
    }
  }
  return WalkHistory(db, low_, now_);
}

}  // namespace compassdb_test
