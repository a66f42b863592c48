// SPDX-License-Identifier: Apache-2.0
// Replays a chain of write-ahead logs.
//
// What can be wrong, and what each mode does:
//
//                       torn tail, or damage   a log missing or
//                       before a later record  shorter than its successor says
//  kTolerateCorrupted-  stop there             missing: Corruption; shorter: stop
//    TailRecords                               before the successor
//  kPointInTimeRecovery the same               the same
//  kAbsoluteConsistency Corruption             Corruption
//  kSkipAnyCorrupted-   next record, or log    continue
//    Records
//
// An empty log that no later one names is skipped: it was created in advance and never used.
//
// Instead of a stop: Corruption if anything after that place is known to have been synced
// (wal_synced.h); RocksDB does not check. Unsynced data may have reached the disk in any order,
// so a hole in it is a normal end: kTolerateCorruptedTailRecords does not refuse it, as RocksDB's
// does. A torn tail of a log whose successor shows that nothing is missing (its predecessor_bytes
// end before the tear) does not stop the replay. RocksDB's
// kTolerateCorruptedTailRecords continues after a torn tail in any case, so a later write may
// survive an earlier one's loss. A stop returns Status OK: WalRecoveryReport says where,
// why and how much. In every mode a log of another database or of a newer format, an I/O error,
// and an error of the callback end the replay with that Status.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "wal/wal_format.h"

namespace compassdb {

// Mirrors rocksdb::WALRecoveryMode, value by value.
enum class WalRecoveryMode : uint8_t {
  kTolerateCorruptedTailRecords = 0,
  kAbsoluteConsistency = 1,
  kPointInTimeRecovery = 2,
  kSkipAnyCorruptedRecords = 3,
};

// What to do with a record that was read without an error.
enum class WalVerdict {
  kReplay,
  kSkip,
  kStop,     // the replay ends before it, as at damage in point-in-time recovery
  kDamaged,  // it counts as damage
};
// Called for each record before the callback. It may replace the batch (with one that is valid
// until the next call). An error ends the replay.
using WalRecordFilter =
    std::function<Status(uint64_t wal_number, const std::string& path, Slice* batch,
                         WalVerdict* verdict)>;

struct WalRecoveryOptions {
  WalRecoveryMode mode = WalRecoveryMode::kPointInTimeRecovery;
  std::string wal_dir;
  // The oldest log that is still needed; older ones may be missing.
  uint64_t min_number = 0;
  std::string db_id;  // refuses logs of another database; empty: no check
  SyncedLog synced;   // what the manifest says
  WalRecordFilter filter;  // may be empty
};

struct WalRecoveryReport {
  uint64_t logs = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;          // of the records replayed
  uint64_t dropped_bytes = 0;  // of damaged records that were skipped or stopped the replay
  bool records_behind = false;  // there were records after the damage, in the same log
  // Something behind it was not replayed: at damage, unless that is skipped, or by a filter.
  bool stopped_early = false;
  uint64_t stop_number = 0;    // the log and the offset in it where replay stopped
  uint64_t stop_offset = 0;
  std::string stop_reason;
  // The last log read and where its replayed records end: what the header of
  // the next log names as predecessor, if old logs are kept.
  uint64_t end_number = 0;
  uint64_t end_offset = 0;
  // Every problem, in order, with file and offset.
  std::vector<std::string> problems;
};

// Applies a batch, which is at `place` of the log; an error ends the replay.
using WalRecordCallback =
    std::function<Status(uint64_t wal_number, const Slice& batch, const BatchPlace& place)>;

// Replays the logs of `numbers` (ascending, each >= min_number) in order.
Status RecoverWals(FileSystem* fs, const WalRecoveryOptions& options,
                   const std::vector<uint64_t>& numbers, const WalRecordCallback& callback,
                   WalRecoveryReport* report);

// Moves empty or missing logs from the end of `numbers` to `dropped`: they were created in advance and not used
// (docs/formats/wal.md, "The chain"). Logs up to `kept` stay, and one that cannot be read is not empty. It starts at the
// end: a log that is not empty shows that those before it are complete, even while a primary writes.
void DropEmptyTail(FileSystem* fs, const std::string& wal_dir, uint64_t kept,
                   std::vector<uint64_t>* numbers, std::vector<uint64_t>* dropped);

// The numbers of the logs in a directory that are at least min_number, ascending.
Status ListWals(FileSystem* fs, const std::string& wal_dir, uint64_t min_number,
                std::vector<uint64_t>* numbers);

}  // namespace compassdb
