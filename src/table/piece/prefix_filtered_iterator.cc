// SPDX-License-Identifier: Apache-2.0
#include "table/piece/prefix_filtered_iterator.h"

#include "filter/prefix_seek.h"
#include "format/internal_key.h"
#include "table/piece/piece_reader.h"
#include "table/read_stats.h"

namespace compassdb {

namespace {

class PrefixFilteredIterator final : public InternalIterator {
 public:
  PrefixFilteredIterator(PieceRef piece, InternalIteratorPtr base, const PrefixSeek& seek,
                         rocksdb::Statistics* statistics)
      : piece_(std::move(piece)), base_(std::move(base)), seek_(seek), statistics_(statistics) {}

  bool Valid() const override { return !left_out_ && base_->Valid(); }
  Slice key() const override { return base_->key(); }
  Slice value() const override { return base_->value(); }
  Status status() const override { return left_out_ ? Status::OK() : base_->status(); }

  void Seek(const Slice& target) override {
    left_out_ = LeavesOut(target);
    if (!left_out_) base_->Seek(target);
  }
  void SeekForPrev(const Slice& target) override {
    left_out_ = !seek_.automatic && HasNone();
    if (!left_out_) base_->SeekForPrev(target);
  }
  void SeekToFirst() override {
    left_out_ = false;
    base_->SeekToFirst();
  }
  void SeekToLast() override {
    left_out_ = false;
    base_->SeekToLast();
  }
  void Next() override { base_->Next(); }
  void Prev() override { base_->Prev(); }
  bool NextKey(Slice* key) override { return base_->NextKey(key); }
  void SkipCovered(const Slice& target, uint64_t seq) override { base_->SkipCovered(target, seq); }
  void PrefetchSeek(const Slice* target) override {
    if (target == nullptr || !LeavesOut(*target)) base_->PrefetchSeek(target);
  }
  void PrepareSeek(const Slice* target, ReadBatch* batch) override {
    if (target == nullptr || !LeavesOut(*target)) base_->PrepareSeek(target, batch);
  }

 private:
  // For forward seeks. The filter is not asked about keys behind the piece.
  bool LeavesOut(const Slice& target) {
    if (!seek_.active) return false;
    return piece_->order().Compare(ExtractUserKey(target), piece_->meta().largest) > 0 || HasNone();
  }
  bool HasNone() {
    if (!seek_.active) return false;
    if (asked_ != seek_.number) {
      asked_ = seek_.number;
      none_ = !piece_->filter()->MayHavePrefix(seek_.prefix);
      Tick(statistics_, rocksdb::BLOOM_FILTER_PREFIX_CHECKED);
      if (none_) Tick(statistics_, rocksdb::BLOOM_FILTER_PREFIX_USEFUL);
      if (rocksdb::PerfContext* perf = PerfCounters()) {
        ++(none_ ? perf->bloom_sst_miss_count : perf->bloom_sst_hit_count);
      }
    }
    return none_;
  }

  const PieceRef piece_;
  const InternalIteratorPtr base_;
  const PrefixSeek& seek_;
  rocksdb::Statistics* const statistics_;
  uint64_t asked_ = 0;  // the seek for which `none_` holds
  bool none_ = false;
  bool left_out_ = false;
};

}  // namespace

InternalIteratorPtr NewPrefixFilteredIterator(const Piece& piece, const BlockReadOptions& read) {
  PieceRef reader;
  InternalIteratorPtr base = piece.NewIterator(read);
  if (!piece.Open(read, &reader).ok() || reader->filter() == nullptr ||
      !reader->filter()->HasPrefixesOf(read.prefix_seek->extractor.get())) {
    return base;
  }
  rocksdb::Statistics* const statistics = reader->statistics();
  return std::make_unique<PrefixFilteredIterator>(std::move(reader), std::move(base),
                                                  *read.prefix_seek, statistics);
}

}  // namespace compassdb
