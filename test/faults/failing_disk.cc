// SPDX-License-Identifier: Apache-2.0
#include "faults/failing_disk.h"

#include <algorithm>

#include "env/rocksdb/env_adapter.h"
#include "support/sealed_env.h"

namespace compassdb_test {

using compassdb::FaultOp;
using rocksdb::Status;

namespace {

Status StatusOf(Fault fault) {
  switch (fault) {
    case Fault::kNoSpace: return Status::NoSpace("injected: No space left on device");
    case Fault::kTooManyFiles: return Status::IOError("injected: Too many open files");
    default: return Status::IOError("injected: Input/output error");
  }
}

bool Befalls(FaultOp op, Fault fault) {
  switch (fault) {
    case Fault::kNoSpace:
      return op == FaultOp::kCreate || op == FaultOp::kWrite || op == FaultOp::kFlush || op == FaultOp::kSync ||
             op == FaultOp::kDirSync || op == FaultOp::kRename || op == FaultOp::kLink || op == FaultOp::kCreateDir;
    case Fault::kTooManyFiles:
      return op == FaultOp::kCreate || op == FaultOp::kOpen || op == FaultOp::kDirSync || op == FaultOp::kList ||
             op == FaultOp::kLock || op == FaultOp::kPunch;
    case Fault::kFlippedBit:
    case Fault::kHalfRead:
      return op == FaultOp::kRead;
    default:
      return true;
  }
}

}  // namespace

const char* FaultName(Fault fault) {
  static constexpr const char* kNames[] = {"EIO", "ENOSPC", "EMFILE", "flipped bit", "half a read"};
  return kNames[static_cast<int>(fault)];
}

const char* DurationName(Duration duration) {
  static constexpr const char* kNames[] = {"once", "for a while", "for good"};
  return kNames[static_cast<int>(duration)];
}

FailingDisk::FailingDisk(bool sealed)
    : fs_(std::make_shared<compassdb::FaultInjectionFileSystem>()),
      env_(compassdb::NewEnvForFileSystem(fs_)),
      sealed_(sealed ? SealedEnvOver(env_.get()) : nullptr) {
  fs_->memory()->SetLeastHole(4096);  // tables are small
  fs_->SetHook([this](FaultOp op, const std::string& path) { OnCall(op, path); });
}
FailingDisk::~FailingDisk() { fs_->SetHook(nullptr); }

void FailingDisk::Arm(uint64_t n, Fault fault, Duration duration) {
  constexpr uint64_t kWhile = 12;  // as many as a new manifest takes
  {
    const std::lock_guard<std::mutex> lock(mu_);
    ops_.clear();
    calls_ = 0;
    punches_ = 0;
  }
  nth_ = n;
  fault_ = fault;
  once_ = duration == Duration::kOnce;
  last_ = duration == Duration::kForAWhile ? n + kWhile : UINT64_MAX;
}
void FailingDisk::Repair() {
  nth_ = 0;
  fs_->ClearFaults();
}
void FailingDisk::Cut() {
  fs_->PowerCut(1, compassdb::CutMode::kDropUnsynced);
  fs_->Restart();
}
std::string FailingDisk::failed() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return failed_;
}

bool FailingDisk::NamesAFailedFile(const std::string& message) const {
  const std::lock_guard<std::mutex> lock(mu_);
  return std::any_of(failed_paths_.begin(), failed_paths_.end(),
                     [&](const std::string& path) { return message.find(path) != std::string::npos; });
}

bool FailingDisk::CanFail(uint64_t n, Fault fault) const {
  const std::lock_guard<std::mutex> lock(mu_);
  return n <= ops_.size() && Befalls(ops_[n - 1], fault);
}

void FailingDisk::OnCall(FaultOp op, const std::string& path) {
  // Failures of the info log do not matter.
  if (path.size() >= 4 && path.compare(path.size() - 4, 4, "/LOG") == 0) return;
  bool fails = false;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    ops_.push_back(op);
    punches_ += op == FaultOp::kPunch ? 1 : 0;
    const uint64_t n = ++calls_;
    fails = nth_ != 0 && Befalls(op, fault_) && n >= nth_ && n <= last_;
    if (fails && once_) last_ = n;
  }
  if (fails) Fail(op, path);
  if (op != FaultOp::kSync && op != FaultOp::kCreate) return;
  uint64_t size = 0;
  if (!fs_->memory()->GetFileSize(path, &size).ok()) size = 0;
  const std::lock_guard<std::mutex> lock(mu_);
  if (op == FaultOp::kCreate) {
    if (size == 0) synced_[path] = 0;  // else it is opened to be synced, or written on
  } else if (!fails) {
    synced_[path] = size;
  } else if (size > synced_[path]) {
    fs_->memory()->PunchHole(path, synced_[path], size - synced_[path]).PermitUncheckedError();
    dropped_ = true;
  }
}

void FailingDisk::Fail(FaultOp op, const std::string& path) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    failed_paths_.insert(path);
    if (failed_.empty()) failed_ = std::string(compassdb::FaultOpName(op)) + " " + path;
  }
  // This very call.
  if (IsLie(fault_)) {
    fs_->DamageNthRead(1, path, fault_ == Fault::kHalfRead ? compassdb::ReadDamage::kHalf : compassdb::ReadDamage::kFlippedBit);
  } else {
    fs_->FailNth(op, 1, path, StatusOf(fault_));
  }
}

}  // namespace compassdb_test
