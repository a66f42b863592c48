// SPDX-License-Identifier: Apache-2.0
#include "env/read_batch.h"

#include <utility>

#include "env/file_system.h"
#include "env/io_ring.h"
#include "env/io_stats.h"

namespace compassdb {

IoRing* ReadBatch::ring() {
  if (ring_ == nullptr) ring_ = IoRing::OfThread();
  return ring_.get();
}

void ReadBatch::Submit() {
  if (ring_ != nullptr) ring_->Submit();
}

void ReadBatch::Wait() {
  if (parts_.empty()) return;
  if (ring_ != nullptr) {
    const IoSpan span(&rocksdb::IOStatsContext::read_nanos, &rocksdb::IOStatsContext::cpu_read_nanos);
    ring_->Wait(&outstanding_);
  }
  for (const auto& part : std::exchange(parts_, {})) part->Finish();
  ring_.reset();
}

void ReadBatch::Abandon() {
  if (ring_ != nullptr) ring_->Wait(&outstanding_);
  parts_.clear();
  ring_.reset();
}

namespace {

// Reads of a file that has only MultiRead.
class DeferredReads final : public ReadBatch::Part {
 public:
  DeferredReads(const RandomAccessFile* file, ReadRequest* requests, size_t n)
      : file_(file), requests_(requests), n_(n) {}
  void Finish() override { file_->MultiRead(requests_, n_); }

 private:
  const RandomAccessFile* const file_;
  ReadRequest* const requests_;
  const size_t n_;
};

}  // namespace

void RandomAccessFile::AddReads(ReadRequest* requests, size_t n, ReadBatch* batch) const {
  batch->Add(std::make_unique<DeferredReads>(this, requests, n));
}

void RandomAccessFile::MultiRead(ReadRequest* requests, size_t n) const {
  for (size_t i = 0; i < n; ++i) {
    ReadRequest& r = requests[i];
    r.status = Read(r.offset, r.length, &r.result, r.scratch);
  }
}

}  // namespace compassdb
