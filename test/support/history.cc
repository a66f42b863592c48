// SPDX-License-Identifier: Apache-2.0
#include "support/history.h"

#include "support/text.h"

namespace compassdb_test {

const char History::kCounterKey[] = "~counter";

std::vector<WriteItem>* History::Begin(std::vector<WriteItem> items) {
  WriteItem counter;
  counter.key = kCounterKey;
  counter.value = std::to_string(begun() + 1);
  items.push_back(counter);
  batches_.push_back(std::move(items));
  return &batches_.back();
}

void History::Acknowledge(bool durable) {
  acknowledged_ = begun();
  if (durable) promised_ = acknowledged_;
}

namespace {

std::optional<std::string> Difference(int family, const Entries& expected, const Entries& actual) {
  size_t i = 0;
  while (i < expected.size() && i < actual.size() && expected[i] == actual[i]) i++;
  if (i == expected.size() && i == actual.size()) return std::nullopt;
  auto show = [&](const Entries& entries) {
    return i < entries.size() ? Show(entries[i].first) + " = " + Show(entries[i].second)
                              : std::string("nothing");
  };
  return "family " + std::to_string(family) + " differs at entry " + std::to_string(i) +
         ": expected " + show(expected) + ", found " + show(actual);
}

}  // namespace

void History::ApplyEvents(uint64_t after) {
  for (const FamilyEvent& event : events_) {
    if (event.after != after) continue;
    if (event.create) {
      base_.CreateFamily(event.family);
    } else {
      base_.DropFamily(event.family);
    }
  }
}

std::optional<std::string> History::Recover(const std::vector<Entries>& families) {
  uint64_t number = 0;
  for (const auto& [key, value] : families[0]) {
    if (key == kCounterKey) number = strtoull(value.c_str(), nullptr, 10);
  }
  if (number < promised_) {
    return "recovered to batch " + std::to_string(number) + ", but batch " +
           std::to_string(promised_) + " was promised to survive";
  }
  if (number < base_number_ || number > begun()) {
    return "recovered to batch " + std::to_string(number) + ", which is not among " +
           std::to_string(base_number_) + " to " + std::to_string(begun());
  }
  for (uint64_t i = base_number_; i < number; i++) {
    ApplyEvents(i);
    base_.Write(batches_[i - base_number_]);
  }
  ApplyEvents(number);
  batches_.clear();
  events_.clear();
  base_number_ = acknowledged_ = promised_ = number;
  for (size_t family = 0; family < families.size(); family++) {
    int slot = static_cast<int>(family);
    if (!base_.HasFamily(slot)) {
      if (!families[family].empty()) return "a family that should be new holds data";
      continue;
    }
    auto difference = Difference(slot, base_.Scan(slot, base_.sequence()), families[family]);
    if (difference) return "at batch " + std::to_string(number) + " " + *difference;
  }
  return std::nullopt;
}

}  // namespace compassdb_test
