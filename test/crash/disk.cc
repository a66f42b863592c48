// SPDX-License-Identifier: Apache-2.0
#include "crash/disk.h"

#include <cstdlib>

namespace compassdb_test {

using compassdb::FaultOp;

// Adds one canary that rules on names cannot state: directory syncs left out.
class Disk::FileSystem : public compassdb::FaultInjectionFileSystem {
 public:
  rocksdb::Status SyncDir(const std::string& dir) override {
    if (!leave_out_directories_) return FaultInjectionFileSystem::SyncDir(dir);
    return Before(FaultOp::kDirSync, dir);
  }
  std::atomic<bool> leave_out_directories_ = false;
};

namespace {

bool IsChange(FaultOp op) {
  switch (op) {
    case FaultOp::kCreate:
    case FaultOp::kWrite:
    case FaultOp::kSync:
    case FaultOp::kDirSync:
    case FaultOp::kRename:
    case FaultOp::kLink:
    case FaultOp::kDelete:
    case FaultOp::kTruncate:
    case FaultOp::kPunch:
    case FaultOp::kCreateDir: return true;
    default: return false;
  }
}

bool IsInfoLog(const std::string& path) {
  size_t slash = path.rfind('/');
  return path.compare(slash == std::string::npos ? 0 : slash + 1, 3, "LOG") == 0;
}

}  // namespace

Disk::Disk() : fs_(std::make_shared<FileSystem>()), env_(MakeEnvOver(fs_)) {
  fs_->SetHook([this](FaultOp op, const std::string& path) { OnOperation(op, path); });
}

void Disk::OnOperation(FaultOp op, const std::string& path) {
  if (!IsChange(op) || IsInfoLog(path)) return;
  bool cut = ++changes_ == cut_at_change_;
  if (op == FaultOp::kSync || op == FaultOp::kDirSync) cut |= ++syncs_ == cut_at_sync_;
  if (!cut) return;
  {
    std::lock_guard<std::mutex> lock(cut_mutex_);
    cut_at_ = std::string(compassdb::FaultOpName(op)) + " " + path;
  }
  fs_->PowerCut(seed_, mode_);
}

void Disk::Arm(uint64_t cut_at_change, uint64_t cut_at_sync, uint64_t seed,
               compassdb::CutMode mode) {
  cut_at_change_ = 0;
  cut_at_sync_ = 0;
  changes_ = 0;
  syncs_ = 0;
  seed_ = seed;
  mode_ = mode;
  {
    std::lock_guard<std::mutex> lock(cut_mutex_);
    cut_at_ = "between operations";
  }
  cut_at_change_ = cut_at_change;
  cut_at_sync_ = cut_at_sync;
}

void Disk::MakeDirectory(const std::string& path) {
  rocksdb::Status s = fs_->CreateDir(path);
  for (size_t at = path.rfind('/'); s.ok() && at != 0 && at != std::string::npos;
       at = path.rfind('/', at - 1)) {
    s = fs_->SyncDir(path.substr(0, at));
  }
  if (s.ok()) s = fs_->SyncDir("/");
  if (!s.ok()) abort();
}

void Disk::CutNow() {
  if (!IsDown()) fs_->PowerCut(seed_, mode_);
}

bool Disk::IsDown() const { return fs_->IsDown(); }

void Disk::Restart() { fs_->Restart(); }

std::string Disk::cut_at() const {
  std::lock_guard<std::mutex> lock(cut_mutex_);
  return cut_at_;
}

void Disk::LeaveOut(SyncKind kind) {
  switch (kind) {
    case SyncKind::kNone: break;
    case SyncKind::kWal: fs_->IgnoreSync(".log"); break;
    case SyncKind::kManifest: fs_->IgnoreSync("MANIFEST"); break;
    case SyncKind::kTable: fs_->IgnoreSync(TableFileSuffix()); break;
    case SyncKind::kCurrent:
      fs_->IgnoreSync("CURRENT");
      fs_->IgnoreSync(".dbtmp");
      break;
    case SyncKind::kDirectory: fs_->leave_out_directories_ = true; break;
  }
}

}  // namespace compassdb_test
