// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace compassdb_test {

// `--name=value` and `--name` (true). An unknown or malformed flag ends the
// program with exit code 2, so that a mistyped seed is not silently ignored.
class Flags {
 public:
  Flags(int argc, char** argv);

  std::string String(const std::string& name, const std::string& otherwise);
  uint64_t Number(const std::string& name, uint64_t otherwise);
  bool Bool(const std::string& name);
  // To be called after the last query.
  void RejectUnknown() const;

 private:
  std::map<std::string, std::string> given_;
  std::map<std::string, bool> known_;
};

}  // namespace compassdb_test
