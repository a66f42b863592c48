// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/exec/compaction_job.h"

namespace compassdb {

CompactionJob::CompactionJob(const CompactionJobInput& input,
                             const std::vector<SequenceNumber>& snapshots,
                             const std::atomic<bool>* cancel)
    : in_(input),
      snapshots_(snapshots),
      cancel_(cancel),
      cmp_(input.options->comparator),
      gc_(MakeGcConfig(*input.options)),
      delta_(cmp_, input.rewrite ? std::vector<TableRef>() : input.inputs, input.memtables,
             input.context->clock->NowMicros() / 1000000) {}

Status CompactionJob::Run(VersionEdit* edit, JobReport* report) {
  RegionMerge merge(in_, delta_, snapshots_, cancel_);
  Status s;
  if (in_.rewrite) {
    for (size_t i = 0; s.ok() && i < in_.inputs.size(); ++i) s = merge.Rewrite(in_.inputs[i]);
  } else {
    for (const TableRef& t : in_.inputs) {
      edit->deleted.push_back({in_.input_level, t->meta().tph_id});
    }
    report->bytes_read += delta_.stored_bytes();
    records_ = delta_.NewIterator(CompactionReads());
    s = CutRegions();
    if (s.ok()) {
      records_->SeekToFirst();
      s = records_->status();
    }
    for (size_t i = 0; s.ok() && i < regions_.size(); ++i) {
      s = merge.Run(regions_[i], records_.get());
    }
  }
  if (s.ok()) s = merge.Finish();
  if (!s.ok()) return s;
  const VersionEdit& done = merge.edit();
  edit->deleted.insert(edit->deleted.end(), done.deleted.begin(), done.deleted.end());
  edit->added.insert(edit->added.end(), done.added.begin(), done.added.end());
  report->Add(merge.report());
  report->bytes_written += merge.bytes_written();
  if (merge.file_number() != 0) report->output_files.push_back(merge.file_number());
  return s;
}

bool CompactionJob::FirstDeltaKeyAfter(const std::string& key, std::string* found, Status* s) {
  // The seek key with sequence 0 sorts behind every version of `key`.
  std::string target;
  AppendInternalKey(&target, key, 0, kTypeDeletion);
  records_->Seek(target);
  while (records_->Valid() && cmp_->Compare(ExtractUserKey(records_->key()), key) == 0) {
    records_->Next();
  }
  *s = records_->status();
  if (!records_->Valid()) return false;
  *found = ExtractUserKey(records_->key()).ToString();
  return true;
}

// A base owns the keys from its smallest to the next base's; the first owns
// what comes before it, too. A gap with enough data becomes tables of its own,
// from its first key on, so that appending does not make the last table swell.
Status CompactionJob::CutRegions() {
  if (in_.bases.empty()) {
    regions_.push_back({nullptr, std::nullopt, std::nullopt});
    return Status::OK();
  }
  const uint64_t enough = gc_.target_table_bytes / 4;
  std::optional<std::string> lower;
  if (delta_.Bytes(std::nullopt, in_.bases[0]->meta().smallest) >= enough) {
    lower = in_.bases[0]->meta().smallest;
    regions_.push_back({nullptr, std::nullopt, lower});
  }
  for (size_t i = 0; i < in_.bases.size(); ++i) {
    std::optional<std::string> upper;
    if (i + 1 < in_.bases.size()) upper = in_.bases[i + 1]->meta().smallest;
    const std::string& largest = in_.bases[i]->meta().largest;
    std::string gap;
    Status s;
    if (delta_.Bytes(largest, upper) >= enough && FirstDeltaKeyAfter(largest, &gap, &s) &&
        (!upper || cmp_->Compare(gap, *upper) < 0)) {
      regions_.push_back({in_.bases[i], lower, gap});
      regions_.push_back({nullptr, gap, upper});
    } else {
      regions_.push_back({in_.bases[i], lower, upper});
    }
    if (!s.ok()) return s;
    lower = upper;
  }
  return Status::OK();
}

}  // namespace compassdb
