// SPDX-License-Identifier: Apache-2.0
//
// The data structure of memtables. Entries are encoded in memory that the memtable allocates; a
// structure orders pointers to them.
//
// Thread safety: readers may run while one thread inserts; several threads insert at once only if
// the factory says so. Invariants: entries are never removed and never change.

#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <memory>
#include <stdexcept>
#include <unordered_set>

#include "rocksdb/customizable.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

class Arena;
class Allocator;
class LookupKey;
class SliceTransform;
class Logger;
struct DBOptions;

// An entry that is allocated and not yet inserted.
using KeyHandle = void*;

// The bytes after a varint32 length.
extern Slice GetLengthPrefixedSlice(const char* data);

// One memtable's entries.
class MemTableRep {
 public:
  // Orders encoded entries.
  class KeyComparator {
   public:
    // An entry's key.
    using DecodedType = ROCKSDB_NAMESPACE::Slice;
    virtual DecodedType decode_key(const char* key) const {
      return GetLengthPrefixedSlice(key);
    }
    virtual int operator()(const char* prefix_len_key1,
                           const char* prefix_len_key2) const = 0;
    virtual int operator()(const char* prefix_len_key,
                           const Slice& key) const = 0;
    virtual ~KeyComparator() {}
  };

  // The allocator belongs to the memtable and outlives this object.
  explicit MemTableRep(Allocator* allocator) : allocator_(allocator) {}

  // Memory for an entry of len bytes, at *buf.
  virtual KeyHandle Allocate(const size_t len, char** buf);

  // Inserts an entry that *buf was filled with. REQUIRES: none compares equal. The forms that
  // return bool return false if there was one; those with a hint remember the position;
  // "Concurrently" ones may run at the same time.
  virtual void Insert(KeyHandle handle) = 0;
  virtual bool InsertKey(KeyHandle handle) {
    Insert(handle);
    return true;
  }
  virtual void InsertWithHint(KeyHandle handle, void** /*hint*/) {
    Insert(handle);
  }
  virtual bool InsertKeyWithHint(KeyHandle handle, void** hint) {
    InsertWithHint(handle, hint);
    return true;
  }
  virtual void InsertWithHintConcurrently(KeyHandle handle, void** /*hint*/) {
    InsertConcurrently(handle);
  }
  virtual bool InsertKeyWithHintConcurrently(KeyHandle handle, void** hint) {
    InsertWithHintConcurrently(handle, hint);
    return true;
  }
  virtual void InsertConcurrently(KeyHandle handle);
  virtual bool InsertKeyConcurrently(KeyHandle handle) {
    InsertConcurrently(handle);
    return true;
  }

  // Whether an entry compares equal.
  virtual bool Contains(const char* key) const = 0;

  // No more insertions.
  virtual void MarkReadOnly() {}

  // The entries are in a table.
  virtual void MarkFlushed() {}

  // Calls back for entries from the key of k on, until false is returned.
  virtual void Get(const LookupKey& k, void* callback_args,
                   bool (*callback_func)(void* arg, const char* entry));

  // Entries in a range of keys.
  virtual uint64_t ApproximateNumEntries(const Slice& /*start_ikey*/,
                                         const Slice& /*end_key*/) {
    return 0;
  }

  // Collects target_sample_size different entries, of num_entries, at random.
  virtual void UniqueRandomSample(const uint64_t num_entries,
                                  const uint64_t target_sample_size,
                                  std::unordered_set<const char*>* entries) {
    (void)num_entries, (void)target_sample_size, (void)entries;
    assert(false);
  }

  // Bytes in addition to the allocator's.
  virtual size_t ApproximateMemoryUsage() = 0;
  virtual ~MemTableRep() {}

  // In the order of the comparator.
  class Iterator {
   public:
    virtual ~Iterator() {}
    virtual bool Valid() const = 0;

    // The encoded entry. REQUIRES: Valid().
    virtual const char* key() const = 0;
    virtual void Next() = 0;
    virtual void Prev() = 0;

    // To the first entry at or after the key, given in one of two forms: as such, or, if not null,
    // encoded.
    virtual void Seek(const Slice& internal_key, const char* memtable_key) = 0;

    // To the last entry at or before it.
    virtual void SeekForPrev(const Slice& internal_key,
                             const char* memtable_key) = 0;

    // To a random entry.
    virtual void RandomSeek() {}
    virtual void SeekToFirst() = 0;
    virtual void SeekToLast() = 0;
  };

  // The caller deletes it, or, with an arena, destroys it in place.
  virtual Iterator* GetIterator(Arena* arena = nullptr) = 0;

  // May show only the prefix that is sought.
  virtual Iterator* GetDynamicPrefixIterator(Arena* arena = nullptr) {
    return GetIterator(arena);
  }

  // What the structure can do.
  virtual bool IsMergeOperatorSupported() const { return true; }
  virtual bool IsSnapshotSupported() const { return true; }

 protected:
  // The user key of an encoded entry.
  virtual Slice UserKey(const char* key) const;
  Allocator* allocator_;
};

// Makes one structure per memtable.
class MemTableRepFactory : public Customizable {
 public:
  ~MemTableRepFactory() override {}
  static const char* Type() { return "MemTableRepFactory"; }

  // From an id such as "skip_list:LOOKAHEAD", "vector:COUNT", "prefix_hash:BUCKETS",
  // "hash_linkedlist:BUCKETS".
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& id,
                                 std::unique_ptr<MemTableRepFactory>* factory);
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& id,
                                 std::shared_ptr<MemTableRepFactory>* factory);

  // The caller owns the result.
  virtual MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator&,
                                         Allocator*, const SliceTransform*,
                                         Logger* logger) = 0;
  virtual MemTableRep* CreateMemTableRep(
      const MemTableRep::KeyComparator& key_cmp, Allocator* allocator,
      const SliceTransform* slice_transform, Logger* logger,
      uint32_t /*column_family_id*/) {
    return CreateMemTableRep(key_cmp, allocator, slice_transform, logger);
  }
  const char* Name() const override = 0;

  // Whether the "Concurrently" functions work.
  virtual bool IsInsertConcurrentlySupported() const { return false; }

  // Whether the functions that return bool notice equal entries.
  virtual bool CanHandleDuplicatedKey() const { return false; }
};

// The default.
class SkipListFactory : public MemTableRepFactory {
 public:
  // lookahead: iterators look at this many neighbours before they seek from the top.
  explicit SkipListFactory(size_t lookahead = 0);
  static const char* kClassName() { return "SkipListFactory"; }
  static const char* kNickName() { return "skip_list"; }
  virtual const char* Name() const override { return kClassName(); }
  virtual const char* NickName() const override { return kNickName(); }
  std::string GetId() const override;
  using MemTableRepFactory::CreateMemTableRep;
  virtual MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator&,
                                         Allocator*, const SliceTransform*,
                                         Logger* logger) override;
  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }

 private:
  size_t lookahead_;
};

// For bulk loading: appends, and sorts when read.
class VectorRepFactory : public MemTableRepFactory {
 public:
  // count: entries to reserve memory for.
  explicit VectorRepFactory(size_t count = 0);
  static const char* kClassName() { return "VectorRepFactory"; }
  static const char* kNickName() { return "vector"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return kNickName(); }
  using MemTableRepFactory::CreateMemTableRep;
  virtual MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator&,
                                         Allocator*, const SliceTransform*,
                                         Logger* logger) override;

 private:
  size_t count_;
};

// A hash table of skip lists, by prefix. Needs a prefix_extractor; iterating over all is slow.
extern MemTableRepFactory* NewHashSkipListRepFactory(
    size_t bucket_count = 1000000, int32_t skiplist_height = 4,
    int32_t skiplist_branching_factor = 4);

// A hash table of sorted lists, by prefix; a list becomes a skip list at threshold_use_skiplist
// entries, and long ones are logged.
extern MemTableRepFactory* NewHashLinkListRepFactory(
    size_t bucket_count = 50000, size_t huge_page_tlb_size = 0,
    int bucket_entries_logging_threshold = 4096,
    bool if_log_bucket_dist_when_flash = true,
    uint32_t threshold_use_skiplist = 256);

}  // namespace ROCKSDB_NAMESPACE
