// SPDX-License-Identifier: Apache-2.0
// Which segment groups are collected next (HashKV 3.3). Pure functions of a version.
//
// A job has one commit for any volume. So it takes several small groups, up to the volume of one of the fewest
// groups (ValueLoad::JobBytes): syncs depend on the volume, and not on the number of groups.
#pragma once

#include <optional>
#include <vector>

#include "util/random.h"
#include "store/value_options.h"
#include "value_store/value_version.h"

namespace compassdb {

// What one job takes.
using ValueGroups = std::vector<ValueGroup>;
bool Overlaps(const ValueGroups& groups, const ValueGroup& group);

struct ValueGcInput {
  std::vector<ValueVersion::Group> groups;
  std::vector<ValueGroups> busy;  // by job
  uint64_t now_seconds = 0;
  // ValueOptions::force_threshold is for groups that have a run up to this id.
  uint64_t old_until = UINT64_MAX;
  uint64_t incoming_bytes = 0;  // of a flush that waits for room
  uint64_t flushing_bytes = 0;  // of one that has it, and is not committed
};

// The sums over the groups.
struct ValueLoad {
  uint64_t bytes = 0;
  uint64_t dead_bytes = 0;
  uint64_t pinned_bytes = 0;
  uint64_t copy_bytes = 0;  // what a collection copies, at most
  explicit ValueLoad(const std::vector<ValueVersion::Group>& groups);
  // How many live bytes of several groups a job takes together. A larger group is taken alone.
  uint64_t JobBytes() const;
  // The bound of the values: live bytes, the reserve, and bytes that snapshots hold.
  uint64_t Bound(const ValueOptions& options) const;
  // The part of the reserve that this many concurrent collections copy, at most.
  uint64_t CopyRoom(const ValueOptions& options, size_t collections) const;
  // With kOldestFirst: how much of the log's tail a collection takes. Two of them fit half of the reserve.
  uint64_t TailBytes(const ValueOptions& options) const;
  // How much a flush may add, or end, at a time: half of the reserve without copies. The other half is for garbage that
  // collections leave; otherwise they would copy nearly everything for each flush. And no more than a 6th of it, or
  // 1 MiB: logs have what is not flushed.
  uint64_t FlushRoom(const ValueOptions& options) const;

 private:
  uint64_t Reserve(const ValueOptions& options) const;
};

// A copy fits under the bound in addition to those of running jobs and a flush that is being written. One by itself always may
// begin: flushes leave room for it.
bool MayCopy(const ValueGcInput& input, const ValueLoad& load, const ValueOptions& options);

// Less garbage than this is ignored; smaller for small groups, as in tests.
uint64_t ToleratedGarbage(const ValueOptions& options);

// None if there is space, or nothing to gain. Without ValueOptions::collect: groups with almost no live values.
ValueGroups PickValueGroups(const ValueGcInput& input, const ValueOptions& options, Random* random);

// A run costs memory and a lookup per read: if a group has more small ones, they are merged, even if all their values are live.
// (They may have notices alone, which a family writes as long as it has any separated value.)
inline constexpr uint64_t kMaxSmallRuns = 128;
// The groups with the most of them; none if none has more than that, or a copy does not fit.
ValueGroups PickGroupsToMerge(const ValueGcInput& input, const ValueOptions& options);

// The group with the most uncounted records that may have ended values. None if there are none.
std::optional<ValueGroup> PickGroupToCount(const ValueGcInput& input);

}  // namespace compassdb
