// SPDX-License-Identifier: Apache-2.0
// What the caller of Build chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace compassdb::perfect_hash {

// First byte of the serialised form. Values are part of the format: never reuse one.
enum class Kind : uint8_t {
  kPilot = 1,   // near-minimal: one-byte pilots, segments, bumped keys to further levels
  kCpHash = 2,  // the paper's: load 0.9, dictionaries of displacement pairs
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
  // Threads to build with; more than one pays from some ten thousand hashes. The result is the
  // same for every number.
  unsigned threads = 1;
  // What runs the tasks of several threads; empty: threads of its own.
  ParallelFor parallel = {};
};

}  // namespace compassdb::perfect_hash
