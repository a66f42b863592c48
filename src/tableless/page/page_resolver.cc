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
  if (LogRef::IsLogRef(ref)) return ResolveLogged(user_key, ref, value);
  if (ref != Slice(kKeyMarker)) {
    return Status::Corruption("key store", "a record that is no marker, of key " +
                                               user_key.ToString(/*hex=*/true));
  }
  if (const Found* const ahead = FindAhead(user_key, ref)) {
    *version = ahead->version;
    value->PinSelf(ahead->value);
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

const PageResolver::Found* PageResolver::FindAhead(const Slice& user_key, const Slice& ref) const {
  for (size_t i = next_; i < coming_; ++i) {
    if (ahead_[i].user_key != user_key) continue;
    next_ = i + 1;
    return ahead_[i].found && ahead_[i].ref == ref ? &ahead_[i] : nullptr;
  }
  return nullptr;
}

Status PageResolver::ResolveLogged(const Slice& user_key, const Slice& ref,
                                   rocksdb::PinnableSlice* value) const {
  if (const Found* const ahead = FindAhead(user_key, ref)) {
    value->PinSelf(ahead->value);
    return Status::OK();
  }
  if (read_.cache_only) return Status::Incomplete("the value is in the log");
  return view_->state()->log_values()->Resolve(user_key, ref, value);
}

void PageResolver::ReadLogged(std::span<const Upcoming> coming) {
  std::vector<LogValues::Request> requests;
  std::vector<Found*> found;
  for (size_t i = 0; i < coming_; ++i) {
    if (!LogRef::IsLogRef(coming[i].ref)) continue;
    requests.push_back({coming[i].ref, &ahead_[i].value, Status()});
    found.push_back(&ahead_[i]);
    ahead_[i].version = Version();
  }
  if (requests.empty()) return;
  view_->state()->log_values()->ReadMany(requests);
  for (size_t i = 0; i < requests.size(); ++i) found[i]->found = requests[i].status.ok();
}

// Records that are not found here in the simplest way are looked up at their turn. Pages stay in the cache after long
// walks, too: their keys are spread over the whole key space.
void PageResolver::ReadAhead(std::span<const Upcoming> coming, bool /*keep*/) {
  const TablelessView::Parts& parts = view_->parts();
  coming_ = next_ = 0;
  if (read_.cache_only || read_.limits.clock != nullptr) return;
  coming_ = coming.size();
  if (ahead_.size() < coming_) ahead_.resize(coming_);
  std::vector<TablelessView::Wanted> wanted;
  std::vector<size_t> places;  // of these in ahead_
  for (size_t i = 0; i < coming_; ++i) {
    ahead_[i].user_key = coming[i].user_key;
    ahead_[i].ref = coming[i].ref;
    ahead_[i].found = false;
    if (LogRef::IsLogRef(coming[i].ref)) continue;
    wanted.push_back({coming[i].user_key, parts.hasher(coming[i].user_key)});
    places.push_back(i);
  }
  ReadLogged(coming);
  if (parts.sections.empty()) return;
  view_->FindTogether(read_, wanted, [&](size_t i, const PageRecord* record) {
    if (record == nullptr || record->unfolded || record->sequence > read_.snapshot) return;
    Found& found = ahead_[places[i]];
    found.found = true;
    found.value.assign(record->value.data(), record->value.size());
    found.version.entity = record->entity;
    found.version.sequence = record->sequence;
  });
}

}  // namespace compassdb
