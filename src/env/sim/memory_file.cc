// SPDX-License-Identifier: Apache-2.0
#include "env/sim/memory_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace compassdb {

namespace {

constexpr uint64_t kPage = 4096;

void ZeroRange(std::string* data, uint64_t offset, uint64_t length) {
  if (offset >= data->size()) return;
  const uint64_t n = std::min<uint64_t>(length, data->size() - offset);
  memset(data->data() + offset, 0, n);
}

void Place(uint64_t offset, const Slice& bytes, std::string* data) {
  if (bytes.empty()) return;
  if (data->size() < offset + bytes.size()) data->resize(offset + bytes.size());
  memcpy(data->data() + offset, bytes.data(), bytes.size());
}

// Behind whole pages of the file.
uint64_t NextPage(uint64_t at) { return (at / kPage + 1) * kPage; }

// What a power cut leaves of an append to *data, whose first `offset` bytes stay: a prefix. With
// `by_pages`, a longer prefix whose pages may be zero.
void TearAppend(uint64_t offset, bool by_pages, Random* random, std::string* data) {
  const uint64_t keep = offset + random->Uniform(data->size() - offset + 1);
  if (!by_pages) return data->resize(keep);
  data->resize(std::min<uint64_t>(data->size(), (keep + kPage - 1) / kPage * kPage));
  for (uint64_t at = offset; at < data->size(); at = NextPage(at)) {
    if (random->OneIn(4)) ZeroRange(data, at, NextPage(at) - at);
  }
}

// What a power cut leaves of a write in place: all, nothing, or a part.
void TearWrite(uint64_t offset, const Slice& bytes, bool by_pages, uint64_t atomic_bytes, Random* random,
               std::string* data) {
  const uint64_t end = offset + bytes.size();
  if (atomic_bytes != 0 && offset % atomic_bytes == 0 && bytes.size() % atomic_bytes == 0) {
    for (uint64_t at = 0; at < bytes.size(); at += atomic_bytes) {
      if (random->OneIn(2)) Place(offset + at, Slice(bytes.data() + at, atomic_bytes), data);
    }
    return;
  }
  switch (random->Uniform(3)) {
    case 0: return Place(offset, bytes, data);
    case 1: return;
    default: break;
  }
  if (!by_pages) return Place(offset, Slice(bytes.data(), random->Uniform(bytes.size() + 1)), data);
  for (uint64_t at = offset; at < end; at = NextPage(at)) {
    const uint64_t n = std::min(NextPage(at), end) - at;
    if (random->OneIn(2)) Place(at, Slice(bytes.data() + (at - offset), n), data);
  }
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
  const auto holes = static_cast<uint64_t>(std::count(holes_.begin(), holes_.end(), true));
  return data_.size() - std::min<uint64_t>(holes * kPage, data_.size());
}

size_t MemoryFile::Read(uint64_t offset, size_t n, char* dst) const {
  MutexLock l(&mu_);
  if (n == 0 || offset >= data_.size()) return 0;  // dst may be null then
  const size_t got = std::min<uint64_t>(n, data_.size() - offset);
  memcpy(dst, data_.data() + offset, got);
  return got;
}

void MemoryFile::Append(const Slice& data, uint64_t mtime) {
  MutexLock l(&mu_);
  if (image_ != nullptr) {
    if (!changes_.empty() && changes_.back().kind == Change::kAppend) {
      changes_.back().data.append(data.data(), data.size());
    } else {
      changes_.push_back({Change::kAppend, data_.size(), data.ToString()});
    }
  }
  MarkPages(data_.size(), data_.size() + data.size(), /*hole=*/false);
  data_.append(data.data(), data.size());
  mtime_ = mtime;
}

void MemoryFile::Write(uint64_t offset, const Slice& data, uint64_t mtime) {
  MutexLock l(&mu_);
  KeepImage();
  changes_.push_back({Change::kWrite, offset, data.ToString()});
  if (offset > data_.size()) MarkPages(data_.size(), offset, /*hole=*/true);
  MarkPages(offset, offset + data.size(), /*hole=*/false);
  Place(offset, data, &data_);
  mtime_ = mtime;
}

void MemoryFile::Truncate(uint64_t size) {
  MutexLock l(&mu_);
  // Cutting off or padding unsynced bytes leaves the durable prefix in place.
  if (size < durable_size_) KeepImage();
  if (image_ != nullptr) changes_.push_back({Change::kResize, size, std::string()});
  if (size > data_.size()) MarkPages(data_.size(), size, /*hole=*/true);
  holes_.resize(std::min<uint64_t>(holes_.size(), size / kPage));
  data_.resize(size);
}

void MemoryFile::PunchHole(uint64_t offset, uint64_t length) {
  MutexLock l(&mu_);
  ZeroRange(&data_, offset, length);
  if (image_ != nullptr) ZeroRange(image_.get(), offset, length);
  for (Change& change : changes_) {
    const uint64_t begin = std::max(offset, change.offset);
    const uint64_t end = offset + length;
    if (begin < end) ZeroRange(&change.data, begin - change.offset, end - begin);
  }
  MarkPages(offset, std::min<uint64_t>(offset + length, data_.size()), /*hole=*/true);
}

void MemoryFile::Sync() {
  MutexLock l(&mu_);
  durable_size_ = data_.size();
  if (image_ == nullptr) return;
  for (const Change& change : changes_) Apply(change, image_.get());
  changes_.clear();
}

// From now on changes of every kind are noted.
void MemoryFile::KeepImage() {
  if (image_ != nullptr) return;
  image_ = std::make_unique<std::string>(data_, 0, durable_size_);
  if (data_.size() > durable_size_) {
    changes_.push_back({Change::kAppend, durable_size_, data_.substr(durable_size_)});
  }
}

// Holes are whole pages: a page with one written byte is not a hole.
void MemoryFile::MarkPages(uint64_t begin, uint64_t end, bool hole) {
  if (begin >= end) return;
  const uint64_t first = hole ? (begin + kPage - 1) / kPage : begin / kPage;
  const uint64_t last = hole ? end / kPage : (end + kPage - 1) / kPage;
  if (hole && holes_.size() < last) holes_.resize(last);
  for (uint64_t page = first; page < std::min<uint64_t>(last, holes_.size()); ++page) {
    holes_[page] = hole;
  }
}

void MemoryFile::Apply(const Change& change, std::string* data) {
  if (change.kind == Change::kResize) {
    data->resize(change.offset);
  } else {
    Place(change.offset, change.data, data);
  }
}

void MemoryFile::Cut(Survives survives, uint64_t atomic_bytes, Random* random) {
  MutexLock l(&mu_);
  if (survives != Survives::kAll) {
    if (image_ == nullptr) {
      CutTail(survives, random);
    } else if (survives == Survives::kDurable) {
      data_ = std::move(*image_);
    } else {
      data_ = Torn(survives, atomic_bytes, random);
    }
  }
  image_.reset();
  changes_.clear();
  durable_size_ = data_.size();
  holes_.resize(std::min<uint64_t>(holes_.size(), data_.size() / kPage));
}

void MemoryFile::CutTail(Survives survives, Random* random) {
  if (survives == Survives::kDurable) return data_.resize(durable_size_);
  TearAppend(durable_size_, survives == Survives::kPages, random, &data_);
}

// Keeps a part of each change. Sizes have their own order: if an append was torn or a change of size
// was lost, later ones are lost, too. No later write is then beyond the size that is left.
std::string MemoryFile::Torn(Survives survives, uint64_t atomic_bytes, Random* random) const {
  const bool by_pages = survives == Survives::kPages;
  std::string data = *image_;
  uint64_t limit = UINT64_MAX;
  for (const Change& change : changes_) {
    if (change.kind == Change::kResize) {
      if (limit == UINT64_MAX && random->OneIn(2)) {
        data.resize(change.offset);
      } else {
        limit = std::min<uint64_t>({limit, change.offset, data.size()});
      }
      continue;
    }
    if (change.offset >= limit) continue;
    const Slice bytes(change.data.data(),
                      std::min<uint64_t>(change.data.size(), limit - change.offset));
    if (change.kind == Change::kWrite) {
      TearWrite(change.offset, bytes, by_pages, atomic_bytes, random, &data);
      continue;
    }
    Place(change.offset, bytes, &data);
    const uint64_t whole = data.size();
    TearAppend(change.offset, by_pages, random, &data);
    if (data.size() < whole) limit = data.size();
  }
  return data;
}

}  // namespace compassdb
