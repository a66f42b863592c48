// SPDX-License-Identifier: Apache-2.0
// Reasons of jobs (JobReport::reason) that others than their picker look at.
#pragma once

namespace compassdb {

inline constexpr const char* kSnapshotsReason = "snapshots";
inline constexpr const char* kCoveredReason = "range deletions";
inline constexpr const char* kScansReason = "scans";
inline constexpr const char* kMarkedReason = "marked";
inline constexpr const char* kTtlReason = "ttl";
inline constexpr const char* kPeriodicReason = "periodic";
inline constexpr const char* kValuesReason = "values";
inline constexpr const char* kFifoSizeReason = "fifo size";
inline constexpr const char* kFifoTtlReason = "fifo ttl";

}  // namespace compassdb
