// SPDX-License-Identifier: Apache-2.0
// The directory of a TPH: a perfect hash over all its keys whose slots hold a
// fingerprint and the piece of each key's newest record. Where in the piece the
// record lies is the piece's business.
//
// Thread safety: immutable after Open.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/key_hash.h"
#include "perfect_hash/build_options.h"
#include "perfect_hash/perfect_hash.h"
#include "rocksdb/status.h"
#include "table/compaction_file.h"
#include "table/directory_format.h"
#include "table/file_cache.h"
#include "table/piece_meta.h"
#include "util/coding.h"

namespace compassdb {

struct DirectoryEntry {
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  uint32_t piece = 0;  // index into TphMeta::pieces
};

// An absent key passes for present in one of about so many cases; the width of
// a slot follows from this and from the number of pieces. The tables of the
// bottom hold most keys, those above are asked by most reads.
inline constexpr uint32_t kBottomFingerprints = 255;
inline constexpr uint32_t kUpperFingerprints = 1023;

// Serialises a directory. Entries are sorted by h1. Entries that share h1 but
// not h2 are different keys with one 64-bit hash: their h1 goes to a side
// list, and lookups of it answer kAmbiguous. No two entries may be equal in
// both hashes. `fingerprints` is how many a slot must hold at least, from 1 to
// kMaxFingerprints. `function` says how to build the perfect hash (`sorted` does not matter). False
// if the sizes do not fit the format.
bool BuildDirectory(std::span<const DirectoryEntry> entries, size_t pieces, uint32_t fingerprints,
                    const perfect_hash::BuildOptions& function, std::string* out);

struct DirectoryHit {
  enum Kind : uint8_t { kAbsent, kPiece, kAmbiguous } kind = kAbsent;
  uint32_t piece = 0;
};

// Where the index memory of a directory goes, bytes.
struct DirectoryMemory {
  size_t perfect_hash = 0;
  size_t fingerprints = 0;
  size_t pieces = 0;
  size_t other = 0;
};

class Directory {
 public:
  // Takes the serialised form, its checksum already verified; checks every
  // length and index so that lookups stay in bounds whatever the bytes hold.
  static Status Open(std::string bytes, std::unique_ptr<Directory>* out);
  ~Directory();

  // kAbsent is exact. kPiece is a hint that is wrong for about one in
  // fingerprints() absent keys. kAmbiguous: search the pieces.
  DirectoryHit Lookup(const KeyHash& hash) const { return LookupAt(SlotOf(hash), hash); }
  // Lookup in steps, so that the memory accesses of several directories overlap:
  // Prefetch for all, SlotOf and PrefetchSlot for all, LookupAt one by one.
  void Prefetch(const KeyHash& hash) const { rep_->function.Prefetch(hash.h1); }
  uint64_t SlotOf(const KeyHash& hash) const { return rep_->function(hash.h1); }
  void PrefetchSlot(uint64_t slot) const {
    __builtin_prefetch(rep_->slots + slot * rep_->slot_bits / 8);
  }
  DirectoryHit LookupAt(uint64_t slot, const KeyHash& hash) const;
  bool IsAmbiguous(uint64_t h1) const;
  bool has_ambiguous() const;  // any
  uint64_t num_keys() const;
  uint64_t fingerprints() const;
  size_t num_pieces() const;
  DirectoryMemory Memory() const;

 private:
  struct Rep {
    std::string bytes;
    perfect_hash::Function function;
    const char* slots = nullptr;
    uint64_t slot_mask = 0;
    uint32_t slot_bits = 0;
    uint64_t pieces = 0;
    uint64_t fingerprints = 0;
    uint64_t keys = 0;
    size_t slot_bytes = 0;
    std::vector<uint64_t> ambiguous;  // ascending

    Status Parse();
  };
  explicit Directory(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

inline DirectoryHit Directory::LookupAt(uint64_t slot_number, const KeyHash& hash) const {
  const Rep& r = *rep_;
  DirectoryHit hit;
  if (r.keys == 0) return hit;
  if (!r.ambiguous.empty() && IsAmbiguous(hash.h1)) [[unlikely]] {
    hit.kind = DirectoryHit::kAmbiguous;
    return hit;
  }
  const uint64_t bit = slot_number * r.slot_bits;
  const uint64_t slot = DecodeFixed64(r.slots + bit / 8) >> (bit & 7) & r.slot_mask;
  // Wraps around to something large for other fingerprints and for empty slots.
  const uint64_t piece = slot - 1 - FingerprintOf(hash.h2, r.fingerprints) * r.pieces;
  if (piece >= r.pieces) return hit;
  hit.kind = DirectoryHit::kPiece;
  hit.piece = static_cast<uint32_t>(piece);
  return hit;
}

// A directory as an extent of a compaction file, with checksum.
Status WriteDirectory(CompactionFileWriter* file, const std::string& bytes, Extent* extent);
Status ReadDirectory(FileCache* files, const Extent& extent, uint64_t file_id,
                     std::unique_ptr<Directory>* out);

}  // namespace compassdb
