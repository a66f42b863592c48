// SPDX-License-Identifier: Apache-2.0
// The directory of a TPH: a perfect hash over all its keys. A slot has a
// fingerprint and the piece of the key's newest record. The piece itself finds
// the record.
//
// Thread safety: immutable after Open.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/key_hash.h"
#include "perfect_hash/perfect_hash.h"
#include "rocksdb/status.h"
#include "table/directory/directory_format.h"
#include "table/directory/index_memory.h"
#include "table/file/compaction_file.h"
#include "table/file/file_cache.h"
#include "table/piece/piece_meta.h"
#include "util/coding.h"

namespace compassdb {

struct DirectoryEntry {
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  uint32_t piece = 0;  // index into TphMeta::pieces
};

// The rate of false positives is between one in this number and one in twice this number, because a
// slot has a whole number of bits: about one in 210 and in 850. Tables of the bottom level have most
// of the keys, and tables above are read by most
// lookups.
inline constexpr uint32_t kBottomFingerprints = 150;
inline constexpr uint32_t kUpperFingerprints = 600;

// Serialises a directory. Entries are sorted by h1. Entries that share h1 but
// not h2 are different keys with one 64-bit hash: their h1 is added to a side
// list, and its lookups return kAmbiguous. No two entries may be equal in
// both hashes. `fingerprints` is how many values a slot must distinguish at least, from 1 to
// kMaxFingerprints. `function` says how to build the perfect hash (`sorted` does not matter). False
// if the sizes do not fit the format.
bool BuildDirectory(std::span<const DirectoryEntry> entries, size_t pieces, uint32_t fingerprints,
                    const perfect_hash::BuildOptions& function, std::string* out);

struct DirectoryHit {
  enum Kind : uint8_t { kAbsent, kPiece, kAmbiguous } kind = kAbsent;
  uint32_t piece = 0;
};

// A directory without its slots, and the places of these.
class DirectoryHead {
 public:
  // Takes the serialised form, its checksum verified. Checks every length and index, so that all
  // later calls stay in bounds for any bytes.
  static Status Open(std::string bytes, std::unique_ptr<const DirectoryHead>* out);
  // The length of a head, from its first bytes. False if they cannot be those of a head.
  static bool Length(const char* header, size_t n, uint64_t* length);

  uint64_t SlotOf(const KeyHash& hash) const { return function_(hash.h1); }
  void Prefetch(const KeyHash& hash) const { function_.Prefetch(hash.h1); }
  // Decodes `slot`, the value at SlotOf(hash).
  DirectoryHit Read(uint64_t slot, const KeyHash& hash) const {
    DirectoryHit hit;
    // Wraps around to a large number for other fingerprints and for empty slots.
    const uint64_t piece = slot - 1 - FingerprintOf(hash.h2, fingerprints_) * pieces_;
    if (piece >= pieces_) return hit;
    hit.kind = DirectoryHit::kPiece;
    hit.piece = static_cast<uint32_t>(piece);
    return hit;
  }
  // The piece that a slot names, without comparing the fingerprint; for an empty slot, the newest.
  uint32_t PieceOf(uint64_t slot) const {
    return static_cast<uint32_t>(slot == 0 ? pieces_ - 1 : (slot - 1) % pieces_);
  }
  // Without a slot: no keys, or an ambiguous hash.
  bool Decides(const KeyHash& hash, DirectoryHit* hit) const {
    if (keys_ == 0) return true;
    if (ambiguous_.empty() || !IsAmbiguous(hash.h1)) return false;
    hit->kind = DirectoryHit::kAmbiguous;
    return true;
  }
  // The value of slot i of the padded array at `slots`.
  uint64_t SlotAt(const char* slots, uint64_t i) const {
    const uint64_t bit = i * slot_bits_;
    return DecodeFixed64(slots + bit / 8) >> (bit & 7) & slot_mask_;
  }

  bool IsAmbiguous(uint64_t h1) const;
  bool has_ambiguous() const { return !ambiguous_.empty(); }
  uint64_t num_keys() const { return keys_; }
  uint64_t fingerprints() const { return fingerprints_; }
  size_t num_pieces() const { return pieces_; }
  uint32_t slot_bits() const { return slot_bits_; }
  uint64_t slot_bytes() const;
  uint64_t page_slots() const { return page_slots_; }
  uint64_t num_pages() const;
  uint64_t PageBytes(uint64_t page) const;  // without its checksum
  uint64_t ExtentLength() const;
  // From the start of the extent.
  uint64_t PageOffset(uint64_t page) const;
  IndexMemory Memory() const;
  // Adds `bytes` of slots, shared between fingerprint and piece as in a slot.
  void AddSlots(uint64_t bytes, IndexMemory* memory) const;

 private:
  DirectoryHead() = default;
  Status Parse();

  std::string bytes_;
  perfect_hash::Function function_;
  uint64_t slot_mask_ = 0;
  uint32_t slot_bits_ = 0;
  uint64_t page_slots_ = 0;
  uint64_t pieces_ = 0;
  uint64_t fingerprints_ = 0;
  uint64_t keys_ = 0;
  std::vector<uint64_t> ambiguous_;  // ascending
};

// A whole directory.
class Directory {
 public:
  // Takes the output of BuildDirectory, and checks it like DirectoryHead::Open.
  static Status Open(std::string bytes, std::unique_ptr<Directory>* out);
  Directory(std::unique_ptr<const DirectoryHead> head, std::unique_ptr<char[]> slots)
      : head_(std::move(head)), slots_(std::move(slots)) {}

  // kAbsent is exact. kPiece is wrong for about one in fingerprints()
  // absent keys. kAmbiguous: search the pieces.
  DirectoryHit Lookup(const KeyHash& hash) const { return LookupAt(SlotOf(hash), hash); }
  // Lookup in steps, so that the memory accesses of several directories overlap:
  // Prefetch for all, SlotOf and PrefetchSlot for all, LookupAt one by one.
  void Prefetch(const KeyHash& hash) const { head_->Prefetch(hash); }
  uint64_t SlotOf(const KeyHash& hash) const { return head_->SlotOf(hash); }
  void PrefetchSlot(uint64_t slot) const {
    __builtin_prefetch(slots_.get() + slot * head_->slot_bits() / 8);
  }
  DirectoryHit LookupAt(uint64_t slot, const KeyHash& hash) const {
    DirectoryHit hit;
    if (head_->Decides(hash, &hit)) [[unlikely]] return hit;
    return head_->Read(head_->SlotAt(slots_.get(), slot), hash);
  }
  // The one piece that can hold a key with this slot. Requires num_keys() > 0, and a key that is not
  // kAmbiguous.
  uint32_t PieceAt(uint64_t slot) const { return head_->PieceOf(head_->SlotAt(slots_.get(), slot)); }
  bool IsAmbiguous(uint64_t h1) const { return head_->IsAmbiguous(h1); }
  bool has_ambiguous() const { return head_->has_ambiguous(); }  // any
  uint64_t num_keys() const { return head_->num_keys(); }
  uint64_t fingerprints() const { return head_->fingerprints(); }
  size_t num_pieces() const { return head_->num_pieces(); }
  IndexMemory Memory() const;

 private:
  const std::unique_ptr<const DirectoryHead> head_;
  const std::unique_ptr<char[]> slots_;
};

inline IndexMemory MemoryOf(const Directory& directory) { return directory.Memory(); }
inline IndexMemory MemoryOf(const DirectoryHead& head) { return head.Memory(); }

// A directory as an extent of a compaction file, whole or in parts. Each part has a checksum.
Status WriteDirectory(CompactionFileWriter* file, const std::string& bytes, Extent* extent);
Status ReadDirectory(FileCache* files, const Extent& extent, uint64_t file_id,
                     std::unique_ptr<Directory>* out);
// `keys` may be wrong: one more read is then needed.
Status ReadDirectoryHead(FileCache* files, const Extent& extent, uint64_t file_id, uint64_t keys,
                         std::unique_ptr<const DirectoryHead>* out);
// The slots of one page, with padding. `page` is below head.num_pages().
Status ReadDirectoryPage(FileCache* files, const Extent& extent, uint64_t file_id,
                         const DirectoryHead& head, uint64_t page, std::unique_ptr<char[]>* slots);

}  // namespace compassdb
