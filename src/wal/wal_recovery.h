// SPDX-License-Identifier: Apache-2.0
// Replays a chain of write-ahead logs.
//
// What can be wrong, and what each mode makes of it:
//
//                       torn tail, or damage   a log missing or
//                       before a later record  shorter than its successor says
//  kTolerateCorrupted-  stop there             missing: Corruption; shorter: stop
//    TailRecords                               before the successor
//  kPointInTimeRecovery the same               the same
//  kAbsoluteConsistency Corruption             Corruption
//  kSkipAnyCorrupted-   next record, or log    go on
//    Records
//
// An empty log that no later one names is passed over: it was made ahead, and never begun.
//
// Where it says stop: Corruption instead if anything behind that place is known to have been
// synced (wal_synced.h); RocksDB does not look. What is not known to have been synced may have
// reached the disk in any order, so a hole in it is an end like any other: kTolerateCorrupted-
// TailRecords need not refuse it, as RocksDB's does. A torn tail of a log whose successor shows
// that nothing is missing (its predecessor_bytes end before the tear) does not stop the replay.
// RocksDB's kTolerateCorruptedTailRecords goes on after a torn tail in any case, so that a later
// write may survive an earlier one's loss. A stop gives Status OK: WalRecoveryReport says where,
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

// What becomes of a record that was read well.
enum class WalVerdict {
  kReplay,
  kSkip,
  kStop,     // the replay ends before it, as at damage in point-in-time recovery
  kDamaged,  // it is treated as the mode treats damage
};
// Asked for each record before the callback, and may put another batch in its place (which lives
// until the next call). An error ends the replay.
using WalRecordFilter =
    std::function<Status(uint64_t wal_number, const std::string& path, Slice* batch,
                         WalVerdict* verdict)>;

struct WalRecoveryOptions {
  WalRecoveryMode mode = WalRecoveryMode::kPointInTimeRecovery;
  std::string wal_dir;
  // The oldest log that is still needed; older ones may be gone.
  uint64_t min_number = 0;
  std::string db_id;  // refuses logs of another database; empty: no check
  SyncedLog synced;   // what the manifest says
  WalRecordFilter filter;  // may be empty
};

struct WalRecoveryReport {
  uint64_t logs = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;          // of the records replayed
  uint64_t dropped_bytes = 0;  // of damaged records passed over or stopped at
  bool records_behind = false;  // damage had records behind it, in its own log
  bool stopped_early = false;  // point in time: something after it was not replayed
  uint64_t stop_number = 0;    // the log and the offset in it where replay stopped
  uint64_t stop_offset = 0;
  std::string stop_reason;
  // The last log read and where its replayed records end: what the header of
  // the next log names as predecessor, if old logs are kept.
  uint64_t end_number = 0;
  uint64_t end_offset = 0;
  // Everything that was not as it should be, in order, with file and offset.
  std::vector<std::string> problems;
};

// Applies a batch; an error ends the replay.
using WalRecordCallback = std::function<Status(uint64_t wal_number, const Slice& batch)>;

// Replays the logs of `numbers` (ascending, each >= min_number) in order.
Status RecoverWals(FileSystem* fs, const WalRecoveryOptions& options,
                   const std::vector<uint64_t>& numbers, const WalRecordCallback& callback,
                   WalRecoveryReport* report);

// Takes the logs from the end of `numbers` that are empty, and names them, or gone by now: they were made ahead and
// are not begun (docs/formats/wal.md, "The chain"). Up to `kept` all stay, and one that cannot be read is not empty. From
// the back, as a log that is not empty shows that those before it are complete, whoever writes meanwhile.
void DropEmptyTail(FileSystem* fs, const std::string& wal_dir, uint64_t kept,
                   std::vector<uint64_t>* numbers, std::vector<uint64_t>* dropped);

// The numbers of the logs in a directory that are at least min_number, ascending.
Status ListWals(FileSystem* fs, const std::string& wal_dir, uint64_t min_number,
                std::vector<uint64_t>* numbers);

}  // namespace compassdb
