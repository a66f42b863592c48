// SPDX-License-Identifier: Apache-2.0
#include "env/sim/fault_injection_file_system.h"

#include <algorithm>
#include <cstring>

#include "env/read_batch.h"

namespace compassdb {

const char* FaultOpName(FaultOp op) {
  static constexpr const char* kNames[] = {
      "create", "open",   "write",    "flush", "sync",       "close",      "read", "dirsync", "rename", "link",
      "clone",  "delete", "truncate", "punch", "create-dir", "delete-dir", "list", "stat",    "lock"};
  static_assert(std::size(kNames) == static_cast<size_t>(FaultOp::kNumOps));
  return op < FaultOp::kNumOps ? kNames[static_cast<size_t>(op)] : "unknown";
}

namespace {

// `result` is in `scratch`, or in memory that this must not change.
void Damage(ReadDamage damage, Slice* result, char* scratch) {
  if (damage == ReadDamage::kNone || result->empty()) return;
  if (damage == ReadDamage::kHalf) {
    result->remove_suffix(result->size() - result->size() / 2);
    return;
  }
  if (result->data() < scratch || result->data() >= scratch + result->size()) {
    memcpy(scratch, result->data(), result->size());
    *result = Slice(scratch, result->size());
  }
  scratch[static_cast<size_t>(result->data() - scratch) + result->size() / 2] ^= 4;
}

class FaultSequentialFile : public SequentialFile {
 public:
  FaultSequentialFile(FaultInjectionFileSystem* fs, std::string path,
                      std::unique_ptr<SequentialFile> file)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    *result = Slice(scratch, 0);
    ReadDamage damage = ReadDamage::kNone;
    Status s = fs_->BeforeRead(path_, &damage);
    if (s.ok()) s = file_->Read(n, result, scratch);
    Damage(damage, result, scratch);
    return s;
  }
  Status Skip(uint64_t n) override { return file_->Skip(n); }

 private:
  FaultInjectionFileSystem* const fs_;
  const std::string path_;
  const std::unique_ptr<SequentialFile> file_;
};

// The reads of a File: a RandomAccessFile or a PageFile.
template <typename File>
class FaultReads : public File {
 public:
  FaultReads(FaultInjectionFileSystem* fs, std::string path, std::unique_ptr<File> file)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice(scratch, 0);
    ReadDamage damage = ReadDamage::kNone;
    Status s = fs_->BeforeRead(path_, &damage);
    if (s.ok()) s = file_->Read(offset, n, result, scratch);
    Damage(damage, result, scratch);
    return s;
  }
  void MultiRead(ReadRequest* requests, size_t n) const override {
    ReadBatch batch;
    AddReads(requests, n, &batch);
    batch.Wait();
  }
  // Every request counts and may fail by itself; the others are passed on together.
  void AddReads(ReadRequest* requests, size_t n, ReadBatch* batch) const override {
    size_t run = 0;
    for (size_t i = 0; i < n; ++i) {
      ReadRequest& request = requests[i];
      request.result = Slice(request.scratch, 0);
      ReadDamage damage = ReadDamage::kNone;
      request.status = fs_->BeforeRead(path_, &damage);
      if (request.status.ok() && damage == ReadDamage::kNone) continue;
      if (request.status.ok()) {
        request.status = file_->Read(request.offset, request.length, &request.result, request.scratch);
        Damage(damage, &request.result, request.scratch);
      }
      if (i > run) file_->AddReads(requests + run, i - run, batch);
      run = i + 1;
    }
    if (n > run) file_->AddReads(requests + run, n - run, batch);
  }
  size_t ReadAlignment() const override { return file_->ReadAlignment(); }
  void Prefetch(uint64_t offset, size_t n) const override { file_->Prefetch(offset, n); }

 protected:
  FaultInjectionFileSystem* const fs_;
  const std::string path_;
  const std::unique_ptr<File> file_;
};

using FaultRandomAccessFile = FaultReads<RandomAccessFile>;

// A batch is written one by one, so that each write may fail and the power may be cut between them.
class FaultPageFile : public FaultReads<PageFile> {
 public:
  FaultPageFile(FaultInjectionFileSystem* fs, std::string path, const FileOptions& options,
                std::unique_ptr<PageFile> file)
      : FaultReads(fs, std::move(path), std::move(file)),
        grid_(options.direct ? kPageWriteAlignment : 1) {}
  Status Write(uint64_t offset, const Slice& data) override {
    Status s = fs_->Before(FaultOp::kWrite, path_);
    if (s.ok()) return file_->Write(offset, data);
    // A failure does not tear what the disk writes as a whole.
    const uint64_t atomic = fs_->CanCut() ? fs_->memory()->atomic_writes() : 0;
    const bool whole = atomic != 0 && offset % atomic == 0 && data.size() % atomic == 0;
    const size_t grid = whole ? std::max<size_t>(grid_, atomic) : grid_;
    // The injected status is the one to report.
    file_->Write(offset, Slice(data.data(), data.size() / 2 / grid * grid)).PermitUncheckedError();
    return s;
  }
  Status Sync() override {
    Status s = fs_->Before(FaultOp::kSync, path_);
    return s.ok() && !fs_->IsSyncIgnored(path_) ? file_->Sync() : s;
  }
  Status Truncate(uint64_t size) override {
    Status s = fs_->Before(FaultOp::kTruncate, path_);
    return s.ok() ? file_->Truncate(size) : s;
  }
  Status Close() override {
    Status s = fs_->Before(FaultOp::kClose, path_);
    Status closed = file_->Close();
    return s.ok() ? closed : s;
  }

 private:
  const size_t grid_;
};

class FaultWritableFile : public WritableFile {
 public:
  FaultWritableFile(FaultInjectionFileSystem* fs, std::string path,
                    std::unique_ptr<WritableFile> file)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}
  Status Append(const Slice& data) override {
    Status s = fs_->Before(FaultOp::kWrite, path_);
    if (s.ok()) return file_->Append(data);
    // The injected status is the one to report.
    file_->Append(Slice(data.data(), data.size() / 2)).PermitUncheckedError();
    return s;
  }
  Status Flush() override {
    Status s = fs_->Before(FaultOp::kFlush, path_);
    return s.ok() ? file_->Flush() : s;
  }
  Status Sync() override {
    Status s = fs_->Before(FaultOp::kSync, path_);
    if (!s.ok()) return s;
    return fs_->IsSyncIgnored(path_) ? file_->Flush() : file_->Sync();
  }
  Status Close() override {
    Status s = fs_->Before(FaultOp::kClose, path_);
    Status closed = file_->Close();
    return s.ok() ? closed : s;
  }
  uint64_t Size() const override { return file_->Size(); }

 private:
  FaultInjectionFileSystem* const fs_;
  const std::string path_;
  const std::unique_ptr<WritableFile> file_;
};

// Errors of the engine name the file, so these do, too.
Status WithPlace(const Status& status, FaultOp op, const std::string& path) {
  const std::string message = status.getState() == nullptr ? "injected" : status.getState();
  const std::string place = std::string("while ") + FaultOpName(op) + " " + path;
  if (status.IsNoSpace()) return Status::NoSpace(message, place);
  if (status.code() == Status::kIOError && status.subcode() == Status::kNone) {
    return Status::IOError(message, place);
  }
  return status;
}

bool Contains(const std::string& path, const std::string& substring) {
  return path.find(substring) != std::string::npos;
}

}  // namespace

FaultInjectionFileSystem::FaultInjectionFileSystem()
    : owned_(std::make_unique<MemoryFileSystem>()), base_(owned_.get()), memory_(owned_.get()) {}
FaultInjectionFileSystem::FaultInjectionFileSystem(FileSystem* base)
    : base_(base), memory_(dynamic_cast<MemoryFileSystem*>(base)) {}
FaultInjectionFileSystem::~FaultInjectionFileSystem() = default;

void FaultInjectionFileSystem::AddRule(Rule rule) {
  MutexLock l(&mu_);
  rules_.push_back(std::move(rule));
  active_.store(true);
}
void FaultInjectionFileSystem::FailNth(FaultOp op, uint64_t n, const std::string& substring,
                                       const Status& status) {
  AddRule({op, substring, status, std::max<uint64_t>(n, 1), 0, Random(0)});
}
void FaultInjectionFileSystem::FailAll(FaultOp op, const std::string& substring,
                                       const Status& status) {
  AddRule({op, substring, status, 0, 1, Random(0)});
}
void FaultInjectionFileSystem::FailOneIn(FaultOp op, uint64_t n, const std::string& substring,
                                         const Status& status, uint64_t seed) {
  AddRule({op, substring, status, 0, std::max<uint64_t>(n, 1), Random(seed)});
}
void FaultInjectionFileSystem::DamageNthRead(uint64_t n, const std::string& substring,
                                             ReadDamage damage) {
  AddRule({FaultOp::kRead, substring, Status::OK(), std::max<uint64_t>(n, 1), 0, Random(0), damage});
}
void FaultInjectionFileSystem::IgnoreSync(const std::string& substring) {
  MutexLock l(&mu_);
  ignored_.push_back(substring);
  active_.store(true);
}
void FaultInjectionFileSystem::ClearFaults() {
  MutexLock l(&mu_);
  rules_.clear();
  ignored_.clear();
  active_.store(hook_ != nullptr);
}
void FaultInjectionFileSystem::ResetCounts() {
  for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
}
void FaultInjectionFileSystem::SetHook(Hook hook) {
  const std::thread::id self = std::this_thread::get_id();  // it may be in the hook
  MutexLock l(&mu_);
  hook_ = nullptr;
  while (in_hook_.size() > in_hook_.count(self)) hook_ended_.Wait();
  hook_ = hook ? std::make_shared<Hook>(std::move(hook)) : nullptr;
  active_.store(hook_ != nullptr || !rules_.empty() || !ignored_.empty());
}

void FaultInjectionFileSystem::PowerCut(uint64_t seed, CutMode mode) {
  if (memory_ != nullptr) memory_->PowerCut(seed, mode);
}
void FaultInjectionFileSystem::Restart() {
  if (memory_ != nullptr) memory_->Restart();
}
bool FaultInjectionFileSystem::IsDown() const { return memory_ != nullptr && memory_->IsDown(); }

Status FaultInjectionFileSystem::Before(FaultOp op, const std::string& path,
                                        const std::string& other) {
  ReadDamage none = ReadDamage::kNone;
  return Apply(op, path, other, &none);
}

Status FaultInjectionFileSystem::BeforeRead(const std::string& path, ReadDamage* damage) {
  return Apply(FaultOp::kRead, path, "", damage);
}

void FaultInjectionFileSystem::CallHook(FaultOp op, const std::string& path) {
  const std::thread::id self = std::this_thread::get_id();
  std::shared_ptr<Hook> hook;
  {
    MutexLock l(&mu_);
    hook = hook_;
    if (hook == nullptr) return;
    in_hook_.insert(self);
  }
  (*hook)(op, path);
  MutexLock l(&mu_);
  in_hook_.erase(in_hook_.find(self));
  hook_ended_.SignalAll();
}

Status FaultInjectionFileSystem::Apply(FaultOp op, const std::string& path, const std::string& other,
                                       ReadDamage* damage) {
  counts_[static_cast<size_t>(op)].fetch_add(1, std::memory_order_relaxed);
  if (!active_.load(std::memory_order_acquire)) return Status::OK();
  CallHook(op, path);
  MutexLock l(&mu_);
  for (size_t i = 0; i < rules_.size(); ++i) {
    Rule& rule = rules_[i];
    if (rule.op != op) continue;
    if (!Contains(path, rule.substring) &&
        (other.empty() || !Contains(other, rule.substring))) {
      continue;
    }
    const bool fails =
        rule.one_in == 0 ? --rule.countdown == 0 : rule.random.OneIn(rule.one_in);
    if (!fails) continue;
    const Status status = rule.status.ok() ? rule.status : WithPlace(rule.status, op, path);
    *damage = rule.damage;
    if (rule.one_in == 0) rules_.erase(rules_.begin() + static_cast<ptrdiff_t>(i));
    injected_.fetch_add(1, std::memory_order_relaxed);
    return status;
  }
  return Status::OK();
}

bool FaultInjectionFileSystem::IsSyncIgnored(const std::string& path) {
  if (!active_.load(std::memory_order_acquire)) return false;
  MutexLock l(&mu_);
  return std::any_of(ignored_.begin(), ignored_.end(),
                     [&](const std::string& substring) { return Contains(path, substring); });
}

Status FaultInjectionFileSystem::NewSequentialFile(const std::string& path,
                                                   std::unique_ptr<SequentialFile>* file) {
  Status s = Before(FaultOp::kOpen, path);
  std::unique_ptr<SequentialFile> base;
  if (s.ok()) s = base_->NewSequentialFile(path, &base);
  if (s.ok()) *file = std::make_unique<FaultSequentialFile>(this, path, std::move(base));
  return s;
}
Status FaultInjectionFileSystem::NewRandomAccessFile(const std::string& path,
                                                     const FileOptions& options,
                                                     std::unique_ptr<RandomAccessFile>* file) {
  Status s = Before(FaultOp::kOpen, path);
  std::unique_ptr<RandomAccessFile> base;
  if (s.ok()) s = base_->NewRandomAccessFile(path, options, &base);
  if (s.ok()) *file = std::make_unique<FaultRandomAccessFile>(this, path, std::move(base));
  return s;
}
Status FaultInjectionFileSystem::NewWritableFile(const std::string& path,
                                                 const FileOptions& options,
                                                 std::unique_ptr<WritableFile>* file) {
  Status s = Before(FaultOp::kCreate, path);
  std::unique_ptr<WritableFile> base;
  if (s.ok()) s = base_->NewWritableFile(path, options, &base);
  if (s.ok()) *file = std::make_unique<FaultWritableFile>(this, path, std::move(base));
  return s;
}
Status FaultInjectionFileSystem::ReopenWritableFile(const std::string& path,
                                                    const FileOptions& options,
                                                    std::unique_ptr<WritableFile>* file) {
  Status s = Before(FaultOp::kCreate, path);
  std::unique_ptr<WritableFile> base;
  if (s.ok()) s = base_->ReopenWritableFile(path, options, &base);
  if (s.ok()) *file = std::make_unique<FaultWritableFile>(this, path, std::move(base));
  return s;
}
Status FaultInjectionFileSystem::ReuseWritableFile(const std::string& path,
                                                   const std::string& old_path,
                                                   const FileOptions& options,
                                                   std::unique_ptr<WritableFile>* file) {
  Status s = Before(FaultOp::kRename, old_path, path);
  if (s.ok()) s = Before(FaultOp::kCreate, path);
  std::unique_ptr<WritableFile> base;
  if (s.ok()) s = base_->ReuseWritableFile(path, old_path, options, &base);
  if (s.ok()) *file = std::make_unique<FaultWritableFile>(this, path, std::move(base));
  return s;
}
Status FaultInjectionFileSystem::NewPageFile(const std::string& path, const FileOptions& options,
                                             bool create, std::unique_ptr<PageFile>* file) {
  Status s = Before(create ? FaultOp::kCreate : FaultOp::kOpen, path);
  std::unique_ptr<PageFile> base;
  if (s.ok()) s = base_->NewPageFile(path, options, create, &base);
  if (s.ok()) *file = std::make_unique<FaultPageFile>(this, path, options, std::move(base));
  return s;
}
Status FaultInjectionFileSystem::FileExists(const std::string& path) {
  Status s = Before(FaultOp::kStat, path);
  return s.ok() ? base_->FileExists(path) : s;
}
Status FaultInjectionFileSystem::GetFileSize(const std::string& path, uint64_t* size) {
  Status s = Before(FaultOp::kStat, path);
  return s.ok() ? base_->GetFileSize(path, size) : s;
}
Status FaultInjectionFileSystem::GetModificationTime(const std::string& path, uint64_t* seconds) {
  Status s = Before(FaultOp::kStat, path);
  return s.ok() ? base_->GetModificationTime(path, seconds) : s;
}
Status FaultInjectionFileSystem::GetChildren(const std::string& dir,
                                             std::vector<std::string>* names) {
  Status s = Before(FaultOp::kList, dir);
  return s.ok() ? base_->GetChildren(dir, names) : s;
}
Status FaultInjectionFileSystem::CreateDir(const std::string& dir) {
  Status s = Before(FaultOp::kCreateDir, dir);
  return s.ok() ? base_->CreateDir(dir) : s;
}
Status FaultInjectionFileSystem::DeleteDir(const std::string& dir) {
  Status s = Before(FaultOp::kDeleteDir, dir);
  return s.ok() ? base_->DeleteDir(dir) : s;
}
Status FaultInjectionFileSystem::DeleteFile(const std::string& path) {
  Status s = Before(FaultOp::kDelete, path);
  return s.ok() ? base_->DeleteFile(path) : s;
}
Status FaultInjectionFileSystem::RenameFile(const std::string& from, const std::string& to) {
  Status s = Before(FaultOp::kRename, from, to);
  return s.ok() ? base_->RenameFile(from, to) : s;
}
Status FaultInjectionFileSystem::LinkFile(const std::string& from, const std::string& to) {
  Status s = Before(FaultOp::kLink, from, to);
  return s.ok() ? base_->LinkFile(from, to) : s;
}
Status FaultInjectionFileSystem::CloneFile(const std::string& from, const std::string& to) {
  Status s = Before(FaultOp::kClone, from, to);
  return s.ok() ? base_->CloneFile(from, to) : s;
}
Status FaultInjectionFileSystem::TruncateFile(const std::string& path, uint64_t size) {
  Status s = Before(FaultOp::kTruncate, path);
  return s.ok() ? base_->TruncateFile(path, size) : s;
}
Status FaultInjectionFileSystem::SyncDir(const std::string& dir) {
  Status s = Before(FaultOp::kDirSync, dir);
  if (!s.ok() || IsSyncIgnored(dir)) return s;
  return base_->SyncDir(dir);
}
Status FaultInjectionFileSystem::PunchHole(const std::string& path, uint64_t offset,
                                           uint64_t length) {
  Status s = Before(FaultOp::kPunch, path);
  return s.ok() ? base_->PunchHole(path, offset, length) : s;
}
Status FaultInjectionFileSystem::GetLinkCount(const std::string& path, uint64_t* count) {
  Status s = Before(FaultOp::kStat, path);
  return s.ok() ? base_->GetLinkCount(path, count) : s;
}
Status FaultInjectionFileSystem::GetFreeSpace(const std::string& path, uint64_t* bytes) {
  Status s = Before(FaultOp::kStat, path);
  return s.ok() ? base_->GetFreeSpace(path, bytes) : s;
}
Status FaultInjectionFileSystem::LockFile(const std::string& path,
                                          std::unique_ptr<FileLock>* lock) {
  Status s = Before(FaultOp::kLock, path);
  return s.ok() ? base_->LockFile(path, lock) : s;
}
Status FaultInjectionFileSystem::GetAbsolutePath(const std::string& path, std::string* absolute) {
  return base_->GetAbsolutePath(path, absolute);
}
Status FaultInjectionFileSystem::GetRealPath(const std::string& path, std::string* real) {
  return base_->GetRealPath(path, real);
}
Status FaultInjectionFileSystem::GetFileId(const std::string& path, std::string* id) {
  Status s = Before(FaultOp::kStat, path);
  return s.ok() ? base_->GetFileId(path, id) : s;
}

}  // namespace compassdb
