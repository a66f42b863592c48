// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.h"

namespace compassdb_test {

// One harm done to one file of a closed database.
struct Damage {
  enum class Kind { kFlipBit, kTruncate, kEmpty, kRemove };
  Kind kind = Kind::kFlipBit;
  std::string file;     // name inside the directory
  uint64_t offset = 0;  // of the flipped byte; the new length for kTruncate
  int bit = 0;

  std::string ToString() const;
};

// What a file is, by its name, as far as the test's expectations differ.
enum class FileClass { kWal, kManifest, kCurrent, kTable, kOther };
FileClass ClassOf(const std::string& file);
const char* ClassName(FileClass c);

// About `flips` bit flips spread evenly over the bytes of all files, each file
// getting a fair minimum (a short one, all its bits), and truncations at many
// lengths, emptying and removal of each file.
std::vector<Damage> PlanDamage(const std::string& directory, uint64_t flips, Random* random);

void Apply(const Damage& damage, const std::string& directory);

}  // namespace compassdb_test
