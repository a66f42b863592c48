// SPDX-License-Identifier: Apache-2.0
// The size of each record's value: the same for all, or drawn by the record's number. So all versions of
// a record have one size, and a read can check it.
//
// Thread safety: immutable once made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvbench {

class ValueSizes {
 public:
  // The same for all records. (Not explicit: a number of bytes is the usual case.)
  ValueSizes(uint64_t bytes);  // NOLINT(google-explicit-constructor)

  // "zipfian:LEAST:MOST": the law's popularity by size, the smallest first; "40x2,1000x1": two records of 40
  // bytes to one of 1000. False with a message in *error.
  static bool Parse(const std::string& text, ValueSizes* sizes, std::string* error);

  // In bytes.
  uint64_t Of(uint64_t number) const { return sizes_.size() == 1 ? sizes_[0] : Drawn(number); }
  uint64_t largest() const { return largest_; }
  bool all_alike() const { return sizes_.size() == 1; }
  // As Parse takes it; of a single size its digits.
  const std::string& text() const { return text_; }

 private:
  ValueSizes(std::string text, std::vector<uint64_t> sizes, const std::vector<double>& weights);
  uint64_t Drawn(uint64_t number) const;

  std::string text_;
  std::vector<uint64_t> sizes_;
  std::vector<double> below_;  // by size: the share of records that have it or one before it
  uint64_t largest_ = 0;
};

}  // namespace kvbench
