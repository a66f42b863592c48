// SPDX-License-Identifier: Apache-2.0
// The directory of a TPH: a perfect hash over all its keys whose slots hold a
// fingerprint and the place (piece, block) of each key's newest record.
//
// Thread safety: immutable after Open.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/key_hash.h"
#include "rocksdb/status.h"
#include "table/compaction_file.h"
#include "table/file_cache.h"
#include "table/piece_meta.h"

namespace compassdb {

struct DirectoryEntry {
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  uint32_t piece = 0;  // index into TphMeta::pieces
  uint32_t block = 0;  // within the piece
};

// Serialises a directory. Entries are sorted by h1. Entries that share h1 but
// not h2 are different keys with one 64-bit hash: their h1 goes to a side
// list, and lookups of it answer kAmbiguous. No two entries may be equal in
// both hashes. `blocks_per_piece` has an element per piece. False if the sizes
// do not fit the format.
bool BuildDirectory(std::span<const DirectoryEntry> entries,
                    std::span<const uint64_t> blocks_per_piece, uint64_t seed, std::string* out);

struct DirectoryHit {
  enum Kind : uint8_t { kAbsent, kPlace, kAmbiguous } kind = kAbsent;
  uint32_t piece = 0;
  uint32_t block = 0;
};

// Where the index memory of a directory goes, bytes.
struct DirectoryMemory {
  size_t perfect_hash = 0;
  size_t fingerprints = 0;
  size_t places = 0;
  size_t other = 0;
  size_t total() const { return perfect_hash + fingerprints + places + other; }
};

class Directory {
 public:
  // Takes the serialised form, its checksum already verified; checks every
  // length and index so that lookups stay in bounds whatever the bytes hold.
  static Status Open(std::string bytes, std::unique_ptr<Directory>* out);
  ~Directory();

  // kAbsent is exact. kPlace is a hint that is wrong for about one in 256
  // absent keys. kAmbiguous: search the pieces.
  DirectoryHit Lookup(const KeyHash& hash) const;
  void Prefetch(const KeyHash& hash) const;
  bool IsAmbiguous(uint64_t h1) const;
  bool has_ambiguous() const;  // any
  uint64_t num_keys() const;
  // Data blocks of piece i as the directory was built for; 0 behind its last piece.
  uint64_t BlocksOfPiece(size_t i) const;
  size_t num_pieces() const;
  DirectoryMemory Memory() const;

 private:
  struct Rep;
  explicit Directory(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// A directory as an extent of a compaction file, with checksum.
Status WriteDirectory(CompactionFileWriter* file, const std::string& bytes, Extent* extent);
Status ReadDirectory(FileCache* files, const Extent& extent, uint64_t file_id,
                     std::unique_ptr<Directory>* out);

}  // namespace compassdb
