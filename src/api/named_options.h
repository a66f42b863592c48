// SPDX-License-Identifier: Apache-2.0
// What a Configurable of the engine's that has options derives from as well: they are known by name,
// and all that rocksdb::Configurable does with options rests on these two functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
struct ConfigOptions;
}

namespace compassdb {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

class NamedOptions {
 public:
  // Sets one option from its string form; NotFound if there is none of that name.
  virtual rocksdb::Status ParseNamedOption(const rocksdb::ConfigOptions& config,
                                           const std::string& name, const std::string& value) = 0;
  // All of them, in a stable order.
  virtual void ListNamedOptions(const rocksdb::ConfigOptions& config,
                                NamedValues* options) const = 0;

 protected:
  ~NamedOptions() = default;
};

}  // namespace compassdb
