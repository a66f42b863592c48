// SPDX-License-Identifier: Apache-2.0
#include "table/file/spare_files.h"

#include <algorithm>

namespace compassdb {

// Under the lock: a concurrent caller would have to create files, too.
Status SpareFiles::Take(const std::string& dir, uint64_t* number) {
  MutexLock lock(&mu_);
  Made& made = made_[dir];
  if (made.numbers.empty()) {
    const size_t n = std::clamp<size_t>(2 * made.at_once, 1, kMost);
    made.at_once = 0;  // there may still be room for one
    if (Status s = MakeMore(dir, n, &made.numbers); !s.ok()) return s;
    made.at_once = n;
  }
  *number = made.numbers.back();
  made.numbers.pop_back();
  return Status::OK();
}

Status SpareFiles::MakeMore(const std::string& dir, size_t n, std::vector<uint64_t>* numbers) {
  std::vector<uint64_t> made;
  Status s;
  for (size_t i = 0; s.ok() && i < n; ++i) {
    const uint64_t number = new_number_();
    std::unique_ptr<WritableFile> file;
    made.push_back(number);  // the file may exist although the call failed
    s = fs_->NewWritableFile(name_of_(dir, number), FileOptions(), &file);
    if (s.ok()) s = file->Close();
  }
  if (s.ok()) s = fs_->SyncDir(dir);
  if (s.ok()) {
    std::reverse(made.begin(), made.end());
    *numbers = std::move(made);
    return s;
  }
  for (const uint64_t number : made) {
    // If it cannot be deleted now, the next open does it.
    fs_->DeleteFile(name_of_(dir, number)).PermitUncheckedError();
  }
  return s;
}

void SpareFiles::DeleteAll() {
  MutexLock lock(&mu_);
  for (auto& [dir, made] : made_) {
    for (const uint64_t number : made.numbers) {
      fs_->DeleteFile(name_of_(dir, number)).PermitUncheckedError();
    }
    made.numbers.clear();
  }
}

}  // namespace compassdb
