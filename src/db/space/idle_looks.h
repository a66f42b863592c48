// SPDX-License-Identifier: Apache-2.0
// Looks once a second for work that is due because nothing happens (collections of separated values
// down to value_idle_reserve_percent), while any family may have some.
//
// Thread safety: all methods. Lock order: mu_ > the database mutex.
#pragma once

#include "util/mutex.h"

namespace compassdb {

class DBImpl;

class IdleLooks {
 public:
  explicit IdleLooks(DBImpl* db) : db_(db) {}
  // Begins or ends the looks, as the families' options are now.
  void Schedule() EXCLUDES(mu_);
  // For good; waits for a look under way.
  void Stop() EXCLUDES(mu_);

 private:
  DBImpl* const db_;
  Mutex mu_;
  uint64_t task_ GUARDED_BY(mu_) = 0;
  bool stopped_ GUARDED_BY(mu_) = false;
};

}  // namespace compassdb
