// SPDX-License-Identifier: Apache-2.0
// Which bytes of which compaction file are in use, and what may be freed.
//
// A file without extents is unlinked by the next Purge, unless it is pinned. Adjacent
// dead extents of a file in use make a dead run. Large runs are punched out (rule 9),
// smaller ones if the caller asks: never in a file with more than one hard link, never
// while deletions are disabled, never in a file with a checksum of its whole. Sparse
// reports what cannot be punched, so that the rest of its file is rewritten.
//
// Thread safety: all methods; holds its own lock and never calls out with it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "env/file_system.h"
#include "manifest/file_checksum.h"
#include "table/piece/piece_meta.h"
#include "util/mutex.h"

namespace compassdb {

class FileCache;

// How many dead bytes the files of a database may have together: that share of the live bytes, at least 1 MiB.
// Three quarters of it for bytes that punching cannot free (Sparse): otherwise files would be vacated whenever many
// holes are pending.
inline uint64_t DeadBytesAllowed(uint64_t live_bytes, uint32_t percent) {
  return std::max<uint64_t>(1 << 20, live_bytes / 100 * percent);
}
inline uint64_t HeldBytesAllowed(uint64_t live_bytes, uint32_t percent) {
  return DeadBytesAllowed(live_bytes, percent) / 4 * 3;
}

class ExtentLedger {
 public:
  // Runs of dead bytes shorter than `min_punch_bytes` are left (0: never punch), those shorter than
  // `large_punch_bytes` unless small ones are asked for.
  ExtentLedger(FileSystem* fs, FileCache* files, uint64_t min_punch_bytes, uint64_t large_punch_bytes = 0);

  // A file that a job is writing: kept until Unpin, even without extents.
  void PinFile(uint64_t file_number);
  void UnpinFile(uint64_t file_number);
  std::vector<uint64_t> PinnedFiles() const;

  // An extent is in use (its edit is committed, or recovery found it). Empty ones are ignored.
  void Add(const Extent& extent);
  // No reader and no manifest names the extent now.
  void Release(const Extent& extent);

  // The file has this checksum, which its edit names, too: before its extents are added.
  void SetChecksum(const FileChecksum& checksum);
  std::optional<FileChecksum> ChecksumOf(uint64_t file_number) const;
  // The checksums of all files that hold extents in use, by number.
  std::vector<FileChecksum> Checksums() const;

  // Deletes files, instead of FileSystem::DeleteFile. Before the first Purge.
  void DeleteBy(std::function<Status(const std::string& path)> delete_file) {
    delete_file_ = std::move(delete_file);
  }

  // Counted: while > 0 nothing is unlinked or punched.
  void DisableDeletions();
  void EnableDeletions(bool force);
  bool deletions_enabled() const;

  struct Unlinked {
    uint64_t number;
    std::string path;
  };
  // Unlinks all dead files and reports them; called without the database mutex. Returns the first error, after all were
  // tried.
  Status Purge(std::vector<Unlinked>* unlinked);
  bool HasDeadFiles() const;

  // Punches the largest runs, one pass; called without the database mutex, off the write path. A run that is longer than
  // the rest of `bytes` is punched in parts. At least one hole is punched.
  struct PunchLimits {
    uint64_t bytes = UINT64_MAX;
    size_t holes = 64;
    bool small = false;  // runs below large_punch_bytes, too
  };
  Status Punch(const PunchLimits& limits, uint64_t* punched);
  // Whether there is something to punch.
  bool HasHoles(bool small) const;
  // Dead bytes of the files that have something to punch, small or large.
  uint64_t PunchableBytes() const;
  // All extents in use of their files, as recovery found them. Bytes between them and in front of them are dead, and
  // perhaps not yet punched; so are those behind them, up to `ends` (by file), if that is known.
  void AddRecovered(std::vector<Extent> extents, const std::map<uint64_t, uint64_t>& ends = {});
  // Removes and returns the files that may be unlinked; the caller unlinks them.
  std::vector<uint64_t> TakeDeadFiles();

  // Files in use with dead bytes that punching cannot free: runs that are too small, files with
  // several names, file systems without holes. Nothing while deletions are disabled.
  struct SparseFile {
    uint64_t number;
    uint64_t live_bytes;
    uint64_t dead_bytes;
  };
  std::vector<SparseFile> Sparse() const;
  uint64_t DeadBytes() const;   // not punched, of the files that hold extents in use
  uint64_t LiveBytes() const;   // bytes of extents in use
  uint64_t TotalBytes() const;  // bytes of the files that hold them, holes not counted
  std::vector<uint64_t> LiveFiles() const;
  uint64_t releases() const { return releases_; }  // how many there were
  void CheckInvariants() const EXCLUDES(mu_);

 private:
  struct File {
    uint64_t end = 0;         // end of the last extent
    uint64_t live_bytes = 0;
    uint64_t live_extents = 0;
    uint64_t dead_bytes = 0;  // of the runs in `dead`
    uint64_t punched_bytes = 0;
    int pins = 0;
    std::optional<FileChecksum> checksum;
    std::map<uint64_t, uint64_t> dead;  // offset -> end, coalesced, not yet punched
  };
  struct Hole {
    uint64_t number, begin, end;
  };
  static void CheckInvariants(const File& file);
  void AddDead(uint64_t number, File* file, uint64_t begin, uint64_t end) REQUIRES(mu_);
  // Notes the file if it has something to punch.
  void Mark(uint64_t number, const File& file) REQUIRES(mu_);
  std::vector<Hole> TakeHoles(const PunchLimits& limits) REQUIRES(mu_);
  void PutBack(const Hole& hole) EXCLUDES(mu_);
  void MarkIfDead(uint64_t number, const File& file) REQUIRES(mu_);
  std::vector<uint64_t> TakeDead() REQUIRES(mu_);

  FileSystem* const fs_;
  FileCache* const files_cache_;
  const uint64_t min_punch_bytes_;
  const uint64_t large_punch_bytes_;
  std::function<Status(const std::string& path)> delete_file_;
  std::atomic<uint64_t> releases_{0};
  mutable Mutex mu_;
  int disabled_ GUARDED_BY(mu_) = 0;
  std::unordered_map<uint64_t, File> files_ GUARDED_BY(mu_);
  std::unordered_set<uint64_t> dead_files_ GUARDED_BY(mu_);
  std::unordered_map<uint64_t, bool> punch_candidates_ GUARDED_BY(mu_);  // true: with large runs
};

}  // namespace compassdb
