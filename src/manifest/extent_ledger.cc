// SPDX-License-Identifier: Apache-2.0
#include "manifest/extent_ledger.h"

#include <algorithm>

#include "env/missing.h"
#include "table/file/file_cache.h"
#include "util/checked.h"

namespace compassdb {

namespace {
constexpr uint64_t kPage = 4096;

// The part of a dead run that can be punched: whole pages, as the rest of a page may belong to a neighbour.
uint64_t FirstPage(uint64_t begin) { return (begin + kPage - 1) / kPage * kPage; }
uint64_t LastPage(uint64_t end) { return end / kPage * kPage; }

// Adds [begin, end) to a map of disjoint runs, joining neighbours. Returns by how many bytes they grew.
uint64_t Coalesce(std::map<uint64_t, uint64_t>* runs, uint64_t begin, uint64_t end) {
  auto it = runs->lower_bound(begin);
  if (it != runs->begin()) {
    auto before = std::prev(it);
    if (before->second >= begin) it = before;
  }
  uint64_t merged = 0;
  while (it != runs->end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    merged += it->second - it->first;
    it = runs->erase(it);
  }
  (*runs)[begin] = end;
  return end - begin - merged;
}
}  // namespace

ExtentLedger::ExtentLedger(FileSystem* fs, FileCache* files, uint64_t min_punch_bytes,
                           uint64_t large_punch_bytes)
    : fs_(fs),
      files_cache_(files),
      min_punch_bytes_(min_punch_bytes),
      large_punch_bytes_(std::max(min_punch_bytes, large_punch_bytes)),
      delete_file_([fs](const std::string& path) { return fs->DeleteFile(path); }) {}

void ExtentLedger::CheckInvariants(const File& file) {
  if constexpr (!kChecked) return;
  COMPASSDB_INVARIANT(file.pins >= 0, "a file is unpinned as often as it was pinned");
  COMPASSDB_INVARIANT((file.live_extents == 0) == (file.live_bytes == 0), "extents in use have bytes");
  uint64_t bytes = 0, end = 0;
  for (const auto& [first, last] : file.dead) {
    COMPASSDB_INVARIANT(first < last, "a dead run has bytes");
    COMPASSDB_INVARIANT(bytes == 0 || end < first, "dead runs are separate");
    bytes += last - first;
    end = last;
  }
  COMPASSDB_INVARIANT(bytes == file.dead_bytes, "dead bytes are those of the dead runs");
  COMPASSDB_INVARIANT(end <= file.end, "what is dead was in use");
}

void ExtentLedger::CheckInvariants() const {
  if constexpr (!kChecked) return;
  MutexLock lock(&mu_);
  for (const auto& [number, file] : files_) CheckInvariants(file);
  for (const uint64_t number : dead_files_) {
    const auto found = files_.find(number);
    COMPASSDB_INVARIANT(found != files_.end(), "a file to be unlinked is known");
    COMPASSDB_INVARIANT(found->second.live_extents == 0, "a file to be unlinked has no extent in use");
    COMPASSDB_INVARIANT(found->second.pins == 0, "a file to be unlinked is written by no job");
  }
  for (const auto& [number, large] : punch_candidates_) {
    const auto found = files_.find(number);
    COMPASSDB_INVARIANT(found != files_.end(), "a file to be punched is known");
    COMPASSDB_INVARIANT(min_punch_bytes_ > 0 && !found->second.checksum, "a file to be punched may be");
  }
}

void ExtentLedger::PinFile(uint64_t number) {
  MutexLock lock(&mu_);
  files_[number].pins++;
}

void ExtentLedger::MarkIfDead(uint64_t number, const File& file) {
  if (file.pins == 0 && file.live_extents == 0) dead_files_.insert(number);
}

void ExtentLedger::UnpinFile(uint64_t number) {
  MutexLock lock(&mu_);
  File& file = files_[number];
  file.pins--;
  MarkIfDead(number, file);
  if (file.pins == 0) Mark(number, file);
  CheckInvariants(file);
}

std::vector<uint64_t> ExtentLedger::PinnedFiles() const {
  MutexLock lock(&mu_);
  std::vector<uint64_t> pinned;
  for (const auto& [number, file] : files_) {
    if (file.pins > 0) pinned.push_back(number);
  }
  return pinned;
}

void ExtentLedger::Add(const Extent& extent) {
  if (extent.length == 0) return;
  MutexLock lock(&mu_);
  File& file = files_[extent.file_number];
  file.end = std::max(file.end, extent.offset + extent.length);
  file.live_bytes += extent.length;
  file.live_extents++;
  dead_files_.erase(extent.file_number);
}

void ExtentLedger::SetChecksum(const FileChecksum& checksum) {
  MutexLock lock(&mu_);
  files_[checksum.file_number].checksum = checksum;
  punch_candidates_.erase(checksum.file_number);
}

std::optional<FileChecksum> ExtentLedger::ChecksumOf(uint64_t file_number) const {
  MutexLock lock(&mu_);
  const auto found = files_.find(file_number);
  return found == files_.end() ? std::nullopt : found->second.checksum;
}

std::vector<FileChecksum> ExtentLedger::Checksums() const {
  std::vector<FileChecksum> checksums;
  MutexLock lock(&mu_);
  for (const auto& [number, file] : files_) {
    if (file.checksum && file.live_extents > 0) checksums.push_back(*file.checksum);
  }
  std::sort(checksums.begin(), checksums.end(), [](const FileChecksum& a, const FileChecksum& b) {
    return a.file_number < b.file_number;
  });
  return checksums;
}

void ExtentLedger::Release(const Extent& extent) {
  if (extent.length == 0) return;
  MutexLock lock(&mu_);
  auto it = files_.find(extent.file_number);
  if (it == files_.end()) return;
  File& file = it->second;
  COMPASSDB_INVARIANT(file.live_extents > 0 && file.live_bytes >= extent.length, "what is released was in use");
  file.live_bytes -= std::min(file.live_bytes, extent.length);
  file.live_extents -= std::min<uint64_t>(file.live_extents, 1);
  AddDead(extent.file_number, &file, extent.offset, extent.offset + extent.length);
  ++releases_;
  MarkIfDead(extent.file_number, file);
  CheckInvariants(file);
}

void ExtentLedger::AddDead(uint64_t number, File* file, uint64_t begin, uint64_t end) {
  file->dead_bytes += Coalesce(&file->dead, begin, end);
  if (file->live_extents == 0 || min_punch_bytes_ == 0 || file->checksum) return;
  const auto run = std::prev(file->dead.upper_bound(begin));
  const uint64_t length = run->second - run->first;
  if (length < min_punch_bytes_) return;
  bool& large = punch_candidates_[number];
  large = large || length >= large_punch_bytes_;
}

void ExtentLedger::Mark(uint64_t number, const File& file) {
  punch_candidates_.erase(number);
  if (file.live_extents == 0 || min_punch_bytes_ == 0 || file.checksum) return;
  uint64_t longest = 0;
  for (const auto& [first, last] : file.dead) {
    if (FirstPage(first) < LastPage(last)) longest = std::max(longest, last - first);
  }
  if (longest >= min_punch_bytes_) punch_candidates_[number] = longest >= large_punch_bytes_;
}

void ExtentLedger::AddRecovered(std::vector<Extent> extents, const std::map<uint64_t, uint64_t>& ends) {
  std::erase_if(extents, [](const Extent& e) { return e.length == 0; });
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::pair(a.file_number, a.offset) < std::pair(b.file_number, b.offset);
  });
  for (const Extent& e : extents) Add(e);
  MutexLock lock(&mu_);
  const auto add_gap = [&](uint64_t number, uint64_t begin, uint64_t end) REQUIRES(mu_) {
    if (begin >= end) return;
    File& file = files_[number];
    file.end = std::max(file.end, end);
    AddDead(number, &file, begin, end);
  };
  for (size_t i = 0; i < extents.size(); ++i) {
    const Extent& e = extents[i];
    const bool first = i == 0 || extents[i - 1].file_number != e.file_number;
    const bool last = i + 1 == extents.size() || extents[i + 1].file_number != e.file_number;
    add_gap(e.file_number, first ? kCompactionFileHeaderBytes : extents[i - 1].offset + extents[i - 1].length, e.offset);
    const auto known = last ? ends.find(e.file_number) : ends.end();
    if (known != ends.end()) add_gap(e.file_number, e.offset + e.length, known->second);
  }
}

std::vector<ExtentLedger::SparseFile> ExtentLedger::Sparse() const {
  std::vector<SparseFile> sparse;
  MutexLock lock(&mu_);
  if (disabled_ > 0) return sparse;
  for (const auto& [number, file] : files_) {
    if (file.live_extents == 0 || file.pins > 0 || punch_candidates_.count(number) != 0) continue;
    if (file.dead_bytes > 0) sparse.push_back({number, file.live_bytes, file.dead_bytes});
  }
  return sparse;
}

void ExtentLedger::DisableDeletions() {
  MutexLock lock(&mu_);
  disabled_++;
}

void ExtentLedger::EnableDeletions(bool force) {
  MutexLock lock(&mu_);
  disabled_ = force ? 0 : std::max(0, disabled_ - 1);
}

bool ExtentLedger::deletions_enabled() const {
  MutexLock lock(&mu_);
  return disabled_ == 0;
}

bool ExtentLedger::HasDeadFiles() const {
  MutexLock lock(&mu_);
  return disabled_ == 0 && !dead_files_.empty();
}

bool ExtentLedger::HasHoles(bool small) const {
  MutexLock lock(&mu_);
  if (disabled_ > 0) return false;
  if (small) return !punch_candidates_.empty();
  return std::any_of(punch_candidates_.begin(), punch_candidates_.end(), [](const auto& c) { return c.second; });
}

uint64_t ExtentLedger::PunchableBytes() const {
  MutexLock lock(&mu_);
  uint64_t sum = 0;
  for (const auto& [number, large] : punch_candidates_) {
    const auto found = files_.find(number);
    if (found != files_.end() && found->second.live_extents > 0) sum += found->second.dead_bytes;
  }
  return sum;
}

std::vector<uint64_t> ExtentLedger::TakeDead() {
  std::vector<uint64_t> dead(dead_files_.begin(), dead_files_.end());
  for (uint64_t number : dead) {
    files_.erase(number);
    punch_candidates_.erase(number);
  }
  dead_files_.clear();
  return dead;
}

std::vector<uint64_t> ExtentLedger::TakeDeadFiles() {
  MutexLock lock(&mu_);
  return disabled_ > 0 ? std::vector<uint64_t>() : TakeDead();
}

Status ExtentLedger::Purge(std::vector<Unlinked>* unlinked) {
  Status result;
  CheckInvariants();
  for (uint64_t number : TakeDeadFiles()) {
    files_cache_->Evict(number);
    std::string path = files_cache_->PathOf(number);
    Status s = delete_file_(path);
    files_cache_->dirs()->Forget(number);
    if (s.ok() || IsMissing(s)) {
      if (unlinked != nullptr) unlinked->push_back({number, std::move(path)});
    } else if (result.ok()) {
      result = s;
    }
  }
  return result;
}

std::vector<ExtentLedger::Hole> ExtentLedger::TakeHoles(const PunchLimits& limits) {
  const uint64_t least = limits.small ? min_punch_bytes_ : large_punch_bytes_;
  std::vector<Hole> holes;
  std::vector<uint64_t> looked_at;
  for (const auto& [number, large] : punch_candidates_) {
    if (!large && !limits.small) continue;
    looked_at.push_back(number);
    const auto found = files_.find(number);
    if (found == files_.end() || found->second.pins > 0 || found->second.live_extents == 0) continue;
    for (const auto& [first, last] : found->second.dead) {
      const Hole hole{number, FirstPage(first), LastPage(last)};
      if (hole.end > hole.begin && last - first >= least) holes.push_back(hole);
    }
  }
  const size_t taken = std::min(limits.holes, holes.size());
  std::partial_sort(holes.begin(), holes.begin() + static_cast<ptrdiff_t>(taken), holes.end(),
                    [](const Hole& a, const Hole& b) { return a.end - a.begin > b.end - b.begin; });
  uint64_t left = limits.bytes;
  size_t n = 0;
  for (; n < taken && (n == 0 || left >= least); ++n) {
    Hole& hole = holes[n];
    // Leaves no rest that is too small for a hole.
    const uint64_t part = std::max(left / kPage * kPage, FirstPage(least));
    if (hole.end - hole.begin > part && hole.end - hole.begin - part >= FirstPage(least)) hole.end = hole.begin + part;
    left -= std::min(left, hole.end - hole.begin);
    File& file = files_[hole.number];
    const auto run = std::prev(file.dead.upper_bound(hole.begin));
    const auto [first, last] = *run;
    file.dead.erase(run);
    // Parts of pages stay, to be punched with their neighbours.
    if (first < hole.begin) file.dead[first] = hole.begin;
    if (hole.end < last) file.dead[hole.end] = last;
    file.dead_bytes -= hole.end - hole.begin;
    file.punched_bytes += hole.end - hole.begin;
  }
  holes.resize(n);
  for (uint64_t number : looked_at) {
    const auto found = files_.find(number);
    if (found == files_.end() || found->second.pins > 0) {
      punch_candidates_.erase(number);  // UnpinFile marks it again
    } else {
      Mark(number, found->second);
    }
  }
  return holes;
}

// The hole is not punched now. The next large dead run in the file tries again.
void ExtentLedger::PutBack(const Hole& hole) {
  MutexLock lock(&mu_);
  const auto found = files_.find(hole.number);
  if (found == files_.end()) return;
  punch_candidates_.erase(hole.number);
  found->second.dead_bytes += Coalesce(&found->second.dead, hole.begin, hole.end);
  found->second.punched_bytes -= hole.end - hole.begin;
}

Status ExtentLedger::Punch(const PunchLimits& limits, uint64_t* punched) {
  *punched = 0;
  CheckInvariants();
  std::vector<Hole> holes;
  {
    MutexLock lock(&mu_);
    if (disabled_ > 0) return Status::OK();
    holes = TakeHoles(limits);
  }
  Status result;
  for (const Hole& hole : holes) {
    const std::string path = files_cache_->PathOf(hole.number);
    // A second name of the file (a checkpoint's) still needs the bytes.
    uint64_t links = 0;
    Status s = fs_->GetLinkCount(path, &links);
    if (!s.ok() || links != 1) {
      PutBack(hole);
      continue;
    }
    s = fs_->PunchHole(path, hole.begin, hole.end - hole.begin);
    if (s.ok()) {
      *punched += hole.end - hole.begin;
      continue;
    }
    if (!s.IsNotSupported() && result.ok()) result = s;
    PutBack(hole);
  }
  return result;
}

uint64_t ExtentLedger::DeadBytes() const {
  MutexLock lock(&mu_);
  uint64_t sum = 0;
  for (const auto& [number, file] : files_) {
    if (file.live_extents > 0) sum += file.dead_bytes;
  }
  return sum;
}

uint64_t ExtentLedger::LiveBytes() const {
  MutexLock lock(&mu_);
  uint64_t sum = 0;
  for (const auto& [number, file] : files_) sum += file.live_bytes;
  return sum;
}

uint64_t ExtentLedger::TotalBytes() const {
  MutexLock lock(&mu_);
  uint64_t sum = 0;
  for (const auto& [number, file] : files_) sum += file.end - std::min(file.end, file.punched_bytes);
  return sum;
}

std::vector<uint64_t> ExtentLedger::LiveFiles() const {
  MutexLock lock(&mu_);
  std::vector<uint64_t> numbers;
  for (const auto& [number, file] : files_) {
    if (file.live_extents > 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace compassdb
