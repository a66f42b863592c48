// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_run.h"

#include <algorithm>

#include "env/read_batch.h"
#include "table/directory/index_part.h"
#include "table/read_stats.h"
#include "table/stat_timer.h"
#include "util/heap_bytes.h"
#include "value_store/value_format.h"

namespace compassdb {

namespace {

// Live records less far apart than this are read together.
constexpr uint64_t kReadGap = 16 << 10;
constexpr uint64_t kReadSpan = 1 << 20;

}  // namespace

using PagedPlaces = CountedPart<PlaceIndex>;

struct ValueRun::HeldPlaces {
  const PlaceIndex* places = nullptr;
  IndexCache::Pin pin;
  std::unique_ptr<PagedPlaces> own;  // if the cache has no room for them
};

ValueRun::ValueRun(std::shared_ptr<const ValueContext> context, const ValueRunMeta& meta)
    : context_(std::move(context)),
      meta_(meta),
      cache_key_(IndexCache::NewKey(IndexCache::Kind::kIndex)),
      counted_(meta.counted) {
  ResetHints();
  if (context_->charge != nullptr) context_->charge->Add(MemoryBytes());
}

ValueHints ValueRun::hints() const {
  MutexLock lock(&context_->hints_mu);
  return hints_;
}

void ValueRun::SetHints(const ValueHints& hints) {
  MutexLock lock(&context_->hints_mu);
  if (context_->pinned_runs != nullptr) {
    if (hints_.pinned != 0) --*context_->pinned_runs;
    if (hints.pinned != 0) ++*context_->pinned_runs;
  }
  hints_ = hints;
}

void ValueRun::ResetHints() {
  SetHints({meta_.dead_hint, meta_.pinned_hint, meta_.pinned_from, meta_.pinned_to});
}

ValueRun::~ValueRun() {
  SetHints({});
  if (context_->charge != nullptr) context_->charge->Subtract(MemoryBytes());
  if (const PlaceIndex* places = places_.load(std::memory_order_acquire)) {
    context_->tables->index_usage.Subtract(MemoryOf(*places));
    delete places;
  }
  if (context_->paged) context_->tables->index_cache.Erase(cache_key_);
  if (!obsolete_.load(std::memory_order_relaxed)) return;
  std::shared_ptr<CompactionFile> closed;  // before the ledger deletes it
  {
    MutexLock lock(&context_->files_mu);
    closed.swap(held_);
  }
  closed.reset();
  context_->ledger->Release(meta_.extent);
  context_->held_bytes -= meta_.extent.length;
}

size_t ValueRun::MemoryBytes() const { return HeapBytes(sizeof(*this) + kSharedControlBytes); }

Status ValueRun::Corruption(const std::string& what) const {
  return Status::Corruption(context_->tables->files->PathOf(meta_.extent.file_number),
                            "value run " + std::to_string(meta_.run_id) + " at offset " +
                                std::to_string(meta_.extent.offset) + ": " + what);
}

Status ValueRun::File(std::shared_ptr<CompactionFile>* holder, const CompactionFile** file) const {
  *file = open_.load(std::memory_order_acquire);
  if (*file != nullptr) return Status::OK();
  FileCache& files = *context_->tables->files;
  Status s = files.GetExtent(meta_.extent, meta_.file_id, holder);
  *file = holder->get();
  if (!s.ok() || !files.MayHold()) return s;
  MutexLock lock(&context_->files_mu);
  if (held_ == nullptr) {
    held_ = *holder;
    open_.store(held_.get(), std::memory_order_release);
  }
  return s;
}

Status ValueRun::CheckRead(const ValuePlace& place, bool verify_checksum, const Slice& record) const {
  if (record.size() != place.size) return Corruption("the file ends within it");
  return verify_checksum ? CheckRecord(place, record) : Status::OK();
}

Status ValueRun::Read(uint64_t offset, uint64_t n, std::string* room, Slice* bytes) const {
  std::shared_ptr<CompactionFile> holder;
  const CompactionFile* file = nullptr;
  Status s = File(&holder, &file);
  if (!s.ok()) return s;
  if (offset > meta_.extent.length || n > meta_.extent.length - offset) {
    return Corruption("a place outside of the run");
  }
  room->resize(n);
  s = file->file()->Read(meta_.extent.offset + offset, n, bytes, room->data());
  if (!s.ok()) return s;
  if (bytes->size() != n) return Corruption("the file ends within it");
  if (bytes->data() != room->data()) {  // the file's own memory may be freed with it
    room->assign(bytes->data(), n);
    *bytes = *room;
  }
  return s;
}

Status ValueRun::ReadSection(uint64_t offset, uint64_t n, const char* what, std::string* room,
                             Slice* bytes) const {
  Status s = Read(offset, n, room, bytes);
  return s.ok() ? CheckSection(offset, what, bytes) : s;
}

Status ValueRun::CheckSection(uint64_t offset, const char* what, Slice* bytes) const {
  if (bytes->size() < 4) return Corruption(std::string(what) + ": too short");
  const Slice covered(bytes->data(), bytes->size() - 4);
  const uint64_t context = ValueContextOf(meta_.file_id, meta_.extent.offset + offset);
  if (!ChecksumHolds(DecodeFixed32(covered.data() + covered.size()), Checksum32(covered, context))) {
    return Corruption(std::string(what) + ": checksum mismatch");
  }
  *bytes = covered;
  return Status::OK();
}

Status ValueRun::LoadPlaces(std::unique_ptr<PlaceIndex>* out) const {
  std::string room;
  Slice bytes;
  Status s = Read(places_offset(), meta_.places_bytes, &room, &bytes);
  return s.ok() ? MakePlaces(bytes, out) : s;
}

Status ValueRun::MakePlaces(const Slice& section, std::unique_ptr<PlaceIndex>* out) const {
  Slice bytes = section;
  Status s = CheckSection(places_offset(), "places", &bytes);
  if (!s.ok()) return s;
  *out = PlaceIndex::Make(bytes, meta_.num_values, meta_.records_bytes);
  return *out == nullptr ? Corruption("places: malformed") : s;
}

void ValueRun::InsertPaged(std::unique_ptr<PlaceIndex> places, HeldPlaces* held) const {
  held->own = std::make_unique<PagedPlaces>(context_->tables, std::move(places), IndexCache::kEntryBytes);
  held->places = held->own->get();
  held->pin = context_->tables->index_cache.Insert(cache_key_, held->own.get(), PagedPlaces::Delete,
                                                   held->own->Memory().total() - IndexCache::kEntryBytes);
  if (held->pin.value() != nullptr) static_cast<void>(held->own.release());
  context_->tables->index_cache.CountRead(cache_key_);
}

void ValueRun::Publish(std::unique_ptr<PlaceIndex> places) const {
  context_->tables->index_usage.Add(MemoryOf(*places));
  places_.store(places.release(), std::memory_order_release);
}

Status ValueRun::Hold(bool cache_only, HeldPlaces* held) const {
  held->places = places_.load(std::memory_order_acquire);
  if (held->places == nullptr && context_->paged) {
    held->pin = context_->tables->index_cache.Lookup(cache_key_);
    if (held->pin.value() != nullptr) held->places = static_cast<const PagedPlaces*>(held->pin.value())->get();
  }
  if (held->places != nullptr) return Status::OK();
  if (cache_only) return IndexNotInMemory();
  std::unique_ptr<PlaceIndex> loaded;
  if (context_->paged) {
    Status s = LoadPlaces(&loaded);
    if (!s.ok()) return s;
    InsertPaged(std::move(loaded), held);
    return s;
  }
  MutexLock lock(&context_->load_mu[meta_.run_id % context_->load_mu.size()]);
  held->places = places_.load(std::memory_order_acquire);
  if (held->places != nullptr) return Status::OK();
  Status s = LoadPlaces(&loaded);
  if (!s.ok()) return s;
  held->places = loaded.get();
  Publish(std::move(loaded));
  return s;
}

Status ValueRun::Load() const {
  if (meta_.num_values == 0) return Status::OK();
  HeldPlaces held;
  return Hold(/*cache_only=*/false, &held);
}

void ValueRun::LoadTogether(std::vector<const ValueRun*> runs) {
  std::sort(runs.begin(), runs.end(), [](const ValueRun* a, const ValueRun* b) {
    const Extent& x = a->meta_.extent;
    const Extent& y = b->meta_.extent;
    return x.file_number != y.file_number ? x.file_number < y.file_number : x.offset < y.offset;
  });
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  std::vector<std::shared_ptr<CompactionFile>> holders(runs.size());
  std::vector<const CompactionFile*> files(runs.size());
  std::vector<std::string> rooms(runs.size());
  std::vector<ReadRequest> reads(runs.size());
  ReadBatch batch;  // destroyed first
  for (size_t i = 0; i < runs.size(); ++i) {
    const ValueRunMeta& meta = runs[i]->meta_;
    reads[i].status = runs[i]->File(&holders[i], &files[i]);
    if (!reads[i].status.ok()) continue;
    rooms[i].resize(meta.places_bytes);
    reads[i].offset = meta.extent.offset + runs[i]->places_offset();
    reads[i].length = meta.places_bytes;
    reads[i].scratch = rooms[i].data();
  }
  for (size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    for (end = begin + 1; end < runs.size() && files[end] == files[begin];) ++end;
    if (files[begin] != nullptr) files[begin]->file()->AddReads(&reads[begin], end - begin, &batch);
  }
  batch.Wait();
  for (size_t i = 0; i < runs.size(); ++i) {
    const ValueRun& run = *runs[i];
    std::unique_ptr<PlaceIndex> loaded;
    if (!reads[i].status.ok() || reads[i].result.size() != run.meta_.places_bytes) continue;
    if (!run.MakePlaces(reads[i].result, &loaded).ok()) continue;
    if (run.context_->paged) {
      HeldPlaces held;
      run.InsertPaged(std::move(loaded), &held);
      continue;
    }
    MutexLock lock(&run.context_->load_mu[run.meta_.run_id % run.context_->load_mu.size()]);
    if (run.places_.load(std::memory_order_acquire) == nullptr) run.Publish(std::move(loaded));
  }
}

Status ValueRun::Find(uint64_t number, bool cache_only, bool* found, ValuePlace* place) const {
  *found = false;
  if (!MayHold(number)) return Status::OK();
  HeldPlaces held;
  if (Status s = Hold(cache_only, &held); !s.ok()) return s;
  *found = held.places->Find(number, place);
  return Status::OK();
}

Status ValueRun::CheckRecord(const ValuePlace& place, const Slice& record) const {
  const PerfTimer timer(&rocksdb::PerfContext::blob_checksum_time);
  if (record.size() < kMinRecordBytes) return Corruption("record: too short");
  const Slice covered(record.data() + kRecordChecksumBytes, record.size() - kRecordChecksumBytes);
  const uint64_t context = ValueContextOf(meta_.file_id, meta_.extent.offset + place.offset);
  if (!ChecksumHolds(DecodeFixed32(record.data()), Checksum32(covered, context))) {
    return Corruption("record at " + std::to_string(place.offset) + ": checksum mismatch");
  }
  return Status::OK();
}

Status ValueRun::ReadRecord(const ValuePlace& place, bool verify_checksum, std::string* room,
                            Slice* record) const {
  Status s;
  {
    const PerfTimer timer(&rocksdb::PerfContext::blob_read_time);
    const StatTimer watch(context_->tables->options.statistics, rocksdb::BLOB_DB_BLOB_FILE_READ_MICROS);
    s = Read(place.offset, place.size, room, record);
  }
  return s.ok() && verify_checksum ? CheckRecord(place, *record) : s;
}

Status ValueRun::ReadKeys(std::vector<ValueEntry>* values, std::vector<ValueNotice>* notices,
                          std::vector<ValueDeath>* deaths) const {
  std::string room;
  Slice bytes;
  Status s = ReadSection(meta_.records_bytes, meta_.keys_bytes, "keys", &room, &bytes);
  if (!s.ok()) return s;
  uint64_t counts[3];
  for (uint64_t& count : counts) {
    if (!GetVarint64(&bytes, &count) || count > bytes.size()) return Corruption("keys: malformed");
  }
  if (counts[0] != meta_.num_values) return Corruption("keys: not as many as the manifest says");
  ValueEntry entry;
  uint64_t offset = 0;
  for (uint64_t i = 0; i < counts[0]; ++i) {
    uint64_t delta = 0;
    if (!GetFixed64(&bytes, &entry.h1) || !GetFixed32(&bytes, &entry.h2) ||
        !GetVarint64(&bytes, &entry.sequence) || !GetVarint64(&bytes, &delta) ||
        !GetVarint32(&bytes, &entry.size) || entry.size < kMinRecordBytes ||
        offset + entry.size > meta_.records_bytes) {
      return Corruption("keys: malformed");
    }
    entry.number += delta;
    entry.offset = static_cast<uint32_t>(offset);
    offset += entry.size;
    values->push_back(entry);
  }
  ValueNotice notice;
  for (uint64_t i = 0; i < counts[1]; ++i) {
    if (!GetFixed64(&bytes, &notice.h1) || !GetFixed32(&bytes, &notice.h2) ||
        !GetVarint64(&bytes, &notice.sequence)) {
      return Corruption("keys: malformed");
    }
    notices->push_back(notice);
  }
  ValueDeath death;
  for (uint64_t i = 0; i < counts[2]; ++i) {
    uint64_t delta = 0;
    if (!GetVarint64(&bytes, &delta)) return Corruption("keys: malformed");
    death.number += delta;
    deaths->push_back(death);
  }
  return bytes.empty() ? s : Corruption("keys: trailing bytes");
}

Status ValueRun::ReadRecords(
    const std::vector<ValueEntry>& entries, uint64_t span,
    const std::function<Status(const ValueEntry&, const Slice&)>& take) const {
  if (span == 0) span = kReadSpan;
  std::string room;
  Status s;
  for (size_t i = 0; s.ok() && i < entries.size();) {
    const uint64_t begin = entries[i].offset;
    uint64_t end = begin + entries[i].size;
    size_t next = i + 1;
    for (; next < entries.size() && entries[next].offset <= end + kReadGap; ++next) {
      const uint64_t end_of_next = uint64_t{entries[next].offset} + entries[next].size;
      if (end_of_next - begin > span) break;
      end = end_of_next;
    }
    Slice bytes;
    s = Read(begin, end - begin, &room, &bytes);
    for (; s.ok() && i < next; ++i) {
      const Slice record(bytes.data() + (entries[i].offset - begin), entries[i].size);
      s = CheckRecord({entries[i].offset, entries[i].size}, record);
      if (s.ok()) s = take(entries[i], record);
    }
  }
  return s;
}

Status ValueRun::Verify() const {
  std::vector<ValueEntry> values;
  std::vector<ValueNotice> notices;
  std::vector<ValueDeath> deaths;
  Status s = ReadKeys(&values, &notices, &deaths);
  if (!s.ok()) return s;
  std::string room;
  Slice footer;
  s = ReadSection(places_offset() + meta_.places_bytes, kValueFooterBytes,
                  "footer", &room, &footer);
  if (!s.ok()) return s;
  if (DecodeFixed64(footer.data()) != kValueRunMagic ||
      DecodeFixed64(footer.data() + 8) != meta_.keys_bytes ||
      DecodeFixed64(footer.data() + 16) != meta_.places_bytes) {
    return Corruption("footer: not what the manifest says");
  }
  std::unique_ptr<PlaceIndex> places;
  s = LoadPlaces(&places);
  if (!s.ok()) return s;
  return ReadRecords(values, kReadSpan, [&](const ValueEntry& entry, const Slice& record) {
    ParsedValueRecord parsed;
    if (!ParseValueRecord(record, &parsed) || parsed.number != entry.number) {
      return Corruption("record at " + std::to_string(entry.offset) + ": not the value listed there");
    }
    ValuePlace place;
    const bool found = MayHold(entry.number) && places->Find(entry.number, &place);
    if (!found || place.offset != entry.offset || place.size != entry.size) {
      return Corruption("places and keys differ for value " + std::to_string(entry.number));
    }
    return Status::OK();
  });
}

bool ParseValueRecord(Slice record, ParsedValueRecord* parsed) {
  if (record.size() < kMinRecordBytes) return false;
  record.remove_prefix(kRecordChecksumBytes);
  parsed->compression = static_cast<rocksdb::CompressionType>(static_cast<uint8_t>(record[0]));
  record.remove_prefix(1);
  uint32_t key_size = 0;
  if (!GetVarint32(&record, &key_size) || !GetVarint64(&record, &parsed->number) ||
      key_size > record.size()) {
    return false;
  }
  parsed->user_key = Slice(record.data(), key_size);
  parsed->stored = Slice(record.data() + key_size, record.size() - key_size);
  return true;
}

}  // namespace compassdb
