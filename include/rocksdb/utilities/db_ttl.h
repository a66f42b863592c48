// SPDX-License-Identifier: Apache-2.0
//
// A database whose values have a life time.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/utilities/stackable_db.h"

namespace ROCKSDB_NAMESPACE {

// Every value and merge operand carries the time of its writing, as four bytes behind it that
// callers do not see. Compactions drop values that are older than the family's time to live; until
// then reads find them. Reads of a database that was written without these bytes answer Corruption;
// plain reads of a database with them see the bytes.
//
// A ttl in seconds; values never expire if it is not positive. It belongs to the open database and
// not to the values: each open may give another one.
//
// Thread safety: that of DB.
class DBWithTTL : public StackableDB {
 public:
  // CreateColumnFamily() makes a family without a time to live.
  virtual Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                           const std::string& column_family_name,
                                           ColumnFamilyHandle** handle, int ttl) = 0;

  // A read-only one expires nothing, since it runs no compactions.
  static Status Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                     int32_t ttl = 0, bool read_only = false);

  // `ttls` has one entry for each family.
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only = false);

  // From the next compaction on. Without effect on a family that was given a
  // ColumnFamilyOptions::compaction_filter (a factory of filters does no harm).
  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* h, int32_t ttl) = 0;

 protected:
  explicit DBWithTTL(DB* db) : StackableDB(db) {}
};

}  // namespace ROCKSDB_NAMESPACE
