// SPDX-License-Identifier: Apache-2.0
// Two-phase commit while calls fail: transactions over two families are prepared, committed and rolled back, with
// flushes, a log that ends, and a reopening between the two phases.
#include <map>

#include "faults/scenario.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "support/small_options.h"

namespace compassdb_test {

using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::TransactionDB;

namespace {

constexpr const char* kDbPath = "/db";
constexpr int kTransactions = 18;

class Commitments : public Scenario {
 public:
  Commitments(const std::string& layout, rocksdb::Env* env) : options_(SmallOptions(layout)) {
    options_.env = env;
    options_.min_blob_size = std::min<uint64_t>(options_.min_blob_size, 64);
    options_.max_bgerror_resume_count = 0;  // the scenario resumes itself
    options_.info_log_level = rocksdb::FATAL_LEVEL;
    options_.create_if_missing = options_.create_missing_column_families = true;
    options_.avoid_flush_during_shutdown = true;
  }
  ~Commitments() override { Close().PermitUncheckedError(); }

  void Live(const std::function<bool()>& healthy) override;
  std::optional<std::string> Check(bool synced_only) override;
  int resumed() const override { return resumed_; }
  std::optional<std::string> Idle() const override {
    return met_.size() == 3 ? std::nullopt : std::optional<std::string>("not every end of a transaction was met");
  }

 private:
  // A call and its result: `durable` once it was synced, by itself or by a later call.
  struct Call {
    bool asked = false, ok = false, durable = false;
  };
  struct Promise {
    Call prepare = {}, commit = {}, rollback = {};
  };
  enum class Found { kGone, kPrepared, kCommitted };

  Status Open();
  Status Close();
  void PreparePromise(int i);
  void End(int i, Transaction* txn);
  void Answer(const char* what, Call* call, const Status& s, bool sync);
  void ResumeIfRefused(const Status& s);
  void AllDurable();
  std::optional<std::string> Look(bool synced_only);
  std::optional<std::string> Find(const std::string& name, Found* found);
  static bool Allowed(const Promise& promise, Found found, bool synced_only);

  static std::string NameOf(int i) { return "txn" + std::to_string(100 + i); }
  static std::string ValueOf(const std::string& name) { return name + std::string(120, 'v'); }

  rocksdb::Options options_;
  std::unique_ptr<TransactionDB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::map<std::string, Promise> promises_;
  std::map<std::string, std::unique_ptr<Transaction>> open_;
  std::map<Found, int> met_;
  std::optional<std::string> wrong_;
  int resumed_ = 0;
};

Status Commitments::Open() {
  TransactionDB* db = nullptr;
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {{"default", options_}, {"two", options_}};
  const Status s = TransactionDB::Open(options_, rocksdb::TransactionDBOptions(), kDbPath, families, &handles_, &db);
  if (!s.ok()) handles_.clear();
  db_.reset(db);
  return s;
}

Status Commitments::Close() {
  open_.clear();
  return CloseDb(&handles_, &db_);
}

void Commitments::AllDurable() {
  for (auto& [name, promise] : promises_) {
    for (Call* call : {&promise.prepare, &promise.commit, &promise.rollback}) call->durable |= call->ok;
  }
}

void Commitments::ResumeIfRefused(const Status& s) {
  if (s.ok() || !Note("Resume", db_->Resume())) return;
  ++resumed_;
  AllDurable();
}

void Commitments::Answer(const char* what, Call* call, const Status& s, bool sync) {
  call->asked = true;
  call->ok = Note(what, s);
  if (s.ok() && sync) AllDurable();
  ResumeIfRefused(s);
}

void Commitments::PreparePromise(int i) {
  const std::string name = NameOf(i);
  rocksdb::WriteOptions options;
  options.sync = i % 3 == 0;
  std::unique_ptr<Transaction> txn(db_->BeginTransaction(options));
  Status s = txn->SetName(name);
  for (auto* handle : handles_) {
    if (s.ok()) s = txn->Put(handle, name, ValueOf(name));
  }
  if (!Note("Put", s)) return;
  Promise& promise = promises_[name];
  Answer("Prepare", &promise.prepare, txn->Prepare(), options.sync);
  if (promise.prepare.ok) open_[name] = std::move(txn);
}

// One of four stays open, one is rolled back, and the others are committed.
void Commitments::End(int i, Transaction* txn) {
  if (i % 4 == 3) return;
  Promise& promise = promises_[txn->GetName()];
  rocksdb::WriteOptions options;
  options.sync = i % 5 < 2;
  txn->SetWriteOptions(options);
  if (i % 4 == 2) {
    Answer("Rollback", &promise.rollback, txn->Rollback(), options.sync);
  } else {
    Answer("Commit", &promise.commit, txn->Commit(), options.sync);
  }
}

void Commitments::Live(const std::function<bool()>& healthy) {
  if (!Note("Open", Open()) && !Note("Open", Open())) return;
  for (int i = 0; i < kTransactions; ++i) {
    PreparePromise(i);
    if (i % 6 == 4) {  // what is prepared is then in older logs than what follows
      const Status s = db_->Flush(rocksdb::FlushOptions(), handles_);
      if (Note("Flush", s)) AllDurable();
      ResumeIfRefused(s);
    }
    const auto earlier = i < 2 ? open_.end() : open_.find(NameOf(i - 2));
    if (earlier == open_.end()) continue;
    End(i, earlier->second.get());
    open_.erase(earlier);
  }
  Note("Close", Close());
  if (!Note("Open", Open()) && !Note("Open", Open())) return;
  // Data that was not durable may be lost with the pages that a failed sync dropped.
  wrong_ = Look(/*synced_only=*/!failures().empty());
  std::vector<Transaction*> prepared;
  db_->GetAllPreparedTransactions(&prepared);
  int i = 0;
  for (Transaction* txn : prepared) {
    open_[txn->GetName()].reset(txn);
    if (++i % 2 == 0) End(i, txn);
  }
  const bool works = healthy();
  const Status s = db_->Put(rocksdb::WriteOptions(), "last", "x");
  if (!Note("Put", s)) {
    const Status resumed = db_->Resume();
    Note("Resume", resumed);
    // A commit or rollback with an unknown result is settled by opening.
    if (works && !resumed.ok() && resumed.severity() < Status::kFatalError && !wrong_) {
      wrong_ = "Resume fails on a healthy disk: " + resumed.ToString();
    }
  }
  Note("Close", Close());
}

bool Commitments::Allowed(const Promise& promise, Found found, bool synced_only) {
  const auto holds = [synced_only](const Call& call) { return call.ok && (call.durable || !synced_only); };
  switch (found) {
    case Found::kCommitted: return promise.commit.asked;
    case Found::kPrepared: return !holds(promise.commit) && !holds(promise.rollback);
    case Found::kGone: break;
  }
  return promise.rollback.asked || (!holds(promise.prepare) && !holds(promise.commit));
}

std::optional<std::string> Commitments::Find(const std::string& name, Found* found) {
  int families = 0;
  for (auto* handle : handles_) {
    std::string value;
    const Status s = db_->Get(rocksdb::ReadOptions(), handle, name, &value);
    if (!s.ok() && !s.IsNotFound()) {
      Note("Get", s);
      return "Get of " + name + ": " + s.ToString();
    }
    if (s.ok() && value != ValueOf(name)) return name + " has another value";
    families += s.ok() ? 1 : 0;
  }
  if (families == 1) return name + " is in one of its families";
  const bool open = db_->GetTransactionByName(name) != nullptr;
  if (families == 2 && open) return name + " is committed, and prepared still";
  *found = families == 2 ? Found::kCommitted : open ? Found::kPrepared : Found::kGone;
  return std::nullopt;
}

std::optional<std::string> Commitments::Look(bool synced_only) {
  static constexpr const char* kNames[] = {"gone", "prepared", "committed"};
  for (auto& [name, promise] : promises_) {
    Found found = Found::kGone;
    if (auto wrong = Find(name, &found)) {
      // A read that fails is the life's failure, reported already, and nothing is known.
      if (wrong->find("injected") == std::string::npos) return wrong;
      continue;
    }
    ++met_[found];
    if (!Allowed(promise, found, synced_only)) return name + " is " + kNames[static_cast<int>(found)];
    // Data that was lost with unsynced pages stays lost. Prepared sections that are found were synced into a new log.
    if (found == Found::kPrepared) promise = {.prepare = {true, true, true}};
    if (found == Found::kGone) promise.prepare.ok = promise.commit.ok = false;
  }
  return std::nullopt;
}

std::optional<std::string> Commitments::Check(bool synced_only) {
  Close().PermitUncheckedError();
  if (wrong_) return wrong_;
  for (int opening = 1; opening <= 2; ++opening) {
    if (const Status s = Open(); !s.ok()) return "opening " + std::to_string(opening) + ": " + s.ToString();
    if (auto wrong = Look(synced_only)) return "opening " + std::to_string(opening) + ": " + *wrong;
    std::vector<Transaction*> prepared;
    db_->GetAllPreparedTransactions(&prepared);
    for (Transaction* txn : prepared) {
      open_[txn->GetName()].reset(txn);
      rocksdb::WriteOptions synced;
      synced.sync = true;
      txn->SetWriteOptions(synced);
      if (const Status s = txn->Commit(); !s.ok()) return "the commit of " + txn->GetName() + ": " + s.ToString();
      promises_[txn->GetName()].commit = {true, true, true};
    }
    if (const Status s = Close(); !s.ok()) return "closing: " + s.ToString();
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Scenario> MakeCommitments(const std::string& layout, rocksdb::Env* env) {
  return std::make_unique<Commitments>(layout, env);
}

}  // namespace compassdb_test
