// SPDX-License-Identifier: Apache-2.0
// Transactions on a thread's own keys, which no other thread holds: they must succeed.
#include "rocksdb/utilities/transaction.h"
#include "stress/engine_options.h"
#include "stress/worker.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Status;
using Kind = WriteItem::Kind;

WriteItem Worker::RandomItem(int family) {
  WriteItem item;
  item.family = family;
  item.key = generator_.NormalKey(family);
  if (random_.OneIn(4)) {
    item.kind = Kind::kDelete;
  } else if (profile_.families[family].merge != MergeKind::kNone && random_.OneIn(3)) {
    item.kind = Kind::kMerge;
    item.value = generator_.MergeOperand(family);
  } else {
    item.value = generator_.Value(family);
  }
  return item;
}

std::optional<std::string> Worker::Pending(const std::vector<WriteItem>& items, int family, const std::string& key) const {
  const Model& model = model_.model();
  std::optional<std::string> value = model.Get(family, key, model.sequence());
  const FamilySpec& spec = profile_.families[family];
  for (const WriteItem& item : EffectiveItems(items)) {
    if (item.family != family || item.key != key) continue;
    if (item.kind == Kind::kDelete) {
      value.reset();
    } else if (item.kind == Kind::kMerge) {
      value = MergeStep(spec.merge, value ? &*value : nullptr, item.value);
    } else {
      value = item.value;
      if (!NormalizeFiltered(spec, &*value)) value.reset();
    }
  }
  return value;
}

std::string Worker::WriteIn(rocksdb::Transaction* transaction, std::vector<WriteItem>* items) {
  const WriteItem item = RandomItem(RandomFamily());
  auto* handle = db_->Handles(number_)[item.family];
  Status s;
  switch (item.kind) {
    case Kind::kDelete: s = transaction->Delete(handle, item.key); break;
    case Kind::kMerge: s = transaction->Merge(handle, item.key, item.value); break;
    default: s = transaction->Put(handle, item.key, item.value); break;
  }
  items->push_back(item);
  return s.ok() ? "" : "write: " + s.ToString();
}

std::string Worker::ReadIn(rocksdb::Transaction* transaction, const std::vector<WriteItem>& items) {
  // Mostly what the transaction wrote itself.
  std::string key;
  int family = RandomFamily();
  if (!items.empty() && !random_.OneIn(3)) {
    const WriteItem& written = items[random_.Uniform(items.size())];
    family = written.family;
    key = written.key;
  }
  if (key.empty()) key = generator_.NormalKey(family);
  auto* handle = db_->Handles(number_)[family];
  const std::optional<std::string> expected = Pending(items, family, key);
  std::string value;
  const Status s = random_.OneIn(3) ? transaction->GetForUpdate(rocksdb::ReadOptions(), handle, key, &value)
                                    : transaction->Get(rocksdb::ReadOptions(), handle, key, &value);
  const bool found = s.ok() && NormalizeFiltered(profile_.families[family], &value);
  const bool fits = expected ? found && value == *expected : s.IsNotFound() || (s.ok() && !found);
  if (fits) return "";
  return "read of " + Show(key) + " in family " + std::to_string(family) + ": expected " +
         (expected ? Show(*expected) : kAbsent) + ", got " + s.ToString() + " " + Show(value);
}

std::string Worker::WalkIn(rocksdb::Transaction* transaction, const std::vector<WriteItem>& items) {
  const int family = RandomFamily();
  const auto [begin, end] = OwnRange(prefix_, profile_.families[family].reverse_order);
  const rocksdb::Slice lower = begin, upper = end;
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.iterate_lower_bound = &lower;
  read.iterate_upper_bound = &upper;
  std::unique_ptr<rocksdb::Iterator> it(transaction->GetIterator(read, db_->Handles(number_)[family]));
  std::map<std::string, std::string> found, expected;
  for (auto& [key, value] : model_.Dump(family, kNoSnapshot)) expected[key] = value;
  for (const WriteItem& item : EffectiveItems(items)) {
    if (item.family != family) continue;
    const auto value = Pending(items, family, item.key);
    if (value) expected[item.key] = *value;
    if (!value) expected.erase(item.key);
  }
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::string value = it->value().ToString();
    if (NormalizeFiltered(profile_.families[family], &value)) found[it->key().ToString()] = value;
  }
  if (!it->status().ok()) return "walk: " + it->status().ToString();
  if (found == expected) return "";
  std::string differences = "walk through family " + std::to_string(family) + ":";
  for (const auto& [key, value] : expected) {
    if (found.count(key) == 0 || found[key] != value) differences += " misses " + Show(key) + "=" + Show(value);
  }
  for (const auto& [key, value] : found) {
    if (expected.count(key) == 0 || expected[key] != value) differences += " has " + Show(key) + "=" + Show(value);
  }
  return differences;
}

std::string Worker::TransactionStep(rocksdb::Transaction* transaction, std::vector<WriteItem>* items, int* savepoints) {
  const uint64_t roll = random_.Uniform(20);
  if (roll < 11) return WriteIn(transaction, items);
  if (roll < 16) return ReadIn(transaction, *items);
  if (roll == 16) return WalkIn(transaction, *items);
  WriteItem mark;
  Status s;
  if (*savepoints == 0 || roll == 17) {
    mark.kind = Kind::kSetSavePoint;
    transaction->SetSavePoint();
    ++*savepoints;
  } else {
    mark.kind = roll == 18 ? Kind::kRollback : Kind::kPopSavePoint;
    s = roll == 18 ? transaction->RollbackToSavePoint() : transaction->PopSavePoint();
    --*savepoints;
  }
  items->push_back(mark);
  return s.ok() ? "" : "savepoint: " + s.ToString();
}

std::string Worker::EndTransaction(rocksdb::Transaction* transaction, const std::vector<WriteItem>& items) {
  Status s;
  if (db_->kind() == StressDb::Kind::kLocking && random_.OneIn(4)) {
    s = transaction->SetName(prefix_ + std::to_string(done_));
    if (s.ok()) s = transaction->Prepare();
    if (!s.ok()) return "prepare: " + s.ToString();
  }
  if (random_.OneIn(4)) {
    s = transaction->Rollback();
    return s.ok() ? "" : "rollback: " + s.ToString();
  }
  s = transaction->Commit();
  // RocksDB may no longer know whether there was a conflict.
  if (s.IsTryAgain() && !Limits().optimistic_always_knows) return "";
  if (s.ok()) model_.model().Write(items);
  return s.ok() ? "" : "commit: " + s.ToString();
}

bool Worker::Transact() {
  if (db_->kind() == StressDb::Kind::kPlain) return Generated();
  Begin("transaction");
  std::unique_ptr<rocksdb::Transaction> transaction;
  if (db_->kind() == StressDb::Kind::kLocking) {
    rocksdb::TransactionOptions options;
    options.set_snapshot = random_.OneIn(3);
    transaction.reset(db_->locking()->BeginTransaction(rocksdb::WriteOptions(), options));
  } else {
    rocksdb::OptimisticTransactionOptions options;
    options.set_snapshot = random_.OneIn(3);
    transaction.reset(db_->optimistic()->BeginTransaction(rocksdb::WriteOptions(), options));
  }
  std::vector<WriteItem> items;
  int savepoints = 0;
  std::string wrong;
  for (uint64_t n = 1 + random_.Uniform(12); n > 0 && wrong.empty(); n--) {
    wrong = TransactionStep(transaction.get(), &items, &savepoints);
  }
  if (wrong.empty()) wrong = EndTransaction(transaction.get(), items);
  return wrong.empty() || Fail("transaction", "success", wrong);
}

}  // namespace compassdb_test
