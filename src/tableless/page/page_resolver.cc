// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_resolver.h"

#include "api/wide_column_codec.h"

namespace compassdb {

Status PageResolver::Resolve(const Slice& user_key, const Slice& ref,
                             rocksdb::PinnableSlice* value) const {
  Version version;
  Status s = ResolveVersion(user_key, ref, value, &version);
  if (!s.ok() || !version.entity) return s;
  Slice column;
  const std::string stored = value->ToString();
  s = DefaultWideColumn(stored, &column);
  value->Reset();
  if (s.ok()) value->PinSelf(column);
  return s;
}

Status PageResolver::ResolveVersion(const Slice& user_key, const Slice& ref,
                                    rocksdb::PinnableSlice* value, Version* version) const {
  if (ref != Slice(kKeyMarker)) {
    return Status::Corruption("key store", "a record that is no marker, of key " +
                                               user_key.ToString(/*hex=*/true));
  }
  for (size_t i = next_; i < coming_; ++i) {
    const Found& ahead = ahead_[i];
    if (ahead.user_key != user_key) continue;
    next_ = i + 1;
    if (!ahead.found) break;
    *version = ahead.version;
    value->PinSelf(ahead.value);
    return Status::OK();
  }
  PageLookup lookup;
  Status s = view_->LookupAt(read_, user_key, view_->parts().hasher(user_key), read_.snapshot,
                             &lookup);
  if (!s.ok()) return s;
  version->gone = !lookup.found;
  if (!lookup.found) return s;
  if (lookup.record.unfolded) {
    GetContext ctx(user_key, read_.snapshot, view_->merge_operator(), value);
    ctx.KeepEntities();
    s = TablelessView::Feed(lookup.record, &ctx);
    if (s.ok()) s = ctx.Finish();
    version->gone = s.IsNotFound();
    version->entity = ctx.found_entity();
    version->sequence = ctx.found_sequence();
    return version->gone ? Status::OK() : s;
  }
  version->entity = lookup.record.entity;
  version->sequence = lookup.record.sequence;
  value->PinSelf(lookup.record.value);
  return s;
}

// Records that are not found here in the simplest way are looked up at their turn. Pages stay in the cache after long
// walks, too: their keys are spread over the whole key space.
void PageResolver::ReadAhead(std::span<const Upcoming> coming, bool /*keep*/) {
  const TablelessView::Parts& parts = view_->parts();
  coming_ = next_ = 0;
  if (parts.sections.empty() || read_.limits.clock != nullptr) return;
  coming_ = coming.size();
  if (ahead_.size() < coming_) ahead_.resize(coming_);
  std::vector<TablelessView::Wanted> wanted;
  for (size_t i = 0; i < coming_; ++i) {
    wanted.push_back({coming[i].user_key, parts.hasher(coming[i].user_key)});
    ahead_[i].user_key = coming[i].user_key;
    ahead_[i].found = false;
  }
  view_->FindTogether(read_, wanted, [&](size_t i, const PageRecord* record) {
    if (record == nullptr || record->unfolded || record->sequence > read_.snapshot) return;
    Found& found = ahead_[i];
    found.found = true;
    found.value.assign(record->value.data(), record->value.size());
    found.version.entity = record->entity;
    found.version.sequence = record->sequence;
  });
}

}  // namespace compassdb
