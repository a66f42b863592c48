// SPDX-License-Identifier: Apache-2.0
// Perfect hash functions over sets of 64-bit hashes. Each hash of the set gets a slot of its own in
// a dense range, from a few bits per hash. This library is independent: it includes nothing else of
// the project. Serialised form: docs/formats/perfect_hash.md.
//
// Thread safety: Build is a pure function. A Function never changes after Open; any number of
// threads may query it. It is a view: the serialised bytes must outlive it and must not change.
//
// Invariants:
//  - For all distinct a, b of the set: f(a) != f(b). Equal hashes are one hash.
//  - f(h) < slots() for every h, in the set or not, for any bytes, once Open returned
//    true. (Only the function of no keys has no slots; it answers 0.)
//  - keys() <= slots() <= 1.04 * keys() + 4 (measured: 1.017 on average, 1.000 up to 128 keys) for
//    hashes drawn at random, under Kind::kPilot. Under Kind::kCpHash slots() is 1.1 * keys(),
//    rounded up, and seldom more. Sets built to defeat the search still get a correct function.
//  - The bytes depend on the set, the seed and the kind only, not on the order of the input, on
//    repeated hashes in it, on the machine, its instruction set or the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "perfect_hash/build_options.h"
#include "perfect_hash/cp_view.h"
#include "perfect_hash/pilot_view.h"

namespace compassdb::perfect_hash {

struct BuildResult {
  bool ok = false;        // false: more than kMaxKeys hashes, or a kind that is not known
  uint64_t distinct = 0;  // hashes after dropping repeats
};

inline constexpr uint64_t kMaxKeys = uint64_t{1} << 39;

// Replaces *serialized by a function for `hashes`. Hashes should be mixed uniformly (the engine
// uses XXH3 under a seed of the database); others cost build time and a little space.
BuildResult Build(std::span<const uint64_t> hashes, const BuildOptions& options,
                  std::string* serialized);

class Function {
 public:
  Function() : pilot_() {}
  // Checks every count, length and slot range, so that no query can leave the bytes or the slots.
  // Returns false, leaving *out as the function of no keys, if anything is off. Takes time in
  // proportion to the number of segments (one per several thousand keys), not of keys.
  static bool Open(std::span<const uint8_t> bytes, Function* out);

  uint64_t keys() const { return IsPilot() ? pilot_.keys() : cp_.keys(); }
  uint64_t slots() const { return IsPilot() ? pilot_.slots() : cp_.slots(); }
  size_t SizeBytes() const { return IsPilot() ? pilot_.size_bytes() : cp_.size_bytes(); }
  // A set that defeats CPHash's search gets a pilot function, even if CPHash was asked for.
  Kind kind() const { return kind_; }

  uint64_t operator()(uint64_t hash) const {
    return IsPilot() ? pilot_.Slot(hash) : cp_.Slot(hash);
  }

  // Asks for the cache lines that operator()(hash) will read.
  void Prefetch(uint64_t hash) const { IsPilot() ? pilot_.Prefetch(hash) : cp_.Prefetch(hash); }

  // slots[i] = (*this)(hashes[i]) for all i < n, with the cache misses overlapped. The two arrays
  // may be the same.
  void Batch(const uint64_t* hashes, uint64_t* slots, size_t n) const {
    IsPilot() ? pilot_.Batch(hashes, slots, n) : cp_.Batch(hashes, slots, n);
  }

 private:
  bool IsPilot() const { return kind_ == Kind::kPilot; }

  Kind kind_ = Kind::kPilot;
  union {
    PilotView pilot_;
    CpView cp_;
  };
};

}  // namespace compassdb::perfect_hash
