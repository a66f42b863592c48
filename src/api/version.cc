// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {

const std::unordered_map<std::string, std::string>& GetRocksBuildProperties() {
  static const auto* const properties = new std::unordered_map<std::string, std::string>{
      {"compassdb_version", COMPASSDB_VERSION},
      {"compiler", __VERSION__},
      {"cplusplus", std::to_string(__cplusplus)},
#ifdef NDEBUG
      {"assertions", "off"},
#else
      {"assertions", "on"},
#endif
  };
  return *properties;
}

std::string GetRocksVersionAsString(bool with_patch) {
  std::string version = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
  if (with_patch) version += "." + std::to_string(ROCKSDB_PATCH);
  return version;
}

std::string GetRocksBuildInfoAsString(const std::string& program, bool verbose) {
  std::string info = program + " (CompassDB " COMPASSDB_VERSION ", API of RocksDB " +
                     GetRocksVersionAsString(true) + ")";
  if (verbose) {
    for (const auto& [name, value] : GetRocksBuildProperties()) info += "\n " + name + ": " + value;
  }
  return info;
}

}  // namespace ROCKSDB_NAMESPACE
