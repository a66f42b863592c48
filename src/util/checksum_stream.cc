// SPDX-License-Identifier: Apache-2.0
#include "util/checksum_stream.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace compassdb {

struct ChecksumStream::Rep {
  XXH3_state_t state;
};

ChecksumStream::ChecksumStream(uint64_t context) : rep_(std::make_unique<Rep>()) {
  XXH3_INITSTATE(&rep_->state);
  XXH3_64bits_reset_withSeed(&rep_->state, context);
}

ChecksumStream::~ChecksumStream() = default;

void ChecksumStream::Update(const Slice& data) {
  XXH3_64bits_update(&rep_->state, data.data(), data.size());
}

uint32_t ChecksumStream::Value() const { return static_cast<uint32_t>(XXH3_64bits_digest(&rep_->state)); }

}  // namespace compassdb
