// SPDX-License-Identifier: Apache-2.0
//
// What a database holds of a range of keys, versions and deletions included.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

// One record as it is stored.
struct KeyVersion {
  KeyVersion() : user_key(""), value(""), sequence(0), type(0) {}
  KeyVersion(const std::string& _user_key, const std::string& _value, SequenceNumber _sequence,
             int _type)
      : user_key(_user_key), value(_value), sequence(_sequence), type(_type) {}

  std::string user_key;
  std::string value;
  SequenceNumber sequence;
  int type;
  // "TypeValue", "TypeDeletion" and so on; "Invalid" for a number that is no type.
  std::string GetTypeName() const;
};

// The records of [begin_key, end_key], in the order of keys, of a key the newest first, at most
// max_num_ikeys of them. An empty key is no bound. Range deletions are not listed, nor
// what they cover.
Status GetAllKeyVersions(DB* db, Slice begin_key, Slice end_key, size_t max_num_ikeys,
                         std::vector<KeyVersion>* key_versions);

Status GetAllKeyVersions(DB* db, ColumnFamilyHandle* cfh, Slice begin_key, Slice end_key,
                         size_t max_num_ikeys, std::vector<KeyVersion>* key_versions);

}  // namespace ROCKSDB_NAMESPACE
