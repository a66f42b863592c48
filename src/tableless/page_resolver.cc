// SPDX-License-Identifier: Apache-2.0
#include "tableless/page_resolver.h"

#include "util/wide_column_codec.h"

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
  if (const auto ahead = ahead_.find(user_key.ToString()); ahead != ahead_.end()) {
    *version = ahead->second.version;
    value->PinSelf(ahead->second.value);
    return Status::OK();
  }
  PageLookup lookup;
  Status s = view_->LookupAt(read_, user_key, view_->parts().hasher(user_key), read_.snapshot,
                             &lookup);
  if (!s.ok()) return s;
  version->gone = !lookup.found;
  if (!lookup.found) return s;
  version->entity = lookup.record.entity;
  version->sequence = lookup.record.sequence;
  value->PinSelf(lookup.record.value);
  return s;
}

// What is not found here in the simplest way is looked for at its turn.
void PageResolver::ReadAhead(std::span<const Coming> coming, bool keep) {
  ahead_.clear();
  const TablelessView::Parts& parts = view_->parts();
  if (parts.sections.empty()) return;
  std::vector<TablelessView::Wanted> wanted;
  for (const Coming& c : coming) wanted.push_back({c.user_key, parts.hasher(c.user_key)});
  BlockReadOptions read = read_;
  read.fill_cache = read.fill_cache && keep;
  view_->FindTogether(read, wanted, [&](size_t i, const PageRecord* record) {
    if (record == nullptr || record->sequence > read_.snapshot) return;
    Found& found = ahead_[coming[i].user_key.ToString()];
    found.value = record->value.ToString();
    found.version.entity = record->entity;
    found.version.sequence = record->sequence;
  });
}

}  // namespace compassdb
