// SPDX-License-Identifier: Apache-2.0
#include "lsm/read/covered_data.h"

#include <algorithm>

namespace compassdb {

namespace {

using Fragment = RangeTombstoneList::Fragment;

// Offsets are those of blocks: a short range is nothing or a block, which is right for many of them.
uint64_t CoveredInPiece(const Comparator* cmp, const std::vector<Fragment>& fragments, const Piece& piece) {
  const PieceMeta& meta = piece.meta();
  if (meta.num_records == 0) return 0;
  auto at = std::partition_point(fragments.begin(), fragments.end(),
                                 [&](const Fragment& f) { return cmp->Compare(f.end, meta.smallest) <= 0; });
  uint64_t bytes = 0;
  for (; at != fragments.end() && cmp->Compare(at->start, meta.largest) <= 0; ++at) {
    if (at->sequences.front() <= meta.smallest_seq) continue;
    const bool from_start = cmp->Compare(at->start, meta.smallest) <= 0;
    const bool to_end = cmp->Compare(meta.largest, at->end) < 0;
    const uint64_t begin = from_start ? 0 : piece.ApproximateOffset(at->start);
    const uint64_t end = to_end ? meta.data_bytes : piece.ApproximateOffset(at->end);
    bytes += end - std::min(begin, end);
  }
  return std::min(bytes, meta.data_bytes);
}

uint64_t CoveredInTable(const Comparator* cmp, const std::vector<Fragment>& fragments, const TableHandle& table) {
  const TphMeta& meta = table.meta();
  if (cmp->Compare(meta.largest, fragments.front().start) < 0 ||
      cmp->Compare(fragments.back().end, meta.smallest) <= 0) {
    return 0;
  }
  double bytes = 0;
  for (size_t i = 0; i < meta.pieces.size(); ++i) {
    const uint64_t data = meta.pieces[i].meta->data_bytes;
    const uint64_t covered = CoveredInPiece(cmp, fragments, *table.tph().pieces()[i]);
    // Dead records are spread over a piece like live ones.
    if (covered > 0) {
      bytes += static_cast<double>(LiveBytes(meta.pieces[i])) * static_cast<double>(covered) /
               static_cast<double>(data);
    }
  }
  return static_cast<uint64_t>(bytes);
}

}  // namespace

CoveredData CoveredBy(const Comparator* cmp, const TableHandle& table, int level, const LsmVersion& version,
                      const std::unordered_set<uint64_t>& gone) {
  CoveredData result;
  PartRef<RangeTombstoneList> list;
  // A table that cannot be read now is no reason for work. Its next reader reports the error.
  if (!table.has_range_tombstones() || !table.tph().RangeTombstones({}, &list).ok() || list->empty()) return result;
  const std::vector<Fragment>& fragments = list->fragments();
  for (const Fragment& f : fragments) result.oldest = std::min(result.oldest, f.sequences.back());
  result.bytes = CoveredInTable(cmp, fragments, table);
  for (size_t l = static_cast<size_t>(level); l < version.levels().size(); ++l) {
    if (l == static_cast<size_t>(level) && level > 0) continue;  // but runs of level 0 overlap
    for (const TableRef& t : version.levels()[l]) {
      if (t.get() != &table && t->meta().search.Overlaps(table.meta().search) && gone.count(t->meta().tph_id) == 0) {
        result.bytes += CoveredInTable(cmp, fragments, *t);
      }
    }
  }
  return result;
}

}  // namespace compassdb
