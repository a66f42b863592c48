// SPDX-License-Identifier: Apache-2.0
// Counts of the calls by which a process asks the kernel to make data durable.
//
// The program defines fsync, fdatasync, syncfs, sync, msync and
// sync_file_range itself; the dynamic linker gives these to every library of
// the process, so both engines are counted at the same place, independent of
// their own counters. io_uring_submit is taken the same way, because
// reads made through a ring are no system calls of their own.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>

namespace kvbench {

struct SyncCounts {
  uint64_t fsyncs = 0;  // fsync, fdatasync, syncfs and sync
  uint64_t msyncs = 0;
  uint64_t sync_file_ranges = 0;
  uint64_t ring_requests = 0;  // requests handed to io_uring
};

SyncCounts ReadSyncCounts();

// From now on the calls of the process return at once: what durability costs (--skip-syncs). They are counted still.
void SkipSyncs();

// syncfs on the file system of `dir`, not counted. False if it failed.
bool UncountedSyncFs(const char* dir);

}  // namespace kvbench
