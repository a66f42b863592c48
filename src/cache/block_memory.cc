// SPDX-License-Identifier: Apache-2.0
#include "cache/block_memory.h"

#include <cstdlib>
#include <new>

#include "env/huge_pages.h"

namespace compassdb {

namespace {

constexpr size_t kSpanBytes = kHugePage / 8;
constexpr size_t kHeaderBytes = 1024;

}  // namespace

template <typename T>
void BlockMemory::Link(T* item, T** head) {
  item->previous = nullptr;
  item->next = *head;
  if (*head != nullptr) (*head)->previous = item;
  *head = item;
}

template <typename T>
void BlockMemory::Unlink(T* item, T** head) {
  (item->previous != nullptr ? item->previous->next : *head) = item->next;
  if (item->next != nullptr) item->next->previous = item->previous;
}

BlockMemory::~BlockMemory() {
  MutexLock lock(&mu_);
  while (regions_ != nullptr) {
    Region* const region = regions_;
    regions_ = region->next;
    FreeHuge(region, kHugePage);
  }
}

bool BlockMemory::AddRegion() {
  static_assert(sizeof(Region) <= kHeaderBytes);
  static_assert(kSpanBytes * kSpans == kHugePage);
  void* const memory = AllocateHuge(kHugePage);
  if (memory == nullptr) return false;
  auto* const region = new (memory) Region;
  for (size_t i = kSpans; i-- > 0;) {  // so that the first one is used first
    region->spans[i].region = region;
    Link(&region->spans[i], &free_);
  }
  Link(region, &regions_);
  ++num_regions_;
  ++unused_regions_;
  return true;
}

void* BlockMemory::Allocate(size_t bytes, size_t* usable) {
  if (bytes < kMinBytes || bytes > kMaxBytes) return nullptr;
  if (!enabled_.load(std::memory_order_relaxed)) return nullptr;
  const size_t size = (bytes + kStep - 1) / kStep;
  MutexLock lock(&mu_);
  Span* span = with_room_[size];
  if (span == nullptr) {
    if (free_ == nullptr && !AddRegion()) return nullptr;
    span = free_;
    Unlink(span, &free_);
    if (span->region->used++ == 0) --unused_regions_;
    const size_t index = static_cast<size_t>(span - span->region->spans);
    char* const begin = reinterpret_cast<char*>(span->region) + index * kSpanBytes;
    span->free = nullptr;
    span->unused = begin + (index == 0 ? kHeaderBytes : 0);
    span->end = begin + kSpanBytes;
    span->cell_bytes = static_cast<uint32_t>(size * kStep);
    Link(span, &with_room_[size]);
  }
  void* cell = span->free;
  if (cell != nullptr) {
    span->free = span->free->next;
  } else {
    cell = span->unused;
    span->unused += span->cell_bytes;
  }
  ++span->used;
  if (!span->HasRoom()) Unlink(span, &with_room_[size]);
  *usable = span->cell_bytes;
  return cell;
}

void BlockMemory::Free(void* cell) {
  const auto address = reinterpret_cast<uintptr_t>(cell);
  auto* const region = reinterpret_cast<Region*>(address - address % kHugePage);
  Span* const span = &region->spans[address % kHugePage / kSpanBytes];
  MutexLock lock(&mu_);
  Span** const list = &with_room_[span->cell_bytes / kStep];
  if (!span->HasRoom()) Link(span, list);
  auto* const free = new (cell) FreeCell{span->free};
  span->free = free;
  if (--span->used > 0) return;
  Unlink(span, list);
  ReleaseSpan(span);
}

// One region without used spans stays, so that a few blocks do not map memory again and again.
void BlockMemory::ReleaseSpan(Span* span) {
  Link(span, &free_);
  Region* const region = span->region;
  if (--region->used > 0) return;
  if (unused_regions_ == 0) {
    ++unused_regions_;
    return;
  }
  for (Span& s : region->spans) Unlink(&s, &free_);
  Unlink(region, &regions_);
  --num_regions_;
  FreeHuge(region, kHugePage);
}

size_t BlockMemory::mapped_bytes() const {
  MutexLock lock(&mu_);
  return num_regions_ * kHugePage;
}

void* BlockAllocator::Allocate(size_t bytes, size_t* usable, BlockAllocator* from) const {
  *from = BlockAllocator();
  if (users != nullptr) {
    from->users = users;
    void* const memory = users->Allocate(bytes);
    *usable = memory == nullptr ? 0 : users->UsableSize(memory, bytes);
    return memory;
  }
  if (cells != nullptr) {
    if (void* const cell = cells->Allocate(bytes, usable)) {
      from->cells = cells;
      return cell;
    }
  }
  *usable = bytes;
  return malloc(bytes);
}

void BlockAllocator::Free(void* memory) const {
  if (users != nullptr) {
    users->Deallocate(memory);
  } else if (cells != nullptr) {
    cells->Free(memory);
  } else {
    free(memory);
  }
}

}  // namespace compassdb
