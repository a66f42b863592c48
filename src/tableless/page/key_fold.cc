// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/key_fold.h"

#include <algorithm>

#include "api/wide_column_codec.h"
#include "tableless/page/unfolded.h"

namespace compassdb {

namespace {

// The versions of one key, newest first.
class VersionIterator final : public InternalIterator {
 public:
  VersionIterator(const Slice& user_key, const std::vector<NewVersion>& versions)
      : versions_(versions) {
    for (const NewVersion& v : versions) {
      AppendInternalKey(&keys_.emplace_back(), user_key, v.sequence, v.type);
    }
  }
  bool Valid() const override { return at_ < keys_.size(); }
  void SeekToFirst() override { at_ = 0; }
  void SeekToLast() override { at_ = keys_.size() - 1; }
  void Seek(const Slice&) override { at_ = keys_.size(); }  // only ever beyond the key
  void SeekForPrev(const Slice&) override { at_ = keys_.size(); }
  void Next() override { ++at_; }
  void Prev() override { --at_; }
  Slice key() const override { return keys_[at_]; }
  Slice value() const override { return versions_[at_].value; }
  Status status() const override { return Status::OK(); }

 private:
  const std::vector<NewVersion>& versions_;
  std::vector<std::string> keys_;
  size_t at_ = 0;
};

bool IsDeletion(ValueType type) { return type == kTypeDeletion || type == kTypeSingleDeletion; }

// All readers see only the newest version.
bool OnlyNewestCounts(const FoldOptions& options, const std::vector<NewVersion>& versions,
                      const PageRecord* existing) {
  if (options.filter != nullptr || versions.empty()) return false;
  const NewVersion& newest = versions.front();
  if (newest.type == kTypeMerge) return false;
  SequenceNumber oldest = existing != nullptr ? existing->sequence : versions.back().sequence;
  if (existing != nullptr && existing->unfolded) oldest = 0;  // it has several
  const auto snapshot =
      std::lower_bound(options.snapshots.begin(), options.snapshots.end(), oldest);
  return snapshot == options.snapshots.end() || *snapshot >= newest.sequence;
}

struct Survivor {
  SequenceNumber sequence;
  ValueType type;
  std::string value;
};

// From the oldest up, so that operands always find the value below them.
Status ResolveMerges(const FoldOptions& options, const Slice& user_key,
                     std::vector<Survivor>* survivors) {
  for (size_t i = survivors->size(); i-- > 0;) {
    Survivor& s = (*survivors)[i];
    if (s.type != kTypeMerge) continue;
    const Survivor* const below = i + 1 < survivors->size() ? &(*survivors)[i + 1] : nullptr;
    if (below != nullptr && below->type == kTypeWideColumnEntity) return MergeOntoEntity();
    Slice base;
    const bool has_base = below != nullptr && below->type == kTypeValue;
    if (has_base) base = below->value;
    std::string result;
    Status status =
        FullMerge(options.merge, user_key, has_base ? &base : nullptr, {Slice(s.value)}, &result);
    if (!status.ok()) return status;
    s.value = std::move(result);
    s.type = kTypeValue;
  }
  return Status::OK();
}

}  // namespace

const rocksdb::CompactionFilter* PageFilter(const StoreOptions& options, bool manual,
                                            std::unique_ptr<rocksdb::CompactionFilter>* owned) {
  if (options.compaction_filter != nullptr) return options.compaction_filter;
  if (options.compaction_filter_factory == nullptr) return nullptr;
  rocksdb::CompactionFilter::Context context;
  context.is_full_compaction = manual;
  context.is_manual_compaction = manual;
  context.column_family_id = options.column_family_id;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  if (!options.compaction_filter_factory->ShouldFilterTableFileCreation(context.reason)) return nullptr;
  *owned = options.compaction_filter_factory->CreateCompactionFilter(context);
  return owned->get();
}

namespace {

Status Fold(const FoldOptions& options, const Slice& user_key, const std::vector<NewVersion>& all,
            KeyOutcome* outcome) {
  VersionIterator input(user_key, all);
  CompactionIteratorOptions fold;
  fold.comparator = options.comparator;
  fold.snapshots = options.snapshots;
  fold.merge = options.merge;
  fold.filter = options.filter;
  fold.bottommost = true;
  std::vector<Survivor> survivors;
  CompactionIterator it(&input, std::move(fold));
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    survivors.push_back({ExtractSequence(it.key()), ExtractType(it.key()), it.value().ToString()});
  }
  if (!it.status().ok()) return it.status();
  Status s = ResolveMerges(options, user_key, &survivors);
  if (!s.ok() || survivors.empty()) return s;
  if (Survivor& top = survivors.front(); IsDeletion(top.type)) {
    outcome->gone_at = top.sequence;
  } else {
    outcome->owned = std::move(top.value);
    outcome->newest =
        PageRecord{user_key, outcome->owned, top.sequence, top.type == kTypeWideColumnEntity};
  }
  for (size_t i = 1; i < survivors.size(); ++i) {
    Survivor& old = survivors[i];
    if (IsDeletion(old.type)) {
      outcome->old_versions.push_back({old.sequence, kTypeDeletion, ""});
    } else if (old.type == kTypeWideColumnEntity) {
      outcome->old_versions.push_back({old.sequence, old.type, std::move(old.value)});
    } else {
      std::string wrapped;
      s = EncodeWideColumns({{Slice(), old.value}}, &wrapped);
      if (!s.ok()) return s;
      outcome->old_versions.push_back({old.sequence, kTypeWideColumnEntity, std::move(wrapped)});
    }
  }
  return s;
}

// Keeps all versions except those below the oldest base that a reader sees.
void KeepUnfolded(const FoldOptions& options, const Slice& user_key, std::vector<NewVersion> all,
                  KeyOutcome* outcome) {
  const auto base = std::find_if(all.begin(), all.end(), [](const NewVersion& v) { return v.type != kTypeMerge; });
  if (base != all.end() && (options.snapshots.empty() || options.snapshots.front() >= base->sequence)) {
    all.erase(base + 1, all.end());
  }
  outcome->old_versions.clear();
  outcome->owned.clear();
  EncodeUnfolded(all, &outcome->owned);
  outcome->newest = PageRecord{user_key, outcome->owned, all.front().sequence};
  outcome->newest->unfolded = true;
}

}  // namespace

Status FoldKey(const FoldOptions& options, const Slice& user_key,
               const std::vector<NewVersion>& versions, const PageRecord* existing,
               KeyOutcome* outcome) {
  outcome->newest.reset();
  outcome->old_versions.clear();
  outcome->gone_at = versions.empty() ? 0 : versions.front().sequence;
  if (OnlyNewestCounts(options, versions, existing)) {
    const NewVersion& v = versions.front();
    if (!IsDeletion(v.type)) {
      outcome->newest =
          PageRecord{user_key, v.value, v.sequence, v.type == kTypeWideColumnEntity};
    }
    return Status::OK();
  }
  std::vector<NewVersion> all = versions;
  if (existing != nullptr && existing->unfolded) {
    std::vector<NewVersion> kept;
    if (Status s = DecodeUnfolded(existing->value, &kept); !s.ok()) return s;
    all.insert(all.end(), kept.begin(), kept.end());
  } else if (existing != nullptr) {
    all.push_back({existing->sequence, existing->entity ? kTypeWideColumnEntity : kTypeValue,
                   existing->value});
  }
  Status s = Fold(options, user_key, all, outcome);
  const bool merges =
      std::any_of(all.begin(), all.end(), [](const NewVersion& v) { return v.type == kTypeMerge; });
  if (s.ok() || !merges) return s;
  KeepUnfolded(options, user_key, std::move(all), outcome);
  return Status::OK();
}

}  // namespace compassdb
