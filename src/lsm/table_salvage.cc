// SPDX-License-Identifier: Apache-2.0
#include "lsm/table_salvage.h"

#include <algorithm>

#include "lsm/compaction/job_file.h"
#include "table/piece/piece_salvage.h"

namespace compassdb {

Status TableSalvage::Read(const TphMeta& old, Records* records, std::vector<RangeTombstone>* tombstones,
                          SalvageReport* report) {
  for (const TphPiece& piece : old.pieces) {
    const PieceMeta& meta = *piece.meta;
    SalvagedPiece found;
    if (Status s = SalvagePiece(*tables_, meta, &found); !s.ok()) return s;
    report->lost_records += meta.num_records - std::min<uint64_t>(meta.num_records, found.records.size());
    report->lost_bytes += meta.data_bytes - std::min(meta.data_bytes, found.read_bytes);
    if (found.tombstones_lost) report->lost_range_deletions += meta.num_range_tombstones;
    std::move(found.records.begin(), found.records.end(), std::back_inserter(*records));
    std::move(found.tombstones.begin(), found.tombstones.end(), std::back_inserter(*tombstones));
  }
  const InternalKeyComparator order(options_->comparator);
  std::stable_sort(records->begin(), records->end(),
                   [&](const auto& a, const auto& b) { return order.Compare(a.first, b.first) < 0; });
  // Pieces may hold copies of a record.
  const auto same = [&](const auto& a, const auto& b) {
    return ExtractSequence(a.first) == ExtractSequence(b.first) &&
           order.CompareUserKey(ExtractUserKey(a.first), ExtractUserKey(b.first)) == 0;
  };
  records->erase(std::unique(records->begin(), records->end(), same), records->end());
  JoinTombstones(options_->comparator, tombstones);
  return Status::OK();
}

Status TableSalvage::ResolveReference(std::string* key, std::string* value, SalvageReport* report) {
  const std::string user_key = ExtractUserKey(*key).ToString();
  const SequenceNumber sequence = ExtractSequence(*key);
  std::string found;
  ValueSalvage::Fate fate = ValueSalvage::Fate::kGone;
  Status s = values_->Find(user_key, context_->hasher(user_key), *value, &fate, &found);
  if (!s.ok() || fate == ValueSalvage::Fate::kStays) return s;
  // If the value is superseded, the newer record was lost, and counts as lost.
  const bool gone = fate != ValueSalvage::Fate::kMoves;
  if (fate == ValueSalvage::Fate::kGone) ++report->lost_values;
  if (gone) found.clear();
  key->clear();
  AppendInternalKey(key, user_key, sequence, gone ? kTypeDeletion : kTypeValue);
  value->swap(found);
  return s;
}

Status TableSalvage::Rewrite(int level, const TphMeta& old, std::optional<TphMeta>* out, SalvageReport* report) {
  out->reset();
  Records records;
  std::vector<RangeTombstone> tombstones;
  Status s = Read(old, &records, &tombstones, report);
  if (!s.ok() || (records.empty() && tombstones.empty())) return s;
  CompactionFileWriter* writer = nullptr;
  if (s = file_.Writer(&writer); !s.ok()) return s;
  PieceBuilder builder(PieceOptions(*context_, *options_, {.level = level}), writer, context_->new_number());
  for (auto& [key, value] : records) {
    if (values_ != nullptr && ExtractType(key) == kTypeBlobIndex) s = ResolveReference(&key, &value, report);
    if (s.ok()) s = builder.Add(key, value);
    if (!s.ok()) return s;
  }
  for (const RangeTombstone& t : tombstones) builder.AddRangeTombstone(t);
  PieceMeta piece;
  PieceHashes hashes;
  if (s = builder.Finish(&piece, &hashes); !s.ok()) return s;
  piece.creation_time = old.pieces.front().meta->creation_time;
  TphMeta meta;
  s = WriteOnePieceTable(*context_, *options_, piece, hashes, tombstones, kUpperFingerprints, &file_, &meta);
  if (!s.ok()) return s;
  meta.tph_id = old.tph_id;
  // The newest runs stay the newest, even if they lost records.
  meta.smallest_seq = old.smallest_seq;
  meta.largest_seq = old.largest_seq;
  meta.hash_range = old.hash_range;
  meta.search = old.search;
  *out = std::move(meta);
  return s;
}

}  // namespace compassdb
