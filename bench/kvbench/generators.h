// SPDX-License-Identifier: Apache-2.0
// YCSB's number generators: which record an operation touches.
//
// Thread safety: none; every client thread has its own.
#pragma once

#include <cstdint>
#include <memory>

#include "flags.h"
#include "keys.h"

namespace kvbench {

// Item 0 is the most popular, by Zipf's law with exponent `theta`; the
// algorithm of Gray et al., "Quickly generating billion-record synthetic
// databases" (SIGMOD 1994), as YCSB uses it.
class ZipfianGenerator {
 public:
  explicit ZipfianGenerator(uint64_t items, double theta = kZipfianConstant);
  // The sum of 1 / i^theta over the items.
  double zeta() const { return zetan_; }

  // An item in [0, items).
  uint64_t Next(Random64* random);
  // The same over a range that has grown to `items`.
  uint64_t Next(Random64* random, uint64_t items);

 private:
  void Prepare();

  const double theta_;
  const double alpha_;
  const double zeta2_;
  uint64_t items_;
  double zetan_;
  double eta_ = 0;
};

// Chooses records for one client thread.
class KeyChooser {
 public:
  // `items` records exist; the run is expected to add `expected_inserts`.
  // `theta` is the exponent of Zipf's law, where the distribution follows it.
  KeyChooser(Distribution distribution, uint64_t items, uint64_t expected_inserts, double theta = kZipfianConstant);

  // A record in [0, limit), where `limit` records are known to exist now.
  uint64_t Next(Random64* random, uint64_t limit);

 private:
  const Distribution distribution_;
  const uint64_t items_;  // of the scrambled range, inserts included
  std::unique_ptr<ZipfianGenerator> zipfian_;
};

}  // namespace kvbench
