// SPDX-License-Identifier: Apache-2.0
// An iterator's walk forward: from entries, newest of each key first, to the next key with a value.
#pragma once

#include "db/read/walk_parts.h"

namespace compassdb {

class ForwardWalk {
 public:
  explicit ForwardWalk(WalkParts* parts) : parts_(*parts) {}

  // From the internal iterator's position on, finds the first user key with a value. With `skipping`, entries
  // up to and including the current key do not count.
  WalkPosition FindNext(bool skipping);
  // The internal iterator is at the newest visible version of the current key, a merge operand: collects down
  // to the base, and leaves the iterator behind that.
  WalkPosition Merge();

 private:
  struct Passing;
  void Arrive(const ParsedInternalKey& entry, Passing* passing);
  WalkPosition Show(const ParsedInternalKey& entry, bool* gone);
  WalkPosition ShowSeparated(const Slice& ref, bool* gone);
  bool MoveOn(const ParsedInternalKey& entry, Passing* passing);

  WalkParts& parts_;
};

}  // namespace compassdb
