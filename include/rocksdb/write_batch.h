// SPDX-License-Identifier: Apache-2.0
//
// A list of writes that is applied atomically, in order: later writes win over earlier ones.
//
// Format, which is also that of a record of the write-ahead log:
//   sequence of the first write, 8 bytes little endian; number of writes, 4 bytes; then the writes,
//   each a
//   tag byte, the column family as varint32 (only with the tags that say so), and length-prefixed
//   strings.
//
// Thread safety: the const functions may be called concurrently; everything else needs one thread
// at a time.

#pragma once

#include <stdint.h>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "rocksdb/write_batch_base.h"

namespace compassdb {

class WriteBatchInternal;
}

namespace ROCKSDB_NAMESPACE {

class Slice;
class ColumnFamilyHandle;
struct SavePoints;
struct SliceParts;

// The extent of a batch at some moment.
struct SavePoint {
  size_t size;             // bytes
  int count;               // writes
  uint32_t content_flags;  // which kinds of writes

  SavePoint() : SavePoint(0, 0, 0) {}
  SavePoint(size_t _size, int _count, uint32_t _flags)
      : size(_size), count(_count), content_flags(_flags) {}

  void clear() { *this = SavePoint(); }

  bool is_cleared() const { return size == 0 && count == 0 && content_flags == 0; }
};

class WriteBatch : public WriteBatchBase {
 public:
  // reserved_bytes: memory to take at once. max_bytes: see SetMaxBytes().
  explicit WriteBatch(size_t reserved_bytes = 0, size_t max_bytes = 0)
      : WriteBatch(reserved_bytes, max_bytes, 0, 0) {}

  // protection_bytes_per_key: 0, or 8 to keep a checksum of each write, verified up to the
  // memtable. default_cf_ts_sz: timestamp size of the default column family, for writes without a
  // handle.
  explicit WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                      size_t default_cf_ts_sz);

  // From the bytes of Data().
  explicit WriteBatch(const std::string& rep);
  explicit WriteBatch(std::string&& rep);

  // Copies have the save points too; moving leaves the source empty.
  WriteBatch(const WriteBatch& src);
  WriteBatch(WriteBatch&& src) noexcept;
  WriteBatch& operator=(const WriteBatch& src);
  WriteBatch& operator=(WriteBatch&& src);

  ~WriteBatch() override;

  // The writes: see WriteBatchBase. Beyond what it says, they fail with InvalidArgument for a key
  // or value of 4 GiB or more, and for a missing or unexpected timestamp.
  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override;
  Status Put(const Slice& key, const Slice& value) override {
    return Put(nullptr, key, value);
  }
  Status Put(ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& ts, const Slice& value) override;
  Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
             const SliceParts& value) override;
  Status Put(const SliceParts& key, const SliceParts& value) override {
    return Put(nullptr, key, value);
  }
  using WriteBatchBase::PutEntity;
  Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override;
  using WriteBatchBase::Delete;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status Delete(const Slice& key) override { return Delete(nullptr, key); }
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key,
                const Slice& ts) override;
  Status Delete(ColumnFamilyHandle* column_family,
                const SliceParts& key) override;
  Status Delete(const SliceParts& key) override { return Delete(nullptr, key); }
  using WriteBatchBase::SingleDelete;
  Status SingleDelete(ColumnFamilyHandle* column_family,
                      const Slice& key) override;
  Status SingleDelete(const Slice& key) override {
    return SingleDelete(nullptr, key);
  }
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& ts) override;
  Status SingleDelete(ColumnFamilyHandle* column_family,
                      const SliceParts& key) override;
  Status SingleDelete(const SliceParts& key) override {
    return SingleDelete(nullptr, key);
  }
  using WriteBatchBase::DeleteRange;
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key) override;
  Status DeleteRange(const Slice& begin_key, const Slice& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key, const Slice& ts) override;
  Status DeleteRange(ColumnFamilyHandle* column_family,
                     const SliceParts& begin_key,
                     const SliceParts& end_key) override;
  Status DeleteRange(const SliceParts& begin_key,
                     const SliceParts& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }
  using WriteBatchBase::Merge;
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) override;
  Status Merge(const Slice& key, const Slice& value) override {
    return Merge(nullptr, key, value);
  }

  // Not for column families with timestamps.
  Status Merge(ColumnFamilyHandle* /*column_family*/, const Slice& /*key*/, const Slice& /*ts*/,
               const Slice& /*value*/) override {
    return Status::NotSupported("WriteBatch::Merge: keys with timestamps cannot be merged");
  }
  Status Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
               const SliceParts& value) override;
  Status Merge(const SliceParts& key, const SliceParts& value) override {
    return Merge(nullptr, key, value);
  }
  using WriteBatchBase::PutLogData;
  Status PutLogData(const Slice& blob) override;
  using WriteBatchBase::Clear;
  void Clear() override;
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;

  // Receives the writes of a batch. The forms with a column family stand for all families; by
  // default they pass writes to the default family on to the simple forms and fail for others.
  class Handler {
   public:
    virtual ~Handler();

    virtual Status PutCF(uint32_t column_family_id, const Slice& key, const Slice& value) {
      if (column_family_id != 0) return NoFamilies("PutCF");
      Put(key, value);
      return Status::OK();
    }
    virtual void Put(const Slice& /*key*/, const Slice& /*value*/) {}

    // `entity` is in the stored form of wide columns.
    virtual Status PutEntityCF(uint32_t /*column_family_id*/, const Slice& /*key*/,
                               const Slice& /*entity*/) {
      return Status::NotSupported("Handler::PutEntityCF is not implemented");
    }

    virtual Status DeleteCF(uint32_t column_family_id, const Slice& key) {
      if (column_family_id != 0) return NoFamilies("DeleteCF");
      Delete(key);
      return Status::OK();
    }
    virtual void Delete(const Slice& /*key*/) {}

    virtual Status SingleDeleteCF(uint32_t column_family_id, const Slice& key) {
      if (column_family_id != 0) return NoFamilies("SingleDeleteCF");
      SingleDelete(key);
      return Status::OK();
    }
    virtual void SingleDelete(const Slice& /*key*/) {}

    virtual Status DeleteRangeCF(uint32_t /*column_family_id*/, const Slice& /*begin_key*/,
                                 const Slice& /*end_key*/) {
      return NotThere("DeleteRangeCF");
    }

    virtual Status MergeCF(uint32_t column_family_id, const Slice& key, const Slice& value) {
      if (column_family_id != 0) return NoFamilies("MergeCF");
      Merge(key, value);
      return Status::OK();
    }
    virtual void Merge(const Slice& /*key*/, const Slice& /*value*/) {}

    virtual Status PutBlobIndexCF(uint32_t /*column_family_id*/, const Slice& /*key*/,
                                  const Slice& /*value*/) {
      return NotThere("PutBlobIndexCF");
    }

    // The default does nothing.
    virtual void LogData(const Slice& blob);

    // Marks of transactions.
    virtual Status MarkBeginPrepare(bool = false) { return NotThere("MarkBeginPrepare"); }
    virtual Status MarkEndPrepare(const Slice& /*xid*/) { return NotThere("MarkEndPrepare"); }
    virtual Status MarkNoop(bool /*empty_batch*/) { return NotThere("MarkNoop"); }
    virtual Status MarkRollback(const Slice& /*xid*/) { return NotThere("MarkRollback"); }
    virtual Status MarkCommit(const Slice& /*xid*/) { return NotThere("MarkCommit"); }
    virtual Status MarkCommitWithTimestamp(const Slice& /*xid*/, const Slice& /*commit_ts*/) {
      return NotThere("MarkCommitWithTimestamp");
    }

    // Asked before each write; false ends the iteration with OK. The default is true.
    virtual bool Continue();

   protected:
    friend class ::compassdb::WriteBatchInternal;

    // Answers of a handler that belongs to a transaction database.
    enum class OptionState {
      kUnknown,
      kDisabled,
      kEnabled,
    };
    virtual OptionState WriteAfterCommit() const { return OptionState::kUnknown; }
    virtual OptionState WriteBeforePrepare() const { return OptionState::kUnknown; }

   private:
    static Status NotThere(const char* function) {
      return Status::InvalidArgument("WriteBatch::Handler: not implemented", function);
    }
    static Status NoFamilies(const char* function) {
      return Status::InvalidArgument(
          "WriteBatch::Handler: write to a column family other than the default one, and not "
          "implemented",
          function);
    }
  };

  // Calls the handler for each write in order, until one call fails. Corruption if the bytes do not
  // parse or the count does not match.
  Status Iterate(Handler* handler) const;

  // The bytes of the batch.
  const std::string& Data() const { return rep_; }
  size_t GetDataSize() const { return rep_.size(); }

  // Number of writes.
  uint32_t Count() const;

  // Whether there is any write of the kind.
  bool HasPut() const;
  bool HasPutEntity() const;
  bool HasDelete() const;
  bool HasSingleDelete() const;
  bool HasDeleteRange() const;
  bool HasMerge() const;
  bool HasBeginPrepare() const;
  bool HasEndPrepare() const;
  bool HasCommit() const;
  bool HasRollback() const;

  // Replaces the timestamp of every key by `ts`. ts_sz_func returns the timestamp size of a
  // column family: 0 for none, the largest number for a family that is not known.
  Status UpdateTimestamps(const Slice& ts,
                          std::function<size_t(uint32_t /*cf*/)> ts_sz_func);

  // Compares the writes with the checksums kept for them; Corruption if one differs. OK if none are
  // kept.
  Status VerifyChecksum() const;
  using WriteBatchBase::GetWriteBatch;
  WriteBatch* GetWriteBatch() override { return this; }

  // What is added after this call is not written to the log.
  void MarkWalTerminationPoint();
  const SavePoint& GetWalTerminationPoint() const { return wal_term_point_; }
  void SetMaxBytes(size_t max_bytes) override { max_bytes_ = max_bytes; }

  // Opaque.
  struct ProtectionInfo;

  // Bytes of checksum kept for each write: 0 or 8.
  size_t GetProtectionBytesPerKey() const;

 private:
  friend class ::compassdb::WriteBatchInternal;
  friend class WriteBatchWithIndex;

  // Null as long as there are none.
  std::unique_ptr<SavePoints> save_points_;

  // See MarkWalTerminationPoint(); cleared if not set.
  SavePoint wal_term_point_;

  // Two flags of RocksDB's are around ours, for the layout.
  [[maybe_unused]] bool unused_flag_ = false;

  // Keys have room for timestamps that UpdateTimestamps() has not filled yet.
  bool needs_timestamps_ = false;
  [[maybe_unused]] bool unused_flag_too_ = false;

  // What the batch holds, one bit per kind of write; atomic, because the const functions fill it in
  // for a batch that was made from bytes.
  mutable std::atomic<uint32_t> content_flags_;
  uint32_t ComputeContentFlags() const;

  // 0: no limit.
  size_t max_bytes_;

  // Null without protection_bytes_per_key.
  std::unique_ptr<ProtectionInfo> protection_;

  // The size of timestamps in keys that are added without a column family's handle.
  size_t default_cf_ts_sz_ = 0;

 protected:
  std::string rep_;
};

}  // namespace ROCKSDB_NAMESPACE
