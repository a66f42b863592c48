// SPDX-License-Identifier: Apache-2.0
// Which segment group is collected next (HashKV 3.3). Pure: looks at a version, does nothing.
#pragma once

#include <optional>
#include <vector>

#include "util/random.h"
#include "store/value_options.h"
#include "value_store/value_version.h"

namespace compassdb {

struct ValueGcInput {
  std::vector<ValueVersion::Group> groups;
  std::vector<ValueGroup> busy;
  uint64_t now_seconds = 0;
  // ValueOptions::force_threshold is for groups that have a run up to this id.
  uint64_t old_until = UINT64_MAX;
  uint64_t incoming_bytes = 0;  // of a flush that waits for room
};

// Of the groups together.
struct ValueLoad {
  uint64_t bytes = 0;
  uint64_t dead_bytes = 0;
  uint64_t pinned_bytes = 0;
  uint64_t copy_bytes = 0;  // what the collection of a group copies, at most
  explicit ValueLoad(const std::vector<ValueVersion::Group>& groups);
  // What the values may take: the live ones, the reserve over them, and what snapshots hold.
  uint64_t Bound(const ValueOptions& options) const;
  // Of the reserve, what so many collections at a time copy, at most.
  uint64_t CopyRoom(const ValueOptions& options, size_t collections) const;
  // What a flush may bring, or end, at a time. Half of what copies leave of the reserve: the other half is for the
  // garbage that collections leave, or they would copy nearly everything for each flush.
  uint64_t FlushRoom(const ValueOptions& options) const;

 private:
  uint64_t Reserve(const ValueOptions& options) const;
};

// Garbage below this is nobody's concern: less where groups are small, as tests have them.
uint64_t ToleratedGarbage(const ValueOptions& options);

// None if there is room enough, or nothing to gain. Without ValueOptions::collect a group goes when next to nothing of it lives.
std::optional<ValueGroup> PickValueGroup(const ValueGcInput& input, const ValueOptions& options,
                                         Random* random);

// A run is an object in memory, and a place to look for values: more small ones in a group become one, whatever they
// hold. (Of notices alone, say, which a family writes for as long as it has any separated value.)
inline constexpr uint64_t kMaxSmallRuns = 128;
// The group with the most of them; none if there are no more than that.
std::optional<ValueGroup> PickGroupToMerge(const ValueGcInput& input);

// The one of which least is known: where most records may have ended values. None if all is known.
std::optional<ValueGroup> PickGroupToCount(const ValueGcInput& input);

}  // namespace compassdb
