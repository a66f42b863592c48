// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "util/mutex.h"
#include "value_store/value_version.h"

namespace compassdb {

// A family's present separated values. A long job gets each value from here, instead of pinning a version: replaced
// runs would take space until it ends.
//
// Thread safety: all methods. A result of Get is valid while it is held.
class NewestValues {
 public:
  explicit NewestValues(std::shared_ptr<const ValueVersion> version) : version_(std::move(version)) {}
  std::shared_ptr<const ValueVersion> Get() const {
    MutexLock lock(&mu_);
    return version_;
  }
  void Set(std::shared_ptr<const ValueVersion> version) {
    {
      MutexLock lock(&mu_);
      version_.swap(version);
    }
    // The old one is destroyed here, outside of the lock.
  }

 private:
  mutable Mutex mu_;  // a leaf
  std::shared_ptr<const ValueVersion> version_ GUARDED_BY(mu_);
};

}  // namespace compassdb
