// SPDX-License-Identifier: Apache-2.0
// What tests of separated values share.
#pragma once

#include <string>

#include "compassdb/table.h"
#include "db/testing/model_test_util.h"
#include "util/random.h"

namespace compassdb {

class ValueTest : public ModelTest {
 protected:
  ValueTest() {
    options_.enable_blob_files = true;
    options_.min_blob_size = 100;
    options_.enable_blob_garbage_collection = true;
  }
  void UsePieces() { options_.table_factory.reset(NewPieceTableFactory(piece_)); }

  static std::string Value(int i, size_t size = 500) {
    std::string v = "v" + std::to_string(i) + "-";
    Random rnd(static_cast<uint64_t>(i) + 1);
    while (v.size() < size) v.push_back(static_cast<char>('a' + rnd.Uniform(26)));
    return v;
  }
  // Waits for what the background has to do.
  void Settle() {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
    }
  }
  uint64_t ValueBytes() { return IntProperty("rocksdb.total-blob-file-size"); }
  uint64_t Garbage() { return IntProperty("rocksdb.live-blob-file-garbage-size"); }

  PieceTableOptions piece_;
};

// With merges, and groups so small that a few hundred values fill many.
class ValueStoreTest : public ValueTest {
 protected:
  ValueStoreTest() {
    options_.merge_operator = std::make_shared<AppendOperator>();
    piece_.value_group_bytes = 16 << 10;
    UsePieces();
  }
};

}  // namespace compassdb
