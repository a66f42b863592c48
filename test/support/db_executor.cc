// SPDX-License-Identifier: Apache-2.0
#include "support/db_executor.h"

#include <algorithm>

#include "support/model_executor.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Slice;
using rocksdb::Status;

DbExecutor::DbExecutor(Config config) : config_(std::move(config)) {
  exists_.resize(config_.families.size());
  handles_.resize(config_.families.size());
  exists_[0] = true;
}

DbExecutor::~DbExecutor() { Close(); }

void DbExecutor::Attach(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
  attached_ = db;
  handles_ = handles;
}

std::vector<rocksdb::ColumnFamilyDescriptor> DbExecutor::Descriptors(
    std::vector<int>* slots) const {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (size_t slot = 0; slot < exists_.size(); slot++) {
    if (!exists_[slot]) continue;
    int number = static_cast<int>(slot);
    descriptors.emplace_back(FamilyName(number),
                             TunedFamilyOptions(config_.tuning, config_.families[slot], number));
    slots->push_back(number);
  }
  return descriptors;
}

Status DbExecutor::Open(bool read_only) {
  std::vector<int> slots;
  auto descriptors = Descriptors(&slots);
  rocksdb::DBOptions options = TunedDbOptions(config_.tuning);
  if (config_.env != nullptr) options.env = config_.env;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  Status s = read_only ? rocksdb::DB::OpenForReadOnly(options, config_.path, descriptors, &handles, &db)
                       : rocksdb::DB::Open(options, config_.path, descriptors, &handles, &db);
  if (!s.ok()) return s;
  db_.reset(db);
  for (size_t i = 0; i < slots.size(); i++) handles_[slots[i]] = handles[i];
  return s;
}

void DbExecutor::ReleaseReaders() {
  for (auto& it : iterators_) it.reset();
  for (const rocksdb::Snapshot*& snapshot : snapshots_) {
    if (snapshot != nullptr) Db()->ReleaseSnapshot(snapshot);
    snapshot = nullptr;
  }
}

void DbExecutor::Close() {
  if (Db() == nullptr) return;
  ReleaseReaders();
  if (attached_ != nullptr) {
    attached_ = nullptr;
    return;
  }
  for (rocksdb::ColumnFamilyHandle*& handle : handles_) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    handle = nullptr;
  }
  db_.reset();
}

rocksdb::ReadOptions DbExecutor::ReadAt(int snapshot) const {
  rocksdb::ReadOptions options;
  if (snapshot != kNoSnapshot) options.snapshot = snapshots_[snapshot];
  return options;
}

std::string DbExecutor::Run(const Op& op) {
  switch (op.kind) {
    case OpKind::kWrite: return RunWrite(op);
    case OpKind::kGet: return RunGet(op);
    case OpKind::kMultiGet: return RunMultiGet(op);
    case OpKind::kKeyMayExist: return RunKeyMayExist(op);
    case OpKind::kTakeSnapshot:
      snapshots_[op.slot] = Db()->GetSnapshot();
      return snapshots_[op.slot] != nullptr ? "OK" : "null snapshot";
    case OpKind::kReleaseSnapshot:
      Db()->ReleaseSnapshot(snapshots_[op.slot]);
      snapshots_[op.slot] = nullptr;
      return "OK";
    case OpKind::kNewIterator: return RunNewIterator(op);
    case OpKind::kMoveIterator: return RunMoves(op);
    case OpKind::kReleaseIterator: iterators_[op.slot].reset(); return "OK";
    case OpKind::kScan: return RunScan(op);
    case OpKind::kReadOnly: return RunReadOnly(op);
    default: return RunMaintenance(op);
  }
}

std::string DbExecutor::RunWrite(const Op& op) {
  rocksdb::WriteOptions options;
  options.sync = op.sync;
  options.disableWAL = op.disable_wal;
  Status s = op.batch ? WriteBatchOf(options, op.items) : WriteOne(options, op.items[0]);
  return s.ok() ? "OK" : s.ToString();
}

Status DbExecutor::WriteOne(const rocksdb::WriteOptions& options, const WriteItem& item) {
  rocksdb::ColumnFamilyHandle* family = handles_[item.family];
  switch (item.kind) {
    case WriteItem::Kind::kPut: return Db()->Put(options, family, item.key, item.value);
    case WriteItem::Kind::kDelete: return Db()->Delete(options, family, item.key);
    case WriteItem::Kind::kSingleDelete: return Db()->SingleDelete(options, family, item.key);
    case WriteItem::Kind::kDeleteRange:
      return Db()->DeleteRange(options, family, item.key, item.value);
    case WriteItem::Kind::kMerge: return Db()->Merge(options, family, item.key, item.value);
    default: return Status::InvalidArgument("not a write by itself");
  }
}

Status DbExecutor::WriteBatchOf(const rocksdb::WriteOptions& options,
                                const std::vector<WriteItem>& items) {
  rocksdb::WriteBatch batch;
  for (const WriteItem& item : items) {
    rocksdb::ColumnFamilyHandle* family = handles_[item.family];
    Status s;
    switch (item.kind) {
      case WriteItem::Kind::kPut: s = batch.Put(family, item.key, item.value); break;
      case WriteItem::Kind::kDelete: s = batch.Delete(family, item.key); break;
      case WriteItem::Kind::kSingleDelete: s = batch.SingleDelete(family, item.key); break;
      case WriteItem::Kind::kDeleteRange:
        s = batch.DeleteRange(family, item.key, item.value);
        break;
      case WriteItem::Kind::kMerge: s = batch.Merge(family, item.key, item.value); break;
      case WriteItem::Kind::kLogData: s = batch.PutLogData(item.value); break;
      case WriteItem::Kind::kSetSavePoint: batch.SetSavePoint(); break;
      case WriteItem::Kind::kRollback: s = batch.RollbackToSavePoint(); break;
      case WriteItem::Kind::kPopSavePoint: s = batch.PopSavePoint(); break;
    }
    if (!s.ok()) return s;
  }
  last_batch_ = batch.Data();
  return Db()->Write(options, &batch);
}

std::string DbExecutor::Found(int family, const Status& status, std::string value) const {
  if (status.IsNotFound()) return kAbsent;
  if (!status.ok()) return status.ToString();
  return NormalizeFiltered(config_.families[family], &value) ? ShowFound(value) : kAbsent;
}

std::string DbExecutor::RunGet(const Op& op) {
  const auto& [family, key] = op.keys[0];
  rocksdb::ReadOptions options = ReadAt(op.snapshot);
  options.fill_cache = op.number != 0;
  std::string value;
  Status s;
  if (op.number % 2 == 0) {
    rocksdb::PinnableSlice pinned;
    s = Db()->Get(options, handles_[family], key, &pinned);
    value = pinned.ToString();
  } else {
    s = Db()->Get(options, handles_[family], key, &value);
  }
  return Found(family, s, std::move(value)) + " ";
}

std::string DbExecutor::RunMultiGet(const Op& op) {
  rocksdb::ReadOptions options = ReadAt(op.snapshot);
  size_t count = op.keys.size();
  std::vector<Slice> keys;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  for (const auto& [family, key] : op.keys) {
    keys.emplace_back(key);
    families.push_back(handles_[family]);
  }
  std::string out;
  if (op.by_family) {
    std::vector<rocksdb::PinnableSlice> values(count);
    std::vector<Status> statuses(count);
    Db()->MultiGet(options, handles_[op.family], count, keys.data(), values.data(),
                   statuses.data());
    for (size_t i = 0; i < count; i++) {
      out += Found(op.family, statuses[i], values[i].ToString()) + " ";
    }
    return out;
  }
  std::vector<std::string> values;
  std::vector<Status> statuses = Db()->MultiGet(options, families, keys, &values);
  for (size_t i = 0; i < count; i++) {
    out += Found(op.keys[i].first, statuses[i], values[i]) + " ";
  }
  return out;
}

// Checks the one-sided promise: "no" only when the key is absent, and a value
// that it hands out is the value.
std::string DbExecutor::RunKeyMayExist(const Op& op) {
  const auto& [family, key] = op.keys[0];
  rocksdb::ReadOptions options = ReadAt(op.snapshot);
  std::string hint;
  bool hint_found = false;
  bool may = Db()->KeyMayExist(options, handles_[family], key, &hint, &hint_found);
  std::string value;
  Status s = Db()->Get(options, handles_[family], key, &value);
  if (config_.families[family].filter) return "consistent";
  if (!may && !s.IsNotFound()) return "KeyMayExist denies an existing key";
  if (may && hint_found && Traits().hint_values_exact && (!s.ok() || value != hint)) return "KeyMayExist's value is wrong";
  return "consistent";
}

Entries DbExecutor::Collect(rocksdb::Iterator* it, int family, bool backward) const {
  Entries entries;
  if (backward) {
    it->SeekToLast();
  } else {
    it->SeekToFirst();
  }
  while (it->Valid()) {
    std::string value = it->value().ToString();
    if (NormalizeFiltered(config_.families[family], &value)) {
      entries.emplace_back(it->key().ToString(), std::move(value));
    }
    if (backward) {
      it->Prev();
    } else {
      it->Next();
    }
  }
  if (!it->status().ok()) entries.emplace_back("<status>", it->status().ToString());
  return entries;
}

Entries DbExecutor::Dump(int family, int snapshot) {
  rocksdb::ReadOptions options = ReadAt(snapshot);
  options.total_order_seek = true;
  std::unique_ptr<rocksdb::Iterator> it(Db()->NewIterator(options, handles_[family]));
  return Collect(it.get(), family, false);
}

std::string DbExecutor::RunScan(const Op& op) {
  rocksdb::ReadOptions options = ReadAt(op.snapshot);
  options.total_order_seek = true;
  options.readahead_size = op.number % 3 == 0 ? 4096 : 0;
  std::unique_ptr<rocksdb::Iterator> it(Db()->NewIterator(options, handles_[op.family]));
  Entries forward = Collect(it.get(), op.family, false);
  Entries backward = Collect(it.get(), op.family, true);
  std::reverse(backward.begin(), backward.end());
  return ShowScan(forward) + " backward=" + (forward == backward ? "equal" : "different");
}

std::string DbExecutor::RunNewIterator(const Op& op) {
  auto state = std::make_unique<IteratorState>();
  state->family = op.family;
  state->spec = op.iterator;
  rocksdb::ReadOptions options = ReadAt(op.snapshot);
  if (op.iterator.has_lower) {
    state->lower = state->spec.lower;
    options.iterate_lower_bound = &state->lower;
  }
  if (op.iterator.has_upper) {
    state->upper = state->spec.upper;
    options.iterate_upper_bound = &state->upper;
  }
  options.prefix_same_as_start = op.iterator.prefix_same_as_start;
  options.total_order_seek = !op.iterator.prefix_same_as_start;
  options.pin_data = op.iterator.pin_data;
  state->it.reset(Db()->NewIterator(options, handles_[op.family]));
  iterators_[op.slot] = std::move(state);
  return RunMoves(op);
}

std::string DbExecutor::RunMoves(const Op& op) {
  std::string out;
  for (const IteratorMove& move : op.moves) Move(move, op.slot, &out);
  return out;
}

void DbExecutor::Move(const IteratorMove& move, int slot, std::string* out) {
  using Kind = IteratorMove::Kind;
  rocksdb::Iterator* it = iterators_[slot]->it.get();
  const FamilySpec& spec = config_.families[iterators_[slot]->family];
  if (move.kind == Kind::kRefresh) {
    Status s = it->Refresh();
    *out += s.ok() ? "refreshed;" : s.ToString() + ";";
    return;
  }
  bool step = move.kind == Kind::kNext || move.kind == Kind::kPrev;
  bool backward =
      move.kind == Kind::kPrev || move.kind == Kind::kLast || move.kind == Kind::kSeekForPrev;
  for (int i = 0; i < move.count; i++) {
    if (step && !it->Valid()) break;
    switch (move.kind) {
      case Kind::kSeek: it->Seek(move.key); break;
      case Kind::kSeekForPrev: it->SeekForPrev(move.key); break;
      case Kind::kFirst: it->SeekToFirst(); break;
      case Kind::kLast: it->SeekToLast(); break;
      case Kind::kNext: it->Next(); break;
      case Kind::kPrev: it->Prev(); break;
      case Kind::kRefresh: break;
    }
    std::string value;
    while (it->Valid()) {
      value = it->value().ToString();
      if (NormalizeFiltered(spec, &value)) break;
      if (backward) {
        it->Prev();
      } else {
        it->Next();
      }
    }
    if (it->Valid()) {
      *out += Show(it->key().ToString()) + ShowFound(value) + ";";
    } else {
      *out += it->status().ok() ? "end;" : it->status().ToString() + ";";
    }
  }
}

std::string DbExecutor::RunMaintenance(const Op& op) {
  Status s;
  rocksdb::ColumnFamilyHandle* family = handles_[op.family];
  switch (op.kind) {
    case OpKind::kFlush: {
      rocksdb::FlushOptions options;
      options.wait = op.number % 4 != 0;
      s = Db()->Flush(options, family);
      break;
    }
    case OpKind::kCompact: {
      rocksdb::CompactRangeOptions options;
      options.exclusive_manual_compaction = op.number % 2 == 0;
      if (op.number % 3 == 0) {
        options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      }
      Slice begin = op.begin;
      Slice end = op.end;
      s = Db()->CompactRange(options, family, op.has_begin ? &begin : nullptr,
                             op.has_end ? &end : nullptr);
      break;
    }
    case OpKind::kCreateFamily: {
      Tuning tuning = config_.tuning;
      if (config_.vary_tuning) tuning.family_seed = op.number;
      s = Db()->CreateColumnFamily(
          TunedFamilyOptions(tuning, config_.families[op.family], op.family),
          FamilyName(op.family), &handles_[op.family]);
      exists_[op.family] = s.ok();
      break;
    }
    case OpKind::kDropFamily:
      s = Db()->DropColumnFamily(family);
      if (s.ok()) s = Db()->DestroyColumnFamilyHandle(family);
      handles_[op.family] = nullptr;
      exists_[op.family] = false;
      break;
    case OpKind::kReopen:
      Close();
      if (config_.vary_tuning) config_.tuning.seed = op.number;
      s = Open();
      break;
    case OpKind::kVerifyChecksum: s = Db()->VerifyChecksum(); break;
    default: return "?";
  }
  return s.ok() ? "OK" : s.ToString();
}

std::string DbExecutor::RunReadOnly(const Op& op) {
  Close();
  Status s = Open(/*read_only=*/true);
  if (!s.ok()) return "read-only open: " + s.ToString();
  std::string out;
  for (const auto& key : op.keys) {
    Op get;
    get.keys = {key};
    out += RunGet(get);
  }
  out += ShowCode(db_->Put(rocksdb::WriteOptions(), "read only", "refuses"));
  Close();
  s = Open();
  return s.ok() ? out : "open after read-only: " + s.ToString();
}

}  // namespace compassdb_test
