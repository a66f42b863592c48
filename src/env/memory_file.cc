// SPDX-License-Identifier: Apache-2.0
#include "env/memory_file.h"

#include <algorithm>
#include <cstring>

namespace compassdb {

namespace {

constexpr uint64_t kPage = 4096;

void ZeroRange(std::string* data, uint64_t offset, uint64_t length) {
  if (offset >= data->size()) return;
  const uint64_t n = std::min<uint64_t>(length, data->size() - offset);
  memset(data->data() + offset, 0, n);
}

}  // namespace

uint64_t MemoryFile::Size() const {
  MutexLock l(&mu_);
  return data_.size();
}

uint64_t MemoryFile::mtime() const {
  MutexLock l(&mu_);
  return mtime_;
}

uint64_t MemoryFile::AllocatedBytes() const {
  MutexLock l(&mu_);
  return data_.size() - std::min<uint64_t>(punched_, data_.size());
}

size_t MemoryFile::Read(uint64_t offset, size_t n, char* dst) const {
  MutexLock l(&mu_);
  if (offset >= data_.size()) return 0;
  const size_t got = std::min<uint64_t>(n, data_.size() - offset);
  memcpy(dst, data_.data() + offset, got);
  return got;
}

void MemoryFile::Append(const Slice& data, uint64_t mtime) {
  MutexLock l(&mu_);
  data_.append(data.data(), data.size());
  mtime_ = mtime;
}

void MemoryFile::Truncate(uint64_t size) {
  MutexLock l(&mu_);
  // Cutting off or padding unsynced bytes leaves the durable prefix in place.
  if (size < durable_size_ && before_ == nullptr) {
    before_ = std::make_unique<std::string>(data_, 0, durable_size_);
  }
  data_.resize(size);
  durable_size_ = std::min(durable_size_, size);
}

void MemoryFile::PunchHole(uint64_t offset, uint64_t length) {
  MutexLock l(&mu_);
  ZeroRange(&data_, offset, length);
  if (before_ != nullptr) ZeroRange(before_.get(), offset, length);
  // Only whole pages are freed.
  const uint64_t begin = (offset + kPage - 1) / kPage * kPage;
  const uint64_t end = std::min<uint64_t>(offset + length, data_.size()) / kPage * kPage;
  if (end > begin) punched_ += end - begin;
}

void MemoryFile::Sync() {
  MutexLock l(&mu_);
  durable_size_ = data_.size();
  before_.reset();
}

void MemoryFile::Cut(Survives survives, Random* random) {
  MutexLock l(&mu_);
  if (before_ != nullptr) {
    // Truncated or overwritten: either the old state or one of the new.
    if (survives == Survives::kDurable ||
        (survives != Survives::kAll && random->OneIn(2))) {
      data_ = std::move(*before_);
      durable_size_ = data_.size();
    }
    before_.reset();
  }
  const uint64_t unsynced = data_.size() - durable_size_;
  switch (survives) {
    case Survives::kDurable:
      data_.resize(durable_size_);
      break;
    case Survives::kAll:
      break;
    case Survives::kBytePrefix:
      data_.resize(durable_size_ + random->Uniform(unsynced + 1));
      break;
    case Survives::kPages: {
      const uint64_t keep = durable_size_ + random->Uniform(unsynced + 1);
      data_.resize(std::min<uint64_t>(data_.size(), (keep + kPage - 1) / kPage * kPage));
      for (uint64_t at = durable_size_; at < data_.size(); at = (at / kPage + 1) * kPage) {
        if (random->OneIn(4)) ZeroRange(&data_, at, (at / kPage + 1) * kPage - at);
      }
      break;
    }
  }
  durable_size_ = data_.size();
}

}  // namespace compassdb
