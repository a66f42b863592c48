// SPDX-License-Identifier: Apache-2.0
#include "corruption/damage.h"

#include <algorithm>
#include <cstddef>


namespace compassdb_test {

namespace {

using Kind = Damage::Kind;

// The parts of a table file that every read depends on: [from, to) around each magic number.
struct Landmark {
  const char* magic;
  uint32_t before;
  uint32_t behind;
};
constexpr Landmark kLandmarks[] = {
    {"CmpsPhF1", 0, 36},     // the file's header
    {"CmpsPie1", 136, 8},    // a piece's footer
    {"CmpsDir1", 0, 4096},   // a directory, and what follows: none here is as long
    {"cmprunv1", 0, 28},
};

std::vector<bool> EveryBitOf(const std::string& name, const std::string& bytes) {
  const bool all = ClassOf(name) == FileClass::kWal || ClassOf(name) == FileClass::kManifest ||
                   ClassOf(name) == FileClass::kCurrent;
  std::vector<bool> every(bytes.size(), all);
  if (ClassOf(name) != FileClass::kTable) return every;
  for (const Landmark& landmark : kLandmarks) {
    for (size_t at = bytes.find(landmark.magic); at != std::string::npos;
         at = bytes.find(landmark.magic, at + 1)) {
      const size_t from = at < landmark.before ? 0 : at - landmark.before;
      const size_t to = std::min(bytes.size(), at + landmark.behind);
      std::fill(every.begin() + static_cast<ptrdiff_t>(from),
                every.begin() + static_cast<ptrdiff_t>(to), true);
    }
  }
  return every;
}

// Another file of the same kind, or the file itself. Spare logs have nothing to take.
uint32_t Neighbour(const Files& files, uint32_t file) {
  for (uint32_t i = 0; i < files.size(); i++) {
    const uint32_t other = (file + 1 + i) % static_cast<uint32_t>(files.size());
    if (ClassOf(files[other].first) == ClassOf(files[file].first) && !files[other].second.empty()) return other;
  }
  return file;
}

void Page(const std::string& bytes, uint32_t offset, std::string* page) {
  *page = offset < bytes.size() ? bytes.substr(offset, kDamagePage) : std::string();
}

}  // namespace

const char* KindName(Kind kind) {
  static const char* const kNames[] = {"flip", "truncate", "zero page", "swap pages", "stale page", "remove"};
  return kNames[static_cast<int>(kind)];
}

std::string Damage::ToString(const Files& files) const {
  return files[file].first + ": " + KindName(kind) + " at " + std::to_string(offset) + " (" +
         std::to_string(other) + ")";
}

uint64_t Damage::Begin() const { return kind == Kind::kRemove ? 0 : offset; }

uint64_t Damage::End(const Files& files) const {
  const uint64_t size = files[file].second.size();
  switch (kind) {
    case Kind::kFlipBit: return offset + 1;
    case Kind::kZeroPage:
    case Kind::kStalePage: return std::min<uint64_t>(size, offset + kDamagePage);
    case Kind::kSwapPages: return std::min<uint64_t>(size, other + kDamagePage);
    default: return size;
  }
}

FileClass ClassOf(const std::string& file) {
  auto ends_with = [&](const std::string& suffix) {
    return file.size() >= suffix.size() &&
           file.compare(file.size() - suffix.size(), suffix.size(), suffix) == 0;
  };
  if (ends_with(".log")) return FileClass::kWal;
  if (file.rfind("MANIFEST", 0) == 0) return FileClass::kManifest;
  if (file == "CURRENT") return FileClass::kCurrent;
  if (ends_with(".ph") || ends_with(".sst") || ends_with(".blob")) return FileClass::kTable;
  if (ends_with(".pages")) return FileClass::kPages;  // of table-less families, and their journals
  return FileClass::kOther;
}

const char* ClassName(FileClass c) {
  static const char* const kNames[] = {"WAL", "MANIFEST", "CURRENT", "table", "pages", "other"};
  return kNames[static_cast<int>(c)];
}

namespace {

// It does not damage pages that are empty, or equal to those that replace them.
void AddIfHarm(const Damage& damage, const Files& files, std::vector<Damage>* plan) {
  Files one = {files[damage.file]};
  Damage here = damage;
  here.file = 0;
  if (damage.kind == Kind::kStalePage) {
    one.push_back(files[damage.other]);
    here.other = damage.other == damage.file ? 0 : 1;
  }
  Apply(here, &one);
  if (one[0].second != files[damage.file].second) plan->push_back(damage);
}

}  // namespace

std::vector<Damage> PlanDamage(const Files& files, Random* random) {
  std::vector<Damage> plan;
  for (uint32_t f = 0; f < files.size(); f++) {
    const auto size = static_cast<uint32_t>(files[f].second.size());
    plan.push_back({Kind::kRemove, f, 0, 0});
    for (uint32_t at = 0; at < size; at += kDamagePage) {
      AddIfHarm({Kind::kZeroPage, f, at, 0}, files, &plan);
      if (at + kDamagePage < size) AddIfHarm({Kind::kSwapPages, f, at, at + kDamagePage}, files, &plan);
      AddIfHarm({Kind::kStalePage, f, at, Neighbour(files, f)}, files, &plan);
    }
  }
  for (uint32_t f = 0; f < files.size(); f++) {
    const auto& [name, bytes] = files[f];
    const std::vector<bool> every = EveryBitOf(name, bytes);
    for (uint32_t at = 0; at < bytes.size(); at++) {
      plan.push_back({Kind::kTruncate, f, at, 0});
      const auto some = static_cast<uint32_t>(random->Uniform(8));
      for (uint32_t bit = 0; bit < 8; bit++) {
        if (every[at] || bit == some || bit == (some + 3) % 8) {
          plan.push_back({Kind::kFlipBit, f, at, bit});
        }
      }
    }
  }
  return plan;
}

size_t RareDamages(const std::vector<Damage>& plan) {
  const auto common = std::find_if(plan.begin(), plan.end(), [](const Damage& damage) {
    return damage.kind == Kind::kTruncate || damage.kind == Kind::kFlipBit;
  });
  return static_cast<size_t>(common - plan.begin());
}

void Apply(const Damage& damage, Files* files) {
  std::string& bytes = (*files)[damage.file].second;
  std::string page, second;
  switch (damage.kind) {
    case Kind::kFlipBit:
      bytes[damage.offset] = static_cast<char>(bytes[damage.offset] ^ (1 << damage.other));
      break;
    case Kind::kTruncate: bytes.resize(damage.offset); break;
    case Kind::kZeroPage:
      Page(bytes, damage.offset, &page);
      bytes.replace(damage.offset, page.size(), page.size(), '\0');
      break;
    case Kind::kSwapPages:
      // The second may be the short one at the end: then only its length is swapped.
      Page(bytes, damage.other, &second);
      page = bytes.substr(damage.offset, second.size());
      bytes.replace(damage.offset, second.size(), second);
      bytes.replace(damage.other, page.size(), page);
      break;
    case Kind::kStalePage:
      Page(damage.other == damage.file ? bytes : (*files)[damage.other].second,
           damage.other == damage.file ? 0 : damage.offset, &page);
      page.resize(std::min<size_t>(kDamagePage, bytes.size() - damage.offset));
      bytes.replace(damage.offset, page.size(), page);
      break;
    case Kind::kRemove: files->erase(files->begin() + damage.file); break;
  }
}

}  // namespace compassdb_test
