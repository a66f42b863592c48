// SPDX-License-Identifier: Apache-2.0
#include "lsm/read/point_values.h"

namespace compassdb {

rocksdb::Status IteratorValues::Resolve(const Slice& user_key, const Slice& ref,
                                        rocksdb::PinnableSlice* value) const {
  for (const size_t at : {1 - last_, last_}) {
    Window& window = windows_[at];
    for (size_t i = window.next; i < window.coming; ++i) {
      Ahead& ahead = window.ahead[i];
      if (ahead.ref != ref) continue;
      if (window.under_way) {
        window.reads.Finish();
        window.under_way = false;
      }
      window.next = i + 1;
      if (!window.requests[i].status.ok()) return window.requests[i].status;
      if (ahead.value.IsPinned()) {
        value->PinSlice(ahead.value, &ahead.value);
      } else {
        value->GetSelf()->swap(*ahead.value.GetSelf());
        value->PinSelf();
      }
      return rocksdb::Status::OK();
    }
  }
  return values_.Read(read_, user_key, hasher_(user_key), ref, value);
}

void IteratorValues::ReadAhead(std::span<const Upcoming> coming, bool keep) {
  last_ = 1 - last_;
  Window& window = windows_[last_];
  window.reads.Drop();
  for (size_t i = 0; i < window.coming; ++i) window.ahead[i].value.Reset();
  window.next = 0;
  window.coming = coming.size();
  if (window.ahead.size() < coming.size()) window.ahead.resize(coming.size());
  window.requests.resize(coming.size());
  for (size_t i = 0; i < coming.size(); ++i) {
    ValueRequest& request = window.requests[i];
    window.ahead[i].ref = coming[i].ref;
    request.user_key = coming[i].user_key;
    request.hash = hasher_(coming[i].user_key);
    request.ref = coming[i].ref;
    request.value = &window.ahead[i].value;
  }
  window.reads.Start(values_, read_, read_.fill_cache && (keep || values_.has_own_cache()), /*share=*/true,
                     window.requests);
  window.reads.Submit();
  window.under_way = true;
  overlaps_ = window.reads.pending();
}

}  // namespace compassdb
