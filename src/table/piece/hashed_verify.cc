// SPDX-License-Identifier: Apache-2.0
#include "table/piece/hashed_verify.h"

#include <algorithm>

#include "table/piece/hashed_iterator.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

class HashedVerifier {
 public:
  explicit HashedVerifier(const PieceReader& piece)
      : piece_(piece), meta_(piece.meta()), hasher_(piece.meta().hash_seed) {}

  Status Run() {
    Status s = piece_.File(&holder_, &file_);
    if (s.ok()) s = piece_.ReadEverySection(&buffer_, &bytes_);
    if (s.ok()) {
      s = DecodeHashes(bytes_, meta_.num_keys, piece_.Description(), &hashes_);
    }
    for (uint32_t b = 0; s.ok() && b < piece_.num_blocks(); ++b) s = VerifyBlock(b);
    if (s.ok() && (keys_ != meta_.num_keys || records_ != meta_.num_records)) {
      s = Wrong("the blocks hold " + std::to_string(records_) + " records of " +
                std::to_string(keys_) + " keys, the footer counts " +
                std::to_string(meta_.num_records) + " of " + std::to_string(meta_.num_keys));
    }
    return s.ok() ? VerifyOrder() : s;
  }

 private:
  struct Entry {
    uint64_t h1, h2;
    bool merge;
    bool operator<(const Entry& other) const {
      return h1 != other.h1 ? h1 < other.h1 : h2 < other.h2;
    }
  };

  Status VerifyBlock(uint32_t b) {
    std::vector<Entry> found;
    if (piece_.BlockLength(b) > 0) {
      BlockReadOptions read;  // straight from the file, past the cache
      read.fill_cache = false;
      BlockRef ref;
      Status s = piece_.loader().FromFile(piece_.PlaceOf(b, file_), read, &ref);
      if (!s.ok()) return s;
      BlockIter iter(ref.block(), piece_.order());
      std::string last_key;
      SequenceNumber last_sequence = 0;
      for (iter.SeekToFirst(); iter.Valid(); iter.Next()) {
        const Slice key = iter.user_key();
        const int c = found.empty() ? 1 : piece_.order().Compare(key, last_key);
        const SequenceNumber sequence = iter.record().sequence;
        if (c < 0 || (c == 0 && sequence > last_sequence)) return Bad(b, key, "is out of order");
        if (sequence < meta_.smallest_seq || sequence > meta_.largest_seq) {
          return Bad(b, key, "has a sequence outside of the piece's bounds");
        }
        if (c > 0) {
          const KeyHash hash = hasher_(key);
          if (piece_.hashed_index().Locate(hash.h1) != b) {
            return Bad(b, key, "belongs into another block by its hash");
          }
          found.push_back({hash.h1, hash.h2, iter.record().type == kTypeMerge});
          last_key.assign(key.data(), key.size());
        }
        last_sequence = sequence;
        ++records_;
      }
      if (!iter.status().ok()) return piece_.DamagedBlock(b, "malformed record");
    }
    return VerifyHashes(b, std::move(found));
  }

  Status VerifyHashes(uint32_t b, std::vector<Entry> found) {
    std::vector<Entry> listed;
    while (keys_ < hashes_.h1.size() && listed.size() < found.size()) {
      listed.push_back({hashes_.h1[keys_], hashes_.h2[keys_],
                        (hashes_.flags[keys_] & PieceHashes::kMerge) != 0});
      ++keys_;
    }
    std::sort(found.begin(), found.end());
    std::sort(listed.begin(), listed.end());
    const bool same = std::equal(found.begin(), found.end(), listed.begin(), listed.end(),
                                 [](const Entry& x, const Entry& y) {
                                   return x.h1 == y.h1 && x.h2 == y.h2 && x.merge == y.merge;
                                 });
    return same ? Status::OK()
                : piece_.DamagedBlock(b, "its keys are not those of the hash list");
  }

  Status VerifyOrder() {
    BlockReadOptions read;
    read.fill_cache = false;
    read.whole_piece = true;
    HashedIterator iter(PieceRef(&piece_), read);
    std::string last;
    uint64_t keys = 0, records = 0;
    for (iter.SeekToFirst(); iter.Valid(); iter.Next(), ++records) {
      const Slice key = ExtractUserKey(iter.key());
      const int c = keys == 0 ? 1 : piece_.order().Compare(key, last);
      if (c < 0) return Wrong("key " + EscapeKey(key) + " is out of order in the reverse index");
      if (c == 0) continue;
      if (keys == 0 && piece_.order().Compare(key, meta_.smallest) != 0) {
        return Wrong("smallest key is not the reverse index's first");
      }
      if (piece_.separators().LowerBound(piece_.order(), key) != keys / OrderPage::kGroup) {
        return Wrong("key " + EscapeKey(key) + " belongs into another group by the separators");
      }
      if (!piece_.FilterHolds(key)) return Wrong("key " + EscapeKey(key) + " is not in the filter");
      // Seeks depend on this.
      if (iter.has_differences() && iter.difference() != (keys == 0 ? 0 : FirstDifference(last, key))) {
        return Wrong("the reverse index is wrong about what separates key " + EscapeKey(key) + " from the one before");
      }
      last.assign(key.data(), key.size());
      ++keys;
    }
    if (!iter.status().ok()) return iter.status();
    if (keys != meta_.num_keys || records != meta_.num_records) {
      return Wrong("the reverse index reaches " + std::to_string(records) + " records of " +
                   std::to_string(keys) + " keys, the footer counts " +
                   std::to_string(meta_.num_records) + " of " + std::to_string(meta_.num_keys));
    }
    if (keys > 0 && piece_.order().Compare(last, meta_.largest) != 0) {
      return Wrong("largest key is not the reverse index's last");
    }
    return Status::OK();
  }

  Status Wrong(const std::string& what) const {
    return Status::Corruption(piece_.Description(), what);
  }
  Status Bad(uint32_t b, const Slice& user_key, const char* what) const {
    return piece_.DamagedBlock(b, ("key " + EscapeKey(user_key) + " " + what).c_str());
  }

  const PieceReader& piece_;
  const PieceMeta& meta_;
  const KeyHasher hasher_;
  std::shared_ptr<CompactionFile> holder_;
  const CompactionFile* file_ = nullptr;
  std::string buffer_;
  Slice bytes_;
  PieceHashes hashes_;
  uint64_t keys_ = 0;
  uint64_t records_ = 0;
};

}  // namespace

Status VerifyHashedPiece(const PieceReader& piece) { return HashedVerifier(piece).Run(); }

}  // namespace compassdb
