// SPDX-License-Identifier: Apache-2.0
// What depends on a database's families and their options: writers, background jobs, the OPTIONS file.
#pragma once

#include <memory>

#include "family/column_family.h"

namespace compassdb {

class FamilyObserver {
 public:
  // [mutex, front] The family was created or dropped, or has other options; null: the options of the database changed.
  virtual void FamilyChanged(const std::shared_ptr<ColumnFamily>& family) = 0;
  // Afterwards, without locks; once for several families. The change stays, also if this fails.
  virtual Status FamiliesChanged() = 0;

 protected:
  ~FamilyObserver() = default;
};

}  // namespace compassdb
