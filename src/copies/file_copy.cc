// SPDX-License-Identifier: Apache-2.0
#include "copies/file_copy.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "env/limited_bytes.h"
#include "env/sync_file.h"
#include "util/crc32c.h"

namespace compassdb {
namespace {

constexpr size_t kPartBytes = 256 << 10;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kHoleOfCopy = 16 << 10;  // worth a hole in the copy

void Charge(rocksdb::RateLimiter* limiter, uint64_t bytes, rocksdb::RateLimiter::OpType type) {
  if (limiter == nullptr || !limiter->IsRateLimited(type)) return;
  RequestInBursts(limiter, bytes, rocksdb::Env::IO_LOW, type);
}

// Collects the page-aligned runs of zeros of a file while it is copied.
class ZeroRuns {
 public:
  void Add(const Slice& data) {
    size_t at = 0;
    while (at < data.size()) {
      const size_t n = std::min<size_t>(data.size() - at, kPage - offset_ % kPage);
      const bool zeros = std::all_of(data.data() + at, data.data() + at + n,
                                     [](char c) { return c == 0; });
      page_zero_ = zeros && (offset_ % kPage == 0 || page_zero_);
      offset_ += n;
      at += n;
      if (offset_ % kPage != 0) continue;
      if (!page_zero_) {
        Close();
      } else if (length_ == 0) {
        begin_ = offset_ - kPage;
        length_ = kPage;
      } else {
        length_ += kPage;
      }
    }
  }
  std::vector<std::pair<uint64_t, uint64_t>> Finish() {
    Close();
    return std::move(runs_);
  }

 private:
  void Close() {
    if (length_ > 0) runs_.emplace_back(begin_, length_);
    length_ = 0;
  }
  uint64_t offset_ = 0;
  bool page_zero_ = false;
  uint64_t begin_ = 0;
  uint64_t length_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> runs_;  // offset, length
};

// Calls `take` with the source's bytes, part by part.
Status ForEachPart(const CopySource& from, const CopyControl& control, CopyResult* result,
                   const std::function<Status(const Slice&)>& take) {
  *result = CopyResult();
  std::unique_ptr<SequentialFile> in;
  if (!from.contents) {
    if (Status s = from.fs->NewSequentialFile(from.path, &in); !s.ok()) return s;
  }
  std::unique_ptr<char[]> buffer(new char[kPartBytes]);
  while (true) {
    if (control.stop != nullptr && control.stop->load(std::memory_order_relaxed)) {
      return Status::Incomplete("Backup stopped");
    }
    Slice part;
    if (from.contents) {
      part = Slice(*from.contents);
      part.remove_prefix(result->size);
      part = Slice(part.data(), std::min(part.size(), kPartBytes));
    } else {
      size_t want = kPartBytes;
      if (from.size) want = std::min<uint64_t>(want, *from.size - result->size);
      if (want > 0) {
        Charge(control.limiter, want, rocksdb::RateLimiter::OpType::kRead);
        if (Status s = in->Read(want, &part, buffer.get()); !s.ok()) return s;
      }
    }
    if (part.empty()) break;
    result->crc32c = Crc32cExtend(result->crc32c, part.data(), part.size());
    result->size += part.size();
    if (Status s = take(part); !s.ok()) return s;
    if (control.progress) control.progress(part.size());
  }
  if (from.size && !from.contents && result->size < *from.size) {
    return Status::Corruption(from.path, "has " + std::to_string(result->size) +
                                             " bytes, expected " + std::to_string(*from.size));
  }
  return Status::OK();
}

}  // namespace

Status CopyFile(const CopySource& from, FileSystem* to_fs, const std::string& to,
                const CopyControl& control, CopyResult* result) {
  std::unique_ptr<WritableFile> out;
  if (Status s = to_fs->NewWritableFile(to, FileOptions(), &out); !s.ok()) return s;
  ZeroRuns zeros;
  Status s = ForEachPart(from, control, result, [&](const Slice& part) {
    Charge(control.limiter, part.size(), rocksdb::RateLimiter::OpType::kWrite);
    zeros.Add(part);
    return out->Append(part);
  });
  if (s.ok()) s = control.sync ? out->Sync() : out->Flush();
  Status closed = out->Close();
  if (s.ok()) s = closed;
  if (!s.ok()) return s;
  result->zeros = zeros.Finish();
  for (const auto& [offset, length] : result->zeros) {
    // Only to save space: the zeros stay zeros, and some file systems have no holes.
    if (length < kHoleOfCopy) continue;
    to_fs->PunchHole(to, offset, length).PermitUncheckedError();
  }
  return s;
}

Status CloneWholeFile(const CopySource& from, FileSystem* to_fs, const std::string& to, bool sync) {
  if (from.contents || from.fs != to_fs) return Status::NotSupported(to, "is no clone of a file of its file system");
  Status s = to_fs->CloneFile(from.path, to);
  return s.ok() && sync ? SyncFile(to_fs, to) : s;
}

Status CloneOrCopyFile(const CopySource& from, FileSystem* to_fs, const std::string& to,
                       const CopyControl& control, CopyResult* result) {
  Status s = CloneWholeFile(from, to_fs, to, control.sync);
  if (s.IsNotSupported()) return CopyFile(from, to_fs, to, control, result);
  if (s.ok()) s = ChecksumFile(to_fs, to, control, result);
  if (s.ok() && from.size && result->size != *from.size) {
    return Status::Corruption(from.path, "has " + std::to_string(result->size) + " bytes, expected " +
                                             std::to_string(*from.size));
  }
  return s;
}

Status ChecksumFile(FileSystem* fs, const std::string& path, const CopyControl& control,
                    CopyResult* result) {
  CopySource from;
  from.fs = fs;
  from.path = path;
  return ForEachPart(from, control, result, [](const Slice&) { return Status::OK(); });
}

}  // namespace compassdb
