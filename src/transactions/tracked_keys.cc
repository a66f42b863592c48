// SPDX-License-Identifier: Apache-2.0
#include "transactions/tracked_keys.h"

#include <algorithm>

namespace compassdb {

void TrackedKeys::Track(uint32_t family, const std::string& key, SequenceNumber sequence,
                        bool read_only, bool exclusive) {
  auto [it, added] = families_[family].try_emplace(key);
  TrackedKey& tracked = it->second;
  tracked.sequence = added ? sequence : std::min(tracked.sequence, sequence);
  ++(read_only ? tracked.reads : tracked.writes);
  tracked.exclusive = tracked.exclusive || exclusive;
}

TrackedKeys::Undone TrackedKeys::UndoRead(uint32_t family, const std::string& key) {
  auto keys = families_.find(family);
  if (keys == families_.end()) return Undone::kNothing;
  auto it = keys->second.find(key);
  if (it == keys->second.end() || it->second.reads == 0) return Undone::kNothing;
  --it->second.reads;
  if (it->second.reads + it->second.writes > 0) return Undone::kSome;
  keys->second.erase(it);
  return Undone::kAll;
}

const TrackedKey* TrackedKeys::Find(uint32_t family, const std::string& key) const {
  auto keys = families_.find(family);
  if (keys == families_.end()) return nullptr;
  auto it = keys->second.find(key);
  return it == keys->second.end() ? nullptr : &it->second;
}

void TrackedKeys::Merge(const TrackedKeys& other) {
  for (const auto& [family, keys] : other.families_) {
    for (const auto& [key, theirs] : keys) {
      auto [it, added] = families_[family].try_emplace(key, theirs);
      if (added) continue;
      TrackedKey& ours = it->second;
      ours.sequence = std::min(ours.sequence, theirs.sequence);
      ours.reads += theirs.reads;
      ours.writes += theirs.writes;
      ours.exclusive = ours.exclusive || theirs.exclusive;
    }
  }
}

void TrackedKeys::Subtract(const TrackedKeys& other) {
  for (const auto& [family, keys] : other.families_) {
    auto mine = families_.find(family);
    if (mine == families_.end()) continue;
    for (const auto& [key, theirs] : keys) {
      auto it = mine->second.find(key);
      if (it == mine->second.end()) continue;
      it->second.reads -= std::min(it->second.reads, theirs.reads);
      it->second.writes -= std::min(it->second.writes, theirs.writes);
      if (it->second.reads + it->second.writes == 0) mine->second.erase(it);
    }
  }
}

TrackedKeys TrackedKeys::TakenOnlyIn(const TrackedKeys& since) const {
  TrackedKeys result;
  for (const auto& [family, keys] : since.families_) {
    for (const auto& [key, part] : keys) {
      const TrackedKey* whole = Find(family, key);
      if (whole == nullptr || whole->reads != part.reads || whole->writes != part.writes) continue;
      result.families_[family].emplace(key, *whole);
    }
  }
  return result;
}

uint64_t TrackedKeys::count() const {
  uint64_t count = 0;
  for (const auto& [family, keys] : families_) count += keys.size();
  return count;
}

}  // namespace compassdb
