// SPDX-License-Identifier: Apache-2.0
#include "env/file_system.h"

#include <filesystem>

#include <algorithm>

namespace compassdb {

namespace {

std::string ParentDir(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

void PageFile::MultiWrite(WriteRequest* requests, size_t n) {
  for (size_t i = 0; i < n; ++i) requests[i].status = Write(requests[i].offset, requests[i].data);
}

Status FileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                     const FileOptions& options,
                                     std::unique_ptr<WritableFile>* file) {
  Status s = RenameFile(old_path, path);
  return s.ok() ? NewWritableFile(path, options, file) : s;
}

Status FileSystem::NewPageFile(const std::string& path, const FileOptions&, bool,
                               std::unique_ptr<PageFile>*) {
  return Status::NotSupported("While open a file for writing in place: " + path,
                              std::string("the file system ") + Name() + " cannot");
}

Status FileSystem::CloneFile(const std::string& from, const std::string& to) {
  return Status::NotSupported("While clone file to " + to + ": " + from,
                              std::string("the file system ") + Name() + " cannot");
}

Status FileSystem::GetRealPath(const std::string& path, std::string* real) {
  Status s = GetAbsolutePath(path, real);
  if (!s.ok()) return s;
  *real = std::filesystem::path(*real).lexically_normal().string();
  while (real->size() > 1 && real->back() == '/') real->pop_back();
  return s;
}

Status FileSystem::GetFileId(const std::string& path, std::string* id) {
  id->clear();
  return Status::NotSupported("While compare files: " + path, std::string("the file system ") + Name() + " cannot");
}

Status CheckPageWrite(const std::string& path, const FileOptions& options, uint64_t offset,
                      size_t length) {
  if (!options.direct || (offset | length) % kPageWriteAlignment == 0) return Status::OK();
  return Status::InvalidArgument(
      "While pwrite offset " + std::to_string(offset) + " len " + std::to_string(length) + ": " +
          path,
      "not whole pages of " + std::to_string(kPageWriteAlignment) + " bytes, and the file is direct");
}

Status ReadFileToString(FileSystem* fs, const std::string& path, std::string* data, uint64_t most) {
  data->clear();
  std::unique_ptr<SequentialFile> file;
  Status s = fs->NewSequentialFile(path, &file);
  if (!s.ok()) return s;
  uint64_t size = 0;
  if (fs->GetFileSize(path, &size).ok()) data->reserve(std::min(size, most));
  constexpr size_t kChunk = 64 << 10;
  std::string chunk(kChunk, '\0');
  while (true) {
    Slice fragment;
    s = file->Read(kChunk, &fragment, chunk.data());
    if (!s.ok()) {
      data->clear();
      return s;
    }
    if (fragment.size() > most - data->size()) {
      data->clear();
      return Status::Corruption(path, "is larger than " + std::to_string(most) + " bytes");
    }
    data->append(fragment.data(), fragment.size());
    if (fragment.size() < kChunk) return Status::OK();
  }
}

Status WriteFileAtomically(FileSystem* fs, const std::string& path, const Slice& data) {
  const std::string temp = path + ".dbtmp";
  std::unique_ptr<WritableFile> file;
  Status s = fs->NewWritableFile(temp, FileOptions(), &file);
  if (!s.ok()) return s;
  s = file->Append(data);
  if (s.ok()) s = file->Sync();
  if (s.ok()) s = file->Close();
  if (s.ok()) s = fs->RenameFile(temp, path);
  if (s.ok()) return fs->SyncDir(ParentDir(path));
  file.reset();
  // The first failure is the one to report.
  fs->DeleteFile(temp).PermitUncheckedError();
  return s;
}

}  // namespace compassdb
