// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rocksdb_files/blob_reference.h"
#include "rocksdb_files/source_database.h"
#include "rocksdb_files/table_properties.h"

namespace compassdb::rocksdb_files {

struct SourceCursor::Source {
  virtual ~Source() = default;
  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void Next() = 0;
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;
  virtual Status status() const { return Status::OK(); }
  virtual uint64_t BytesRead() const { return 0; }
};

// One table after the other: their keys do not overlap.
struct SourceCursor::TableSource final : SourceCursor::Source {
  TableSource(const SourceDatabase* database_in, const LiveFamily* family_in, const InternalKeyComparator* order_in)
      : database(database_in), family(family_in), order(order_in) {}
  bool Valid() const override { return cursor != nullptr && cursor->Valid(); }
  void SeekToFirst() override {
    next = 0;
    bytes_before = 0;
    last.clear();
    cursor.reset();
    failed = Status::OK();
    Advance();
  }
  void Next() override {
    last = cursor->key();
    cursor->Next();
    Advance();
  }
  Slice key() const override { return cursor->key(); }
  Slice value() const override { return cursor->value(); }
  Status status() const override { return failed; }
  uint64_t BytesRead() const override { return bytes_before + (cursor == nullptr ? 0 : cursor->BytesRead()); }

  // Opens tables until one has a record.
  void Advance() {
    while (!Valid()) {
      if (cursor != nullptr && !cursor->status().ok()) failed = cursor->status();
      if (cursor != nullptr) bytes_before += tables[next - 1]->size;
      cursor.reset();
      table.reset();
      if (!failed.ok() || next == tables.size()) return;
      failed = database->OpenTable(*family, *tables[next++], &table);
      if (!failed.ok()) return;
      cursor = table->NewCursor();
      cursor->SeekToFirst();
    }
    if (!last.empty() && order->Compare(last, cursor->key()) >= 0) {
      cursor.reset();
      failed = Status::Corruption("tables of one level overlap: " + std::to_string(tables[next - 1]->number));
    }
  }

  const SourceDatabase* const database;
  const LiveFamily* const family;
  const InternalKeyComparator* const order;
  std::vector<const LiveTable*> tables;
  size_t next = 0;
  uint64_t bytes_before = 0;  // of the tables before the open one
  std::string last;
  std::unique_ptr<TableFile> table;
  std::unique_ptr<TableCursor> cursor;
  Status failed;
};

struct SourceCursor::LoggedSource final : SourceCursor::Source {
  explicit LoggedSource(const std::vector<SourceDatabase::Record>* records_in) : records(records_in) {}
  bool Valid() const override { return at < records->size(); }
  void SeekToFirst() override { at = 0; }
  void Next() override { ++at; }
  Slice key() const override { return (*records)[at].key; }
  Slice value() const override { return (*records)[at].value; }

  const std::vector<SourceDatabase::Record>* const records;
  size_t at = 0;
};

SourceCursor::SourceCursor(SourceDatabase* database, const LiveFamily* family, const Comparator* comparator)
    : database_(database), family_(family), order_(comparator) {}
SourceCursor::~SourceCursor() = default;

uint64_t SourceCursor::BytesRead() const {
  uint64_t bytes = 0;
  for (const auto& source : sources_) bytes += source->BytesRead();
  return bytes;
}

uint64_t SourceCursor::BytesInAll() const {
  uint64_t bytes = 0;
  for (const auto& [number, table] : family_->tables) bytes += table.size;
  return bytes;
}

bool SourceCursor::Fail(const Status& s) {
  valid_ = false;
  if (status_.ok()) status_ = s;
  return false;
}

Status SourceCursor::Open() {
  auto& logged = database_->logged_[family_->id];
  const size_t timestamp = order_.user_comparator()->timestamp_size();
  for (const auto& record : logged.records) {
    if (record.key.size() < 8 + timestamp) return Status::Corruption("a key of the log has no timestamp");
  }
  if (!logged.sorted) {
    std::stable_sort(logged.records.begin(), logged.records.end(),
                     [&](const auto& a, const auto& b) { return order_.Compare(a.key, b.key) < 0; });
    logged.sorted = true;
  }
  sources_.push_back(std::make_unique<LoggedSource>(&logged.records));
  return OpenTables();
}

// Reads the range deletions of all tables; records are read when the cursor comes to them.
Status SourceCursor::OpenTables() {
  std::vector<RangeTombstone> tombstones = database_->logged_[family_->id].tombstones;
  std::map<int, std::vector<const LiveTable*>> levels;
  bool stripped = false;
  for (const auto& [number, table] : family_->tables) {
    std::unique_ptr<TableFile> opened;
    const Status s = database_->OpenTable(*family_, table, &opened);
    if (!s.ok()) return s;
    if (opened->properties().contains(kTimestampsKeptProperty)) stripped |= order_.user_comparator()->timestamp_size() != 0;
    tombstones.insert(tombstones.end(), opened->range_tombstones().begin(), opened->range_tombstones().end());
    levels[table.level].push_back(&table);
  }
  if (!tombstones.empty() && order_.user_comparator()->timestamp_size() != 0) {
    return Status::NotSupported("column family '" + family_->name + "' has range deletions with timestamps");
  }
  tombstones_ = RangeTombstoneList(tombstones, order_.user_comparator());
  for (auto& [level, tables] : levels) {
    if (level > 0 && !stripped) {
      std::sort(tables.begin(), tables.end(),
                [&](const LiveTable* a, const LiveTable* b) { return order_.Compare(a->smallest, b->smallest) < 0; });
      auto source = std::make_unique<TableSource>(database_, family_, &order_);
      source->tables = tables;
      sources_.push_back(std::move(source));
      continue;
    }
    for (const LiveTable* table : tables) {
      auto source = std::make_unique<TableSource>(database_, family_, &order_);
      source->tables = {table};
      sources_.push_back(std::move(source));
    }
  }
  return Status::OK();
}

void SourceCursor::SeekToFirst() {
  heap_.clear();
  status_ = Status::OK();
  for (const auto& source : sources_) {
    source->SeekToFirst();
    Push(source.get());
  }
  valid_ = TakeKey();
}

void SourceCursor::Next() { valid_ = TakeKey(); }

// Of a source that has moved: into the heap, unless it has ended.
void SourceCursor::Push(Source* source) {
  if (!source->status().ok()) {
    Fail(source->status());
  } else if (source->Valid()) {
    heap_.push_back(source);
    std::push_heap(heap_.begin(), heap_.end(), [&](Source* a, Source* b) { return order_.Compare(a->key(), b->key()) > 0; });
  }
}

SourceCursor::Source* SourceCursor::Pop() {
  std::pop_heap(heap_.begin(), heap_.end(), [&](Source* a, Source* b) { return order_.Compare(a->key(), b->key()) > 0; });
  Source* const source = heap_.back();
  heap_.pop_back();
  return source;
}

// To the next key that has a value or operands.
bool SourceCursor::TakeKey() {
  const Comparator* const user = order_.user_comparator();
  const size_t timestamp = user->timestamp_size();
  while (status_.ok() && !heap_.empty()) {
    has_value_ = entity_ = false;
    operands_.clear();
    bool first = true, done = false;
    while (status_.ok() && !heap_.empty()) {
      const Slice stored = heap_[0]->key();
      if (!first && user->CompareWithoutTimestamp(user_key_, timestamp != 0, ExtractUserKey(stored), timestamp != 0) != 0) break;
      if (first) user_key_ = ExtractUserKey(stored).ToString();
      first = false;
      Source* const source = Pop();
      if (!done && !TakeRecord(source->key(), source->value(), &done)) return false;
      source->Next();
      Push(source);
    }
    if (!status_.ok()) return false;
    if (!has_value_ && operands_.empty()) continue;
    key_ = user_key_.substr(0, user_key_.size() - timestamp);
    std::reverse(operands_.begin(), operands_.end());
    return true;
  }
  return false;
}

// *done: older records of the key are not visible.
bool SourceCursor::TakeRecord(const Slice& internal_key, const Slice& value, bool* done) {
  const SequenceNumber sequence = ExtractSequence(internal_key);
  const Slice user_key = ExtractUserKey(internal_key);
  if (!tombstones_.empty() && tombstones_.MaxCoveringSequence(user_key, kMaxSequenceNumber) > sequence) {
    *done = true;
    return true;
  }
  switch (ExtractType(internal_key)) {
    case kTypeMerge:
      operands_.push_back(value.ToString());
      return true;
    case kTypeWideColumnEntity:
      entity_ = true;
      [[fallthrough]];
    case kTypeValue:
      value_ = value.ToString();
      has_value_ = true;
      *done = true;
      return true;
    case kTypeBlobIndex:
      *done = true;
      return TakeReference(user_key, value);
    default:  // deletions
      *done = true;
      return true;
  }
}

bool SourceCursor::TakeReference(const Slice& user_key, const Slice& value) {
  BlobReference reference;
  if (!DecodeBlobReference(value, &reference)) return Fail(Status::Corruption("a reference to a value is damaged"));
  if (reference.kind != BlobReference::kInFile) return Fail(Status::NotSupported("values with an expiry, of the old BlobDB"));
  const Status s = database_->blob_files_.Read(reference, user_key, &value_);
  if (!s.ok()) return Fail(s);
  has_value_ = true;
  return true;
}

}  // namespace compassdb::rocksdb_files
