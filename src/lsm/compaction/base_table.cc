// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/base_table.h"

#include <algorithm>

#include "lsm/compaction/job_file.h"

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
    if (pieces[i].meta->num_merges > 0) staying_merges_ = true;
  }
}

Status BaseTable::Load() {
  Status s = table_->tph().OpenDirectory({}, &directory_);
  if (!s.ok()) return s;
  uint64_t keys = 0;
  for (size_t i = 0; i < victim_.size(); ++i) {
    if (!victim_[i]) keys += meta().pieces[i].meta->num_keys;
  }
  known_.reserve(keys);
  PieceHashes hashes;
  for (uint32_t p = 0; p < victim_.size(); ++p) {
    if (victim_[p]) continue;
    s = table_->tph().pieces()[p]->ReadHashes(&hashes);
    if (!s.ok()) return s;
    for (size_t i = 0; i < hashes.h1.size(); ++i) known_.push_back({hashes.h1[i], hashes.h2[i], p});
    bytes_read_ += hashes.h1.size() * 12;
  }
  SortEntries(&known_);
  return s;
}

bool BaseTable::NewestStays(const KeyHash& hash) const {
  if (staying_ == 0) return false;
  const DirectoryHit hit = directory_->Lookup(hash);
  return hit.kind == DirectoryHit::kPiece && !victim_[hit.piece];
}

// Hashes are spread evenly, so the place is nearly known.
std::vector<DirectoryEntry>::const_iterator BaseTable::FindKnown(uint64_t h1) const {
  const size_t n = known_.size();
  const size_t guess = static_cast<size_t>((static_cast<unsigned __int128>(h1) * n) >> 64);
  size_t low = guess, high = guess;  // [0, low) is less, [high, n) is not
  for (size_t step = 16; low > 0 && known_[low - 1].h1 >= h1; step *= 2) {
    high = low;
    low -= std::min(low, step);
  }
  for (size_t step = 16; high < n && known_[high].h1 < h1; step *= 2) {
    low = high;
    high += std::min(n - high, step);
  }
  return std::lower_bound(known_.begin() + static_cast<ptrdiff_t>(low),
                          known_.begin() + static_cast<ptrdiff_t>(high), h1,
                          [](const DirectoryEntry& e, uint64_t h) { return e.h1 < h; });
}

bool BaseTable::StayingMayHold(const KeyHash& hash) const {
  if (staying_ == 0) return false;
  if (directory_->Lookup(hash).kind == DirectoryHit::kAbsent) return false;
  const auto it = FindKnown(hash.h1);
  // Equality of the 64-bit hash is enough to be careful.
  return it != known_.end() && it->h1 == hash.h1;
}

bool BaseTable::Shadowed(const KeyHash& hash, SequenceNumber sequence) const {
  const DirectoryHit hit = directory_->Lookup(hash);
  if (hit.kind != DirectoryHit::kPiece || victim_[hit.piece]) return false;
  // All 96 bits of the hash identify the key (rule 3).
  bool found = false;
  for (auto it = FindKnown(hash.h1); it != known_.end() && it->h1 == hash.h1; ++it) {
    found = found || (it->h2 == hash.h2 && it->piece == hit.piece);
  }
  if (!found) return false;
  // A snapshot in [sequence, newest) may see the old version; the newest's
  // sequence is at most that of its piece.
  const SequenceNumber limit = meta().pieces[hit.piece].meta->largest_seq;
  const auto snapshot = std::lower_bound(snapshots_->begin(), snapshots_->end(), sequence);
  return snapshot == snapshots_->end() || *snapshot >= limit;
}

bool BaseTable::StayingOverlaps(const Comparator* cmp, const Slice& start, const Slice& end) const {
  for (size_t i = 0; i < victim_.size(); ++i) {
    const PieceMeta& m = *meta().pieces[i].meta;
    if (victim_[i] || m.num_records == 0) continue;
    if (cmp->Compare(m.smallest, end) < 0 && cmp->Compare(start, m.largest) <= 0) return true;
  }
  return false;
}

bool BaseTable::MayDrop(const TphPiece& piece, const PieceMeta* head) const {
  const PieceMeta& m = *piece.meta;
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
  std::vector<DirectoryEntry> heads;
  if (head != nullptr) {
    heads.reserve(head_hashes->h1.size());
    for (size_t i = 0; i < head_hashes->h1.size(); ++i) {
      if (head_hashes->flags[i] & PieceHashes::kStale) continue;
      heads.push_back({head_hashes->h1[i], head_hashes->h2[i], static_cast<uint32_t>(n)});
    }
    SortEntries(&heads);
  }
  entries->clear();
  entries->reserve(known_.size() + heads.size());
  const auto before = [](const DirectoryEntry& a, const DirectoryEntry& b) {
    return a.h1 != b.h1 ? a.h1 < b.h1 : a.h2 < b.h2;
  };
  auto h = heads.begin();
  for (auto k = known_.begin(); k != known_.end();) {
    while (h != heads.end() && before(*h, *k)) entries->push_back(*h++);
    auto end = std::next(k);
    while (end != known_.end() && end->h1 == k->h1 && end->h2 == k->h2) ++end;
    if (h != heads.end() && !before(*k, *h)) {
      entries->push_back(*h++);  // the head's replaces the base's
    } else if (end - k == 1) {
      entries->push_back(*k);
    } else {
      // If a key has several records, the old directory names the newest.
      const DirectoryHit hit = directory_->Lookup({k->h1, k->h2});
      const auto live = std::find_if(k, end, [&](const DirectoryEntry& e) {
        return hit.kind == DirectoryHit::kPiece && hit.piece == e.piece;
      });
      if (live != end) entries->push_back(*live);
    }
    k = end;
  }
  entries->insert(entries->end(), h, heads.end());

  std::vector<uint64_t> live(n + 1, 0);
  for (const DirectoryEntry& e : *entries) live[e.piece]++;
  std::vector<uint32_t> index(n + 1, 0);
  meta_out->pieces.clear();
  for (size_t p = 0; p < n; ++p) {
    if (victim_[p]) continue;
    TphPiece piece = meta().pieces[p];
    piece.live_keys = live[p];
    if (MayDrop(piece, head)) continue;
    index[p] = static_cast<uint32_t>(meta_out->pieces.size());
    meta_out->pieces.push_back(std::move(piece));
  }
  if (head != nullptr) {
    index[n] = static_cast<uint32_t>(meta_out->pieces.size());
    meta_out->pieces.push_back({std::make_shared<const PieceMeta>(*head), live[n]});
  }
  for (DirectoryEntry& e : *entries) e.piece = index[e.piece];
}

}  // namespace compassdb
