// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rocksdb/status.h"

namespace compassdb {

// What reads of a secondary ask of its primary, which deletes files and punches holes into them meanwhile.
class FollowedPrimary {
 public:
  // There may be holes in files that are read, which only checksums show.
  virtual bool MayPunch() const = 0;
  // A read answered `s` and may have met such a hole: what was there is elsewhere by now. True if the read is worth
  // another attempt.
  virtual bool CatchUpPast(const rocksdb::Status& s) = 0;

 protected:
  ~FollowedPrimary() = default;
};

}  // namespace compassdb
