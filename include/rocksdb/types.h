// SPDX-License-Identifier: Apache-2.0
//
// Small types that several headers share.

#pragma once

#include <stdint.h>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

// Identifies a column family for the whole life of a database; 0 is the default one. Not reused.
using ColumnFamilyId = uint32_t;

// Order of writes in one database: every entry has its own number, a larger one is newer. 56 bits
// are used.
using SequenceNumber = uint64_t;

// Smaller numbers are never given to uncommitted data.
const SequenceNumber kMinUnCommittedSeq = 1;

// Why a table file was written.
enum class TableFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,
  kMisc,
};

// Why a file of separated values was written.
enum class BlobFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,
};

// What a file of the database directory is for.
enum FileType {
  kWalFile,
  kDBLockFile,
  kTableFile,
  kDescriptorFile,
  kCurrentFile,
  kTempFile,
  kInfoLogFile,
  kMetaDatabase,
  kIdentityFile,
  kOptionsFile,
  kBlobFile
};

// What kind of entry a table properties collector is shown.
enum EntryType {
  kEntryPut,
  kEntryDelete,
  kEntrySingleDelete,
  kEntryMerge,
  kEntryRangeDeletion,
  kEntryBlobIndex,
  kEntryDeleteWithTimestamp,
  kEntryWideColumnEntity,
  kEntryOther,
};

}  // namespace ROCKSDB_NAMESPACE
