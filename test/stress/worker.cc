// SPDX-License-Identifier: Apache-2.0
#include "stress/worker.h"

#include <algorithm>
#include <cstdio>

#include "stress/engine_options.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::Status;

namespace {

constexpr size_t kRemembered = 30;
constexpr size_t kRememberedLength = 300;

Profile StressProfile(int number) {
  Profile profile = *FindProfile("mixed");
  profile.name = "stress";
  profile.families = StressFamilies(number);
  profile.key_prefix = std::string(1, static_cast<char>('a' + number));
  profile.fixed_families = kSharedFamilies;
  profile.keys = 300;
  profile.large_values = true;
  profile.delete_range_share = 1;
  profile.scan = 0;  // of whole families, which others write to
  profile.reopen = 0;
  profile.read_only = 0;
  profile.verify_checksum = 0;
  profile.family_change = 2;
  return profile;
}

DbExecutor::Config ConfigFor(const Profile& profile) {
  DbExecutor::Config config;
  config.families = profile.families;
  return config;
}

// For a write that the database did not get, it returns another state, no error.
bool LooksLost(const std::string& expected, const std::string& actual) {
  if (expected == "OK") return false;
  for (const char* error : {"Corruption", "IO error", "Invalid argument", "Not implemented", "Aborted"}) {
    if (actual.find(error) != std::string::npos) return false;
  }
  return true;
}

}  // namespace

Worker::Worker(int number, StressDb* db, Bank* bank, Settings* settings)
    : number_(number), db_(db), bank_(bank), settings_(settings), prefix_(1, static_cast<char>('a' + number)),
      random_(settings->seed * 1000 + number), profile_(StressProfile(number)),
      generator_(profile_, settings->seed * 1000 + 500 + number), model_(profile_.families),
      executor_(ConfigFor(profile_)), entities_(number, random_.Next()),
      times_(number, random_.Next()) {
  for (int family = 1; family < kSharedFamilies; family++) model_.model().CreateFamily(family);
}

bool Worker::Fail(const std::string& what, const std::string& expected, const std::string& actual) {
  std::lock_guard<std::mutex> lock(settings_->report);
  if (settings_->stop.exchange(true)) return false;  // the first one counts
  static const char* const kKinds[] = {"DB", "TransactionDB", "OptimisticTransactionDB"};
  fprintf(stderr, "FAILED: layout %s, %s, thread %d, operation %llu: %s\n  expected %s\n  actual   %s\nits last operations:\n",
          db_->layout().c_str(), kKinds[static_cast<int>(db_->kind())], number_, static_cast<unsigned long long>(done_),
          what.c_str(), expected.c_str(), actual.c_str());
  if (settings_->writes_lost > 0 && LooksLost(expected, actual)) fprintf(stderr, "a lost write was noticed\n");
  for (const std::string& line : last_) fprintf(stderr, "  %s\n", line.c_str());
  fprintf(stderr, "database: %s\nrepeat with: %s\n", db_->path().c_str(), settings_->repeat.c_str());
  return false;
}

bool Worker::Begin(const std::string& what) {
  last_.push_back(std::to_string(done_) + " " + what.substr(0, kRememberedLength));
  if (last_.size() > kRemembered) last_.pop_front();
  return true;
}

bool Worker::Ok(const std::string& what, const Status& s) { return s.ok() || Fail(what, "OK", s.ToString()); }

int Worker::RandomFamily() {
  const int families = model_.model().HasFamily(kOwnFamily) ? kOwnFamily + 1 : kSharedFamilies;
  return static_cast<int>(random_.Uniform(families));
}

std::string Worker::FilePath(const std::string& name) const { return settings_->directory + "/" + name + "-" + prefix_; }

bool Worker::Live(uint64_t ops) {
  executor_.Attach(db_->db(), db_->Handles(number_));
  // Neither kind of transactions takes range deletions.
  profile_.delete_range_share = db_->kind() == StressDb::Kind::kPlain ? 1 : 0;
  const bool locking = db_->kind() == StressDb::Kind::kLocking;
  profile_.single_delete_share = locking && !Limits().single_delete_in_locked_batch ? 0 : 8;
  may_not_compact_ = false;
  for (uint64_t i = 0; i < ops; i++, done_++) {
    if (settings_->stop.load(std::memory_order_relaxed) || !Step()) break;
  }
  return EndLife();
}

bool Worker::EndLife() {
  const std::string wrong = entities_.Release(*db_);
  Op close;
  close.kind = OpKind::kReopen;
  model_.Run(close);  // snapshots and iterators are gone
  generator_.ForgetReaders();
  executor_.Close();
  if (settings_->stop) return false;
  if (!wrong.empty()) return Fail("the entities' snapshot", "what was there", wrong);
  return !random_.OneIn(4) || VerifyKept();
}

bool Worker::Step() {
  const uint64_t roll = random_.Uniform(1000);
  if (roll < 2) return random_.OneIn(2) ? Maintain() : Generated();
  if (roll < 27) return Transact();
  if (roll < 42) return BankOperation();
  if (roll < 66 && db_->HasEntities()) return StepOf(&entities_, "entities: ");
  if (roll < 90 && db_->TimedFamily(number_) != nullptr) return StepOf(&times_, "timestamps: ");
  return Generated();
}

template <typename Part>
bool Worker::StepOf(Part* part, const std::string& what) {
  std::string done;
  const std::string wrong = part->Step(*db_, &done);
  Begin(what + done);
  return wrong.empty() || Fail(what + done, "what was written", wrong);
}

bool Worker::Generated() {
  const Op op = generator_.Next();
  Begin(ToString(op));
  if (op.kind == OpKind::kCreateFamily || op.kind == OpKind::kDropFamily) return ChangeFamily(op);
  const std::string expected = model_.Run(op);
  const bool lose = settings_->lose_one_in != 0 && op.kind == OpKind::kWrite && ++writes_ % settings_->lose_one_in == 0;
  if (lose) ++settings_->writes_lost;
  const std::string actual = lose ? "OK" : executor_.Run(op);
  return expected == actual || Fail(ToString(op), expected, actual);
}

bool Worker::ChangeFamily(const Op& op) {
  model_.Run(op);
  const Status s = op.kind == OpKind::kCreateFamily ? db_->CreateOwn(number_, op.number) : db_->DropOwn(number_);
  executor_.SetHandle(kOwnFamily, db_->Handles(number_)[kOwnFamily]);
  return Ok(ToString(op), s);
}

bool Worker::BankOperation() {
  const bool check = random_.OneIn(3);
  Begin(check ? "sum of the accounts" : "transfer");
  const std::string wrong = check ? bank_->CheckSum(*db_, random_.OneIn(2)) : bank_->Transfer(*db_, &random_);
  return wrong.empty() || Fail("accounts", "consistent", wrong);
}

size_t Worker::Count(int family) const {
  return model_.Dump(family, kNoSnapshot).size() + entities_.count(family);
}

Entries Worker::Collect(const StressDb& db, ColumnFamilyHandle* handle, int slot, bool backward) const {
  const auto [begin, end] = OwnRange(prefix_, profile_.families[slot].reverse_order);
  const rocksdb::Slice lower = begin, upper = end;
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.iterate_lower_bound = &lower;
  read.iterate_upper_bound = &upper;
  std::unique_ptr<rocksdb::Iterator> it(db.db()->NewIterator(read, handle));
  Entries found;
  backward ? it->SeekToLast() : it->SeekToFirst();
  for (; it->Valid(); backward ? it->Prev() : it->Next()) {
    std::string value = it->value().ToString();
    if (NormalizeFiltered(profile_.families[slot], &value)) found.emplace_back(it->key().ToString(), std::move(value));
  }
  if (!it->status().ok()) found.emplace_back("<status>", it->status().ToString());
  if (backward) std::reverse(found.begin(), found.end());
  return found;
}

std::string Worker::GetAll(const StressDb& db, ColumnFamilyHandle* handle, int slot, const Entries& expected) const {
  const std::vector<ColumnFamilyHandle*> handles(expected.size(), handle);
  std::vector<rocksdb::Slice> keys;
  for (const auto& [key, value] : expected) keys.emplace_back(key);
  std::vector<std::string> values(expected.size());
  std::vector<Status> statuses;
  if (Limits().multi_get_of_many) {
    statuses = db.db()->MultiGet(rocksdb::ReadOptions(), handles, keys, &values);
  } else {
    for (size_t i = 0; i < keys.size(); i++) statuses.push_back(db.db()->Get(rocksdb::ReadOptions(), handle, keys[i], &values[i]));
  }
  for (size_t i = 0; i < expected.size(); i++) {
    NormalizeFiltered(profile_.families[slot], &values[i]);
    if (statuses[i].ok() && values[i] == expected[i].second) continue;
    return Show(expected[i].first) + " should be " + Show(expected[i].second) + " and is " + statuses[i].ToString() + " " +
           Show(values[i]);
  }
  return "";
}

bool Worker::Same(const std::string& what, const Entries& expected, const Entries& found) {
  if (found == expected) return true;
  size_t i = 0;
  while (i < found.size() && i < expected.size() && found[i] == expected[i]) i++;
  auto show = [i](const Entries& entries) {
    return "entry " + std::to_string(i) + " of " + std::to_string(entries.size()) +
           (i < entries.size() ? ": " + Show(entries[i].first) + "=" + Show(entries[i].second) : "");
  };
  return Fail(what, show(expected), show(found));
}

bool Worker::VerifyFamily(const StressDb& db, int slot, const std::string& when) {
  ColumnFamilyHandle* handle = db.Handles(number_)[slot];
  const bool should = model_.model().HasFamily(slot);
  if (should != (handle != nullptr)) return Fail(when + ", own family", should ? "there" : "gone", should ? "gone" : "there");
  if (!should) return true;
  const std::string what = when + ", family " + std::to_string(slot);
  const Entries expected = model_.Dump(slot, kNoSnapshot);
  for (const bool backward : {false, true}) {
    const Entries found = Collect(db, handle, slot, backward);
    if (!Same(what + (backward ? ", backward" : ", forward"), expected, found)) return false;
  }
  const std::string wrong = GetAll(db, handle, slot, expected);
  return wrong.empty() || Fail(what, "what was written", wrong);
}

bool Worker::Verify(const StressDb& db, const char* when) {
  for (int slot = 0; slot <= kOwnFamily; slot++) {
    if (!VerifyFamily(db, slot, when)) return false;
    if (slot == kOwnFamily) break;
    const std::string wrong = entities_.Compare(db, slot);
    if (!wrong.empty()) return Fail(std::string(when) + ", entities of family " + std::to_string(slot), "what was written", wrong);
  }
  if (db.TimedFamily(number_) == nullptr) return true;
  const std::string wrong = times_.Compare(db);
  return wrong.empty() || Fail(std::string(when) + ", timestamps", "what was written", wrong);
}

}  // namespace compassdb_test
