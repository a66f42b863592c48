// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/section.h"

#include <algorithm>

#include "tableless/page/page_format.h"
#include "util/checked.h"

namespace compassdb {

void Section::CheckInvariants() const {
  COMPASSDB_INVARIANT(meta.pages > 0 && divisor == PageDivisor(meta.pages), "the keys of a section have pages");
  COMPASSDB_INVARIANT(file->number() == meta.file_number, "a section has its file");
  const auto& entries = overflow->entries();
  for (size_t i = 0; i < entries.size(); ++i) {
    COMPASSDB_INVARIANT(i == 0 || entries[i - 1].hash <= entries[i].hash, "overflow entries are sorted by hash");
    COMPASSDB_INVARIANT(entries[i].run_id >= meta.overflow_from, "an overflow entry is of a run that the section has");
  }
}

SectionFile::~SectionFile() {
  kept_.reset();
  files_->Evict(number_);
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

Status SectionFile::Open(uint64_t bytes) {
  std::shared_ptr<CompactionFile> file;
  const RandomAccessFile* reader = nullptr;
  Status s = Reader(&file, &reader);
  if (s.ok() && file->size() != bytes) {
    return Status::Corruption(path_, "has " + std::to_string(file->size()) + " bytes, the manifest says " +
                                         std::to_string(bytes));
  }
  if (s.ok() && files_->MayHold()) kept_ = std::move(file);
  return s;
}

Status SectionFile::Reader(std::shared_ptr<CompactionFile>* hold, const RandomAccessFile** reader) const {
  if (kept_ != nullptr) {
    *reader = kept_->file();
    return Status::OK();
  }
  const auto open = [this](std::shared_ptr<CompactionFile>* opened) {
    return CompactionFile::OpenUnchecked(files_->fs(), path_, number_, /*file_id=*/0, files_->options(), opened);
  };
  Status s = files_->Get(number_, open, hold);
  if (s.ok()) *reader = (*hold)->file();
  return s.IsNotFound() ? Status::IOError(path_, s.ToString()) : s;
}

}  // namespace compassdb
