// SPDX-License-Identifier: Apache-2.0
// What the engine's database offers in addition to rocksdb::DB: to transactions, copies, and public
// functions that are no members of it.
//
// Thread safety: all methods.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/foreign_cast.h"
#include "db/write/transaction_support.h"
#include "format/internal_key.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "util/process.h"

namespace compassdb {

class ColumnFamily;
using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

class ExtendedDB : public rocksdb::DB {
 public:
  // The one that `db` wraps or is; null: it is of another engine.
  static ExtendedDB* Of(rocksdb::DB* db) {
    return db == nullptr ? nullptr : ForeignCast<ExtendedDB*>(db->GetRootDB());
  }

  // The process that opened it.
  virtual const ProcessMark& process() const = 0;

  // --- For transactions ---
  // The batch may hold marks of two-phase commit.
  virtual Status WriteForTransaction(const WriteOptions& options, WriteBatch* batch,
                                     const TransactionWrite& write) = 0;
  // Logs a section, which is open afterwards.
  virtual Status LogSection(const WriteOptions& options,
                            const std::shared_ptr<PreparedSection>& section) = 0;
  // The prepared sections that recovery found; once.
  virtual RecoveredTransactions TakeRecoveredTransactions() = 0;
  virtual std::shared_ptr<ColumnFamily> FamilyById(uint32_t id) const = 0;
  // As Reader::NewestSequence. `time` may be null.
  virtual Status NewestSequence(ColumnFamilyHandle* family, const Slice& key, SequenceNumber since,
                                SequenceNumber* newest, std::string* time) = 0;

  // --- For copies and public functions ---
  using RecordVisitor = std::function<bool(const ParsedInternalKey&, const Slice&)>;
  // As Reader::ForEachRecord.
  virtual Status ForEachRecord(ColumnFamilyHandle* family, const Slice& begin, const Slice& end,
                               const RecordVisitor& visit) = 0;
  virtual Status LoadIndex(ColumnFamilyHandle* family) = 0;  // compassdb/index.h
  virtual Status WaitUntilCompacted(const rocksdb::WaitForCompactOptions& options) = 0;
  // No flush or compaction starts from now on.
  virtual void CancelBackgroundWork(bool wait) = 0;
  virtual Status DropTables(ColumnFamilyHandle* family, const rocksdb::RangePtr* ranges, size_t n,
                            bool include_end) = 0;  // DeleteFilesInRanges
  // Flushes, and writes all of the family into a table file; an empty family gives none.
  virtual Status ExportTable(ColumnFamilyHandle* family, const std::string& path,
                             rocksdb::LiveFileMetaData* metadata, bool* written) = 0;
};

}  // namespace compassdb
