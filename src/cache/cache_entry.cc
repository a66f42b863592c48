// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_entry.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace compassdb {

CacheEntry* CacheEntry::New(const Slice& key, uint64_t hash) {
  void* memory = malloc(sizeof(CacheEntry) + key.size());
  if (memory == nullptr) return nullptr;
  CacheEntry* entry = new (memory) CacheEntry;
  entry->hash = hash;
  entry->key_length = static_cast<uint32_t>(key.size());
  memcpy(reinterpret_cast<char*>(entry + 1), key.data(), key.size());
  return entry;
}

void CacheEntry::Discard(bool with_value) {
  if (embedded) {
    if (with_value) deleter(key(), value);
    return;
  }
  if (with_value) DeletePlainValue();
  free(this);
}

void CacheEntry::DeletePlainValue() {
  if (!embedded && deleter != nullptr) deleter(key(), value);
}

void CacheEntry::Free(void* entry) {
  auto* const e = static_cast<CacheEntry*>(entry);
  if (e->embedded) {
    e->deleter(e->key(), e->value);
  } else {
    free(e);
  }
}

}  // namespace compassdb
