// SPDX-License-Identifier: Apache-2.0
// Tells a torn tail from corruption: a power cut takes nothing of a log that was
// synced, so damage below what is known to have been synced is not its work.
//
// What is known of log L (docs/formats/wal.md, "What was synced"):
//  * every record of L says how far L was synced when it was written;
//  * the log that follows L says how far L was synced when that was begun;
//  * a record of a log behind L that says that anything of its own log was synced
//    says that L is whole: the logs before a log are synced before it;
//  * the manifest says it as of its last record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wal/wal_recovery.h"

namespace compassdb {

// Log numbers[index] can be read up to `end`, where `damage` begins. Corruption if more of it is
// known to have been synced; OK if not. Reads the rest of that log and the logs behind it.
Status CheckNothingSyncedIsLost(FileSystem* fs, const WalRecoveryOptions& options,
                                const std::vector<uint64_t>& numbers, size_t index, uint64_t end,
                                const std::string& damage);

// Corruption if the last synced log that the manifest knows of is not among `numbers`.
Status CheckSyncedLogIsThere(const WalRecoveryOptions& options,
                             const std::vector<uint64_t>& numbers);

}  // namespace compassdb
