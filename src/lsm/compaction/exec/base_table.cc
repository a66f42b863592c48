// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/exec/base_table.h"

#include <algorithm>

#include "lsm/compaction/exec/job_file.h"

namespace compassdb {

BaseTable::BaseTable(TableRef table, bool whole, const std::vector<size_t>& victims,
                     const std::vector<SequenceNumber>* snapshots)
    : table_(std::move(table)), snapshots_(snapshots) {
  const auto& pieces = meta().pieces;
  victim_.assign(pieces.size(), whole);
  for (size_t v : victims) victim_[v] = true;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (victim_[i]) continue;
    staying_++;
    if (pieces[i].meta.num_merges > 0) staying_merges_ = true;
  }
  hashes_.resize(pieces.size());
}

Status BaseTable::Load() {
  Status s = table_->tph().OpenDirectory({}, &directory_);
  if (!s.ok()) return s;
  for (size_t i = 0; i < victim_.size(); ++i) {
    if (victim_[i]) continue;
    s = table_->tph().pieces()[i]->ReadHashes(&hashes_[i]);
    if (!s.ok()) return s;
    bytes_read_ += hashes_[i].h1.size() * 16;
  }
  return s;
}

bool BaseTable::NewestStays(const KeyHash& hash) const {
  if (staying_ == 0) return false;
  const DirectoryHit hit = directory_->Lookup(hash);
  return hit.kind == DirectoryHit::kPiece && !victim_[hit.piece];
}

void BaseTable::SortKnown() const {
  if (known_sorted_) return;
  known_sorted_ = true;
  for (uint32_t p = 0; p < hashes_.size(); ++p) {
    const PieceHashes& h = hashes_[p];
    for (size_t i = 0; i < h.h1.size(); ++i) known_.push_back({h.h1[i], h.h2[i], p});
  }
  std::sort(known_.begin(), known_.end(), [](const Known& a, const Known& b) {
    return a.h1 != b.h1 ? a.h1 < b.h1 : (a.h2 != b.h2 ? a.h2 < b.h2 : a.piece < b.piece);
  });
}

bool BaseTable::StayingMayHold(const KeyHash& hash) const {
  if (staying_ == 0) return false;
  if (directory_->Lookup(hash).kind == DirectoryHit::kAbsent) return false;
  SortKnown();
  const auto it = std::lower_bound(known_.begin(), known_.end(), hash.h1,
                                   [](const Known& k, uint64_t h1) { return k.h1 < h1; });
  // Equality of the 64-bit hash is enough to be careful.
  return it != known_.end() && it->h1 == hash.h1;
}

bool BaseTable::Shadowed(const KeyHash& hash, SequenceNumber sequence) const {
  const DirectoryHit hit = directory_->Lookup(hash);
  if (hit.kind != DirectoryHit::kPiece || victim_[hit.piece]) return false;
  // The whole 128-bit hash stands for the key (rule 3).
  SortKnown();
  auto it = std::lower_bound(known_.begin(), known_.end(), hash.h1,
                             [](const Known& k, uint64_t h1) { return k.h1 < h1; });
  bool found = false;
  for (; it != known_.end() && it->h1 == hash.h1; ++it) {
    found = found || (it->h2 == hash.h2 && it->piece == hit.piece);
  }
  if (!found) return false;
  // A snapshot in [sequence, newest) may see the old version; the newest's
  // sequence is at most that of its piece.
  const SequenceNumber limit = meta().pieces[hit.piece].meta.largest_seq;
  const auto snapshot = std::lower_bound(snapshots_->begin(), snapshots_->end(), sequence);
  return snapshot == snapshots_->end() || *snapshot >= limit;
}

bool BaseTable::StayingOverlaps(const Comparator* cmp, const Slice& start, const Slice& end) const {
  for (size_t i = 0; i < victim_.size(); ++i) {
    const PieceMeta& m = meta().pieces[i].meta;
    if (victim_[i] || m.num_records == 0) continue;
    if (cmp->Compare(m.smallest, end) < 0 && cmp->Compare(start, m.largest) <= 0) return true;
  }
  return false;
}

bool BaseTable::MayVanish(const TphPiece& piece, const PieceMeta* head) const {
  const PieceMeta& m = piece.meta;
  if (piece.live_keys > 0 || m.num_range_tombstones > 0) return false;
  if (staying_merges_ || (head != nullptr && head->num_merges > 0)) return false;
  SequenceNumber newest = meta().largest_seq;
  if (head != nullptr) newest = std::max(newest, head->largest_seq);
  for (SequenceNumber s : *snapshots_) {
    if (s >= m.smallest_seq && s < newest) return false;
  }
  return true;
}

void BaseTable::Assemble(const PieceMeta* head, const PieceHashes* head_hashes, TphMeta* meta_out,
                         std::vector<DirectoryEntry>* entries) const {
  const size_t n = victim_.size();
  entries->clear();
  for (uint32_t p = 0; p < n; ++p) {
    const PieceHashes& h = hashes_[p];
    for (size_t i = 0; i < h.h1.size(); ++i) {
      const DirectoryHit hit = directory_->Lookup({h.h1[i], h.h2[i]});
      const bool live = hit.kind == DirectoryHit::kPiece && hit.piece == p;
      if (live) entries->push_back({h.h1[i], h.h2[i], p});
    }
  }
  if (head != nullptr) {
    for (size_t i = 0; i < head_hashes->h1.size(); ++i) {
      if (head_hashes->flags[i] & PieceHashes::kStale) continue;
      entries->push_back({head_hashes->h1[i], head_hashes->h2[i], static_cast<uint32_t>(n)});
    }
  }
  SortAndDeduplicate(entries);

  std::vector<uint64_t> live(n + 1, 0);
  for (const DirectoryEntry& e : *entries) live[e.piece]++;
  std::vector<uint32_t> index(n + 1, 0);
  meta_out->pieces.clear();
  for (size_t p = 0; p < n; ++p) {
    if (victim_[p]) continue;
    TphPiece piece = meta().pieces[p];
    piece.live_keys = live[p];
    if (MayVanish(piece, head)) continue;
    index[p] = static_cast<uint32_t>(meta_out->pieces.size());
    meta_out->pieces.push_back(std::move(piece));
  }
  if (head != nullptr) {
    index[n] = static_cast<uint32_t>(meta_out->pieces.size());
    meta_out->pieces.push_back({*head, live[n]});
  }
  for (DirectoryEntry& e : *entries) e.piece = index[e.piece];
}

}  // namespace compassdb
