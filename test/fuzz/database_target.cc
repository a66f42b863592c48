// SPDX-License-Identifier: Apache-2.0
// A whole directory of files, through the public API.
#include "compassdb/table.h"
#include "env/rocksdb/env_adapter.h"
#include "env/sim/memory_file_system.h"
#include "format/file_names.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "rocksdb/db.h"

namespace compassdb_test {
namespace {

using compassdb::MemoryFileSystem;
using rocksdb::Status;

rocksdb::Options OptionsFor(rocksdb::Env* env, uint64_t mode) {
  rocksdb::Options options;
  options.env = env;
  options.write_buffer_size = 64 << 10;
  options.wal_recovery_mode = static_cast<rocksdb::WALRecoveryMode>(mode % 4);
  options.paranoid_checks = (mode & 4) == 0;
  options.compression = rocksdb::kNoCompression;
  options.enable_blob_files = (mode & 8) != 0;
  options.min_blob_size = 1;
  if ((mode & 64) != 0) options.comparator = rocksdb::ReverseBytewiseComparator();
  if ((mode & 128) != 0) {
    compassdb::PieceTableOptions pieces;
    pieces.store = compassdb::StoreKind::kTableless;
    pieces.tableless_sections = 2;
    options.table_factory.reset(compassdb::NewPieceTableFactory(pieces));
  }
  options.skip_stats_update_on_db_open = true;
  options.info_log_level = rocksdb::FATAL_LEVEL;
  options.info_log = nullptr;
  return options;
}

bool Scan(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  constexpr int kSteps = 2000;
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), family));
  int n = 0;
  for (it->SeekToFirst(); it->Valid() && n < kSteps; it->Next()) ++n;
  n = 0;
  for (it->SeekToLast(); it->Valid() && n < kSteps; it->Prev()) ++n;
  for (const char* key : {"", "key000017", "key000039", "zzz"}) {
    it->Seek(key);
    std::string value;
    db->Get(rocksdb::ReadOptions(), family, key, &value).PermitUncheckedError();
  }
  return it->status().ok() && n > 0;
}

void Use(rocksdb::Env* env, uint64_t mode) {
  const rocksdb::Options options = OptionsFor(env, mode);
  std::vector<std::string> names;
  if (!rocksdb::DB::ListColumnFamilies(options, "/db", &names).ok()) names = {"default"};
  if (names.size() > 8) return;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  const bool read_only = (mode & 16) != 0;
  const Status s = read_only ? rocksdb::DB::OpenForReadOnly(options, "/db", families, &handles, &raw)
                             : rocksdb::DB::Open(options, "/db", families, &handles, &raw);
  if (!s.ok()) return;
  const std::unique_ptr<rocksdb::DB> db(raw);
  bool good = !handles.empty();
  for (rocksdb::ColumnFamilyHandle* family : handles) good &= Scan(db.get(), family);
  if (good && db->VerifyChecksum().ok()) AcceptFuzzInput();
  if (!read_only) {
    rocksdb::WriteOptions sync;
    sync.sync = true;
    for (rocksdb::ColumnFamilyHandle* family : handles) {
      db->Put(sync, family, "key000017", std::string(300, 'n')).PermitUncheckedError();
      db->Flush(rocksdb::FlushOptions(), family).PermitUncheckedError();
      rocksdb::CompactRangeOptions compact;
      compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      db->CompactRange(compact, family, nullptr, nullptr).PermitUncheckedError();
      (void)Scan(db.get(), family);
    }
    db->VerifyChecksum().PermitUncheckedError();
  }
  for (rocksdb::ColumnFamilyHandle* family : handles) {
    db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
}

// A byte of how it is opened, and the files.
FUZZ_TARGET(database, 64 << 20) {
  FuzzInput in(input);
  const uint64_t mode = in.Number(1);
  const auto fs = std::make_shared<MemoryFileSystem>();
  FUZZ_CHECK(fs->CreateDir("/db").ok());
  for (const auto& [name, bytes] : UnpackFiles(in.Rest())) {
    if (!name.empty() && name.find('/') == std::string::npos && name != "." && name != ".." && name.find('\0') == std::string::npos) {
      WriteFile(fs.get(), "/db/" + name, bytes);
    }
  }
  const auto env = compassdb::NewEnvForFileSystem(fs);
  if ((mode & 32) != 0) rocksdb::RepairDB("/db", OptionsFor(env.get(), mode)).PermitUncheckedError();
  Use(env.get(), mode);
}

}  // namespace
}  // namespace compassdb_test
