// SPDX-License-Identifier: Apache-2.0
#include "corruption/damage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace compassdb_test {

namespace fs = std::filesystem;

std::string Damage::ToString() const {
  switch (kind) {
    case Kind::kFlipBit:
      return file + ": bit " + std::to_string(bit) + " of byte " + std::to_string(offset);
    case Kind::kTruncate: return file + ": truncated to " + std::to_string(offset);
    case Kind::kEmpty: return file + ": emptied";
    case Kind::kRemove: return file + ": removed";
  }
  return file;
}

FileClass ClassOf(const std::string& file) {
  auto ends_with = [&](const std::string& suffix) {
    return file.size() >= suffix.size() &&
           file.compare(file.size() - suffix.size(), suffix.size(), suffix) == 0;
  };
  if (ends_with(".log")) return FileClass::kWal;
  if (file.rfind("MANIFEST", 0) == 0) return FileClass::kManifest;
  if (file == "CURRENT") return FileClass::kCurrent;
  if (ends_with(".ph") || ends_with(".sst")) return FileClass::kTable;
  return FileClass::kOther;
}

const char* ClassName(FileClass c) {
  static const char* const kNames[] = {"WAL", "MANIFEST", "CURRENT", "table", "other"};
  return kNames[static_cast<int>(c)];
}

std::vector<Damage> PlanDamage(const std::string& directory, uint64_t flips, Random* random) {
  std::vector<std::pair<std::string, uint64_t>> files;
  uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    files.emplace_back(entry.path().filename().string(), entry.file_size());
    total += entry.file_size();
  }
  std::sort(files.begin(), files.end());
  std::vector<Damage> plan;
  for (const auto& [file, size] : files) {
    uint64_t share = total == 0 ? 0 : flips * size / total;
    uint64_t count = std::min<uint64_t>(size * 8, std::max(share, flips / 50));
    for (uint64_t i = 0; i < count; i++) {
      // Evenly spread, with a random place inside each stretch.
      uint64_t first = size * 8 * i / count;
      uint64_t last = size * 8 * (i + 1) / count - 1;
      uint64_t at = random->Range(first, std::max(first, last));
      plan.push_back({Damage::Kind::kFlipBit, file, at / 8, static_cast<int>(at % 8)});
    }
    if (size > 1) {
      for (uint64_t length : {uint64_t{1}, size / 2, size - 1}) {
        plan.push_back({Damage::Kind::kTruncate, file, length, 0});
      }
      for (uint64_t i = 0; i < std::max<uint64_t>(flips / 200, 4); i++) {
        plan.push_back({Damage::Kind::kTruncate, file, random->Uniform(size), 0});
      }
    }
    plan.push_back({Damage::Kind::kEmpty, file, 0, 0});
    plan.push_back({Damage::Kind::kRemove, file, 0, 0});
  }
  return plan;
}

void Apply(const Damage& damage, const std::string& directory) {
  const std::string path = directory + "/" + damage.file;
  switch (damage.kind) {
    case Damage::Kind::kFlipBit: {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(damage.offset));
      char byte = static_cast<char>(file.get());
      byte = static_cast<char>(byte ^ (1 << damage.bit));
      file.seekp(static_cast<std::streamoff>(damage.offset));
      file.put(byte);
      break;
    }
    case Damage::Kind::kTruncate: fs::resize_file(path, damage.offset); break;
    case Damage::Kind::kEmpty: fs::resize_file(path, 0); break;
    case Damage::Kind::kRemove: fs::remove(path); break;
  }
}

}  // namespace compassdb_test
