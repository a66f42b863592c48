// SPDX-License-Identifier: Apache-2.0
#include "db/report/file_listeners.h"

#include <utility>

#include "env/observed_file_system.h"
#include "format/file_names.h"

namespace compassdb {
namespace {

using Kind = FileOperation::Kind;
using Type = rocksdb::FileOperationType;

// The type for OnFile...Finish, which has only one kind of write.
Type TypeOf(Kind kind) {
  switch (kind) {
    case Kind::kRead: return Type::kRead;
    case Kind::kAppend: return Type::kWrite;
    case Kind::kWriteInPlace: return Type::kWrite;
    case Kind::kTruncate: return Type::kTruncate;
    case Kind::kClose: return Type::kClose;
    case Kind::kFlush: return Type::kFlush;
    case Kind::kSync: return Type::kSync;
    case Kind::kRangeSync: return Type::kRangeSync;
  }
  return Type::kRead;
}

// The type for OnIOError.
Type FailedTypeOf(Kind kind) {
  if (kind == Kind::kAppend) return Type::kAppend;
  return kind == Kind::kWriteInPlace ? Type::kPositionedAppend : TypeOf(kind);
}

void WriteIfPossible(rocksdb::EventListener* listener, Kind kind, const rocksdb::FileOperationInfo& info) {
  switch (kind) {
    case Kind::kRead: return listener->OnFileReadFinish(info);
    case Kind::kAppend: return listener->OnFileWriteFinish(info);
    case Kind::kWriteInPlace: return listener->OnFileWriteFinish(info);
    case Kind::kTruncate: return listener->OnFileTruncateFinish(info);
    case Kind::kClose: return listener->OnFileCloseFinish(info);
    case Kind::kFlush: return listener->OnFileFlushFinish(info);
    case Kind::kSync: return listener->OnFileSyncFinish(info);
    case Kind::kRangeSync: return listener->OnFileRangeSyncFinish(info);
  }
}

class FileListeners final : public FileObserver {
 public:
  explicit FileListeners(std::vector<std::shared_ptr<rocksdb::EventListener>> listeners)
      : listeners_(std::move(listeners)) {}

  void Done(const FileOperation& done) override {
    rocksdb::FileOperationInfo info(TypeOf(done.kind), done.path, {done.begin.date, done.begin.time},
                                    done.end, done.status);
    info.offset = done.offset;
    info.length = done.length;
    for (const auto& listener : listeners_) WriteIfPossible(listener.get(), done.kind, info);
    if (done.status.ok()) return;
    rocksdb::IOErrorInfo error(rocksdb::status_to_io_status(Status(done.status)),
                               FailedTypeOf(done.kind), done.path, done.length, done.offset);
    for (const auto& listener : listeners_) listener->OnIOError(error);
    error.io_status.PermitUncheckedError();
  }

 private:
  const std::vector<std::shared_ptr<rocksdb::EventListener>> listeners_;
};

bool TypeOfPath(const std::string& path, FileType* type) {
  uint64_t number = 0;
  return ParseFilePath(path, &number, type);
}

bool IsManifest(const std::string& path) {
  FileType type;
  return TypeOfPath(path, &type) &&
         (type == FileType::kManifest || type == FileType::kManifestMirror);
}

bool HoldsData(const std::string& path) {
  FileType type;
  return TypeOfPath(path, &type) && (type == FileType::kWal || type == FileType::kPieceFile ||
                                     type == FileType::kPageFile || type == FileType::kManifest ||
                                     type == FileType::kManifestMirror);
}

}  // namespace

std::shared_ptr<FileSystem> AddListeners(
    std::shared_ptr<FileSystem> fs,
    const std::vector<std::shared_ptr<rocksdb::EventListener>>& listeners, bool all) {
  std::vector<std::shared_ptr<rocksdb::EventListener>> asking;
  for (const auto& listener : listeners) {
    if (listener->ShouldBeNotifiedOnFileIO()) asking.push_back(listener);
  }
  if (asking.empty()) return fs;
  ObservedPaths paths;
  paths.sequential = IsManifest;
  paths.any = HoldsData;
  if (all) paths.any = [](const std::string&) { return true; };
  return NewObservedFileSystem(std::move(fs), std::make_shared<FileListeners>(std::move(asking)),
                               std::move(paths));
}

}  // namespace compassdb
