// SPDX-License-Identifier: Apache-2.0
#include "value_store/read_spans.h"

#include <algorithm>

namespace compassdb {

void JoinPlaces(std::vector<FilePlace>* places, std::vector<ReadSpan>* spans) {
  std::sort(places->begin(), places->end(), [](const FilePlace& a, const FilePlace& b) {
    return a.file != b.file ? a.file < b.file : a.offset < b.offset;
  });
  spans->clear();
  uint64_t file = 0;
  for (uint32_t i = 0; i < places->size(); ++i) {
    const FilePlace& place = (*places)[i];
    if (!spans->empty() && place.file == file) {
      ReadSpan& last = spans->back();
      const uint64_t end = last.offset + last.length;
      const uint64_t length = std::max(end, place.offset + place.size) - last.offset;
      const uint64_t gap = place.offset - std::min(end, place.offset);
      if (gap <= kSpanGap && length <= kMostJoined) {
        last.length = length;
        ++last.count;
        continue;
      }
    }
    file = place.file;
    spans->push_back({place.offset, place.size, i, 1});
  }
}

}  // namespace compassdb
