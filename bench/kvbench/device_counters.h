// SPDX-License-Identifier: Apache-2.0
// The kernel's counters of this process's disk I/O.
//
//   bytes written   write_bytes - cancelled_write_bytes of /proc/self/io
//   bytes read      read_bytes of /proc/self/io
//   device reads    with O_DIRECT every read call reads the device: syscr of
//                   /proc/self/io plus requests given to io_uring. Without it
//                   the page cache serves reads, and only the device knows:
//                   reads completed in /proc/diskstats, which counts other
//                   processes too (run on a quiet machine).
#pragma once

#include <cstdint>
#include <string>

#include "sync_hooks.h"

namespace kvbench {

struct DeviceCounters {
  int64_t read_bytes = 0;
  int64_t write_bytes = 0;  // cancelled bytes taken off
  int64_t dirtied_bytes = 0;  // cancelled bytes not taken off
  int64_t read_calls = 0;
  int64_t disk_reads = -1;  // -1: the file system has no device of its own
  double user_seconds = 0, system_seconds = 0;  // CPU time of the process
  SyncCounts syncs;
};

// Reads all counters, for the device that holds `dir`. False, with a message
// in *error, if the kernel does not report them.
bool ReadDeviceCounters(const std::string& dir, DeviceCounters* counters, std::string* error);

// Peak resident memory: reset at the start of a workload, read at its end.
void ResetPeakRss();
uint64_t PeakRssBytes();

struct FileSpace {
  uint64_t allocated = 0;  // blocks
  uint64_t length = 0;     // with what was never written or was punched out
};
// Of the files below `dir`.
FileSpace SpaceOf(const std::string& dir);

}  // namespace kvbench
