// SPDX-License-Identifier: Apache-2.0
// An iterator's walk backward: from entries, oldest of each key first, to the previous key with a value.
#pragma once

#include "db/read/forward_walk.h"
#include "db/read/walk_parts.h"

namespace compassdb {

class BackwardWalk {
 public:
  // `forward` merges for it if a key has many versions.
  BackwardWalk(WalkParts* parts, ForwardWalk* forward) : parts_(*parts), forward_(*forward) {}

  // From the internal iterator's position backward, finds the last user key with a value, and leaves the
  // internal iterator before all entries of that key.
  WalkPosition FindPrev();

 private:
  bool Resolve(bool* found);
  bool ResolveBySeek(bool* found);
  bool MakeResult(bool has_base, ValueType base, bool* found);
  bool StepBeforeKey();

  WalkParts& parts_;
  ForwardWalk& forward_;
};

}  // namespace compassdb
