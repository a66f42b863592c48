// SPDX-License-Identifier: Apache-2.0
// A part of rocksdb/db.h, so that what only names families need not see all of it.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/comparator.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

struct ColumnFamilyDescriptor;

// Names a column family of an open database. Give it back by DB::DestroyColumnFamilyHandle() before
// closing.
class ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() {}

  // Stay as long as the handle.
  virtual const std::string& GetName() const = 0;
  virtual uint32_t GetID() const = 0;

  // Name and present options.
  virtual Status GetDescriptor(ColumnFamilyDescriptor* desc) = 0;

  // As the user gave it.
  virtual const Comparator* GetComparator() const = 0;
};

}  // namespace ROCKSDB_NAMESPACE
