// SPDX-License-Identifier: Apache-2.0
#include "lsm/policy/gc_policy.h"

#include <algorithm>
#include <numeric>

#include "util/hash.h"

namespace compassdb {

namespace {

// In hash range a job holds the records of a table that it cuts, up to so many live bytes.
constexpr uint64_t kMostHeld = 128 << 20;

// Dead records are spread over a piece like live ones.
uint64_t PartOf(uint64_t live, uint64_t covered, uint64_t data) {
  if (covered >= data) return live;
  return static_cast<uint64_t>(static_cast<double>(live) * static_cast<double>(covered) / static_cast<double>(data));
}

}  // namespace

uint64_t SplitBytes(const TphMeta& base, const CompactionTuning& config) {
  const uint64_t target = config.target_table_bytes;
  const uint64_t most = base.hash_range ? std::clamp<uint64_t>(kMostHeld / target, 3, 8) : 8;
  const uint64_t least = std::max<uint64_t>(2, most / 2);
  const uint64_t spread = Hash64(base.smallest) >> 56;
  return least * target + (most - least) * target / 256 * spread;
}

GcChoice ChooseVictimPieces(const TphMeta& base, uint64_t delta_bytes, const CompactionTuning& config,
                            const std::vector<uint64_t>& covered) {
  GcChoice choice;
  const size_t n = base.pieces.size();
  uint64_t total = 0, live = 0;
  std::vector<uint64_t> live_of(n);
  for (size_t i = 0; i < n; ++i) {
    live_of[i] = LiveBytes(base.pieces[i]);
    if (!covered.empty()) live_of[i] -= PartOf(live_of[i], covered[i], base.pieces[i].meta->data_bytes);
    live += live_of[i];
    total += base.pieces[i].meta->data_bytes;
  }
  // A table that has outgrown its size is cut; one that is small against
  // the delta is cheaper to rewrite than to keep as a separate piece.
  if (live > SplitBytes(base, config) || live <= delta_bytes / 2) {
    choice.whole = true;
    return choice;
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<bool> victim(n, false);
  size_t staying = n;
  const auto dead_of = [&](size_t i) {
    return base.pieces[i].meta->data_bytes - std::min(live_of[i], base.pieces[i].meta->data_bytes);
  };

  // Too many dead bytes, where every record of the delta may add one: take the pieces that
  // free most per live byte rewritten, and no more of them than needed. The rest is
  // cheaper to collect later.
  const uint64_t allowed = live / 100 * config.max_dead_percent;
  uint64_t dead = total - std::min(live, total);
  if (dead > 0) dead += delta_bytes;
  if (dead > allowed) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const double ra = static_cast<double>(dead_of(a)) / (static_cast<double>(live_of[a]) + 1);
      const double rb = static_cast<double>(dead_of(b)) / (static_cast<double>(live_of[b]) + 1);
      return ra != rb ? ra > rb : a < b;
    });
    for (size_t i : order) {
      if (dead <= allowed || dead_of(i) == 0) break;
      victim[i] = true;
      --staying;
      dead -= std::min(dead, dead_of(i));
    }
  }

  // Over the piece limit: the pieces with the least live bytes, an eighth more than needed, so
  // that small ones are merged with each other.
  const size_t limit = std::max<uint32_t>(config.max_pieces, 1);
  if (staying + 1 > limit) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return live_of[a] != live_of[b] ? live_of[a] < live_of[b] : a < b;
    });
    size_t count = std::min(staying, staying + 1 - limit + limit / 8);
    for (size_t i : order) {
      if (count == 0) break;
      if (victim[i]) continue;
      victim[i] = true;
      --count;
    }
  }

  uint64_t victim_live = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!victim[i]) continue;
    choice.victims.push_back(i);
    victim_live += live_of[i];
  }
  // Nearly everything: take the rest, too, and start again with one piece.
  if (choice.victims.size() == n || (live > 0 && victim_live >= live - live / 8)) {
    choice.whole = !choice.victims.empty();
    if (choice.whole) choice.victims.clear();
  }
  return choice;
}

}  // namespace compassdb
