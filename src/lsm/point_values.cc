// SPDX-License-Identifier: Apache-2.0
#include "lsm/point_values.h"

namespace compassdb {

// Memory of a value that stays for another one: a few large ones shall not make all of them large.
constexpr size_t kMostKept = 64 << 10;

rocksdb::Status IteratorValues::Resolve(const Slice& user_key, const Slice& ref,
                                        rocksdb::PinnableSlice* value) const {
  for (size_t i = next_; i < coming_; ++i) {
    Ahead& ahead = ahead_[i];
    if (ahead.ref != ref) continue;
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

void IteratorValues::ReadAhead(std::span<const Coming> coming, bool keep) {
  for (size_t i = 0; i < coming_; ++i) {
    ahead_[i].value.Reset();
    std::string* const room = ahead_[i].value.GetSelf();
    if (room->capacity() > kMostKept) std::string().swap(*room);
  }
  next_ = 0;
  coming_ = coming.size();
  if (ahead_.size() < coming_) ahead_.resize(coming_);
  requests_.resize(coming_);
  for (size_t i = 0; i < coming_; ++i) {
    ahead_[i].ref = coming[i].ref;
    requests_[i].user_key = coming[i].user_key;
    requests_[i].hash = hasher_(coming[i].user_key);
    requests_[i].ref = coming[i].ref;
    requests_[i].value = &ahead_[i].value;
  }
  BlockReadOptions read = read_;
  read.fill_cache = read.fill_cache && (keep || values_.has_own_cache());
  values_.ReadMany(read, requests_);
  for (size_t i = 0; i < coming_; ++i) ahead_[i].status = std::move(requests_[i].status);
}

}  // namespace compassdb
