// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_salvage.h"

#include <algorithm>

#include "table/piece/piece_salvage.h"
#include "util/compression.h"
#include "value_store/value_ref.h"

namespace compassdb {

Status ValueSalvage::LoadPlaces() {
  if (loaded_) return Status::OK();
  places_.resize(bad_.size());
  for (size_t i = 0; i < bad_.size(); ++i) {
    std::vector<ValueEntry> values;
    std::vector<ValueNotice> notices;
    std::vector<ValueDeath> deaths;
    Status s = bad_[i]->ReadKeys(&values, &notices, &deaths);
    if (!s.ok() && !IsDamage(s)) return s;
    if (!s.ok()) continue;
    for (const ValueEntry& entry : values) places_[i][entry.number] = {entry.offset, entry.size};
  }
  loaded_ = true;
  return Status::OK();
}

Status ValueSalvage::Read(const ValueRun& run, const ValuePlace& place, const Slice& user_key,
                          uint64_t number, uint32_t size, bool* found, std::string* value) {
  std::string room;
  Slice record;
  ParsedValueRecord parsed;
  Status s = run.ReadRecord(place, /*verify_checksum=*/true, &room, &record);
  if (!s.ok()) return IsDamage(s) ? Status::OK() : s;
  if (!ParseValueRecord(record, &parsed) || parsed.number != number || parsed.user_key != user_key) return s;
  if (parsed.compression == rocksdb::kNoCompression) {
    value->assign(parsed.stored.data(), parsed.stored.size());
  } else if (!Decompress(parsed.compression, parsed.stored, size, value).ok()) {
    return s;
  }
  *found = value->size() == size;
  return s;
}

Status ValueSalvage::Find(const Slice& user_key, const KeyHash& hash, const Slice& ref, Fate* fate,
                          std::string* value) {
  *fate = Fate::kGone;
  ValueRef parsed;
  if (!parsed.Parse(ref)) return Status::OK();
  bool found = false;
  Status s = good_->Has(hash, parsed.number, &found);
  if (!s.ok() || found) {
    const bool superseded = std::binary_search(superseded_->begin(), superseded_->end(), parsed.number);
    *fate = superseded ? Fate::kSuperseded : Fate::kStays;
    return s;
  }
  if (s = LoadPlaces(); !s.ok()) return s;
  for (size_t i = 0; i < bad_.size(); ++i) {
    ValuePlace place;
    const auto it = places_[i].find(parsed.number);
    if (it != places_[i].end()) {
      place = it->second;
    } else if (!places_[i].empty() || !bad_[i]->MayHold(parsed.number)) {
      continue;
    } else {
      bool listed = false;
      s = bad_[i]->Find(parsed.number, /*cache_only=*/false, &listed, &place);
      if (!s.ok() && !IsDamage(s)) return s;
      if (!s.ok() || !listed) continue;
    }
    s = Read(*bad_[i], place, user_key, parsed.number, parsed.size, &found, value);
    if (!s.ok()) return s;
    if (found) {
      *fate = Fate::kMoves;
      return s;
    }
  }
  return Status::OK();
}

}  // namespace compassdb
