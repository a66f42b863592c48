// SPDX-License-Identifier: Apache-2.0
// What scans lose by the shape of a table, counted in bytes that could be
// rewritten in the same time.
//
// A seek reads one block of each sorted run. A table of n pieces costs n first
// blocks instead of one: (n - 1) / n of their cost is lost to the table's own
// pieces, the rest to the table being a run of its own above others. Dead
// records are also read and skipped: the pieces lose the walk's cost times the
// dead share of the table.
// Rewriting costs about 5 ns per byte (read, merge, write), a disk read about
// 80 us and as much again for each 32 KiB, a block in the cache 2.5 us: a read
// pays for 16 KiB of rewriting, a cached block for 512 bytes. The picker rewrites
// a table when the loss has paid for that (docs/design/scans.md, "Consolidation").
//
// Thread safety: all of it. Only one seek in eight is counted, eightfold, so
// that readers seldom write to shared memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "table/read_options.h"

namespace compassdb {

// How many bytes of a table a walk reads that starts with a seek, after the first
// blocks: about the median. A walk's first reads of the file fetch as much at once,
// of each piece by its share. Reading for the longer half too would cost more bytes
// than it saves reads.
class WalkLength {
 public:
  static constexpr uint64_t kMost = 256 << 10;

  // An eighth above the median, since walks of equal length differ by a block.
  uint64_t expected() const {
    const uint64_t median = bytes_.load(std::memory_order_relaxed);
    return median + median / 8;
  }
  void Note(uint64_t walked) {
    const uint64_t now = bytes_.load(std::memory_order_relaxed);
    const uint64_t step = std::max<uint64_t>(now / 32, 512);
    const uint64_t next = walked > now ? std::min(kMost, now + step) : now - std::min(now, step);
    bytes_.store(next, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> bytes_{0};
};

// How a family counts. Outlives its iterators.
struct ScanAccounting {
  ScanAccounting(uint64_t read, std::function<void()> call, size_t levels)
      : bytes_per_read(read), wake(std::move(call)), walks(levels) {}
  std::atomic<uint64_t> bytes_per_read;  // 0: tables are not charged
  const std::function<void()> wake;    // a table lost enough to call the picker again; may be null
  mutable std::vector<WalkLength> walks;  // per level
};

class ScanCost {
 public:
  static constexpr uint64_t kCachedBlocksPerRead = 32;
  static constexpr uint64_t kBytesPerRead = 32 << 10;  // they cost as much as the read itself
  static constexpr uint64_t kCachedBytesPerRead = 512 << 10;
  static constexpr uint64_t kSampled = 8;

  // Lost to the table's own pieces; to its being a run above others.
  uint64_t pieces() const { return pieces_.load(std::memory_order_relaxed); }
  uint64_t run() const { return run_.load(std::memory_order_relaxed); }

  // One seek that is one in kSampled. True if the loss has grown by another `step`.
  // `dead_share`: the share of walks that rewriting the table would save.
  bool Add(const SeekCounter& seek, uint64_t bytes_per_read, bool above_others, double dead_share,
           uint64_t step) {
    const uint64_t n = uint64_t{seek.from_file} + seek.from_cache;
    if (n == 0) return false;
    const uint64_t first = kSampled * (seek.from_file * bytes_per_read +
                                       seek.from_cache * (bytes_per_read / kCachedBlocksPerRead));
    const uint64_t run = first / n;
    const uint64_t pieces = first - run + static_cast<uint64_t>(dead_share * WalkCost(seek, bytes_per_read));
    const auto grow = [step](std::atomic<uint64_t>* sum, uint64_t by) {
      const uint64_t before = sum->fetch_add(by, std::memory_order_relaxed);
      return before / step != (before + by) / step;
    };
    bool more = pieces > 0 && grow(&pieces_, pieces);
    if (above_others) more = grow(&run_, run) || more;
    return more;
  }
  // A table that keeps pieces of another inherits their cost.
  void Inherit(const ScanCost& from) {
    pieces_.fetch_add(from.pieces(), std::memory_order_relaxed);
    run_.fetch_add(from.run(), std::memory_order_relaxed);
  }

 private:
  // What the bytes cost beyond the first reads.
  static double WalkCost(const SeekCounter& seek, uint64_t bytes_per_read) {
    const double reads = static_cast<double>(seek.file_bytes) / kBytesPerRead +
                         static_cast<double>(seek.cached_bytes) / kCachedBytesPerRead +
                         static_cast<double>(seek.scattered_from_file) +
                         static_cast<double>(seek.scattered_from_cache) / kCachedBlocksPerRead;
    return static_cast<double>(kSampled * bytes_per_read) * reads;
  }

  std::atomic<uint64_t> pieces_{0};
  std::atomic<uint64_t> run_{0};
};

}  // namespace compassdb
