// SPDX-License-Identifier: Apache-2.0
// What the caller of Build chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace compassdb::perfect_hash {

// First byte of the serialised form. Values are part of the format: never reuse one.
enum class Kind : uint8_t {
  kPilot = 1,  // near-minimal: one-byte pilots, segments, bumped keys to further levels
};

// Runs task(0) .. task(tasks - 1), on any threads in any order, and returns when all are done.
using ParallelFor = std::function<void(size_t tasks, const std::function<void(size_t)>& task)>;

struct BuildOptions {
  Kind kind = Kind::kPilot;
  // Any value. The same set under another seed gives an unrelated function.
  uint64_t seed = 0;
  // The input ascends (repeats allowed). Saves a copy and a partitioning pass. A wrong claim is
  // noticed and costs time only.
  bool sorted = false;
  // Empty: build on the calling thread. The result is the same either way.
  ParallelFor parallel;
};

}  // namespace compassdb::perfect_hash
