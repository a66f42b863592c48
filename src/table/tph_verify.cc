// SPDX-License-Identifier: Apache-2.0
// Tph::Verify: the pieces, and rule 2, record by record.
#include "table/piece/piece_reader.h"
#include "table/tph.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

// Walks all pieces together, from key to key.
class KeyWalk {
 public:
  KeyWalk(const std::vector<std::shared_ptr<Piece>>& pieces, const Comparator* comparator)
      : comparator_(comparator) {
    BlockReadOptions read;
    read.fill_cache = false;
    read.whole_piece = true;
    for (const auto& piece : pieces) {
      iters_.push_back(piece->NewIterator(read));
      iters_.back()->SeekToFirst();
    }
  }

  // To the newest record of the next key. False at the end, or after an error.
  bool Next(Status* s) {
    while (Smallest(s)) {
      InternalIterator& iter = *iters_[piece_];
      const Slice user_key = ExtractUserKey(iter.key());
      const bool same = any_ && comparator_.CompareUserKey(user_key, key_) == 0;
      if (!same) {
        any_ = true;
        key_.assign(user_key.data(), user_key.size());
        sequence_ = ExtractSequence(iter.key());
        iter.Next();
        return true;
      }
      iter.Next();
    }
    return false;
  }

  const std::string& key() const { return key_; }
  SequenceNumber sequence() const { return sequence_; }
  // Where the newest record is; on a tie of sequences, the first such piece.
  uint32_t piece() const { return piece_; }

 private:
  bool Smallest(Status* s) {
    bool found = false;
    for (uint32_t i = 0; i < iters_.size(); ++i) {
      *s = iters_[i]->status();
      if (!s->ok()) return false;
      if (!iters_[i]->Valid()) continue;
      if (!found || comparator_.Compare(iters_[i]->key(), iters_[piece_]->key()) < 0) piece_ = i;
      found = true;
    }
    return found;
  }

  const InternalKeyComparator comparator_;
  std::vector<InternalIteratorPtr> iters_;
  bool any_ = false;
  std::string key_;
  SequenceNumber sequence_ = 0;
  uint32_t piece_ = 0;
};

}  // namespace

Status Tph::Verify() const {
  for (const auto& piece : pieces_) {
    Status s = piece->Verify();
    if (!s.ok()) return s;
  }
  if (!use_directory_) return Status::OK();
  DirectoryRef directory;
  Status s = OpenDirectory({}, &directory);
  if (!s.ok()) return s;
  const std::string what = "table " + std::to_string(meta_.tph_id);
  const KeyHasher hasher(pieces_.empty() ? 0 : pieces_[0]->meta().hash_seed);
  KeyWalk walk(pieces_, context_->options.comparator);
  uint64_t keys = 0;
  while (walk.Next(&s)) {
    ++keys;
    const KeyHash hash = hasher(walk.key());
    if (!meta_.search.Contains(SearchKey(hash))) {
      return Status::Corruption(what, "key " + EscapeKey(walk.key()) +
                                          " is outside the table's range of hashes");
    }
    const DirectoryHit hit = directory->Lookup(hash);
    if (hit.kind == DirectoryHit::kAmbiguous) continue;
    if (hit.kind == DirectoryHit::kAbsent) {
      return Status::Corruption(what, "key " + EscapeKey(walk.key()) + " has no directory slot");
    }
    if (hit.piece != walk.piece()) {
      // A tie of sequences: any piece with the same newest record will do.
      FoundRecord record;
      s = pieces_[hit.piece]->Find({}, walk.key(), kMaxSequenceNumber, &record);
      if (!s.ok()) return s;
      if (record.found && record.sequence == walk.sequence()) continue;
      return Status::Corruption(
          what, "key " + EscapeKey(walk.key()) + ": its slot names piece " +
                    std::to_string(hit.piece) + ", its newest record (sequence " +
                    std::to_string(walk.sequence()) + ") is in piece " +
                    std::to_string(walk.piece()));
    }
  }
  if (s.ok() && keys != directory->num_keys()) {
    return Status::Corruption(what, "the pieces hold " + std::to_string(keys) +
                                        " keys, the directory " +
                                        std::to_string(directory->num_keys()));
  }
  return s;
}

}  // namespace compassdb
