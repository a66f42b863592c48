// SPDX-License-Identifier: Apache-2.0
#include "tableless/section.h"

#include <algorithm>

#include "tableless/page_format.h"

namespace compassdb {

SectionFile::~SectionFile() {
  reader_.reset();
  {
    MutexLock lock(&mu_);
    writer_.reset();
  }
  if (obsolete_.load(std::memory_order_relaxed)) release_(path_);
}

Status SectionFile::Create(FileSystem* fs, const std::string& path, uint64_t number, uint64_t pages,
                           uint32_t page_bytes, const FileOptions& options) {
  std::unique_ptr<WritableFile> file;
  Status s = fs->NewWritableFile(path, options, &file);
  std::string some;
  for (uint64_t page = 0; s.ok() && page < pages;) {
    some.clear();
    for (const uint64_t until = std::min(pages, page + std::max<uint64_t>(1, (1 << 20) / page_bytes));
         page < until; ++page) {
      const size_t begin = some.size();
      PageBuilder(&some).Finish(number, page, 0);
      some.resize(begin + page_bytes);
    }
    s = file->Append(some);
  }
  if (s.ok()) s = file->Sync();
  if (file != nullptr) {
    Status closed = file->Close();
    if (s.ok()) s = closed;
  }
  return s;
}

Status SectionFile::Open(const FileOptions& options, uint64_t bytes) {
  uint64_t size = 0;
  Status s = fs_->NewRandomAccessFile(path_, options, &reader_);
  if (s.ok()) s = fs_->GetFileSize(path_, &size);
  if (s.ok() && size != bytes) {
    return Status::Corruption(path_, "has " + std::to_string(size) + " bytes, the manifest says " +
                                         std::to_string(bytes));
  }
  return s;
}

Status SectionFile::Writer(const FileOptions& options, PageFile** writer) {
  MutexLock lock(&mu_);
  if (writer_ == nullptr) {
    Status s = fs_->NewPageFile(path_, options, /*create=*/false, &writer_);
    if (!s.ok()) return s;
  }
  *writer = writer_.get();
  return Status::OK();
}

}  // namespace compassdb
