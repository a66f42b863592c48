// SPDX-License-Identifier: Apache-2.0
#include "wal/log_values.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "env/read_batch.h"
#include "format/file_names.h"

namespace compassdb {

namespace {

// An address takes about 14 bytes.
constexpr size_t kLeastReferred = 64;

Status Damaged(const LogFile& log, uint64_t offset, const std::string& what) {
  return Status::Corruption(log.path() + " at offset " + std::to_string(offset),
                            "a value of a memtable " + what);
}

// Moves the parts of a value together that the headers of fragments separate.
void RemoveHeaders(uint64_t offset, size_t size, char* bytes) {
  size_t done = std::min<uint64_t>(size, kLogBlockSize - offset % kLogBlockSize);
  for (const char* from = bytes + done + kLogHeaderSize; done < size; from += kLogBlockSize) {
    const size_t n = std::min(size - done, kLogBlockSize - kLogHeaderSize);
    memmove(bytes + done, from, n);
    done += n;
  }
}

// `bytes` has room for the span; what was read is there or elsewhere. It becomes the value.
Status Complete(const LogFile& log, const LogRef& ref, const Slice& read, std::string* bytes) {
  if (read.size() != bytes->size()) return Damaged(log, ref.offset, "is cut off");
  if (read.data() != bytes->data()) memcpy(bytes->data(), read.data(), read.size());
  RemoveHeaders(ref.offset, ref.size, bytes->data());
  bytes->resize(ref.size);
  const uint32_t checksum = LogRef::ChecksumOf(ref.log, ref.offset, *bytes);
  if (ChecksumHolds(ref.checksum, checksum)) return Status::OK();
  return Damaged(log, ref.offset, "does not have its checksum");
}

}  // namespace

void LogFile::Keep(uint64_t offset, Slice payload) {
  MutexLock lock(&mu_);
  if (tail_.empty()) tail_begin_ = offset;
  while (!payload.empty()) {
    const uint64_t block = offset / kLogBlockSize - tail_begin_ / kLogBlockSize;
    if (tail_.size() <= block) tail_.resize(block + 1);
    if (tail_[block] == nullptr) {
      tail_[block] = std::make_unique<char[]>(kLogBlockSize);
      tails_->Add(kLogBlockSize);
    }
    const size_t begin = offset % kLogBlockSize;
    const size_t n = std::min(payload.size(), kLogBlockSize - begin);
    memcpy(tail_[block].get() + begin, payload.data(), n);
    payload.remove_prefix(n);
    offset += n + kLogHeaderSize;
  }
}

void LogFile::DropTail() {
  MutexLock lock(&mu_);
  for (const auto& block : tail_) {
    if (block != nullptr) tails_->Subtract(kLogBlockSize);
  }
  tail_.clear();
}

bool LogFile::ReadTail(uint64_t offset, size_t n, char* bytes) const {
  MutexLock lock(&mu_);
  if (offset < tail_begin_) return false;
  while (n > 0) {
    const uint64_t block = offset / kLogBlockSize - tail_begin_ / kLogBlockSize;
    if (block >= tail_.size() || tail_[block] == nullptr) return false;
    const size_t begin = offset % kLogBlockSize;
    const size_t part = std::min(n, kLogBlockSize - begin);
    memcpy(bytes, tail_[block].get() + begin, part);
    bytes += part;
    offset += part;
    n -= part;
  }
  return true;
}

bool LoggedBatch::Refer(const Slice& value, LogRef* to) const {
  if (file == nullptr || value.size() < kLeastReferred) return false;
  const std::less_equal<const char*> not_after;
  if (!not_after(bytes.data(), value.data()) ||
      !not_after(value.data() + value.size(), bytes.data() + bytes.size())) {
    return false;
  }
  to->log = file->number();
  to->offset = PlaceInLog(end, at + static_cast<uint64_t>(value.data() - bytes.data()));
  to->size = static_cast<uint32_t>(value.size());
  to->checksum = LogRef::ChecksumOf(to->log, to->offset, value);
  return true;
}

void LogValues::DropTail(uint64_t number) {
  if (const std::shared_ptr<LogFile> log = Find(number)) log->DropTail();
}

Status LogValues::Open(uint64_t number, std::shared_ptr<LogFile>* file) {
  *file = Find(number);
  if (*file != nullptr) return Status::OK();
  const std::string path = WalFileName(wal_dir_, number);
  std::unique_ptr<RandomAccessFile> opened;
  Status s = fs_->NewRandomAccessFile(path, FileOptions(), &opened);
  if (!s.ok()) return s;
  *file = std::make_shared<LogFile>(number, path, std::move(opened), tails_);
  MutexLock lock(&mu_);
  std::erase_if(files_, [](const auto& f) { return f.second.expired(); });
  files_[number] = *file;
  return s;
}

std::shared_ptr<LogFile> LogValues::Find(uint64_t number) const {
  MutexLock lock(&mu_);
  const auto found = files_.find(number);
  return found == files_.end() ? nullptr : found->second.lock();
}

Status LogValues::Find(const Slice& ref, LogRef* to, std::shared_ptr<LogFile>* log) const {
  if (!to->Parse(ref)) return Status::Corruption("memtable", "an address of a value is damaged");
  *log = Find(to->log);
  if (*log != nullptr) return Status::OK();
  return Status::Corruption(WalFileName(wal_dir_, to->log), "is closed, but a memtable names it");
}

bool LogValues::ReadTail(const LogFile& log, const LogRef& ref, std::string* bytes) const {
  bytes->resize(SpanInLog(ref.offset, ref.size));
  const bool found = log.ReadTail(ref.offset, bytes->size(), bytes->data());
  reads_.fetch_add(1, std::memory_order_relaxed);
  if (found) reads_in_memory_.fetch_add(1, std::memory_order_relaxed);
  return found;
}

Status LogValues::Resolve(const Slice& /*user_key*/, const Slice& ref,
                          rocksdb::PinnableSlice* value) const {
  LogRef to;
  std::shared_ptr<LogFile> log;
  if (Status s = Find(ref, &to, &log); !s.ok()) return s;
  value->Reset();
  std::string* const bytes = value->GetSelf();
  const bool in_memory = ReadTail(*log, to, bytes);
  Slice read = *bytes;
  Status s;
  if (!in_memory) {
    s = log->file().Read(to.offset, bytes->size(), &read, bytes->data());
  }
  if (s.ok()) s = Complete(*log, to, read, bytes);
  if (s.ok()) value->PinSelf();
  return s;
}

void LogValues::ReadMany(std::span<Request> requests) const {
  struct Wanted {
    LogRef ref;
    std::shared_ptr<LogFile> log;
    Request* request;
    bool operator<(const Wanted& o) const {
      return ref.log != o.ref.log ? ref.log < o.ref.log : ref.offset < o.ref.offset;
    }
  };
  std::vector<Wanted> wanted;
  for (Request& request : requests) {
    Wanted w{{}, nullptr, &request};
    request.status = Find(request.ref, &w.ref, &w.log);
    if (!request.status.ok()) continue;
    if (ReadTail(*w.log, w.ref, request.value)) {
      request.status = Complete(*w.log, w.ref, *request.value, request.value);
    } else {
      wanted.push_back(std::move(w));
    }
  }
  std::sort(wanted.begin(), wanted.end());
  std::vector<ReadRequest> reads(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    std::string* const value = wanted[i].request->value;
    reads[i].offset = wanted[i].ref.offset;
    reads[i].length = value->size();
    reads[i].scratch = value->data();
  }
  ReadBatch batch;
  for (size_t begin = 0, end = 0; begin < wanted.size(); begin = end) {
    while (end < wanted.size() && wanted[end].log == wanted[begin].log) ++end;
    wanted[begin].log->file().AddReads(&reads[begin], end - begin, &batch);
  }
  batch.Wait();
  for (size_t i = 0; i < wanted.size(); ++i) {
    Request& request = *wanted[i].request;
    request.status = reads[i].status;
    if (!request.status.ok()) continue;
    request.status = Complete(*wanted[i].log, wanted[i].ref, reads[i].result, request.value);
  }
}

}  // namespace compassdb
