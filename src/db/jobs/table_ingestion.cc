// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/table_ingestion.h"

#include "store/levels.h"

namespace compassdb {
namespace {

// A file's records, forward; with another sequence if one is given. Owns the file.
class IngestedRecords final : public InternalIterator {
 public:
  IngestedRecords(std::shared_ptr<const ExternalTable> file, std::optional<SequenceNumber> sequence)
      : file_(std::move(file)), sequence_(sequence), iter_(file_->NewIterator()) {}
  bool Valid() const override { return iter_->Valid(); }
  void SeekToFirst() override { iter_->SeekToFirst(), Update(); }
  void SeekToLast() override { iter_->SeekToLast(), Update(); }
  void Seek(const Slice& target) override { iter_->Seek(target), Update(); }
  void SeekForPrev(const Slice& target) override { iter_->SeekForPrev(target), Update(); }
  void Next() override { iter_->Next(), Update(); }
  void Prev() override { iter_->Prev(), Update(); }
  Slice key() const override { return sequence_ ? Slice(key_) : iter_->key(); }
  Slice value() const override { return iter_->value(); }
  Status status() const override { return iter_->status(); }

 private:
  void Update() {
    if (!sequence_ || !iter_->Valid()) return;
    key_.clear();
    AppendInternalKey(&key_, ExtractUserKey(iter_->key()), *sequence_, ExtractType(iter_->key()));
  }
  const std::shared_ptr<const ExternalTable> file_;
  const std::optional<SequenceNumber> sequence_;
  const InternalIteratorPtr iter_;
  std::string key_;
};

IngestPlace PlaceOf(const Ingestion& ingestion) {
  if (ingestion.options->ingest_behind) return IngestPlace::kBehind;
  return ingestion.overlaps_files ? IngestPlace::kTop : IngestPlace::kDeepest;
}

}  // namespace

Status TableIngestion::Work(JobPart* part) {
  const Ingestion& ingestion = IngestionOf(part);
  Store* const store = ingestion.family->store();
  IngestRequest request;
  request.smallest = ingestion.file->info().table.smallest;
  request.largest = ingestion.file->info().table.largest;
  Status s = ingestion.file->ReadRangeTombstones(&request.tombstones);
  if (!s.ok()) return s;
  std::optional<SequenceNumber> sequence;
  if (!ingestion.imported) {
    sequence = ingestion.sequence;
    for (RangeTombstone& t : request.tombstones) t.sequence = ingestion.sequence;
  }
  request.records = std::make_unique<IngestedRecords>(ingestion.file, sequence);
  {
    MutexLock lock(env_.mu);
    part->task = store->levels()->PickIngest(std::move(request), PlaceOf(ingestion));
  }
  if (part->task == nullptr) return Status::ColumnFamilyDropped(ingestion.family->name());
  if (ingestion.options->fail_if_not_bottommost_level &&
      part->task->output_level() != store->options().num_levels - 1) {
    return Status::TryAgain(
        "Files cannot be ingested to Lmax. Please make sure key range of Lmax and ongoing "
        "compaction's output to Lmax does not overlap with files to ingest.");
  }
  s = RunTask(part, {}, env_.shutting_down);
  if (s.ok()) {
    Log(*part, part->task->Describe() + ": " + ingestion.file->path() + ", sequence " +
                   std::to_string(ingestion.sequence));
  }
  return s;
}

bool TableIngestion::WantsCommit() {
  if (!without_snapshots_ || std::none_of(ingestions_.begin(), ingestions_.end(),
                                          [](const Ingestion& i) { return i.ChangesSnapshots(); })) {
    return true;
  }
  none_.emplace(env_.snapshots);
  outdated_ = !none_->holds();
  return !outdated_;
}

// After the records' own edits, so that the commit's fields in the first edit do not replace it.
void TableIngestion::AddItems(std::vector<CommitItem>* items) {
  CommitItem& sequence = items->emplace_back();
  sequence.edit.last_sequence = last_sequence_;
  sequence.installed = [this] { visible_sequence_->store(last_sequence_); };
}

// It may be on disk nevertheless, so its sequences are not used again.
void TableIngestion::CommitFailed() {
  visible_sequence_->store(last_sequence_);
  in_doubt_ = env_.commits->in_doubt();
}

void TableIngestion::Report(const Status& s) {
  if (!s.ok()) return;
  for (const JobPart& part : parts_) {
    const Ingestion& ingestion = IngestionOf(&part);
    env_.event_log.FilesCreated(part.context, part.report);
    env_.event_log.Ingested(part.context, part.report);
    if (env_.listeners.empty()) continue;
    rocksdb::ExternalFileIngestionInfo info;
    info.cf_name = ingestion.family->name();
    info.external_file_path = ingestion.file->path();
    if (!part.report.output_paths.empty()) info.internal_file_path = part.report.output_paths.front();
    info.global_seqno = ingestion.sequence;
    info.table_properties = PropertiesOf(part.context, part.report);
    env_.listeners.FileIngested(info);
  }
}

}  // namespace compassdb
