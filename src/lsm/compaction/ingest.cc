// SPDX-License-Identifier: Apache-2.0
// Tables from outside: sorted records become tables of the deepest level that
// they may be on, cut like those of a compaction. The range is claimed while they are
// written, so that no compaction fills it.
#include <algorithm>
#include <optional>

#include "format/user_timestamp.h"
#include "lsm/compaction/job_file.h"
#include "lsm/compaction/value_separator.h"
#include "lsm/lsm_store_impl.h"

namespace compassdb {
namespace {

// Writes records and range tombstones as tables that share no key.
class TableCutter {
 public:
  TableCutter(const StoreContext* context, const StoreOptions* options, int level, size_t path,
              const LsmVersion* version, uint32_t group_bits, JobObserver* observer,
              std::vector<RangeTombstone> tombstones)
      : context_(context),
        options_(options),
        level_(level),
        tombstones_(std::move(tombstones)),
        files_(context, options, path, /*flush=*/false, observer),
        values_(context, options,
                {.level = level,
                 .file = &files_.values,
                 .group_bits = group_bits,
                 .fresh_from = 0,  // newer than all records of the store
                 .version = version}),
        build_(PieceOptions(*context, *options, {.level = level})) {}

  Status Run(InternalIterator* records, VersionEdit* edit, JobReport* report) {
    std::string last;
    uint64_t n = 0;
    for (records->SeekToFirst(); records->Valid(); records->Next()) {
      const Slice user_key = ExtractUserKey(records->key());
      Status s;
      if (level_ > 0 && piece_ != nullptr &&
          piece_->EstimatedBytes() >= options_->target_table_bytes &&
          !IsSameKey(options_->comparator, user_key, last)) {
        s = FinishTable(StartOfKey(options_->comparator, user_key), edit, report);
      }
      if (s.ok()) s = Open();
      Slice key = records->key(), value = records->value();
      if (s.ok() && !values_.idle()) s = values_.Pass(/*stale=*/false, /*made=*/false, &key, &value);
      if (s.ok()) s = piece_->Add(key, value);
      if (!s.ok()) return s;
      last.assign(user_key.data(), user_key.size());
      if ((++n & 0x3ff) == 0) files_.tables.Throttle();
    }
    Status s = records->status();
    if (s.ok() && (piece_ != nullptr || !tombstones_.empty())) s = FinishTable({}, edit, report);
    if (s.ok()) s = values_.Finish(edit);
    if (s.ok()) s = files_.Finish(edit, report);
    if (!s.ok()) files_.Abandon();
    if (!s.ok() || !files_.tables.created()) return s;
    report->records_in = report->records_out = n;
    return s;
  }

 private:
  Status Open() {
    if (piece_ != nullptr) return Status::OK();
    CompactionFileWriter* writer = nullptr;
    Status s = files_.tables.Writer(&writer);
    if (s.ok()) piece_ = std::make_unique<PieceBuilder>(build_, writer, context_->new_number());
    return s;
  }

  // With the tombstones, or their parts, up to `cut` (none: all).
  Status FinishTable(const std::optional<std::string>& cut, VersionEdit* edit, JobReport* report) {
    if (Status s = Open(); !s.ok()) return s;
    std::vector<RangeTombstone> mine;
    for (RangeTombstone t : tombstones_) {
      if (ClipTombstone(options_->comparator, lower_, cut, &t)) mine.push_back(std::move(t));
    }
    lower_ = cut;
    for (const RangeTombstone& t : mine) piece_->AddRangeTombstone(t);
    PieceMeta piece;
    PieceHashes hashes;
    if (Status s = piece_->Finish(&piece, &hashes); !s.ok()) return s;
    piece_.reset();
    piece.creation_time = context_->clock->NowMicros() / 1000000;
    TphMeta meta;
    Status s = WriteOnePieceTable(*context_, *options_, piece, hashes, mine, kUpperFingerprints,
                                  &files_.tables, &meta);
    if (!s.ok()) return s;
    report->outputs.push_back(meta);
    edit->added.push_back({level_, std::move(meta)});
    return s;
  }

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const int level_;
  const std::vector<RangeTombstone> tombstones_;
  std::optional<std::string> lower_;  // where the open table begins
  JobFiles files_;
  ValueSeparator values_;
  const PieceBuildOptions build_;
  std::unique_ptr<PieceBuilder> piece_;
};

}  // namespace

class LsmStore::IngestTask final : public CompactionTask {
 public:
  IngestTask(LsmStore* store, IngestRequest request, int level, size_t path)
      : store_(store),
        version_(store->VersionForJob()),
        group_bits_(store->values_.GroupBits(store->current()->values)),
        request_(std::move(request)),
        level_(level),
        path_(path) {}
  int input_level() const override { return level_; }
  int output_level() const override { return level_; }
  std::string Describe() const override { return "ingestion into L" + std::to_string(level_); }
  Status Run(const std::vector<SequenceNumber>&, const std::atomic<bool>*, VersionEdit* edit,
             JobReport* report) override {
    const uint64_t start = store_->context_->clock->NowNanos();
    edit->column_family = store_->options_.column_family_id;
    report->input_level = report->output_level = level_;
    report->reason = "ingestion";
    const std::shared_ptr<const StoreOptions> options = store_->current();
    TableCutter cutter(store_->context_, options.get(), level_, path_, version_.get(), group_bits_,
                       report->observer, request_.tombstones);
    Status s = cutter.Run(request_.records.get(), edit, report);
    if (!s.ok()) return s;
    store_->PinUntilInstalled(*report);
    report->micros = (store_->context_->clock->NowNanos() - start) / 1000;
    store_->RecordJob(*report);
    return s;
  }

 private:
  LsmStore* const store_;
  const std::shared_ptr<const LsmVersion> version_;
  const uint32_t group_bits_;
  IngestRequest request_;
  const int level_;
  const size_t path_;
};

bool LsmStore::NeedSequence(const Slice& smallest, const Slice& largest) const {
  // Deleted keys leave the tables before their group forgets them: values of sequence 0 would be taken for older.
  if (!version_->values()->empty()) return true;
  for (const auto& level : version_->levels()) {
    for (const TableRef& t : level) {
      if (OverlapsRange(options_.comparator, t->meta(), &smallest, &largest)) return true;
    }
  }
  return false;
}

Status LsmStore::CheckIngestBehind(const Slice& smallest, const Slice& largest) const {
  const std::string family = "column family " + options_.column_family_name;
  if (current()->values.enabled || !version_->values()->empty()) {
    return Status::NotSupported(family, "has separated values, whose newest write is what counts");
  }
  if (options_.hash_range || version_->HasHashLevels()) {
    return Status::NotSupported(family, "has levels that are cut by hash");
  }
  const auto& levels = version_->levels();
  const auto last = static_cast<size_t>(options_.num_levels) - 1;
  for (size_t level = 0; level < last; ++level) {
    for (const TableRef& t : levels[level]) {
      const auto& pieces = t->meta().pieces;
      if (std::any_of(pieces.begin(), pieces.end(),
                      [](const TphPiece& p) { return p.meta->smallest_seq == 0; })) {
        return Status::InvalidArgument(
            "Can't ingest_behind file as despite allow_ingest_behind=true there are files with 0 "
            "seqno in database at upper levels!");
      }
    }
  }
  if (std::any_of(levels[last].begin(), levels[last].end(), [&](const TableRef& t) {
        return OverlapsRange(options_.comparator, t->meta(), &smallest, &largest);
      })) {
    return Status::InvalidArgument(
        "Can't ingest_behind file as it doesn't fit at the bottommost level!");
  }
  return Status::OK();
}

int LsmStore::DeepestFor(const TphMeta& range) const {
  int deepest = 0;
  if (options_.hash_range || version_->HasHashLevels()) return deepest;
  const Slice smallest(range.smallest), largest(range.largest);
  for (int level = 0; level <= options_.last_job_level(); ++level) {
    const auto& tables = version_->levels()[static_cast<size_t>(level)];
    const auto overlaps = [&](const TableRef& t) {
      return OverlapsRange(options_.comparator, t->meta(), &smallest, &largest);
    };
    const auto claimed = [&](const Claim& claim) {
      return claim.level == level && Overlap(options_.comparator, claim.range, range);
    };
    if (std::any_of(tables.begin(), tables.end(), overlaps)) break;
    if (std::any_of(claims_.begin(), claims_.end(), claimed)) break;
    deepest = level;
  }
  return deepest;
}

std::unique_ptr<CompactionTask> LsmStore::PickIngest(IngestRequest request, IngestPlace place) {
  if (dropped_) return nullptr;
  TphMeta range;
  range.smallest = request.smallest;
  range.largest = request.largest;
  int level = 0;
  if (place == IngestPlace::kDeepest) level = DeepestFor(range);
  if (place == IngestPlace::kBehind) level = options_.num_levels - 1;
  const int like = std::min(level, options_.last_job_level());  // the last level is where that is
  const size_t path = PathOfLevel(MakePickerInput(), MakePickerConfig(), like);
  auto task = std::make_unique<IngestTask>(this, std::move(request), level, path);
  if (level > 0) claims_.push_back({task.get(), level, std::move(range)});
  return task;
}

}  // namespace compassdb
