// SPDX-License-Identifier: Apache-2.0
#include "faults/script.h"

#include <algorithm>
#include <set>

#include "rocksdb/statistics.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/write_batch.h"
#include "support/small_options.h"

namespace compassdb_test {

using rocksdb::Status;

namespace {

constexpr const char* kCounter = "counter";
constexpr const char* kAgain = "again";  // is written once the disk works, and is of no batch

std::string Key(int i) { return "key" + std::to_string(1000 + i); }

std::string Value(size_t batch, size_t bytes) {
  std::string value = std::to_string(batch) + ":";
  while (value.size() < bytes) value.push_back(static_cast<char>('a' + (batch * 7 + value.size() * value.size() / 3) % 26));
  return value;
}

}  // namespace

Script::Script(std::string layout, rocksdb::Env* env, std::string path)
    : layout_(std::move(layout)), options_(SmallOptions(layout_)), env_(env), path_(std::move(path)) {
  options_.min_blob_size = std::min<uint64_t>(options_.min_blob_size, 64);
  options_.bgerror_resume_retry_interval = 1000;
  options_.statistics = rocksdb::CreateDBStatistics();
}

std::unique_ptr<Scenario> MakeScript(const std::string& layout, rocksdb::Env* env) { return std::make_unique<Script>(layout, env, "/db"); }

std::optional<std::string> Script::Idle() const {
  if (layout_ != "hash-kv" || options_.statistics->getTickerCount(rocksdb::BLOB_DB_GC_NUM_KEYS_RELOCATED) != 0) return std::nullopt;
  return "no collection moved a value";
}

Script::~Script() { Close(); }

rocksdb::Options Script::Options() const {
  rocksdb::Options options = options_;
  options.env = env_;
  options.write_buffer_size = 16 << 10;
  options.max_bgerror_resume_count = 0;  // the script resumes itself
  options.max_manifest_file_size = 1500;
  options.recycle_log_file_num = 0;
  options.info_log_level = rocksdb::FATAL_LEVEL;
  return options;
}

// One of them with several tables in a file.
std::vector<rocksdb::ColumnFamilyDescriptor> Families(const rocksdb::Options& options) {
  rocksdb::ColumnFamilyOptions first = options;
  first.compression = rocksdb::kNoCompression;
  first.target_file_size_base = 8 << 10;
  return {{"default", first}, {"two", options}};
}

bool Script::Open(bool create) {
  rocksdb::Options options = Options();
  options.create_if_missing = create;
  options.create_missing_column_families = create;
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = Families(options);
  rocksdb::DB* db = nullptr;
  if (!Note("Open", rocksdb::DB::Open(options, path_, families, &handles_, &db))) {
    handles_.clear();
    return false;
  }
  db_.reset(db);
  ++life_;
  created_ = true;
  return true;
}

void Script::Close() {
  Note("Close", CloseDb(&handles_, &db_));
}

void Script::AllSynced(bool ok) {
  for (Batch& batch : batches_) batch.synced |= ok && batch.acknowledged;
}

void Script::Write(int key, size_t value_bytes, bool sync, bool remove) {
  if (db_ == nullptr) return;
  const size_t number = batches_.size() + 1;
  Batch batch;
  batch.life = life_;
  batch.first[kCounter] = std::to_string(number);
  batch.second[Key(key)] = Value(number, value_bytes / 4);
  if (remove) {
    batch.first[Key(key)] = std::nullopt;
  } else {
    batch.first[Key(key)] = Value(number, value_bytes);
  }
  rocksdb::WriteBatch writes;
  Status s;
  for (const auto& [k, v] : batch.first) {
    if (s.ok()) s = v ? writes.Put(handles_[0], k, *v) : writes.Delete(handles_[0], k);
  }
  if (s.ok()) s = writes.Put(handles_[1], Key(key), *batch.second[Key(key)]);
  rocksdb::WriteOptions options;
  options.sync = sync;
  if (s.ok()) s = db_->Write(options, &writes);
  batch.acknowledged = Note("Write", s);
  batches_.push_back(std::move(batch));
  if (s.ok() && sync) AllSynced(true);
  if (!s.ok() && Note("Resume", db_->Resume())) ++resumed_;
}

void Script::WriteMany(int count, size_t value_bytes) {
  for (int i = 0; i < count; ++i) Write(i * 5 % 23, value_bytes, i % 5 == 0, i % 9 == 8);
}

void Script::Maintain() {
  if (db_ == nullptr) return;
  const bool flushed = Note("Flush", db_->Flush(rocksdb::FlushOptions(), handles_));
  AllSynced(flushed);
  if (!flushed && Note("Resume", db_->Resume())) ++resumed_;
  for (auto* handle : handles_) Note("CompactRange", db_->CompactRange(rocksdb::CompactRangeOptions(), handle, nullptr, nullptr));
}

// After a reopen, unsynced data may be lost with the pages that a failed sync dropped.
bool Script::MustKnow(const Batch& batch, const View& view) const {
  if (view.follows && lies_) return false;
  if (view.own && batch.life == life_) return batch.acknowledged;
  return batch.synced || (batch.acknowledged && failures_.empty());
}

bool Script::Fits(int family, const std::string& key, const std::string* value, const View& view) const {
  for (size_t b = batches_.size(); b > 0; --b) {
    const Batch& batch = batches_[b - 1];
    const auto& writes = family == 0 ? batch.first : batch.second;
    const auto written = writes.find(key);
    if (written == writes.end()) continue;
    if (written->second ? value != nullptr && *value == *written->second : value == nullptr) return true;
    if (b <= view.known && MustKnow(batch, view)) return false;
  }
  return value == nullptr;
}

void Script::Compare(const char* call, int family, const std::string& key, const std::string* value, const View& view) {
  if (key == kAgain || wrong_ || Fits(family, key, value, view)) return;
  wrong_ = std::string(call) + (view.own ? "" : view.follows ? ", of a secondary," : ", of a reader,") + " during the life: family " +
           std::to_string(family) + ", " + key + ": " + (value == nullptr ? "absent" : value->substr(0, 20));
}

void Script::CompareScan(const char* call, int family, const std::map<std::string, std::string>& found, bool whole,
                         const View& view) {
  std::set<std::string> keys;
  for (const Batch& batch : batches_) {
    for (const auto& [key, value] : family == 0 ? batch.first : batch.second) keys.insert(key);
  }
  for (const auto& [key, value] : found) Compare(call, family, key, &value, view);
  for (const std::string& key : keys) {
    if (whole && found.count(key) == 0) Compare(call, family, key, nullptr, view);
  }
}

void Script::CompareSeek(const char* call, rocksdb::Iterator* it, int family, const View& view) {
  if (!Note(call, it->status()) || !it->Valid()) return;
  const std::string value = it->value().ToString();
  Compare(call, family, it->key().ToString(), &value, view);
}

// One table of several in a file: it becomes a hole.
void Script::RenewSome() {
  if (db_ == nullptr) return;
  for (int round = 0; round < 2; ++round) {
    const int keys = round == 0 ? 23 : 7;
    for (int i = 0; i < keys; ++i) Write(i, 2000, false);
    AllSynced(Note("Flush", db_->Flush(rocksdb::FlushOptions(), handles_)));
    const std::string first = Key(0), last = Key(keys - 1);
    const rocksdb::Slice begin = first, end = last;
    Note("CompactRange", db_->CompactRange(rocksdb::CompactRangeOptions(), handles_[0], &begin, &end));
  }
}

void Script::ReadSome() {
  if (db_ == nullptr) return;
  for (int i = 0; i < 23; i += 4) {
    std::string value;
    const Status s = db_->Get(rocksdb::ReadOptions(), handles_[0], Key(i), &value);
    if (s.IsNotFound() || Note("Get", s)) Compare("Get", 0, Key(i), s.ok() ? &value : nullptr, View());
  }
  std::map<std::string, std::string> found;
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handles_[1]));
  for (it->SeekToFirst(); it->Valid(); it->Next()) found[it->key().ToString()] = it->value().ToString();
  CompareScan("Iterate", 1, found, Note("Iterate", it->status()), View());
}

// By all methods of readers.
void Script::ReadAll(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles, const View& view) {
  std::vector<std::string> names;
  for (int i = 0; i < 23; ++i) names.push_back(Key(i));
  const std::vector<rocksdb::Slice> keys(names.begin(), names.end());
  for (int family = 0; family < 2; ++family) {
    auto* const handle = handles[family];
    std::vector<std::string> values;
    const std::vector<rocksdb::ColumnFamilyHandle*> all(keys.size(), handle);
    const std::vector<Status> statuses = db->MultiGet(rocksdb::ReadOptions(), all, keys, &values);
    for (size_t i = 0; i < keys.size(); ++i) {
      const Status& s = statuses[i];
      if (s.IsNotFound() || Note("MultiGet", s)) Compare("MultiGet", family, names[i], s.ok() ? &values[i] : nullptr, view);
    }
    std::map<std::string, std::string> found;
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), handle));
    for (it->SeekToLast(); it->Valid(); it->Prev()) found[it->key().ToString()] = it->value().ToString();
    CompareScan("Iterate backward", family, found, Note("Iterate backward", it->status()), view);
    it->Seek(Key(11));
    CompareSeek("Seek", it.get(), family, view);
    it->SeekForPrev(Key(7) + "x");
    CompareSeek("SeekForPrev", it.get(), family, view);
  }
}

// The newest batch, as a replica reads it.
void Script::Follow() {
  if (db_ == nullptr || batches_.empty() || !batches_.back().acknowledged) return;
  std::unique_ptr<rocksdb::TransactionLogIterator> it;
  if (!Note("GetUpdatesSince", db_->GetUpdatesSince(db_->GetLatestSequenceNumber(), &it))) return;
  if (!it->Valid()) {
    Note("GetUpdatesSince", it->status());
    // Half of a log may be all that has been written yet.
    if (it->status().ok() && !wrong_ && !lies_) wrong_ = "the log does not show the newest batch";
    return;
  }
  if (it->GetBatch().writeBatchPtr->Count() != 3 && !wrong_) wrong_ = "the log shows another batch than the newest";
}

void Script::LookFromOutside(As as) {
  rocksdb::Options options = Options();
  options.max_open_files = -1;
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = Families(options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const Status s = as == As::kReader ? rocksdb::DB::OpenForReadOnly(options, path_, families, &handles, &opened)
                                     : rocksdb::DB::OpenAsSecondary(options, path_, "/secondary", families, &handles, &opened);
  if (!Note(as == As::kReader ? "OpenForReadOnly" : "OpenAsSecondary", s)) return;
  const std::unique_ptr<rocksdb::DB> db(opened);
  View view{.own = false, .follows = as == As::kSecondary, .known = batches_.size()};
  ReadAll(db.get(), handles, view);
  if (as == As::kSecondary) {
    WriteMany(3, 100);
    if (Note("TryCatchUpWithPrimary", db->TryCatchUpWithPrimary())) view.known = batches_.size();
    ReadAll(db.get(), handles, view);
  }
  for (auto* handle : handles) Note("DestroyColumnFamilyHandle", db->DestroyColumnFamilyHandle(handle));
}

void Script::Repair() {
  const rocksdb::Options options = Options();
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = Families(options);
  Note("RepairDB", rocksdb::RepairDB(path_, options, families));
}

// After any failure: with a disk that works, and after DB::Resume, writes are taken.
void Script::WriteAgain() {
  if (db_ == nullptr) return;
  const auto put = [this] { return db_->Put(rocksdb::WriteOptions(), handles_[1], kAgain, "x"); };
  Status s = put();
  if (s.ok()) return;
  // A job that failed with the disk may report it later: none runs when this returns.
  db_->PauseBackgroundWork().PermitUncheckedError();
  db_->ContinueBackgroundWork().PermitUncheckedError();
  const Status resumed = db_->Resume();
  s = put();
  if (!s.ok() && !wrong_) wrong_ = "writes are refused with a disk that works: " + s.ToString() + ", Resume: " + resumed.ToString();
}

void Script::Live(const std::function<bool()>& healthy) {
  for (const bool create : {true, false}) {
    // An Open that fails once is tried again, as a program that is started again.
    if (!Open(create || !created_) && !Open(create || !created_)) return;
    WriteMany(12, 300);
    Maintain();
    WriteMany(14, 2000);  // memtables fill up
    if (db_ != nullptr) {
      if (Note("SyncWAL", db_->SyncWAL())) AllSynced(true);
      Note("SetOptions", db_->SetOptions(handles_[0], {{"max_write_buffer_number", create ? "3" : "4"}}));
    }
    ReadSome();
    if (!create) RenewSome();
    WriteMany(5, 100);
    if (db_ != nullptr && !create) {
      Follow();
      ReadAll(db_.get(), handles_, View());
      Note("VerifyChecksum", db_->VerifyChecksum());
      if (layout_ != "tableless") LookFromOutside(As::kSecondary);  // which follows logs only
    }
    if (healthy() && !lies_) WriteAgain();
    Close();
  }
  LookFromOutside(As::kReader);
  if (!lies_) Repair();
}

std::optional<std::string> Script::Check(bool synced_only) {
  Close();
  if (wrong_) return wrong_;
  failures_.clear();
  if (!Open(!created_)) return "does not open any more: " + failures_.back().status.ToString();
  std::map<std::string, std::string> found[2];
  for (int family = 0; family < 2; ++family) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handles_[family]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) found[family][it->key().ToString()] = it->value().ToString();
    if (!it->status().ok()) return "cannot be read any more: " + it->status().ToString();
  }
  // Batches are applied one after the other, each whole or not at all; what failed may be there or
  // not, and may be missing before what was acknowledged.
  const size_t last = found[0].count(kCounter) != 0 ? std::stoul(found[0][kCounter]) : 0;
  std::map<std::string, std::string> expected[2];
  for (size_t b = 0; b < batches_.size(); ++b) {
    const Batch& batch = batches_[b];
    const bool promised = synced_only ? batch.synced : batch.acknowledged;
    if (b >= last && promised) return "batch " + std::to_string(b + 1) + " is lost, the last one is " + std::to_string(last);
    if (b >= last) continue;
    // A failed batch exists if its record in the other family does.
    bool there = batch.acknowledged;
    if (!there) {
      const auto& [key, value] = *batch.second.begin();
      const auto it = found[1].find(key);
      there = it != found[1].end() && it->second == *value;
    }
    if (!there) continue;
    for (int family = 0; family < 2; ++family) {
      for (const auto& [key, value] : family == 0 ? batch.first : batch.second) {
        if (value) {
          expected[family][key] = *value;
        } else {
          expected[family].erase(key);
        }
      }
    }
  }
  found[1].erase(kAgain);
  for (int family = 0; family < 2; ++family) {
    if (found[family] == expected[family]) continue;
    for (const auto& [key, value] : expected[family]) {
      if (found[family].count(key) == 0) return "family " + std::to_string(family) + " lacks " + key;
      if (found[family][key] != value) {
        return "family " + std::to_string(family) + ": " + key + " is of another batch: " +
               found[family][key].substr(0, 12) + " instead of " + value.substr(0, 12);
      }
    }
    return "family " + std::to_string(family) + " has a key too many";
  }
  Write(0, 50, true);
  Maintain();
  if (!failures_.empty()) return failures_.front().call + " fails afterwards: " + failures_.front().status.ToString();
  Close();
  return std::nullopt;
}

}  // namespace compassdb_test
