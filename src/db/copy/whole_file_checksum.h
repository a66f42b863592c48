// SPDX-License-Identifier: Apache-2.0
// Checksums of whole files. A job computes them while it writes (lsm/compaction/job_file.h), the manifest keeps them,
// and such a file is never changed.
#pragma once

#include <string>

#include "env/file_system.h"
#include "manifest/extent_ledger.h"

namespace rocksdb {
class FileChecksumGenFactory;
}  // namespace rocksdb

namespace compassdb {

// The checksum of all bytes of the file, by the function of that name (empty: the factory's
// choice), read in steps of `readahead` bytes (0: a usual number). InvalidArgument without that function.
Status ComputeFileChecksum(FileSystem* fs, const std::string& path,
                           rocksdb::FileChecksumGenFactory* factory, const std::string& function,
                           size_t readahead, FileChecksum* out);

// The checksum of the written file; "Unknown" for a file without one.
FileChecksum ChecksumOf(const ExtentLedger& ledger, uint64_t file_number);

}  // namespace compassdb
