// SPDX-License-Identifier: Apache-2.0
// A skip list of byte strings that are stored in its nodes.
//
//   node in memory:  link[h-1] ... link[1]  link[0]  entry bytes
//                                           ^ the Node pointer
//
// A link is a pointer (void*), or an address in the arena of half that size (uint32_t), which takes
// one more load to follow. The arena is then one with addresses.
//
// Thread safety: reads (Contains, Iterator, EstimateCount) need no lock and may
// be concurrent with inserts. InsertConcurrently may run in several threads;
// Insert must be the only insert. The caller separates the two kinds.
// Invariants: nodes are never removed and live as long as the arena; a node's
// bytes do not change once it is linked; a node is linked bottom-up, each level
// by one release store or compare-and-swap, so that a reader that finds it sees it whole.
//
// Compare is called as int(const char* entry, const char* entry) and as
// int(const char* entry, const Slice& target).
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "rocksdb/slice.h"
#include "util/checked.h"
#include "util/concurrent_arena.h"
#include "util/random.h"

namespace compassdb {

template <class Compare, class Link = void*>
class SkipList {
 public:
  static constexpr int kMaxHeight = 12;
  static constexpr uint32_t kBranching = 4;

  SkipList(Compare compare, ConcurrentArena* arena)
      : compare_(compare), arena_(arena), head_(At(NewNode(0, kMaxHeight))) {
    for (int i = 0; i <= kMaxHeight; ++i) hint_.prev[i] = nullptr;
  }
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // An entry to be filled and then inserted (or abandoned).
  struct NewEntry {
    char* bytes;
    Link node;
    int height;
  };
  NewEntry Allocate(size_t bytes) {
    const int height = RandomHeight();
    const Link node = NewNode(bytes, height);
    return {At(node)->entry(), node, height};
  }

  // False if an equal entry is present.
  bool Insert(const NewEntry& entry) { return InsertWith<false>(entry, &hint_); }
  bool InsertConcurrently(const NewEntry& entry) {
    Splice splice;
    return InsertWith<true>(entry, &splice);
  }

  // Not concurrent with inserts.
  void CheckInvariants() const {
    if constexpr (!kChecked) return;
    for (int level = 0; level < kMaxHeight; ++level) {
      const Node* below = level == 0 ? nullptr : Next(head_, level - 1);
      const Node* before = nullptr;
      for (const Node* n = Next(head_, level); n != nullptr; n = Next(n, level)) {
        const bool sorted = before == nullptr || compare_(before->entry(), n->entry()) < 0;
        COMPASSDB_INVARIANT(sorted, "each level of a skip list is sorted");
        while (below != nullptr && below != n) below = Next(below, level - 1);
        COMPASSDB_INVARIANT(level == 0 || below == n, "an entry is on each level below its own");
        before = n;
      }
    }
  }

  bool Contains(const Slice& target) const {
    const Node* n = FindGreaterOrEqual(target);
    return n != nullptr && compare_(n->entry(), target) == 0;
  }

  // The entries that reach `level`, in order: about one in kBranching to the power of it.
  template <class F>
  void ForEachAtLevel(int level, F f) const {
    for (const Node* n = Next(head_, level); n != nullptr; n = Next(n, level)) f(n->entry());
  }

  // All with their links, in order.
  template <class F>
  void ForEachLink(F f) const {
    for (Link link = head_->Next(0); link != Link();) {
      const Node* const n = At(link);
      const Link next = n->Next(0);
      if (next != Link()) __builtin_prefetch(At(next));
      f(link, n->entry());
      link = next;
    }
  }
  const char* EntryOf(Link link) const { return At(link)->entry(); }

  // The estimated number of entries before target.
  uint64_t EstimateCount(const Slice& target) const {
    uint64_t count = 0;
    const Node* x = head_;
    for (int level = max_height_.load(std::memory_order_relaxed) - 1;; --level) {
      for (const Node* next = Next(x, level);
           next != nullptr && compare_(next->entry(), target) < 0; next = Next(x, level)) {
        x = next;
        ++count;
      }
      if (level == 0) return count;
      count *= kBranching;
    }
  }

 private:
  class Node {
   public:
    const char* entry() const { return reinterpret_cast<const char*>(this + 1); }
    char* entry() { return reinterpret_cast<char*>(this + 1); }

    Link Next(int level) const { return At(level)->load(std::memory_order_acquire); }
    void SetNext(int level, Link n) { At(level)->store(n, std::memory_order_release); }
    void SetNextRelaxed(int level, Link n) { At(level)->store(n, std::memory_order_relaxed); }
    bool CasNext(int level, Link expected, Link n) {
      return At(level)->compare_exchange_strong(expected, n, std::memory_order_acq_rel,
                                                std::memory_order_acquire);
    }

   private:
    const std::atomic<Link>* At(int level) const { return &link0_ - level; }
    std::atomic<Link>* At(int level) { return &link0_ - level; }
    std::atomic<Link> link0_{};
  };
  static_assert(sizeof(Node) == sizeof(Link));

  // Per level the neighbours of a new entry: prev < entry < next. Element
  // `height` is the bracket from which the search starts.
  struct Splice {
    int height = 0;
    Node* prev[kMaxHeight + 1];
    Link next[kMaxHeight + 1] = {};
  };

  static constexpr bool kAddresses = !std::is_pointer_v<Link>;

  Node* At(Link link) const {
    if constexpr (kAddresses) {
      return reinterpret_cast<Node*>(arena_->At(link));
    } else {
      return static_cast<Node*>(link);
    }
  }
  Node* Next(const Node* n, int level) const { return At(n->Next(level)); }

  Link NewNode(size_t bytes, int height) {
    const size_t links = sizeof(Link) * static_cast<size_t>(height - 1);
    const size_t size = links + sizeof(Node) + bytes;
    uint32_t address = 0;
    char* const raw = kAddresses ? arena_->AllocateWithAddress(size, &address)
                                 : arena_->AllocateAligned(size, alignof(Node));
    for (int i = 0; i < height - 1; ++i) {
      new (raw + static_cast<size_t>(i) * sizeof(Link)) std::atomic<Link>();
    }
    Node* const node = new (raw + links) Node();
    if constexpr (kAddresses) {
      return address + static_cast<Link>(height - 1);  // addresses count links
    } else {
      return node;
    }
  }

  static int RandomHeight() {
    static std::atomic<uint64_t> seeds{0x5eed};
    thread_local Random random(seeds.fetch_add(1, std::memory_order_relaxed));
    int height = 1;
    for (uint64_t bits = random.Next(); height < kMaxHeight && bits % kBranching == 0;
         bits /= kBranching) {
      ++height;
    }
    return height;
  }

  // The neighbours of entry at `level`, searched from `before` on, which
  // precedes it. `after` (may be null) does not.
  void FindSplice(const char* entry, Node* before, Link after, int level, Node** prev,
                  Link* next) const {
    for (;;) {
      const Link link = before->Next(level);
      Node* const n = At(link);
      if (n != nullptr) __builtin_prefetch(Next(n, level));
      if (link == after || n == nullptr || compare_(n->entry(), entry) >= 0) {
        *prev = before;
        *next = link;
        return;
      }
      before = n;
    }
  }

  int RaiseHeight(int height) {
    int max = max_height_.load(std::memory_order_relaxed);
    while (height > max) {
      if (max_height_.compare_exchange_weak(max, height, std::memory_order_relaxed)) return height;
    }
    return max;
  }

  // The level below which the splice must be searched again for entry.
  int StaleLevels(const char* entry, const Splice& splice, int max_height) const {
    int level = 0;
    while (level < max_height) {
      Node* const prev = splice.prev[level];
      const Link next = splice.next[level];
      if (prev->Next(level) != next) {
        ++level;  // something was inserted in between
      } else if (prev != head_ && compare_(prev->entry(), entry) >= 0) {
        // Too far right: so are all levels with this neighbour.
        while (level < max_height && splice.prev[level] == prev) ++level;
      } else if (next != Link() && compare_(At(next)->entry(), entry) < 0) {
        while (level < max_height && splice.next[level] == next) ++level;
      } else {
        return level;
      }
    }
    return max_height;
  }

  template <bool kCas>
  bool InsertWith(const NewEntry& added, Splice* splice) {
    const char* const entry = added.bytes;
    Node* const node = At(added.node);
    const int height = added.height;
    assert(height >= 1 && height <= kMaxHeight);
    const int max_height = RaiseHeight(height);
    int stale = max_height;
    if (splice->height < max_height) {
      splice->prev[max_height] = head_;
      splice->next[max_height] = Link();
      splice->height = max_height;
    } else {
      stale = StaleLevels(entry, *splice, max_height);
    }
    for (int i = stale - 1; i >= 0; --i) {
      FindSplice(entry, splice->prev[i + 1], splice->next[i + 1], i, &splice->prev[i],
                 &splice->next[i]);
    }

    bool splice_valid = true;
    for (int i = 0; i < height; ++i) {
      for (;;) {
        // Other inserts may have changed levels below since.
        if (!kCas && i >= stale && splice->prev[i]->Next(i) != splice->next[i]) {
          FindSplice(entry, splice->prev[i], Link(), i, &splice->prev[i], &splice->next[i]);
        }
        if (i == 0 && splice->next[0] != Link() &&
            compare_(At(splice->next[0])->entry(), entry) == 0) {
          splice->height = 0;
          return false;
        }
        node->SetNextRelaxed(i, splice->next[i]);
        if (!kCas) {
          splice->prev[i]->SetNext(i, added.node);
          break;
        }
        if (splice->prev[i]->CasNext(i, splice->next[i], added.node)) break;
        FindSplice(entry, splice->prev[i], Link(), i, &splice->prev[i], &splice->next[i]);
        splice_valid = false;
      }
    }
    if (splice_valid) {
      for (int i = 0; i < height; ++i) splice->prev[i] = node;
    } else {
      splice->height = 0;
    }
    return true;
  }

  const Node* FindGreaterOrEqual(const Slice& target) const {
    const Node* x = head_;
    const Node* last_bigger = nullptr;
    for (int level = max_height_.load(std::memory_order_relaxed) - 1;;) {
      const Node* next = Next(x, level);
      if (next != nullptr) __builtin_prefetch(Next(next, level));
      const int cmp = next == nullptr || next == last_bigger ? 1 : compare_(next->entry(), target);
      if (cmp == 0) return next;
      if (cmp < 0) {
        x = next;
      } else if (level == 0) {
        return next;
      } else {
        last_bigger = next;
        --level;
      }
    }
  }
  // The last node before target (at or before it, with `or_equal`); null if none.
  const Node* FindBefore(const Slice& target, bool or_equal) const {
    const Node* x = head_;
    const Node* last_bigger = nullptr;
    for (int level = max_height_.load(std::memory_order_relaxed) - 1;;) {
      const Node* next = Next(x, level);
      const int cmp = next == nullptr || next == last_bigger ? 1 : compare_(next->entry(), target);
      if (cmp < 0 || (cmp == 0 && or_equal)) {
        x = next;
      } else if (level == 0) {
        return x == head_ ? nullptr : x;
      } else {
        last_bigger = next;
        --level;
      }
    }
  }
  const Node* FindLast() const {
    const Node* x = head_;
    for (int level = max_height_.load(std::memory_order_relaxed) - 1;;) {
      const Node* next = Next(x, level);
      if (next != nullptr) {
        x = next;
      } else if (level == 0) {
        return x == head_ ? nullptr : x;
      } else {
        --level;
      }
    }
  }

  const Compare compare_;
  ConcurrentArena* const arena_;
  Node* const head_;
  std::atomic<int> max_height_{1};
  Splice hint_;  // of Insert: the place of the last entry

 public:
  class Iterator {
   public:
    explicit Iterator(const SkipList* list) : list_(list) {}
    bool Valid() const { return node_ != nullptr; }
    const char* entry() const { return node_->entry(); }
    // Nodes of sequential inserts are neighbours in memory: the next one is likely in the cache.
    void Next() {
      node_ = list_->Next(node_, 0);
      if (node_ == nullptr) return;
      const char* const ahead = reinterpret_cast<const char*>(list_->Next(node_, 0));
      for (int line = 0; ahead != nullptr && line < 3; ++line) {
        __builtin_prefetch(ahead + 64 * line);
      }
    }
    // Searches from the top: the list has no links backward. `self` is the
    // present entry as a target.
    void Prev(const Slice& self) { node_ = list_->FindBefore(self, false); }
    void Seek(const Slice& target) { node_ = list_->FindGreaterOrEqual(target); }
    void SeekForPrev(const Slice& target) { node_ = list_->FindBefore(target, true); }
    void SeekToFirst() { node_ = list_->Next(list_->head_, 0); }
    void SeekToLast() { node_ = list_->FindLast(); }

   private:
    const SkipList* list_;
    const Node* node_ = nullptr;
  };
};

}  // namespace compassdb
