// SPDX-License-Identifier: Apache-2.0
#include "lsm/point_values.h"

namespace compassdb {

rocksdb::Status IteratorValues::Resolve(const Slice& user_key, const Slice& ref,
                                        rocksdb::PinnableSlice* value) const {
  for (size_t i = next_; i < ahead_.size(); ++i) {
    Ahead& ahead = *ahead_[i];
    if (Slice(ahead.name.ref) != ref) continue;
    next_ = i + 1;
    if (!ahead.status.ok()) return ahead.status;
    if (ahead.value.IsPinned()) {
      value->PinSlice(ahead.value, &ahead.value);
    } else {
      value->GetSelf()->swap(*ahead.value.GetSelf());
      value->PinSelf();
    }
    return rocksdb::Status::OK();
  }
  return values_.Read(read_, user_key, hasher_(user_key), ref, value);
}

void IteratorValues::ReadAhead(std::vector<Coming> coming) {
  ahead_.clear();
  next_ = 0;
  std::vector<ValueRequest> requests(coming.size());
  for (size_t i = 0; i < coming.size(); ++i) {
    ahead_.push_back(std::make_unique<Ahead>());
    Ahead& ahead = *ahead_.back();
    ahead.name = std::move(coming[i]);
    requests[i].user_key = ahead.name.user_key;
    requests[i].hash = hasher_(ahead.name.user_key);
    requests[i].ref = ahead.name.ref;
    requests[i].value = &ahead.value;
  }
  values_.ReadMany(read_, requests);
  for (size_t i = 0; i < requests.size(); ++i) ahead_[i]->status = std::move(requests[i].status);
}

}  // namespace compassdb
