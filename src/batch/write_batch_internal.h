// SPDX-License-Identifier: Apache-2.0
// The engine's functions for batches that are not public.
#pragma once

#include <cstdint>
#include <string>

#include "batch/batch_record.h"
#include "rocksdb/types.h"
#include "rocksdb/write_batch.h"

namespace compassdb {

// Receives the records of a batch, each with its sequence.
class BatchSink {
 public:
  virtual ~BatchSink() = default;
  // `type` is kTypeValue, kTypeWideColumnEntity, kTypeDeletion, kTypeSingleDeletion,
  // kTypeMerge or kTypeRangeDeletion (key and value are then begin and end).
  virtual Status Add(uint32_t column_family, SequenceNumber sequence, ValueType type,
                     const Slice& key, const Slice& value) = 0;
  // A transaction mark; `*next` is the sequence of the next record, which the
  // sink may change. The default refuses all but kTypeNoop.
  virtual Status Mark(const BatchRecord& mark, SequenceNumber* next);
};

// The kinds of records in a batch, as bits.
enum BatchContentFlags : uint32_t {
  kBatchDeferred = 1 << 0,  // not known yet: the bytes are from outside
  kBatchHasPut = 1 << 1,
  kBatchHasDelete = 1 << 2,
  kBatchHasSingleDelete = 1 << 3,
  kBatchHasMerge = 1 << 4,
  kBatchHasBeginPrepare = 1 << 5,
  kBatchHasEndPrepare = 1 << 6,
  kBatchHasCommit = 1 << 7,
  kBatchHasRollback = 1 << 8,
  kBatchHasDeleteRange = 1 << 9,
  kBatchHasBlobIndex = 1 << 10,
  kBatchHasBeginUnprepare = 1 << 11,
  kBatchHasPutEntity = 1 << 12,
  // Constructed with protection_bytes_per_key other than 0 and 8; writes to the batch say so.
  kBatchAskedForProtection = 1u << 30,
};
uint32_t ContentFlagOfTag(uint8_t tag);

class WriteBatchInternal {
 public:
  using WriteBatch = rocksdb::WriteBatch;
  using ColumnFamilyHandle = rocksdb::ColumnFamilyHandle;

  static SequenceNumber Sequence(const WriteBatch* batch);
  static void SetSequence(WriteBatch* batch, SequenceNumber sequence);
  static uint32_t Count(const WriteBatch* batch);
  static void SetCount(WriteBatch* batch, uint32_t count);
  static Slice Contents(const WriteBatch* batch) { return batch->rep_; }
  // Some keys still need timestamps.
  static bool NeedsTimestamps(const WriteBatch* batch) { return batch->needs_timestamps_; }
  static size_t ByteSize(const WriteBatch* batch) { return batch->rep_.size(); }
  // Takes bytes from outside (the WAL). Corruption if they cannot be a batch;
  // its records are checked when they are read.
  static Status SetContents(WriteBatch* batch, const Slice& contents);
  // Adds the records of `src`; with `wal_only` up to its WAL termination point.
  static Status Append(WriteBatch* dst, const WriteBatch* src, bool wal_only = false);
  // Bytes of a batch of `left` with `right` appended.
  static size_t AppendedByteSize(size_t left, size_t right);

  // Adds checksums of the batch's writes, if it has none.
  static Status Protect(WriteBatch* batch);

  // Feeds every record, numbered from the batch's sequence. On success
  // `*next` (may be null) is the sequence after the last.
  static Status InsertInto(const WriteBatch* batch, BatchSink* sink, SequenceNumber* next);
  // The part [begin, end) of the bytes, as WriteBatch::Iterate for the whole.
  static Status Iterate(const WriteBatch* batch, WriteBatch::Handler* handler, size_t begin,
                        size_t end);

  // Records by column family id.
  static Status Put(WriteBatch* batch, uint32_t column_family, const Slice& key,
                    const Slice& value);
  // `entity` in the stored form of wide columns.
  static Status PutEntity(WriteBatch* batch, uint32_t column_family, const Slice& key,
                          const Slice& entity);
  static Status Delete(WriteBatch* batch, uint32_t column_family, const Slice& key);
  static Status SingleDelete(WriteBatch* batch, uint32_t column_family, const Slice& key);
  static Status DeleteRange(WriteBatch* batch, uint32_t column_family, const Slice& begin,
                            const Slice& end);
  static Status Merge(WriteBatch* batch, uint32_t column_family, const Slice& key,
                      const Slice& value);

  // Two-phase commit. MarkEndPrepare turns the Noop at the front into a
  // BeginPrepare, so InsertNoop must have been the first record; it ends all
  // save points.
  static Status InsertNoop(WriteBatch* batch);
  static Status MarkEndPrepare(WriteBatch* batch, const Slice& xid,
                               bool write_after_commit = true, bool unprepared_batch = false);
  static Status MarkCommit(WriteBatch* batch, const Slice& xid);
  // `timestamp` is that of all keys in families that have them.
  static Status MarkCommitWithTimestamp(WriteBatch* batch, const Slice& xid, const Slice& timestamp);
  static Status MarkRollback(WriteBatch* batch, const Slice& xid);

  // InvalidArgument for a record that is too large for a piece: key and value (or the end of a range) share 32 bits
  // there, less space for what is added to them.
  static Status CheckSizes(uint64_t key_bytes, uint64_t value_bytes);

 private:
  friend class rocksdb::WriteBatch;

  using SliceParts = rocksdb::SliceParts;

  // Appends tag, column family and slices; undone if the batch gets too large.
  static Status AddRecord(WriteBatch* batch, ValueType tag, ValueType tag_with_family,
                          uint32_t column_family, const SliceParts& key, const SliceParts* value,
                          const char* second_name = "value");
  // In a family with timestamps: with space for one after the key, and after the end of a range.
  static Status AddRecord(WriteBatch* batch, ValueType tag, ValueType tag_with_family,
                          ColumnFamilyHandle* column_family, const SliceParts& key,
                          const SliceParts* value, const char* second_name = "value");
  // The same with `ts` there. InvalidArgument if the family does not take it.
  static Status AddTimedRecord(WriteBatch* batch, ValueType tag, ValueType tag_with_family,
                               ColumnFamilyHandle* column_family, const Slice& key,
                               const Slice& ts, const Slice* value);
  static Status CheckSupported(const WriteBatch* batch);
  // For the records from byte `begin` on.
  static Status AddChecksums(WriteBatch* batch, size_t begin);
  static void AddFlags(WriteBatch* batch, uint32_t flags);
};

// The id of a handle, 0 for null; in a file of its own for the sake of the
// one header it needs.
uint32_t ColumnFamilyId(rocksdb::ColumnFamilyHandle* column_family);
// The bytes of user-defined timestamps in the family's keys; 0 for null.
size_t ColumnFamilyTimestampSize(rocksdb::ColumnFamilyHandle* column_family);

}  // namespace compassdb
