// SPDX-License-Identifier: Apache-2.0
#include "env/observed_file_system.h"

#include <utility>

#include "env/file_system_wrapper.h"
#include "env/read_batch.h"

namespace compassdb {
namespace {

using Kind = FileOperation::Kind;

// The observer of a file, and its name.
class FileNotifier {
 public:
  FileNotifier(std::shared_ptr<FileObserver> observer, std::string path)
      : observer_(std::move(observer)), path_(std::move(path)) {}

  Status Notify(Kind kind, uint64_t offset, uint64_t length, const FileOperation::Begin& begin,
                Status s) const {
    observer_->Done({kind, path_, offset, length, begin, s});
    return s;
  }
  Status NotifyRead(uint64_t offset, size_t n, const Slice& result,
                    const FileOperation::Begin& begin, Status s) const {
    const size_t length = s.ok() ? result.size() : n;
    return Notify(Kind::kRead, offset, length, begin, std::move(s));
  }
  void NotifyReads(const ReadRequest* requests, size_t n, const FileOperation::Begin& begin) const {
    for (const ReadRequest* r = requests; r < requests + n; ++r) {
      NotifyRead(r->offset, r->length, r->result, begin, r->status).PermitUncheckedError();
    }
  }
  FileObserver* observer() const { return observer_.get(); }

 private:
  const std::shared_ptr<FileObserver> observer_;
  const std::string path_;
};

class ObservedSequentialFile final : public SequentialFile {
 public:
  ObservedSequentialFile(std::unique_ptr<SequentialFile> file, FileNotifier notifier)
      : file_(std::move(file)), notifier_(std::move(notifier)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    const FileOperation::Begin begin;
    Status s = file_->Read(n, result, scratch);
    const uint64_t offset = offset_;
    offset_ += result->size();
    return notifier_.NotifyRead(offset, n, *result, begin, std::move(s));
  }
  Status Skip(uint64_t n) override {
    offset_ += n;
    return file_->Skip(n);
  }

 private:
  const std::unique_ptr<SequentialFile> file_;
  const FileNotifier notifier_;
  uint64_t offset_ = 0;
};

// Added behind the reads themselves, so that it is finished after them.
class NotifiedReads final : public ReadBatch::Part {
 public:
  NotifiedReads(const FileNotifier& notifier, const ReadRequest* requests, size_t n)
      : notifier_(notifier), requests_(requests), n_(n) {}
  void Finish() override { notifier_.NotifyReads(requests_, n_, begin_); }

 private:
  const FileNotifier& notifier_;
  const ReadRequest* const requests_;
  const size_t n_;
  const FileOperation::Begin begin_;
};

// What files for random reads and page files have in common.
template <class File>
class ObservedReads : public File {
 public:
  ObservedReads(std::unique_ptr<File> file, FileNotifier notifier)
      : file_(std::move(file)), notifier_(std::move(notifier)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    const FileOperation::Begin begin;
    Status s = file_->Read(offset, n, result, scratch);
    return notifier_.NotifyRead(offset, n, *result, begin, std::move(s));
  }
  Status ReadWithin(uint64_t offset, size_t n, Slice* result, char* room) const override {
    const FileOperation::Begin begin;
    Status s = file_->ReadWithin(offset, n, result, room);
    return notifier_.NotifyRead(offset, n, *result, begin, std::move(s));
  }
  void MultiRead(ReadRequest* requests, size_t n) const override {
    const FileOperation::Begin begin;
    file_->MultiRead(requests, n);
    notifier_.NotifyReads(requests, n, begin);
  }
  void AddReads(ReadRequest* requests, size_t n, ReadBatch* batch) const override {
    auto notified = std::make_unique<NotifiedReads>(notifier_, requests, n);
    file_->AddReads(requests, n, batch);
    batch->Add(std::move(notified));
  }
  size_t ReadAlignment() const override { return file_->ReadAlignment(); }
  void Prefetch(uint64_t offset, size_t n) const override { file_->Prefetch(offset, n); }

 protected:
  const std::unique_ptr<File> file_;
  const FileNotifier notifier_;
};

using ObservedRandomAccessFile = ObservedReads<RandomAccessFile>;

class ObservedPageFile final : public ObservedReads<PageFile> {
 public:
  using ObservedReads::ObservedReads;
  Status Write(uint64_t offset, const Slice& data) override {
    const FileOperation::Begin begin;
    Status s = file_->Write(offset, data);
    return notifier_.Notify(Kind::kWriteInPlace, offset, data.size(), begin, std::move(s));
  }
  void MultiWrite(WriteRequest* requests, size_t n) override {
    const FileOperation::Begin begin;
    file_->MultiWrite(requests, n);
    for (const WriteRequest* r = requests; r < requests + n; ++r) {
      notifier_.Notify(Kind::kWriteInPlace, r->offset, r->data.size(), begin, r->status)
          .PermitUncheckedError();
    }
  }
  Status Sync() override {
    const FileOperation::Begin begin;
    return notifier_.Notify(Kind::kSync, 0, 0, begin, file_->Sync());
  }
  Status Truncate(uint64_t size) override {
    const FileOperation::Begin begin;
    return notifier_.Notify(Kind::kTruncate, size, 0, begin, file_->Truncate(size));
  }
  Status Close() override {
    const FileOperation::Begin begin;
    return notifier_.Notify(Kind::kClose, 0, 0, begin, file_->Close());
  }
};

class ObservedWritableFile final : public WritableFile {
 public:
  ObservedWritableFile(std::unique_ptr<WritableFile> file, FileNotifier notifier)
      : notifier_(std::move(notifier)), file_(std::move(file)) {
    if (auto* const own = dynamic_cast<ReportsOwnSteps*>(file_.get())) {
      own->ReportSteps(notifier_.observer());
    }
  }
  Status Append(const Slice& data) override {
    const uint64_t offset = file_->Size();
    const FileOperation::Begin begin;
    return Notify(Kind::kAppend, offset, data.size(), begin, file_->Append(data));
  }
  Status Flush() override {
    const FileOperation::Begin begin;
    return Notify(Kind::kFlush, 0, 0, begin, file_->Flush());
  }
  Status Sync() override {
    const FileOperation::Begin begin;
    return Notify(Kind::kSync, 0, 0, begin, file_->Sync());
  }
  Status Close() override {
    const FileOperation::Begin begin;
    return Notify(Kind::kClose, 0, 0, begin, file_->Close());
  }
  uint64_t Size() const override { return file_->Size(); }

 private:
  // A file that has failed once repeats its error for every later call. Only the first is reported.
  Status Notify(Kind kind, uint64_t offset, uint64_t length, const FileOperation::Begin& begin, Status s) {
    if (failed_) return s;
    failed_ = !s.ok();
    return notifier_.Notify(kind, offset, length, begin, std::move(s));
  }

  bool failed_ = false;
  const FileNotifier notifier_;
  const std::unique_ptr<WritableFile> file_;  // also reports its end
};

class ObservedFileSystem final : public FileSystemWrapper {
 public:
  ObservedFileSystem(std::shared_ptr<FileSystem> base, std::shared_ptr<FileObserver> observer,
                     ObservedPaths paths)
      : FileSystemWrapper(std::move(base)), observer_(std::move(observer)), paths_(std::move(paths)) {}
  Status NewSequentialFile(const std::string& path,
                           std::unique_ptr<SequentialFile>* file) override {
    Status s = base()->NewSequentialFile(path, file);
    if (paths_.sequential(path)) Observe<ObservedSequentialFile>(s, path, file);
    return s;
  }
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    Status s = base()->NewRandomAccessFile(path, options, file);
    if (paths_.any(path)) Observe<ObservedRandomAccessFile>(s, path, file);
    return s;
  }
  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override {
    Status s = base()->NewWritableFile(path, options, file);
    if (paths_.any(path)) Observe<ObservedWritableFile>(s, path, file);
    return s;
  }
  Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                            std::unique_ptr<WritableFile>* file) override {
    Status s = base()->ReopenWritableFile(path, options, file);
    if (paths_.any(path)) Observe<ObservedWritableFile>(s, path, file);
    return s;
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           const FileOptions& options,
                           std::unique_ptr<WritableFile>* file) override {
    Status s = base()->ReuseWritableFile(path, old_path, options, file);
    if (paths_.any(path)) Observe<ObservedWritableFile>(s, path, file);
    return s;
  }
  Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                     std::unique_ptr<PageFile>* file) override {
    Status s = base()->NewPageFile(path, options, create, file);
    if (paths_.any(path)) Observe<ObservedPageFile>(s, path, file);
    return s;
  }
  Status TruncateFile(const std::string& path, uint64_t size) override {
    if (!paths_.any(path)) return base()->TruncateFile(path, size);
    const FileOperation::Begin begin;
    return FileNotifier(observer_, path).Notify(Kind::kTruncate, size, 0, begin,
                                        base()->TruncateFile(path, size));
  }

 private:
  template <class Observed, class File>
  void Observe(const Status& opened, const std::string& path, std::unique_ptr<File>* file) const {
    if (!opened.ok()) return;
    *file = std::make_unique<Observed>(std::move(*file), FileNotifier(observer_, path));
  }

  const std::shared_ptr<FileObserver> observer_;
  const ObservedPaths paths_;
};

}  // namespace

std::shared_ptr<FileSystem> NewObservedFileSystem(std::shared_ptr<FileSystem> base,
                                                  std::shared_ptr<FileObserver> observer,
                                                  ObservedPaths paths) {
  return std::make_shared<ObservedFileSystem>(std::move(base), std::move(observer),
                                              std::move(paths));
}

}  // namespace compassdb
