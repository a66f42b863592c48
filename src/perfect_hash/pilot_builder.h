// SPDX-License-Identifier: Apache-2.0
// Builds the pilot function: levels of segments over a set of hashes (layout: pilot_format.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "perfect_hash/build_options.h"

namespace compassdb::perfect_hash {

// What trades space against build time. The format holds under any values; the defaults are the
// measured choice (docs/formats/perfect_hash.md).
struct PilotTuning {
  double keys_per_bucket = 3.8;
  // Keys per slot before bumping. Above 1: the slots that bumped keys would leave empty are not
  // made in the first place.
  double load = 1.04;
  double segment_keys = 4096;
};

// hashes: any order unless `sorted`, repeats allowed. Returns the number of distinct hashes.
uint64_t BuildPilotFunction(std::span<const uint64_t> hashes, uint64_t seed, bool sorted,
                            const PilotTuning& tuning, const ParallelFor& parallel,
                            std::string* serialized);

}  // namespace compassdb::perfect_hash
