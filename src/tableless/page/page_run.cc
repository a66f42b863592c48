// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_run.h"

namespace compassdb {

Status PageRun::Corruption(uint64_t offset, const std::string& what) const {
  return Status::Corruption(files_->PathOf(meta_.extent.file_number),
                            "page run " + std::to_string(meta_.run_id) + ", offset " +
                                std::to_string(meta_.extent.offset + offset) + ": " + what);
}

Status PageRun::OpenFile(std::shared_ptr<CompactionFile>* file) const {
  return files_->GetExtent(meta_.extent, meta_.file_id, file);
}

Status PageRun::CheckPlace(uint64_t offset, size_t n) const {
  if (offset <= meta_.extent.length && n <= meta_.extent.length - offset) return Status::OK();
  return Corruption(offset, "a place outside of the run");
}

Status PageRun::Read(uint64_t offset, size_t n, std::string* room, Slice* bytes) const {
  std::shared_ptr<CompactionFile> file;
  Status s = CheckPlace(offset, n);
  if (s.ok()) s = OpenFile(&file);
  if (!s.ok()) return s;
  room->resize(n);
  s = file->file()->Read(meta_.extent.offset + offset, n, bytes, room->data());
  if (s.ok() && bytes->size() != n) return Corruption(offset, "the file ends within it");
  return s;
}

}  // namespace compassdb
