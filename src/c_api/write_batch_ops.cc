// SPDX-License-Identifier: Apache-2.0
#include "c_api/write_batch_ops.h"

#include "rocksdb/write_batch.h"

namespace compassdb {
namespace {

class Walker final : public rocksdb::WriteBatch::Handler {
 public:
  Walker(void* state, PutCallback put, DeleteCallback deleted) : state_(state), put_(put), deleted_(deleted) {}

  void Put(const Slice& key, const Slice& value) override {
    put_(state_, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const Slice& key) override { deleted_(state_, key.data(), key.size()); }

 private:
  void* const state_;
  const PutCallback put_;
  const DeleteCallback deleted_;
};

class FamilyWalker final : public rocksdb::WriteBatch::Handler {
 public:
  FamilyWalker(void* state, const FamilyCallbacks& callbacks) : state_(state), callbacks_(callbacks) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    callbacks_.put(state_, family, key.data(), key.size(), value.data(), value.size());
    return Status::OK();
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    callbacks_.deleted(state_, family, key.data(), key.size());
    return Status::OK();
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    callbacks_.merge(state_, family, key.data(), key.size(), value.data(), value.size());
    return Status::OK();
  }

 private:
  void* const state_;
  const FamilyCallbacks callbacks_;
};

}  // namespace

void WalkFamilies(const rocksdb::WriteBatch& batch, void* state, const FamilyCallbacks& callbacks) noexcept {
  FamilyWalker walker(state, callbacks);
  batch.Iterate(&walker).PermitUncheckedError();
}

void WalkBatch(const rocksdb::WriteBatch& batch, void* state, PutCallback put, DeleteCallback deleted) noexcept {
  Walker walker(state, put, deleted);
  // The callbacks have no result. Another error only ends the walk.
  batch.Iterate(&walker).PermitUncheckedError();
}

}  // namespace compassdb
