// SPDX-License-Identifier: Apache-2.0
// The parts of a database that depend on its families and their options: the write path and background jobs.
#pragma once

#include <memory>

#include "family/column_family.h"

namespace compassdb {

class FamilyObserver {
 public:
  // [mutex, front] The family was created or dropped, or has other options; null: the options of the database changed.
  virtual void FamilyChanged(const std::shared_ptr<ColumnFamily>& family) = 0;
  // Afterwards, without locks.
  virtual void FamiliesChanged() = 0;

 protected:
  ~FamilyObserver() = default;
};

}  // namespace compassdb
