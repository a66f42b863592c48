// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/in_flight_pages.h"

namespace compassdb {

void InFlightPages::Add(uint64_t file_number, size_t page_bytes, const std::vector<WriteRequest>* requests) {
  MutexLock lock(&mu_);
  batches_[requests] = {file_number, page_bytes};
}

void InFlightPages::Remove(const std::vector<WriteRequest>* requests) {
  MutexLock lock(&mu_);
  batches_.erase(requests);
  ++ended_;
}

bool InFlightPages::Copy(uint64_t file_number, uint64_t page, std::string* image) const {
  MutexLock lock(&mu_);
  for (const auto& [requests, batch] : batches_) {
    if (batch.file_number != file_number) continue;
    const uint64_t offset = page * batch.page_bytes;
    for (const WriteRequest& request : *requests) {
      if (offset < request.offset || offset - request.offset >= request.data.size()) continue;
      image->assign(request.data.data() + (offset - request.offset), batch.page_bytes);
      return true;
    }
  }
  return false;
}

uint64_t InFlightPages::ended() const {
  MutexLock lock(&mu_);
  return ended_;
}

}  // namespace compassdb
