// SPDX-License-Identifier: Apache-2.0
#include "key_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace kvbench {

KeySet::KeySet(uint64_t records, uint64_t key_size, ValueSizes value_sizes, KeyOrder order)
    : key_size_(key_size),
      value_sizes_(std::move(value_sizes)),
      order_(order),
      next_(records),
      limit_(records) {
  ReserveRoom(0);
}

void KeySet::ReserveRoom(uint64_t extra) {
  Grow(next_.load() + extra);
  while (complete_ < next_.load() && IsMarked(complete_)) ++complete_;
}

void KeySet::Grow(uint64_t wanted) {
  if (words_ != nullptr && wanted <= capacity_) return;
  const uint64_t old_words = words_ == nullptr ? 0 : capacity_ / 64 + 1;
  const uint64_t new_words = wanted / 64 + 1;
  auto words = std::make_unique<std::atomic<uint64_t>[]>(new_words);
  for (uint64_t i = 0; i < new_words; ++i) words[i] = i < old_words ? words_[i].load() : 0;
  words_ = std::move(words);
  capacity_ = wanted;
}

void KeySet::Mark(uint64_t number) {
  const uint64_t bit = uint64_t{1} << (number % 64);
  if ((words_[number / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0) {
    live_.fetch_add(1, std::memory_order_relaxed);
    live_bytes_.fetch_add(key_size_ + value_sizes_.Of(number), std::memory_order_relaxed);
  }
}

void KeySet::AcknowledgeInsert(uint64_t number) {
  Mark(number);
  std::lock_guard<std::mutex> lock(insert_mutex_);
  uint64_t limit = limit_.load(std::memory_order_relaxed);
  const uint64_t end = next_.load(std::memory_order_relaxed);
  while (limit < end && Contains(limit)) ++limit;
  limit_.store(limit, std::memory_order_release);
}

void KeySet::StartEmpty() {
  ReserveRoom(0);
  next_ = 0;
  limit_ = 0;
}

std::string KeySet::StatePath(const std::string& db) {
  std::string path = db;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path + ".kvbench";
}

bool KeySet::Save(const std::string& db, std::string* error) const {
  const std::string path = StatePath(db);
  const nlohmann::json header = {{"kvbench_state", 1},
                                 {"key_size", key_size_},
                                 {"value_sizes", value_sizes_.text()},
                                 {"ordered", order_ == KeyOrder::kOrdered},
                                 {"limit", limit_.load()}};
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << header.dump() << '\n';
  const uint64_t words = limit_.load() / 64 + 1;
  for (uint64_t i = 0; i < words; ++i) {
    uint64_t word = words_[i].load();
    if (i + 1 == words) word &= (uint64_t{1} << (limit_.load() % 64)) - 1;
    out.write(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  out.close();
  if (!out) *error = fmt::format("cannot write {}", path);
  return static_cast<bool>(out);
}

std::unique_ptr<KeySet> KeySet::Load(const std::string& db, std::string* error) {
  const std::string path = StatePath(db);
  std::ifstream in(path, std::ios::binary);
  std::string line;
  if (!in || !std::getline(in, line)) {
    *error = fmt::format("cannot read {}: no kvbench run has filled this database", path);
    return nullptr;
  }
  const nlohmann::json header = nlohmann::json::parse(line, nullptr, false);
  if (!header.is_object() || header.value("kvbench_state", 0) != 1) {
    *error = fmt::format("{} is not a state file of kvbench", path);
    return nullptr;
  }
  ValueSizes sizes(0);
  if (!ValueSizes::Parse(header.value("value_sizes", std::string()), &sizes, error)) {
    *error = fmt::format("{}: value_sizes: {}", path, *error);
    return nullptr;
  }
  auto set = std::make_unique<KeySet>(
      header.value("limit", uint64_t{0}), header.value("key_size", uint64_t{0}), std::move(sizes),
      header.value("ordered", false) ? KeyOrder::kOrdered : KeyOrder::kHashed);
  const uint64_t words = set->limit() / 64 + 1;
  for (uint64_t i = 0; i < words; ++i) {
    uint64_t word;
    if (!in.read(reinterpret_cast<char*>(&word), sizeof(word))) {
      *error = fmt::format("{} is truncated", path);
      return nullptr;
    }
    set->words_[i] = word;
    set->live_ += static_cast<uint64_t>(__builtin_popcountll(word));
    for (; word != 0; word &= word - 1) {
      const uint64_t number = i * 64 + static_cast<uint64_t>(__builtin_ctzll(word));
      set->live_bytes_ += set->key_size_ + set->value_sizes_.Of(number);
    }
  }
  return set;
}

}  // namespace kvbench
