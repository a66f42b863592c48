// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/random.h"

namespace compassdb_test {

// The files of a closed (or killed) database: names inside its directory, and bytes. Sorted by name.
using Files = std::vector<std::pair<std::string, std::string>>;

// One damage to one file.
struct Damage {
  enum class Kind { kFlipBit, kTruncate, kZeroPage, kSwapPages, kStalePage, kRemove };
  static constexpr int kKinds = 6;
  Kind kind = Kind::kFlipBit;
  uint32_t file = 0;    // index in Files
  uint32_t offset = 0;  // of the flipped byte or the page; the new length for kTruncate
  // The bit; the page that is swapped with; the file that has the other page.
  uint32_t other = 0;

  std::string ToString(const Files& files) const;
  // The first byte that may differ, and the one behind the last.
  uint64_t Begin() const;
  uint64_t End(const Files& files) const;
};
const char* KindName(Damage::Kind kind);

inline constexpr uint32_t kDamagePage = 512;

// The kind of a file, by its name, if the test expects different results for it.
enum class FileClass { kWal, kManifest, kCurrent, kTable, kPages, kOther };
inline constexpr int kFileClasses = 6;
FileClass ClassOf(const std::string& file);
const char* ClassName(FileClass c);

// Every bit of logs, manifest, CURRENT, and of the headers, footers and directories in table files.
// Two bits of every other byte; every truncation. Every page zeroed, swapped with the next one, and
// replaced by the same page of another file of its kind. Every file removed. Pages and removals
// first.
std::vector<Damage> PlanDamage(const Files& files, Random* random);
// How many of those are at the front.
size_t RareDamages(const std::vector<Damage>& plan);

void Apply(const Damage& damage, Files* files);

}  // namespace compassdb_test
