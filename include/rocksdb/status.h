// SPDX-License-Identifier: Apache-2.0
//
// The outcome of an operation: success, or a code with a subcode, a severity and a message that
// says which file, option or key is at fault.
//
// Thread safety: a plain value; concurrent reads of one object are safe. A success allocates
// nothing.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

class Status {
 public:
  // What happened.
  enum Code : unsigned char {
    kOk = 0,
    kNotFound = 1,
    kCorruption = 2,
    kNotSupported = 3,
    kInvalidArgument = 4,
    kIOError = 5,
    kMergeInProgress = 6,
    kIncomplete = 7,
    kShutdownInProgress = 8,
    kTimedOut = 9,
    kAborted = 10,
    kBusy = 11,
    kExpired = 12,
    kTryAgain = 13,
    kCompactionTooLarge = 14,
    kColumnFamilyDropped = 15,
    kMaxCode
  };

  // Why, where the code alone is too coarse to act upon.
  enum SubCode : unsigned char {
    kNone = 0,
    kMutexTimeout = 1,
    kLockTimeout = 2,
    kLockLimit = 3,
    kNoSpace = 4,
    kDeadlock = 5,
    kStaleFile = 6,
    kMemoryLimit = 7,
    kSpaceLimit = 8,
    kPathNotFound = 9,
    KMergeOperandsInsufficientCapacity = 10,
    kManualCompactionPaused = 11,
    kOverwritten = 12,
    kTxnNotPrepared = 13,
    kIOFenced = 14,
    kMergeOperatorFailed = 15,
    kMaxSubCode
  };

  // How much of the database works after a background error. Soft: writes continue. Hard: reads
  // only, until DB::Resume(). Fatal and worse: reopen, or restore.
  enum Severity : unsigned char {
    kNoError = 0,
    kSoftError = 1,
    kHardError = 2,
    kFatalError = 3,
    kUnrecoverableError = 4,
    kMaxSeverity
  };

  // Success.
  Status() = default;
  ~Status() = default;

  Status(const Status& s);
  Status& operator=(const Status& s);
  // A moved-from Status is a success.
  Status(Status&& s) noexcept;
  Status& operator=(Status&& s) noexcept;

  // A copy of s with another severity.
  Status(const Status& s, Severity sev);

  Status(Code _code, SubCode _subcode, Severity _sev, const Slice& msg)
      : Status(_code, _subcode, msg, "", _sev) {}

  // Equality looks at the code alone.
  bool operator==(const Status& rhs) const { return code_ == rhs.code_; }
  bool operator!=(const Status& rhs) const { return code_ != rhs.code_; }

  // For code that is built to abort on an unchecked Status. Without effect in this library.
  void PermitUncheckedError() const {}
  void MustCheck() const {}

  Code code() const { return code_; }
  SubCode subcode() const { return subcode_; }
  Severity severity() const { return sev_; }

  // The message, or null if there is none. Belongs to this object.
  const char* getState() const { return state_.get(); }

  static Status OK() { return Status(); }

  // Success of a write that replaced an entry.
  static Status OkOverwritten() { return Status(kOk, kOverwritten); }

  // One factory per code. `msg` and `msg2` are joined by ": ".

  // The key, file or column family does not exist.
  static Status NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, msg, msg2);
  }
  static Status NotFound(SubCode msg = kNone) { return Status(kNotFound, msg); }
  static Status NotFound(SubCode sc, const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, sc, msg, msg2);
  }

  // Stored bytes are not what was written.
  static Status Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCorruption, msg, msg2);
  }
  static Status Corruption(SubCode msg = kNone) { return Status(kCorruption, msg); }

  // The operation, or this combination of options, is not offered.
  static Status NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotSupported, msg, msg2);
  }
  static Status NotSupported(SubCode msg = kNone) { return Status(kNotSupported, msg); }

  // The caller passed something that can never work.
  static Status InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, msg, msg2);
  }
  static Status InvalidArgument(SubCode msg = kNone) { return Status(kInvalidArgument, msg); }

  // The file system refused or failed.
  static Status IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, msg, msg2);
  }
  static Status IOError(SubCode msg = kNone) { return Status(kIOError, msg); }

  // A merge has operands but no base value yet.
  static Status MergeInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kMergeInProgress, msg, msg2);
  }
  static Status MergeInProgress(SubCode msg = kNone) { return Status(kMergeInProgress, msg); }

  // Stopped early, for instance at the end of what is in memory.
  static Status Incomplete(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIncomplete, msg, msg2);
  }
  static Status Incomplete(SubCode msg = kNone) { return Status(kIncomplete, msg); }

  // The database is closing.
  static Status ShutdownInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kShutdownInProgress, msg, msg2);
  }
  static Status ShutdownInProgress(SubCode msg = kNone) { return Status(kShutdownInProgress, msg); }

  // Given up, without an effect.
  static Status Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, msg, msg2);
  }
  static Status Aborted(SubCode msg = kNone) { return Status(kAborted, msg); }

  // Another user holds what is needed.
  static Status Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kBusy, msg, msg2);
  }
  static Status Busy(SubCode msg = kNone) { return Status(kBusy, msg); }

  // A lock or a wait took longer than allowed.
  static Status TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTimedOut, msg, msg2);
  }
  static Status TimedOut(SubCode msg = kNone) { return Status(kTimedOut, msg); }

  // A transaction outlived its expiration.
  static Status Expired(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kExpired, msg, msg2);
  }
  static Status Expired(SubCode msg = kNone) { return Status(kExpired, msg); }

  // The same call may succeed later.
  static Status TryAgain(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTryAgain, msg, msg2);
  }
  static Status TryAgain(SubCode msg = kNone) { return Status(kTryAgain, msg); }

  // A compaction would exceed its space budget.
  static Status CompactionTooLarge(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCompactionTooLarge, msg, msg2);
  }
  static Status CompactionTooLarge(SubCode msg = kNone) { return Status(kCompactionTooLarge, msg); }

  // The column family was dropped.
  static Status ColumnFamilyDropped(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kColumnFamilyDropped, msg, msg2);
  }
  static Status ColumnFamilyDropped(SubCode msg = kNone) {
    return Status(kColumnFamilyDropped, msg);
  }

  // Codes with a subcode.

  // The disk is full.
  static Status NoSpace() { return Status(kIOError, kNoSpace); }
  static Status NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kNoSpace, msg, msg2);
  }

  // A memory budget is used up.
  static Status MemoryLimit() { return Status(kAborted, kMemoryLimit); }
  static Status MemoryLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kMemoryLimit, msg, msg2);
  }

  // The space that the user allowed is used up.
  static Status SpaceLimit() { return Status(kIOError, kSpaceLimit); }
  static Status SpaceLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kSpaceLimit, msg, msg2);
  }

  // A directory on the way does not exist.
  static Status PathNotFound() { return Status(kIOError, kPathNotFound); }
  static Status PathNotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kPathNotFound, msg, msg2);
  }

  // Commit of a two-phase transaction that was never prepared.
  static Status TxnNotPrepared() { return Status(kInvalidArgument, kTxnNotPrepared); }
  static Status TxnNotPrepared(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kTxnNotPrepared, msg, msg2);
  }

  bool ok() const { return code_ == kOk; }
  bool IsOkOverwritten() const { return Is(kOk, kOverwritten); }
  bool IsNotFound() const { return code_ == kNotFound; }
  bool IsCorruption() const { return code_ == kCorruption; }
  bool IsNotSupported() const { return code_ == kNotSupported; }
  bool IsInvalidArgument() const { return code_ == kInvalidArgument; }
  bool IsIOError() const { return code_ == kIOError; }
  bool IsMergeInProgress() const { return code_ == kMergeInProgress; }
  bool IsIncomplete() const { return code_ == kIncomplete; }
  bool IsShutdownInProgress() const { return code_ == kShutdownInProgress; }
  bool IsAborted() const { return code_ == kAborted; }
  bool IsBusy() const { return code_ == kBusy; }
  bool IsTimedOut() const { return code_ == kTimedOut; }
  bool IsExpired() const { return code_ == kExpired; }
  bool IsTryAgain() const { return code_ == kTryAgain; }
  bool IsCompactionTooLarge() const { return code_ == kCompactionTooLarge; }
  bool IsColumnFamilyDropped() const { return code_ == kColumnFamilyDropped; }

  bool IsLockLimit() const { return Is(kAborted, kLockLimit); }
  bool IsDeadlock() const { return Is(kBusy, kDeadlock); }
  bool IsNoSpace() const { return Is(kIOError, kNoSpace); }
  bool IsMemoryLimit() const { return Is(kAborted, kMemoryLimit); }
  // A missing path is reported under either of two codes.
  bool IsPathNotFound() const {
    return Is(kIOError, kPathNotFound) || Is(kNotFound, kPathNotFound);
  }
  bool IsManualCompactionPaused() const { return Is(kIncomplete, kManualCompactionPaused); }
  bool IsTxnNotPrepared() const { return Is(kInvalidArgument, kTxnNotPrepared); }
  bool IsIOFenced() const { return Is(kIOError, kIOFenced); }

  // "OK", or the code in words, the subcode in words, and the message.
  std::string ToString() const;

 protected:
  explicit Status(Code _code, SubCode _subcode = kNone) : code_(_code), subcode_(_subcode) {}

  explicit Status(Code _code, SubCode _subcode, bool retryable, bool data_loss, unsigned char scope)
      : code_(_code),
        subcode_(_subcode),
        retryable_(retryable),
        data_loss_(data_loss),
        scope_(scope) {}

  Status(Code _code, SubCode _subcode, const Slice& msg, const Slice& msg2,
         Severity sev = kNoError);

  Status(Code _code, const Slice& msg, const Slice& msg2) : Status(_code, kNone, msg, msg2) {}

  static std::unique_ptr<const char[]> CopyState(const char* s);

  void MarkChecked() const {}

  bool Is(Code code, SubCode subcode) const { return code_ == code && subcode_ == subcode; }

  Code code_ = kOk;
  SubCode subcode_ = kNone;
  Severity sev_ = kNoError;
  // The next three are set by IOStatus only, and survive its conversion to a Status.
  bool retryable_ = false;
  bool data_loss_ = false;
  unsigned char scope_ = 0;
  // NUL-terminated message; null if none.
  std::unique_ptr<const char[]> state_;
};

inline Status::Status(const Status& s) : Status(s, s.sev_) {}

inline Status::Status(const Status& s, Severity sev)
    : code_(s.code_),
      subcode_(s.subcode_),
      sev_(sev),
      retryable_(s.retryable_),
      data_loss_(s.data_loss_),
      scope_(s.scope_),
      state_(s.state_ != nullptr ? CopyState(s.state_.get()) : nullptr) {}

inline Status& Status::operator=(const Status& s) {
  if (this != &s) *this = Status(s);
  return *this;
}

inline Status::Status(Status&& s) noexcept { *this = std::move(s); }

inline Status& Status::operator=(Status&& s) noexcept {
  if (this == &s) return *this;
  code_ = s.code_;
  subcode_ = s.subcode_;
  sev_ = s.sev_;
  retryable_ = s.retryable_;
  data_loss_ = s.data_loss_;
  scope_ = s.scope_;
  state_ = std::move(s.state_);
  s.code_ = kOk;
  s.subcode_ = kNone;
  s.sev_ = kNoError;
  s.retryable_ = false;
  s.data_loss_ = false;
  s.scope_ = 0;
  return *this;
}

}  // namespace ROCKSDB_NAMESPACE
