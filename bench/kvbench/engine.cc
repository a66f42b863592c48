// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include <dlfcn.h>

#include <utility>

namespace kvbench {

std::string LibraryOf(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

std::string FlagsOfRocksDb(const Flags& flags) {
  const std::pair<bool, const char*> all[] = {
      {flags.disable_wal, "--disable-wal"},
      {flags.index_in_cache, "--index-in-cache"},
      {flags.memory_mb > 0, "--memory-mb"},
      {flags.partition_index, "--partition-index"},
      {flags.data_order != "key", "--data-order"},
      {!flags.preset.empty(), "--preset"},
      {!flags.options_string.empty(), "--options-string"},
  };
  std::string given;
  for (const auto& [is_given, name] : all) {
    if (is_given) given += given.empty() ? name : std::string(", ") + name;
  }
  return given;
}

}  // namespace kvbench
