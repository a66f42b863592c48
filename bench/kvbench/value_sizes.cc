// SPDX-License-Identifier: Apache-2.0
#include "value_sizes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include "generators.h"
#include "keys.h"

namespace kvbench {
namespace {

constexpr uint64_t kLargest = uint64_t{64} << 20;
constexpr uint64_t kMostSizes = 1 << 20;

bool ParseNumber(std::string_view text, uint64_t* number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && at == end;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

ValueSizes::ValueSizes(uint64_t bytes)
    : text_(std::to_string(bytes)), sizes_{bytes}, largest_(bytes) {}

ValueSizes::ValueSizes(std::string text, std::vector<uint64_t> sizes,
                       const std::vector<double>& weights)
    : text_(std::move(text)),
      sizes_(std::move(sizes)),
      below_(weights.size()),
      largest_(*std::max_element(sizes_.begin(), sizes_.end())) {
  std::partial_sum(weights.begin(), weights.end(), below_.begin());
  const double all = below_.back();
  for (double& share : below_) share /= all;
}

bool ValueSizes::Parse(const std::string& text, ValueSizes* sizes, std::string* error) {
  std::vector<uint64_t> all;
  std::vector<double> weights;
  if (text.rfind("zipfian:", 0) == 0) {
    const auto parts = Split(text, ':');
    uint64_t least = 0, most = 0;
    if (parts.size() != 3 || !ParseNumber(parts[1], &least) || !ParseNumber(parts[2], &most) ||
        most < least || most > kLargest || most - least >= kMostSizes) {
      *error = "'" + text + "' is not zipfian:LEAST:MOST, sizes of up to 64 MiB, a million of them at most";
      return false;
    }
    for (uint64_t size = least; size <= most; ++size) {
      all.push_back(size);
      weights.push_back(1 / std::pow(static_cast<double>(size - least + 1), kZipfianConstant));
    }
  } else {
    for (std::string_view entry : Split(text, ',')) {
      const auto parts = Split(entry, 'x');
      uint64_t size = 0, weight = 1;
      if (parts.size() > 2 || !ParseNumber(parts[0], &size) || size > kLargest ||
          (parts.size() == 2 && (!ParseNumber(parts[1], &weight) || weight == 0))) {
        *error = "'" + text + "' is not a list of SIZE or SIZExWEIGHT, sizes of up to 64 MiB";
        return false;
      }
      all.push_back(size);
      weights.push_back(static_cast<double>(weight));
    }
  }
  *sizes = ValueSizes(text, std::move(all), weights);
  return true;
}

uint64_t ValueSizes::Drawn(uint64_t number) const {
  const double share = static_cast<double>(Mix64(number ^ 0x2545f4914f6cdd1dULL) >> 11) * 0x1.0p-53;
  const auto at = std::upper_bound(below_.begin(), below_.end(), share);
  return sizes_[std::min(static_cast<size_t>(at - below_.begin()), sizes_.size() - 1)];
}

}  // namespace kvbench
