// SPDX-License-Identifier: Apache-2.0
// Writes records to standard output, in forms that `load` reads back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace compassdb_cli {

enum class OutputFormat { kText, kHex, kJson };

class RecordWriter {
 public:
  explicit RecordWriter(OutputFormat format, bool keys_only = false)
      : format_(format), keys_only_(keys_only) {}

  // Takes little memory for any length of the record. False if standard output has failed: FinishOutput (streams.h) reports it.
  bool Write(std::string_view key, std::string_view value);

  uint64_t count() const { return count_; }

 private:
  template <typename Encode>
  void Add(std::string_view bytes, const Encode& encode);
  void AddMember(const std::string& name, std::string_view bytes);
  void WriteLine();

  const OutputFormat format_;
  const bool keys_only_;
  std::string line_;  // what is not written yet
  bool written_ = true;
  uint64_t count_ = 0;
};

}  // namespace compassdb_cli
