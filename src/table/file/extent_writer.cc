// SPDX-License-Identifier: Apache-2.0
#include "table/file/extent_writer.h"

#include <algorithm>
#include <utility>

#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

namespace {

constexpr size_t kLeastChunkBytes = 64 << 10;
constexpr size_t kMostChunkBytes = 1 << 20;

}  // namespace

void FillInChecksum(uint64_t file_id, uint64_t place, uint64_t kind, size_t covered, char* bytes) {
  uint64_t context = MixContext(file_id, place);
  if (kind != 0) context = MixContext(context, kind);
  EncodeFixed32(bytes + covered, Checksum32(Slice(bytes, covered), context));
}

ExtentWriter::~ExtentWriter() { DropHeld(); }

Status ExtentWriter::Append(std::string* bytes, size_t covered, uint64_t kind) {
  if (!started_) {
    if (file_->shared() && Hold(*bytes, covered, kind)) {
      length_ += bytes->size();
      return Status::OK();
    }
    if (Status s = Start(); !s.ok()) return s;
  }
  FillInChecksum(file_->file_id(), offset(), kind, covered, bytes->data());
  return Append(*bytes);
}

// False if there is no room for it.
bool ExtentWriter::Hold(const std::string& bytes, size_t covered, uint64_t kind) {
  const bool fits = !chunks_.empty() && chunks_.back().capacity() - chunks_.back().size() >= bytes.size();
  if (!fits) {
    const size_t room = std::max(
        bytes.size(), static_cast<size_t>(std::clamp<uint64_t>(length_, kLeastChunkBytes, kMostChunkBytes)));
    if (!file_->TakeRoom(room)) return false;
    held_ += room;
    chunks_.emplace_back().reserve(room);
  }
  std::string& chunk = chunks_.back();
  checksums_.push_back({chunks_.size() - 1, chunk.size(), covered, kind});
  chunk.append(bytes);
  return true;
}

Status ExtentWriter::Start() {
  if (file_->shared()) turn_ = std::unique_lock(file_->turn_);
  started_ = true;
  begin_ = file_->offset();
  return WriteHeld();
}

Status ExtentWriter::WriteHeld() {
  Status s;
  auto next = checksums_.begin();
  uint64_t place = begin_;
  for (size_t i = 0; s.ok() && i < chunks_.size(); ++i) {
    std::string& chunk = chunks_[i];
    for (; next != checksums_.end() && next->chunk == i; ++next) {
      FillInChecksum(file_->file_id(), place + next->begin, next->kind, next->covered, chunk.data() + next->begin);
    }
    place += chunk.size();
    s = file_->Append(chunk);
    file_->Pace();
  }
  DropHeld();
  return s;
}

void ExtentWriter::DropHeld() {
  chunks_ = {};
  checksums_ = {};
  file_->GiveRoom(std::exchange(held_, 0));
}

Status ExtentWriter::Append(const Slice& bytes) {
  length_ += bytes.size();
  return file_->Append(bytes);
}

Status ExtentWriter::Finish(Extent* extent) {
  Status s;
  if (!started_) s = Start();
  if (turn_.owns_lock()) turn_.unlock();
  if (s.ok()) *extent = {file_->file_number(), begin_, length_};
  return s;
}

}  // namespace compassdb
