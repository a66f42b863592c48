// SPDX-License-Identifier: Apache-2.0
// The manifest and the files next to it: CURRENT, backup descriptions, wide columns.
#include "api/wide_column_codec.h"
#include "copies/backup_meta.h"
#include "env/sim/memory_file_system.h"
#include "format/file_names.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "manifest/manifest.h"
#include "util/compression.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

FUZZ_TARGET(version_edit, 4 << 20) {
  EditRecord edits;
  if (!edits.Open(input).ok()) return;
  uint64_t visited = 0;
  for (const VersionEdit& edit : edits) {
    std::string bytes;
    EncodeEdits({edit}, &bytes);
    EditRecord again;
    FUZZ_CHECK(again.Open(bytes).ok());
    FUZZ_CHECK(again.size() == 1);
    FUZZ_CHECK(again.begin()->DebugString() == edit.DebugString());
    ++visited;
  }
  FUZZ_CHECK(visited == edits.size());
  AcceptFuzzInput();
}

FUZZ_TARGET(manifest, 4 << 20) {
  MemoryFileSystem fs;
  FUZZ_CHECK(fs.CreateDir("/db").ok());
  WriteFile(&fs, ManifestFileName("/db", 5), input);
  const Status s = Manifest::Replay(&fs, "/db", 5, [](const EditRecord&) { return Status::OK(); });
  if (s.ok()) AcceptFuzzInput();
}

FUZZ_TARGET(current, 512 << 10) {
  MemoryFileSystem fs;
  FUZZ_CHECK(fs.CreateDir("/db").ok());
  WriteFile(&fs, CurrentFileName("/db"), input);
  uint64_t number = 0;
  if (Manifest::ReadCurrent(&fs, "/db", &number).ok()) AcceptFuzzInput();
}

FUZZ_TARGET(backup_meta, 512 << 10) {
  BackupMeta meta;
  if (!DecodeBackupMeta("meta/1", input, &meta).ok()) return;
  BackupMeta again;
  FUZZ_CHECK(DecodeBackupMeta("meta/1", EncodeBackupMeta(meta), &again).ok());
  FUZZ_CHECK(again.files.size() == meta.files.size());
  AcceptFuzzInput();
}

FUZZ_TARGET(wide_columns, 512 << 10) {
  rocksdb::WideColumns columns;
  if (DecodeWideColumns(input, &columns).ok()) {
    size_t bytes = 0;
    for (const auto& column : columns) bytes += column.name().size() + column.value().size();
    FUZZ_CHECK(bytes <= input.size());
    AcceptFuzzInput();
  }
  Slice value;
  DefaultWideColumn(input, &value).PermitUncheckedError();
}

// The type, and a payload that may say it is of 64 KiB.
FUZZ_TARGET(decompress, 8 << 20) {
  FuzzInput in(input);
  const auto type = static_cast<rocksdb::CompressionType>(in.Number(1));
  std::string out;
  constexpr size_t kMost = 64 << 10;
  if (!Decompress(type, in.Rest(), kMost, &out).ok()) return;
  FUZZ_CHECK(out.size() <= kMost);
  AcceptFuzzInput();
}

}  // namespace
}  // namespace compassdb_test
