// SPDX-License-Identifier: Apache-2.0
// Distinguishes a torn tail from corruption. A power cut loses nothing that was
// synced, so damage below the synced offset is corruption.
//
// How far log L was synced is known from (docs/formats/wal.md, "What was synced"):
//  * every record of L: how far L was synced when it was written;
//  * the log that follows L: how far L was synced when that log began;
//  * a record of a later log that says that a part of its own log was synced:
//    then L is whole, as earlier logs are synced first;
//  * the manifest: as of its last record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "wal/wal_format.h"

namespace compassdb {

// Log numbers[index] can be read up to `end`, where `damage` begins. Corruption if more of it is
// known to have been synced; OK if not. Reads the rest of that log and later logs. `manifest`: what that says.
Status CheckNothingSyncedIsLost(FileSystem* fs, const std::string& wal_dir, const SyncedLog& manifest,
                                const std::vector<uint64_t>& numbers, size_t index, uint64_t end,
                                const std::string& damage);

// Corruption if the last synced log that the manifest knows of, and that is needed (from min_number on), is not among
// `numbers`.
Status CheckSyncedLogIsThere(const std::string& wal_dir, const SyncedLog& synced, uint64_t min_number,
                             const std::vector<uint64_t>& numbers);

}  // namespace compassdb
