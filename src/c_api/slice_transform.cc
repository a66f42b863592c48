// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "c_api/callbacks.h"
#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::OrNull;
using rocksdb::Slice;

namespace {

class CallbackTransform final : public rocksdb::SliceTransform {
 public:
  struct Functions {
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length);
    unsigned char (*in_domain)(void*, const char* key, size_t length);
    unsigned char (*in_range)(void*, const char* key, size_t length);
  };

  CallbackTransform(void* state, void (*destructor)(void*), const char* (*name)(void*), const Functions& functions)
      : state_(state, destructor, name), functions_(functions) {}

  const char* Name() const override { return state_.name(); }
  // The bytes that it returns are part of the key, or the state's.
  Slice Transform(const Slice& key) const override {
    size_t size = 0;
    const char* const prefix = functions_.transform(state_.get(), key.data(), key.size(), &size);
    return Slice(prefix, size);
  }
  bool InDomain(const Slice& key) const override {
    return functions_.in_domain(state_.get(), key.data(), key.size()) != 0;
  }
  bool InRange(const Slice& dst) const override {
    return functions_.in_range != nullptr && functions_.in_range(state_.get(), dst.data(), dst.size()) != 0;
  }

 private:
  const compassdb::CallbackState state_;
  const Functions functions_;
};

}  // namespace

extern "C" {

rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length),
    unsigned char (*in_range)(void*, const char* key, size_t length), const char* (*name)(void*)) {
  return OrNull([&] {
    return new rocksdb_slicetransform_t{std::make_shared<CallbackTransform>(
        state, destructor, name, CallbackTransform::Functions{transform, in_domain, in_range})};
  });
}

rocksdb_slicetransform_t* rocksdb_slicetransform_create_fixed_prefix(size_t prefix_length) {
  return OrNull([&] {
    std::shared_ptr<const rocksdb::SliceTransform> transform(rocksdb::NewFixedPrefixTransform(prefix_length));
    return new rocksdb_slicetransform_t{std::move(transform)};
  });
}

rocksdb_slicetransform_t* rocksdb_slicetransform_create_noop(void) {
  return OrNull([&] {
    std::shared_ptr<const rocksdb::SliceTransform> transform(rocksdb::NewNoopTransform());
    return new rocksdb_slicetransform_t{std::move(transform)};
  });
}

void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t* transform) { delete transform; }

}  // extern "C"
