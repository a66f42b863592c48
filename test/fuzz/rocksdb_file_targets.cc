// SPDX-License-Identifier: Apache-2.0
// Files of RocksDB and LevelDB.
#include <cstring>

#include "env/sim/memory_file_system.h"
#include "format/internal_key.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "rocksdb_files/batch_records.h"
#include "rocksdb_files/framed_log.h"
#include "rocksdb_files/manifest_state.h"
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
  if (!cursor->Valid() && cursor->status().ok() && count + table->range_tombstones().size() > 0) AcceptFuzzInput();
}

// A log, whose records are batches, or a manifest, whose records are edits.
FUZZ_TARGET(rocksdb_log, 16 << 20) {
  MemoryFileSystem fs;
  WriteFile(&fs, "/log", input);
  std::unique_ptr<SequentialFile> file;
  FUZZ_CHECK(fs.NewSequentialFile("/log", &file).ok());
  rocksdb_files::FramedLog log(std::move(file), "/log", 7);
  rocksdb_files::ManifestReplay manifest;
  Slice record;
  size_t good = 0;
  while (log.Next(&record)) {
    size_t bytes = 0;
    rocksdb_files::BatchHead head;
    const auto count = [&](const rocksdb_files::BatchRecord& r) {
      bytes += r.key.size() + r.value.size();
      return Status::OK();
    };
    const bool batch = rocksdb_files::ReadBatchRecords(record, &head, count).ok();
    FUZZ_CHECK(bytes <= record.size());
    if (batch || manifest.Apply(record).ok()) ++good;
  }
  if (log.status().ok() && good > 0) AcceptFuzzInput();
}

}  // namespace
}  // namespace compassdb_test
