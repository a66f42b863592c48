// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/flush_job.h"

#include "iter/compaction_iterator.h"
#include "iter/merging_iterator.h"
#include "util/no_memory.h"

namespace compassdb {

Status FlushJob::WritePiece(const FlushRequest& request, PieceMeta* piece, PieceHashes* hashes,
                            std::vector<RangeTombstone>* tombstones, JobReport* report) {
  const InternalKeyComparator icmp(options_->comparator);
  std::vector<InternalIteratorPtr> children;
  RangeTombstoneSet covering(options_->comparator);
  for (const auto& memtable : request.memtables) {
    children.push_back(memtable->NewIterator());
    if (memtable->num_range_deletes() == 0) continue;
    covering.Add(memtable->RangeTombstones());
    for (RangeTombstone& t : memtable->RawRangeTombstones()) {
      // An empty range would only stretch the table's bounds.
      if (options_->comparator->Compare(t.start, t.end) >= 0) continue;
      tombstones->push_back(std::move(t));
    }
  }
  DropHiddenTombstones(options_->comparator, request.snapshots, tombstones);
  InternalIteratorPtr merged = NewMergingIterator(&icmp, std::move(children));

  std::unique_ptr<rocksdb::CompactionFilter> filter;
  if (options_->compaction_filter_factory != nullptr) {
    rocksdb::CompactionFilter::Context context;
    context.is_full_compaction = false;
    context.is_manual_compaction = false;
    context.column_family_id = options_->column_family_id;
    context.reason = request.recovery ? rocksdb::TableFileCreationReason::kRecovery
                                      : rocksdb::TableFileCreationReason::kFlush;
    if (options_->compaction_filter_factory->ShouldFilterTableFileCreation(context.reason)) {
      filter = options_->compaction_filter_factory->CreateCompactionFilter(context);
    }
  }
  CompactionIteratorOptions options;
  options.comparator = options_->comparator;
  options.snapshots = request.snapshots;
  options.tombstones = &covering;
  options.merge.op = options_->merge_operator.get();
  options.merge.statistics = context_->statistics;
  options.filter = filter.get();
  if (options_->history != nullptr) options.history_low = options_->history->Get();
  options.may_exist_outside = [](const Slice&) { return true; };
  CompactionIterator it(merged.get(), std::move(options));

  const PieceBuildOptions build = PieceOptions(*context_, *options_, {.level = 0, .flush = true, .recovery = request.recovery});
  CompactionFileWriter* writer = nullptr;
  std::unique_ptr<PieceBuilder> builder;
  const auto open = [&]() {
    if (builder != nullptr) return Status::OK();
    Status s = files_.tables.Writer(&writer);
    if (s.ok()) builder = std::make_unique<PieceBuilder>(build, writer, context_->new_number());
    return s;
  };
  uint64_t n = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    Slice key = it.key(), value = it.value();
    Status s = open();
    if (s.ok() && !values_.idle()) s = values_.Pass(/*stale=*/false, /*made=*/false, &key, &value);
    if (s.ok()) s = builder->Add(key, value);
    if (!s.ok()) return s;
    if ((++n & 0x3ff) == 0) files_.tables.Throttle();
  }
  if (!it.status().ok()) return it.status();
  report->AddMerged(it.stats());
  for (const RangeTombstone& t : *tombstones) {
    Status s = open();
    if (!s.ok()) return s;
    builder->AddRangeTombstone(t);
  }
  if (builder == nullptr) return Status::OK();
  Status s = builder->Finish(piece, hashes);
  piece->creation_time = context_->clock->NowMicros() / 1000000;
  return s;
}

Status FlushJob::Run(const FlushRequest& request, VersionEdit* edit, JobReport* report) {
  Status s = CatchOutOfMemory("a flush", [&] { return WriteTable(request, edit, report); });
  if (!s.ok()) files_.Abandon();
  return s;
}

Status FlushJob::WriteTable(const FlushRequest& request, VersionEdit* edit, JobReport* report) {
  const uint64_t start = context_->clock->NowNanos();
  PieceMeta piece;
  PieceHashes hashes;
  std::vector<RangeTombstone> tombstones;
  Status s = WritePiece(request, &piece, &hashes, &tombstones, report);
  if (!s.ok() || !files_.tables.created()) return s;
  TphMeta meta;
  s = WriteOnePieceTable(*context_, *options_, piece, hashes, tombstones, kUpperFingerprints,
                         &files_.tables, &meta);
  if (s.ok()) s = values_.Finish(edit);
  if (!s.ok()) return s;
  edit->column_family = options_->column_family_id;
  if (request.log_number != 0) edit->log_number = request.log_number;
  report->outputs.push_back(meta);
  edit->added.push_back({0, std::move(meta)});  // the file has the whole edit
  s = files_.Finish(edit, report);
  if (!s.ok()) edit->added.clear();
  report->micros = (context_->clock->NowNanos() - start) / 1000;
  return s;
}

}  // namespace compassdb
