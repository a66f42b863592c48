// SPDX-License-Identifier: Apache-2.0
#include "manifest/version_edit.h"

#include <set>

#include "format/number_limits.h"
#include "util/checked.h"
#include "util/coding.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

// Field tags; on disk, never renumbered (docs/formats/manifest.md).
enum Tag : uint32_t {
  kEnd = 0,
  kDbId = 1,
  kHashSeed = 2,
  kNextNumber = 3,
  kLastSequence = 4,
  kMaxColumnFamily = 5,
  kMinLogNumber = 6,
  kSyncedLog = 7,
  kFileChecksum = 8,
  kColumnFamily = 10,
  kAddColumnFamily = 11,
  kComparator = 12,
  kDropColumnFamily = 13,
  kLogNumber = 14,
  kHistoryLow = 15,
  kDeleted = 20,
  kAdded = 21,
  kDeletedValues = 22,
  kAddedValues = 23,
};

void PutTagged(std::string* dst, Tag tag, uint64_t value) {
  PutVarint32(dst, tag);
  PutVarint64(dst, value);
}
void PutTagged(std::string* dst, Tag tag, const std::string& value) {
  PutVarint32(dst, tag);
  PutLengthPrefixedSlice(dst, value);
}

void PutExtent(std::string* dst, const Extent& e) {
  PutVarint64(dst, e.file_number);
  PutVarint64(dst, e.offset);
  PutVarint64(dst, e.length);
}

bool GetExtent(Slice* src, Extent* e) {
  return GetVarint64(src, &e->file_number) && GetVarint64(src, &e->offset) &&
         GetVarint64(src, &e->length) && e->offset + e->length >= e->offset;
}

template <typename T>
bool GetString(Slice* src, T* out) {
  Slice s;
  if (!GetLengthPrefixedSlice(src, &s)) return false;
  if constexpr (std::is_same_v<T, std::string>) {
    *out = s.ToString();
  } else {
    *out = s;
  }
  return true;
}

void PutPiece(std::string* dst, const TphPiece& p) {
  const PieceMeta& m = *p.meta;
  PutVarint64(dst, m.piece_id);
  PutExtent(dst, m.extent);
  PutFixed64(dst, m.file_id);
  PutFixed64(dst, m.hash_seed);
  for (uint64_t v : {m.num_records, m.num_keys, m.num_blocks, m.data_bytes, m.raw_bytes,
                     m.num_deletions, m.num_merges, m.num_range_tombstones, m.smallest_seq,
                     m.largest_seq, m.creation_time, uint64_t{m.wants_compaction}, p.live_keys}) {
    PutVarint64(dst, v);
  }
  PutLengthPrefixedSlice(dst, m.smallest);
  PutLengthPrefixedSlice(dst, m.largest);
}

bool GetPiece(Slice* src, TphPiece* p) {
  const auto m = std::make_shared<PieceMeta>();
  p->meta = m;
  if (!GetVarint64(src, &m->piece_id) || !GetExtent(src, &m->extent) ||
      !GetFixed64(src, &m->file_id) || !GetFixed64(src, &m->hash_seed)) {
    return false;
  }
  uint64_t wants_compaction = 0;
  for (uint64_t* v : {&m->num_records, &m->num_keys, &m->num_blocks, &m->data_bytes, &m->raw_bytes,
                      &m->num_deletions, &m->num_merges, &m->num_range_tombstones,
                      &m->smallest_seq, &m->largest_seq, &m->creation_time, &wants_compaction,
                      &p->live_keys}) {
    if (!GetVarint64(src, v)) return false;
  }
  m->wants_compaction = wants_compaction != 0;
  return GetString(src, &m->smallest) && GetString(src, &m->largest);
}

void PutTph(std::string* dst, const TphMeta& t) {
  PutVarint64(dst, t.tph_id);
  PutExtent(dst, t.directory);
  PutFixed64(dst, t.directory_file_id);
  PutVarint64(dst, t.num_keys);
  PutLengthPrefixedSlice(dst, t.smallest);
  PutLengthPrefixedSlice(dst, t.largest);
  dst->push_back(t.largest_exclusive ? 1 : 0);
  PutVarint64(dst, t.smallest_seq);
  PutVarint64(dst, t.largest_seq);
  dst->push_back(t.hash_range ? 1 : 0);
  if (t.hash_range) {
    PutFixed32(dst, t.search.first);
    PutFixed32(dst, t.search.last);
  }
  PutVarint64(dst, t.pieces.size());
  for (const TphPiece& p : t.pieces) PutPiece(dst, p);
}

bool GetPartition(Slice* src, TphMeta* t) {
  if (src->empty() || static_cast<unsigned char>((*src)[0]) > 1) return false;
  t->hash_range = (*src)[0] != 0;
  src->remove_prefix(1);
  if (!t->hash_range) return true;
  return GetFixed32(src, &t->search.first) && GetFixed32(src, &t->search.last) &&
         t->search.first <= t->search.last;
}

bool GetTph(Slice* src, TphMeta* t) {
  uint64_t pieces = 0;
  if (!GetVarint64(src, &t->tph_id) || !GetExtent(src, &t->directory) ||
      !GetFixed64(src, &t->directory_file_id) || !GetVarint64(src, &t->num_keys) ||
      !GetString(src, &t->smallest) || !GetString(src, &t->largest) || src->empty()) {
    return false;
  }
  t->largest_exclusive = (*src)[0] != 0;
  src->remove_prefix(1);
  if (!GetVarint64(src, &t->smallest_seq) || !GetVarint64(src, &t->largest_seq) ||
      !GetPartition(src, t) || !GetVarint64(src, &pieces)) {
    return false;
  }
  while (t->pieces.size() < pieces) {
    if (!GetPiece(src, &t->pieces.emplace_back())) return false;
  }
  return true;
}

void PutValueRun(std::string* dst, const ValueRunMeta& m) {
  PutExtent(dst, m.extent);
  PutFixed64(dst, m.file_id);
  for (uint64_t v : {uint64_t{m.group.prefix}, uint64_t{m.group.bits}, uint64_t{m.cold},
                     m.num_values, m.num_notices, m.records_bytes, m.keys_bytes, m.places_bytes,
                     m.raw_bytes, m.min_number, m.max_number,
                     static_cast<uint64_t>(m.dead_hint + m.pinned_hint), m.creation_time}) {
    PutVarint64(dst, v);
  }
}

bool GetValueRun(Slice* src, ValueRunMeta* m) {
  uint64_t prefix = 0, bits = 0, cold = 0, dead = 0;
  if (!GetExtent(src, &m->extent) || !GetFixed64(src, &m->file_id)) return false;
  for (uint64_t* v : {&prefix, &bits, &cold, &m->num_values, &m->num_notices, &m->records_bytes,
                      &m->keys_bytes, &m->places_bytes, &m->raw_bytes, &m->min_number,
                      &m->max_number, &dead, &m->creation_time}) {
    if (!GetVarint64(src, v)) return false;
  }
  if (bits > kMaxValueGroupBits || prefix >> bits != 0 || cold > 1) return false;
  m->group = {static_cast<uint32_t>(prefix), static_cast<uint32_t>(bits)};
  m->cold = cold != 0;
  m->dead_hint = static_cast<int64_t>(dead);
  const uint64_t length = m->extent.length;
  return m->records_bytes <= length && m->keys_bytes <= length - m->records_bytes &&
         m->places_bytes <= length - m->records_bytes - m->keys_bytes;
}

bool GetAddedValues(Slice* src, ValueRunMeta* m) {
  Slice body;
  return GetVarint64(src, &m->run_id) && GetLengthPrefixedSlice(src, &body) && GetValueRun(&body, m) &&
         body.empty();
}

constexpr uint64_t kMaxLevels = 64;

bool GetAdded(Slice* src, VersionEdit::Added* added) {
  uint64_t level = 0;
  Slice body;
  if (!GetVarint64(src, &level) || level >= kMaxLevels || !GetLengthPrefixedSlice(src, &body) ||
      !GetTph(&body, &added->tph) || !body.empty()) {
    return false;
  }
  added->level = static_cast<int>(level);
  return true;
}

bool GetFileChecksum(Slice* src, FileChecksum* checksum) {
  return GetVarint64(src, &checksum->file_number) && GetString(src, &checksum->checksum) &&
         GetString(src, &checksum->function);
}

bool GetSynced(Slice* src, VersionEdit::Synced* synced) {
  return GetVarint64(src, &synced->number) && GetVarint64(src, &synced->bytes);
}

// The field with an impossibly large number; null: there is none.
const char* NumberOutOfRange(const VersionEdit& edit) {
  const auto known = [](uint64_t number) { return number <= kMaxKnownNumber; };
  if (!known(edit.next_number.value_or(0))) return "next number";
  if (!known(edit.min_log_number.value_or(0))) return "min log number";
  if (!known(edit.log_number.value_or(0))) return "log number";
  if (edit.synced_log && !known(edit.synced_log->number)) return "synced log";
  if (edit.last_sequence.value_or(0) > kMaxKnownSequence) return "last sequence";
  if (edit.folded_sequence.value_or(0) > kMaxKnownSequence) return "folded sequence";
  if (edit.in_place_sequence.value_or(0) > kMaxKnownSequence) return "in-place sequence";
  for (const VersionEdit::Added& added : edit.added) {
    const TphMeta& tph = added.tph;
    bool good = known(tph.tph_id) && known(tph.directory.file_number) && tph.largest_seq <= kMaxKnownSequence;
    for (const TphPiece& piece : tph.pieces) {
      good = good && known(piece.meta->piece_id) && known(piece.meta->extent.file_number) &&
             piece.meta->largest_seq <= kMaxKnownSequence;
    }
    if (!good) return "added table";
  }
  for (const ValueRunMeta& run : edit.added_values) {
    if (!known(run.run_id) || !known(run.extent.file_number)) return "added values";
  }
  for (const PageSectionMeta& section : edit.page_sections) {
    if (!known(section.file_number)) return "page section";
  }
  for (const PageRunMeta& run : edit.added_page_runs) {
    if (!known(run.run_id) || !known(run.extent.file_number)) return "added page run";
  }
  return nullptr;
}

Status CheckNumbers(const VersionEdit& edit) {
  const char* const field = NumberOutOfRange(edit);
  if (field == nullptr) return Status::OK();
  return Status::Corruption("manifest edit", std::string("field ") + field + ": number out of range");
}

}  // namespace

void VersionEdit::CheckInvariants() const {
  if constexpr (!kChecked) return;
  const char* const out_of_range = NumberOutOfRange(*this);
  COMPASSDB_INVARIANT(out_of_range == nullptr, out_of_range);
  COMPASSDB_INVARIANT(!drop_column_family || (added.empty() && added_values.empty() && !TouchesPages()),
                      "a dropped family gets nothing");
  std::set<uint64_t> gone, come, values_gone, values_come, runs_gone, runs_come, sections;
  for (const Deleted& d : deleted) COMPASSDB_INVARIANT(gone.insert(d.tph_id).second, "a table is deleted once");
  for (const Added& a : added) {
    COMPASSDB_INVARIANT(come.insert(a.tph.tph_id).second, "a table is added once");
    COMPASSDB_INVARIANT(!next_number || a.tph.tph_id < *next_number, "numbers of tables were taken before");
  }
  for (uint64_t id : deleted_values) COMPASSDB_INVARIANT(values_gone.insert(id).second, "values are deleted once");
  for (const ValueRunMeta& run : added_values) {
    COMPASSDB_INVARIANT(values_come.insert(run.run_id).second, "values are added once");
    COMPASSDB_INVARIANT(values_gone.count(run.run_id) == 0, "values that are deleted do not come back");
    COMPASSDB_INVARIANT(!next_number || run.run_id < *next_number, "numbers of values were taken before");
  }
  for (uint64_t id : deleted_page_runs) COMPASSDB_INVARIANT(runs_gone.insert(id).second, "a page run is deleted once");
  for (const PageRunMeta& run : added_page_runs) {
    COMPASSDB_INVARIANT(runs_come.insert(run.run_id).second, "a page run is added once");
    COMPASSDB_INVARIANT(runs_gone.count(run.run_id) == 0, "a page run that is deleted does not come back");
  }
  for (const PageSectionMeta& section : page_sections) {
    COMPASSDB_INVARIANT(sections.insert(section.section).second, "a page section changes once");
  }
  std::string bytes, again;
  EncodeTo(&bytes);
  VersionEdit read;
  COMPASSDB_INVARIANT(read.DecodeFrom(bytes).ok(), "recovery can read the edit");
  read.EncodeTo(&again);
  COMPASSDB_INVARIANT(bytes == again, "recovery reads the edit that was written");
}

void VersionEdit::EncodeTo(std::string* dst) const {
  if (db_id) PutTagged(dst, kDbId, *db_id);
  if (hash_seed) PutTagged(dst, kHashSeed, *hash_seed);
  if (next_number) PutTagged(dst, kNextNumber, *next_number);
  if (last_sequence) PutTagged(dst, kLastSequence, *last_sequence);
  if (max_column_family) PutTagged(dst, kMaxColumnFamily, *max_column_family);
  if (min_log_number) PutTagged(dst, kMinLogNumber, *min_log_number);
  if (synced_log) {
    PutTagged(dst, kSyncedLog, synced_log->number);
    PutVarint64(dst, synced_log->bytes);
  }
  for (const FileChecksum& c : file_checksums) {
    PutTagged(dst, kFileChecksum, c.file_number);
    PutLengthPrefixedSlice(dst, c.checksum);
    PutLengthPrefixedSlice(dst, c.function);
  }
  if (column_family != 0) PutTagged(dst, kColumnFamily, column_family);
  if (add_column_family) PutTagged(dst, kAddColumnFamily, *add_column_family);
  if (comparator) PutTagged(dst, kComparator, *comparator);
  if (drop_column_family) PutVarint32(dst, kDropColumnFamily);
  if (log_number) PutTagged(dst, kLogNumber, *log_number);
  if (history_low) PutTagged(dst, kHistoryLow, *history_low);
  for (const Deleted& d : deleted) {
    PutTagged(dst, kDeleted, d.level);
    PutVarint64(dst, d.tph_id);
  }
  for (const Added& a : added) {
    PutTagged(dst, kAdded, a.level);
    std::string body;
    PutTph(&body, a.tph);
    PutLengthPrefixedSlice(dst, body);
  }
  for (uint64_t id : deleted_values) PutTagged(dst, kDeletedValues, id);
  for (const ValueRunMeta& m : added_values) {
    PutTagged(dst, kAddedValues, m.run_id);
    std::string body;
    PutValueRun(&body, m);
    PutLengthPrefixedSlice(dst, body);
  }
  EncodePageFields(*this, dst);
  PutVarint32(dst, kEnd);
}

Status VersionEdit::DecodeFrom(const Slice& source) {
  *this = VersionEdit();
  Slice src = source;
  const auto bad = [](const char* field) {
    return Status::Corruption("manifest edit", std::string("field ") + field);
  };
  while (true) {
    uint32_t tag = 0;
    if (!GetVarint32(&src, &tag)) return bad("tag");
    uint64_t number = 0;
    std::string text;
    switch (tag) {
      case kEnd:
        return src.empty() ? CheckNumbers(*this) : bad("end: trailing bytes");
      case kDbId:
        if (!GetString(&src, &text)) return bad("db id");
        db_id = text;
        break;
      case kHashSeed:
        if (!GetVarint64(&src, &number)) return bad("hash seed");
        hash_seed = number;
        break;
      case kNextNumber:
        if (!GetVarint64(&src, &number)) return bad("next number");
        next_number = number;
        break;
      case kLastSequence:
        if (!GetVarint64(&src, &number)) return bad("last sequence");
        last_sequence = number;
        break;
      case kMaxColumnFamily:
        if (!GetVarint64(&src, &number) || number > UINT32_MAX) return bad("max column family");
        max_column_family = static_cast<uint32_t>(number);
        break;
      case kMinLogNumber:
        if (!GetVarint64(&src, &number)) return bad("min log number");
        min_log_number = number;
        break;
      case kSyncedLog:
        if (!GetSynced(&src, &synced_log.emplace(Synced{}))) return bad("synced log");
        break;
      case kFileChecksum:
        if (!GetFileChecksum(&src, &file_checksums.emplace_back())) return bad("file checksum");
        break;
      case kColumnFamily:
        if (!GetVarint32(&src, &column_family)) return bad("column family");
        break;
      case kAddColumnFamily:
        if (!GetString(&src, &text)) return bad("column family name");
        add_column_family = text;
        break;
      case kComparator:
        if (!GetString(&src, &text)) return bad("comparator");
        comparator = text;
        break;
      case kDropColumnFamily:
        drop_column_family = true;
        break;
      case kLogNumber:
        if (!GetVarint64(&src, &number)) return bad("log number");
        log_number = number;
        break;
      case kHistoryLow:
        if (!GetString(&src, &text)) return bad("history low");
        history_low = text;
        break;
      case kDeleted: {
        Deleted d{};
        if (!GetVarint64(&src, &number) || number >= kMaxLevels || !GetVarint64(&src, &d.tph_id)) {
          return bad("deleted table");
        }
        d.level = static_cast<int>(number);
        deleted.push_back(d);
        break;
      }
      case kAdded: {
        Added a{};
        if (!GetAdded(&src, &a)) return bad("added table");
        added.push_back(std::move(a));
        break;
      }
      case kDeletedValues:
        if (!GetVarint64(&src, &number)) return bad("deleted values");
        deleted_values.push_back(number);
        break;
      case kAddedValues:
        if (!GetAddedValues(&src, &added_values.emplace_back())) return bad("added values");
        break;
      default: {
        const char* damaged = nullptr;
        if (!DecodePageField(tag, &src, this, &damaged)) {
          return Status::Corruption("manifest edit: unknown field", std::to_string(tag));
        }
        if (damaged != nullptr) return bad(damaged);
      }
    }
  }
}

std::string VersionEdit::DebugString() const {
  std::string r = "family " + std::to_string(column_family);
  if (add_column_family) r += " add '" + *add_column_family + "'";
  if (drop_column_family) r += " drop";
  if (comparator) r += " comparator " + *comparator;
  if (log_number) r += " log " + std::to_string(*log_number);
  if (last_sequence) r += " sequence " + std::to_string(*last_sequence);
  if (next_number) r += " next " + std::to_string(*next_number);
  for (const FileChecksum& c : file_checksums) {
    r += "\n  file " + std::to_string(c.file_number) + " " + c.function + " " +
         Slice(c.checksum).ToString(/*hex=*/true);
  }
  for (const Deleted& d : deleted) {
    r += "\n  - L" + std::to_string(d.level) + " table " + std::to_string(d.tph_id);
  }
  for (const Added& a : added) {
    r += "\n  + L" + std::to_string(a.level) + " table " + std::to_string(a.tph.tph_id) + " [" +
         EscapeKey(a.tph.smallest) + " .. " + EscapeKey(a.tph.largest) + "] pieces";
    for (const TphPiece& p : a.tph.pieces) {
      r += " " + std::to_string(p.meta->piece_id) + "(" + std::to_string(p.live_keys) + "/" +
           std::to_string(p.meta->num_keys) + ")";
    }
  }
  for (uint64_t id : deleted_values) r += "\n  - values " + std::to_string(id);
  for (const ValueRunMeta& m : added_values) {
    r += "\n  + values " + std::to_string(m.run_id) + " group " + std::to_string(m.group.prefix) +
         "/" + std::to_string(m.group.bits) + ": " + std::to_string(m.num_values) + " values, " +
         std::to_string(m.num_notices) + " notices, " + std::to_string(m.extent.length) + " bytes";
  }
  DescribePageFields(*this, &r);
  return r;
}

void EncodeEdits(const std::vector<VersionEdit>& edits, std::string* dst) {
  PutVarint64(dst, edits.size());
  for (const VersionEdit& edit : edits) {
    std::string body;
    edit.EncodeTo(&body);
    PutLengthPrefixedSlice(dst, body);
  }
}

Status EditRecord::Next(Slice* rest, VersionEdit* edit) {
  Slice body;
  if (!GetLengthPrefixedSlice(rest, &body)) return Status::Corruption("manifest record", "edit");
  return edit->DecodeFrom(body);
}

Status EditRecord::Open(const Slice& bytes) {
  Slice rest = bytes;
  count_ = 0;
  uint64_t count = 0;
  if (!GetVarint64(&rest, &count) || count > rest.size()) {
    return Status::Corruption("manifest record", "edit count");
  }
  edits_ = rest;
  VersionEdit edit;
  for (uint64_t i = 0; i < count; ++i) {
    if (Status s = Next(&rest, &edit); !s.ok()) return s;
  }
  if (!rest.empty()) return Status::Corruption("manifest record", "trailing bytes");
  count_ = count;
  return Status::OK();
}

EditRecord::Iterator::Iterator(const EditRecord& record) : rest_(record.edits_), left_(record.count_) { Decode(); }

EditRecord::Iterator& EditRecord::Iterator::operator++() {
  --left_;
  Decode();
  return *this;
}

// Open has checked that it can be decoded.
void EditRecord::Iterator::Decode() {
  if (left_ > 0 && !Next(&rest_, &edit_).ok()) left_ = 0;
}

}  // namespace compassdb
