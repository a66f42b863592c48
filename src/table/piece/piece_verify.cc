// SPDX-License-Identifier: Apache-2.0
// Piece::Verify: everything that the format promises, checked from the disk.
#include "table/piece/hashed_verify.h"
#include "table/piece/piece.h"
#include "table/piece/piece_reader.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

class PieceVerifier {
 public:
  explicit PieceVerifier(const PieceReader& piece)
      : piece_(piece), order_(piece.order()), hasher_(piece.meta().hash_seed) {}

  Status Run() {
    Status s = piece_.File(&holder_, &file_);
    if (s.ok()) s = piece_.ReadEverySection(&buffer_, &bytes_);
    const PieceMeta& meta = piece_.meta();
    listed_ = !piece_.without_hashes();
    if (s.ok() && listed_) {
      s = DecodeHashes(bytes_, meta.num_keys, piece_.Description(), &hashes_);
    }
    for (uint32_t b = 0; s.ok() && b < piece_.num_blocks(); ++b) s = VerifyBlock(b);
    if (!s.ok()) return s;
    if (keys_ != meta.num_keys || records_ != meta.num_records) {
      return Status::Corruption(piece_.Description(),
                                "holds " + std::to_string(records_) + " records of " +
                                    std::to_string(keys_) + " keys, the footer counts " +
                                    std::to_string(meta.num_records) + " of " +
                                    std::to_string(meta.num_keys));
    }
    if (keys_ > 0 && order_.Compare(last_key_, meta.largest) != 0) {
      return Status::Corruption(piece_.Description(), "largest key is not the last record's");
    }
    return s;
  }

 private:
  Status VerifyBlock(uint32_t b) {
    BlockReadOptions read;  // straight from the file, past the cache
    read.fill_cache = false;
    BlockRef ref;
    Status s = piece_.loader().FromFile(piece_.PlaceOf(b, file_), read, &ref);
    if (!s.ok()) return s;
    if (b > 0 && piece_.separators().KeyContinues(b - 1) != StartsWithLastKey(ref)) {
      return piece_.DamagedBlock(b, "the separators are wrong about the key that it starts with");
    }
    BlockIter iter(ref.block(), order_);
    for (iter.SeekToFirst(); iter.Valid(); iter.Next()) {
      s = VerifyRecord(b, iter.user_key(), iter.record());
      if (!s.ok()) return s;
      if (!ref.block().MayHaveHash(iter.index(), last_hash_)) {
        return RecordError(b, iter.user_key(), "has another fingerprint in its block");
      }
    }
    if (!iter.status().ok()) return piece_.DamagedBlock(b, "malformed record");
    return s;
  }

  bool StartsWithLastKey(const BlockRef& ref) const {
    BlockIter iter(ref.block(), order_);
    iter.SeekToFirst();
    return iter.Valid() && order_.Compare(iter.user_key(), last_key_) == 0;
  }

  Status VerifyRecord(uint32_t b, const Slice& user_key, const Block::Record& record) {
    const int c = records_ == 0 ? 1 : order_.Compare(user_key, last_key_);
    if (c < 0 || (c == 0 && record.sequence > last_sequence_)) {
      return RecordError(b, user_key, "is out of order");
    }
    if (record.sequence < piece_.meta().smallest_seq || record.sequence > piece_.meta().largest_seq) {
      return RecordError(b, user_key, "has a sequence outside of the piece's bounds");
    }
    if (c > 0) {
      if (records_ == 0 && order_.Compare(user_key, piece_.meta().smallest) != 0) {
        return RecordError(b, user_key, "is first, but not the piece's smallest key");
      }
      if (piece_.SeekBlock(user_key) != b) {
        return RecordError(b, user_key, "belongs into another block by the separators");
      }
      if (!piece_.FilterHolds(user_key)) return RecordError(b, user_key, "is not in the filter");
      Status s = VerifyHash(b, user_key, record);
      if (!s.ok()) return s;
      last_key_.assign(user_key.data(), user_key.size());
      ++keys_;
    }
    last_sequence_ = record.sequence;
    ++records_;
    return Status::OK();
  }

  Status VerifyHash(uint32_t b, const Slice& user_key, const Block::Record& record) {
    const KeyHash hash = last_hash_ = hasher_(user_key);
    if (!listed_) return Status::OK();
    if (keys_ >= hashes_.h1.size()) return RecordError(b, user_key, "is not in the hash list");
    if (hashes_.h1[keys_] != hash.h1 || hashes_.h2[keys_] != hash.h2) {
      return RecordError(b, user_key, "has another hash in the hash list");
    }
    if (((hashes_.flags[keys_] & PieceHashes::kMerge) != 0) != (record.type == kTypeMerge)) {
      return RecordError(b, user_key, "has a wrong merge flag in the hash list");
    }
    return Status::OK();
  }

  Status RecordError(uint32_t b, const Slice& user_key, const char* what) const {
    return piece_.DamagedBlock(b, ("key " + EscapeKey(user_key) + " " + what).c_str());
  }

  const PieceReader& piece_;
  const KeyOrder& order_;
  const KeyHasher hasher_;
  std::shared_ptr<CompactionFile> holder_;
  const CompactionFile* file_ = nullptr;
  std::string buffer_;
  Slice bytes_;
  PieceHashes hashes_;
  bool listed_ = true;  // there is a hash list
  uint64_t keys_ = 0;
  uint64_t records_ = 0;
  std::string last_key_;
  KeyHash last_hash_;  // of that key
  SequenceNumber last_sequence_ = 0;
};

}  // namespace

Status Piece::Verify() const {
  PieceRef reader;
  Status s = Open({}, &reader);
  if (!s.ok()) return s;
  return reader->hashed() ? VerifyHashedPiece(*reader) : PieceVerifier(*reader).Run();
}

}  // namespace compassdb
