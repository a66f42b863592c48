// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/utilities/checkpoint.h"

namespace compassdb {

// What the default family's export to `dir` says of it; null, and a failure of the test, if there is none.
inline std::unique_ptr<rocksdb::ExportImportFilesMetaData> ExportDefaultFamily(rocksdb::DB* db, const std::string& dir) {
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status s = rocksdb::Checkpoint::Create(db, &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  rocksdb::ExportImportFilesMetaData* exported = nullptr;
  if (s.ok()) s = checkpoint->ExportColumnFamily(db->DefaultColumnFamily(), dir, &exported);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return std::unique_ptr<rocksdb::ExportImportFilesMetaData>(exported);
}

}  // namespace compassdb
