// SPDX-License-Identifier: Apache-2.0
// Traces of operations, as they are read to be replayed.
#include "env/rocksdb/env_adapter.h"
#include "env/sim/memory_file_system.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "rocksdb/trace_reader_writer.h"
#include "trace/trace_format.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

FUZZ_TARGET(trace, 4 << 20) {
  auto fs = std::make_shared<MemoryFileSystem>();
  WriteFile(fs.get(), "/trace", input);
  const std::unique_ptr<rocksdb::Env> env = NewEnvForFileSystem(fs);
  std::unique_ptr<rocksdb::TraceReader> reader;
  FUZZ_CHECK(rocksdb::NewFileTraceReader(env.get(), rocksdb::EnvOptions(), "/trace", &reader).ok());
  std::string bytes;
  size_t total = 0;
  bool good = true;
  Status s;
  while ((s = reader->Read(&bytes)).ok()) {
    FUZZ_CHECK((total += bytes.size()) <= input.size());
    RawTraceRecord raw;
    std::unique_ptr<rocksdb::TraceRecord> record;
    good = DecodeRawTraceRecord(bytes, &raw).ok() && good;
    if (raw.type == rocksdb::kTraceBegin) {
      good = CheckTraceHeader(raw).ok() && good;
    } else if (raw.type != rocksdb::kTraceEnd) {
      const bool decoded = DecodeTraceRecord(raw, &record).ok();
      FUZZ_CHECK(decoded == (record != nullptr));
      good = good && decoded;
    }
  }
  FUZZ_CHECK(!s.IsIncomplete() || total == input.size());
  if (good && s.IsIncomplete() && total > 0) AcceptFuzzInput();
}

}  // namespace
}  // namespace compassdb_test
