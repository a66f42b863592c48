// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_writer.h"

#include <algorithm>

#include "table/file/extent_writer.h"
#include "table/read_stats.h"
#include "table/stat_timer.h"
#include "util/compression.h"
#include "value_store/value_format.h"
#include "value_store/value_ref.h"

namespace compassdb {

namespace {

// Numbers are assigned in blocks. The first of a block is a number of the database, which are unique.
constexpr unsigned kNumberBlockBits = 20;
constexpr size_t kSectionChecksumBytes = 4;
// The most bytes of a record without key and value: checksum, type, key size, number.
constexpr size_t kMostRecordHeader = kRecordChecksumBytes + 1 + 5 + 10;

void AppendKeys(const std::vector<ValueEntry>& entries, const std::vector<ValueNotice>& notices,
                const std::vector<uint64_t>& deaths, std::string* out) {
  PutVarint64(out, entries.size());
  PutVarint64(out, notices.size());
  PutVarint64(out, deaths.size());
  uint64_t before = 0;
  for (const ValueEntry& e : entries) {
    PutFixed64(out, e.h1);
    PutFixed32(out, e.h2);
    PutVarint64(out, e.sequence);
    PutVarint64(out, e.number - before);
    PutVarint32(out, e.size);
    before = e.number;
  }
  for (const ValueNotice& n : notices) {
    PutFixed64(out, n.h1);
    PutFixed32(out, n.h2);
    PutVarint64(out, n.sequence);
  }
  before = 0;
  for (uint64_t number : deaths) {
    PutVarint64(out, number - before);
    before = number;
  }
}

void AppendPlaces(const std::vector<ValueEntry>& entries, std::string* out) {
  std::string stream, samples;
  uint64_t before = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const ValueEntry& e = entries[i];
    if (i % kPlacesPerSample == 0) {
      PutFixed64(&samples, e.number);
      PutFixed32(&samples, e.offset);
      PutFixed32(&samples, static_cast<uint32_t>(stream.size()));
    } else {
      PutVarint64(&stream, e.number - before);
    }
    PutVarint32(&stream, e.size);
    before = e.number;
  }
  PutFixed32(out, static_cast<uint32_t>(entries.size()));
  PutFixed32(out, static_cast<uint32_t>(samples.size() / kPlaceSampleBytes));
  out->append(samples);
  out->append(stream);
}

}  // namespace

Status ValueWriter::Add(const Slice& user_key, const KeyHash& hash, SequenceNumber sequence,
                        const Slice& value, bool supersedes, std::string* ref) {
  if (numbers_left_ == 0) {
    next_number_ = options_.new_number() << kNumberBlockBits;
    numbers_left_ = uint64_t{1} << kNumberBlockBits;
  }
  ValueEntry entry;
  entry.h1 = hash.h1;
  entry.h2 = StoredH2(hash.h2);
  entry.sequence = sequence;
  entry.number = next_number_++;
  --numbers_left_;
  ValueRef{entry.number, static_cast<uint32_t>(value.size())}.AppendTo(ref);

  Slice stored = value;
  rocksdb::CompressionType type = options_.compression;
  if (type != rocksdb::kNoCompression) {
    const StatTimer timer(options_.statistics, rocksdb::BLOB_DB_COMPRESSION_MICROS);
    compressed_.clear();
    if (Compress(type, options_.compression_level, value, &compressed_) &&
        compressed_.size() < value.size()) {
      stored = compressed_;
    } else {
      type = rocksdb::kNoCompression;
    }
  }
  const bool cold = options_.updates != nullptr ? !options_.updates->Hot(hash.h1) : options_.cold;
  const uint64_t together = BatchOf(hash.h1, cold).records.size() + kMostRecordHeader + user_key.size() + stored.size();
  if (together > options_.most_records_bytes) {
    if (Status s = WriteRound(); !s.ok()) return s;
  }
  Batch& batch = BatchOf(hash.h1, cold);
  std::string& out = batch.records;
  const size_t begin = out.size();
  PutFixed32(&out, 0);
  out.push_back(static_cast<char>(type));
  PutVarint32(&out, static_cast<uint32_t>(user_key.size()));
  PutVarint64(&out, entry.number);
  out.append(user_key.data(), user_key.size());
  out.append(stored.data(), stored.size());
  if (supersedes) batch.dead_hint += static_cast<int64_t>(out.size() - begin + kValueTableBytes);
  AddEntry(&batch, entry, begin, value.size());
  return WriteFullRound();
}

Status ValueWriter::Move(const std::vector<ValueEntry>& entries,
                         const std::function<Status(const std::vector<char*>&)>& fill) {
  uint64_t bytes = 0;
  for (const ValueEntry& e : entries) bytes += e.size;
  if (pending_bytes_ > 0 && pending_bytes_ + bytes > options_.round_bytes) {
    if (Status s = WriteRound(); !s.ok()) return s;
  }
  std::map<Batch*, size_t> sizes;  // of each batch's records, with these
  for (const ValueEntry& e : entries) {
    Batch& batch = BatchOf(e.h1);
    sizes.try_emplace(&batch, batch.records.size()).first->second += e.size;
  }
  // The buffers do not move from here on.
  for (const auto& [batch, size] : sizes) batch->records.reserve(size);
  std::vector<char*> places;
  places.reserve(entries.size());
  for (const ValueEntry& e : entries) {
    Batch& batch = BatchOf(e.h1);
    const size_t begin = batch.records.size();
    batch.records.resize(begin + e.size);
    places.push_back(batch.records.data() + begin);
    AddEntry(&batch, e, begin, e.size);
  }
  Status s = fill(places);
  return s.ok() ? WriteFullRound() : s;
}

void ValueWriter::AddEntry(Batch* batch, ValueEntry entry, size_t begin, uint64_t raw) {
  entry.offset = static_cast<uint32_t>(begin);
  entry.size = static_cast<uint32_t>(batch->records.size() - begin);
  batch->entries.push_back(entry);
  batch->raw_bytes += raw;
  pending_bytes_ += entry.size;
}

Status ValueWriter::WriteRound() {
  for (auto& [key, batch] : batches_) {
    if (Status s = WriteRun(key, &batch); !s.ok()) return s;
    batch = Batch();  // the memory, too: it comes back group by group
  }
  batches_.clear();
  pending_bytes_ = 0;
  return Status::OK();
}

Status ValueWriter::WriteRun(const BatchKey& key, Batch* batch) {
  CompactionFileWriter* file = nullptr;
  Status s = options_.file(&file);
  if (!s.ok()) return s;
  ValueRunMeta& meta = runs_.emplace_back();
  meta.run_id = options_.new_number();
  meta.group = {key.first, options_.group_bits};
  meta.cold = key.second;
  meta.counted = options_.counted;
  meta.file_id = file->file_id();
  meta.creation_time = options_.creation_time;
  meta.num_values = batch->entries.size();
  meta.num_notices = batch->notices.size() + batch->deaths.size();
  meta.raw_bytes = batch->raw_bytes;
  meta.dead_hint = batch->dead_hint;
  meta.pinned_hint = batch->pinned_hint;
  meta.pinned_from = batch->pinned_from;
  meta.pinned_to = batch->pinned_to;
  meta.records_bytes = batch->records.size();
  if (!batch->entries.empty()) {
    meta.min_number = batch->entries.front().number;
    meta.max_number = batch->entries.back().number;
  }
  std::sort(batch->deaths.begin(), batch->deaths.end());
  std::string keys, places, footer;
  AppendKeys(batch->entries, batch->notices, batch->deaths, &keys);
  AppendPlaces(batch->entries, &places);
  meta.keys_bytes = keys.size() + kSectionChecksumBytes;
  meta.places_bytes = places.size() + kSectionChecksumBytes;
  PutFixed64(&footer, kValueRunMagic);
  PutFixed64(&footer, meta.keys_bytes);
  PutFixed64(&footer, meta.places_bytes);

  if (uncommitted_ != nullptr) {  // before they exist
    uncommitted_->Add(meta.records_bytes + meta.keys_bytes + meta.places_bytes + footer.size() + kSectionChecksumBytes);
  }
  ExtentWriter extent(file);
  const StatTimer timer(options_.statistics, rocksdb::BLOB_DB_BLOB_FILE_WRITE_MICROS);
  if (s = extent.Start(); !s.ok()) return s;
  for (const ValueEntry& e : batch->entries) {
    char* const record = batch->records.data() + e.offset;
    const Slice covered(record + kRecordChecksumBytes, e.size - kRecordChecksumBytes);
    EncodeFixed32(record, Checksum32(covered, ValueContextOf(meta.file_id, extent.offset() + e.offset)));
  }
  s = extent.Append(Slice(batch->records));
  for (std::string* section : {&keys, &places, &footer}) {
    const size_t covered = section->size();
    section->append(kSectionChecksumBytes, '\0');
    if (s.ok()) s = extent.Append(section, covered, kValueRunMagic);
  }
  if (s.ok()) s = extent.Finish(&meta.extent);
  Tick(options_.statistics, rocksdb::BLOB_DB_BLOB_FILE_BYTES_WRITTEN, meta.extent.length);
  return s;
}

Status ValueWriter::Finish() { return WriteRound(); }

void ValueWriter::AppendTo(VersionEdit* edit) const {
  edit->added_values.insert(edit->added_values.end(), runs_.begin(), runs_.end());
  if (uncommitted_ != nullptr && !runs_.empty()) edit->uncommitted_values.push_back(uncommitted_);
}

}  // namespace compassdb
