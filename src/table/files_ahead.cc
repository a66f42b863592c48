// SPDX-License-Identifier: Apache-2.0
#include "table/files_ahead.h"

#include <algorithm>

#include "base/file_names.h"

namespace compassdb {

// Under the lock: who comes meanwhile would have to make files, too.
Status FilesAhead::Take(const std::string& dir, uint64_t* number) {
  MutexLock lock(&mu_);
  Ready& ready = ready_[dir];
  if (ready.numbers.empty()) {
    const size_t n = std::clamp<size_t>(2 * ready.made_at_once, 1, kMost);
    if (Status s = MakeMore(dir, n, &ready.numbers); !s.ok()) return s;
    ready.made_at_once = n;
  }
  *number = ready.numbers.back();
  ready.numbers.pop_back();
  return Status::OK();
}

Status FilesAhead::MakeMore(const std::string& dir, size_t n, std::vector<uint64_t>* numbers) {
  std::vector<uint64_t> made;
  Status s;
  for (size_t i = 0; s.ok() && i < n; ++i) {
    const uint64_t number = new_number_();
    std::unique_ptr<WritableFile> file;
    s = fs_->NewWritableFile(PieceFileName(dir, number), FileOptions(), &file);
    if (!s.ok()) break;
    made.push_back(number);
    s = file->Close();
  }
  if (s.ok()) s = fs_->SyncDir(dir);
  if (s.ok()) {
    std::reverse(made.begin(), made.end());
    *numbers = std::move(made);
    return s;
  }
  for (const uint64_t number : made) {
    // What cannot be deleted is, at the next open.
    fs_->DeleteFile(PieceFileName(dir, number)).PermitUncheckedError();
  }
  return s;
}

void FilesAhead::DeleteAll() {
  MutexLock lock(&mu_);
  for (auto& [dir, ready] : ready_) {
    for (const uint64_t number : ready.numbers) {
      fs_->DeleteFile(PieceFileName(dir, number)).PermitUncheckedError();
    }
    ready.numbers.clear();
  }
}

}  // namespace compassdb
