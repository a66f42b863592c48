// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rocksdb/status.h"

namespace compassdb {

// What reads of a secondary need to know about its primary, which may delete files and punch holes into them.
class FollowedPrimary {
 public:
  // There may be holes in files that are read, which only checksums show.
  virtual bool MayPunch() const = 0;
  // A read returned `s`, perhaps because of such a hole: its data has another place by now. True if the read is
  // worth another attempt.
  virtual bool CatchUpPast(const rocksdb::Status& s) = 0;

 protected:
  ~FollowedPrimary() = default;
};

}  // namespace compassdb
