// SPDX-License-Identifier: Apache-2.0
// Files of RocksDB and LevelDB.
#include <cstring>

#include "format/internal_key.h"
#include "fuzz/fuzz_target.h"
#include "rocksdb_files/table_file.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

class InputFile final : public RandomAccessFile {
 public:
  explicit InputFile(const Slice& bytes) : bytes_(bytes) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char*) const override {
    const size_t from = offset < bytes_.size() ? static_cast<size_t>(offset) : bytes_.size();
    *result = Slice(bytes_.data() + from, n < bytes_.size() - from ? n : bytes_.size() - from);
    return Status::OK();
  }

 private:
  const Slice bytes_;
};

// Blocks may expand much; what is allocated for one is bounded by what it holds.
FUZZ_TARGET(rocksdb_table, 16 << 20) {
  constexpr uint64_t kEnough = 10000;  // records of a block that is named again and again
  rocksdb_files::TableFileOptions options;
  options.comparator = rocksdb::BytewiseComparator();
  std::unique_ptr<rocksdb_files::TableFile> table;
  if (!rocksdb_files::TableFile::Open(std::make_unique<InputFile>(input), input.size(), "input", options, &table).ok()) return;
  table->VerifyMetaBlocks().PermitUncheckedError();
  const auto cursor = table->NewCursor();
  uint64_t count = 0;
  for (cursor->SeekToFirst(); cursor->Valid() && count < kEnough; cursor->Next(), ++count) {
    FUZZ_CHECK(cursor->key().size() >= 8);
  }
  if (!cursor->Valid() && cursor->status().ok() && count > 0) AcceptFuzzInput();
}

}  // namespace
}  // namespace compassdb_test
