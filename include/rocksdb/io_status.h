// SPDX-License-Identifier: Apache-2.0
//
// The outcome of a file-system operation: a Status that also says how far the damage reaches and
// whether trying again makes sense.

#pragma once

#include <cstring>
#include <string>
#include <utility>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class IOStatus : public Status {
 public:
  using Code = Status::Code;
  using SubCode = Status::SubCode;

  // What the error is about: the whole file system, one file, or a range of one file.
  enum IOErrorScope : unsigned char {
    kIOErrorScopeFileSystem,
    kIOErrorScopeFile,
    kIOErrorScopeRange,
    kIOErrorScopeMax,
  };

  // Success.
  IOStatus() : IOStatus(kOk, kNone) {}
  ~IOStatus() {}

  IOStatus(const IOStatus& s) : Status(s) {}
  IOStatus& operator=(const IOStatus& s) {
    Status::operator=(s);
    return *this;
  }
  IOStatus(IOStatus&& s) noexcept : Status(std::move(s)) {}
  IOStatus& operator=(IOStatus&& s) noexcept {
    Status::operator=(std::move(s));
    return *this;
  }

  // Equality looks at the code alone.
  bool operator==(const IOStatus& rhs) const { return code_ == rhs.code_; }
  bool operator!=(const IOStatus& rhs) const { return code_ != rhs.code_; }

  // Retryable: the same call may succeed if made again. Data loss: something that was written is
  // gone.
  void SetRetryable(bool retryable) { retryable_ = retryable; }
  void SetDataLoss(bool data_loss) { data_loss_ = data_loss; }
  void SetScope(IOErrorScope scope) { scope_ = static_cast<unsigned char>(scope); }

  bool GetRetryable() const { return retryable_; }
  bool GetDataLoss() const { return data_loss_; }
  IOErrorScope GetScope() const { return static_cast<IOErrorScope>(scope_); }

  static IOStatus OK() { return IOStatus(); }

  static IOStatus NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kNotSupported, msg, msg2);
  }
  static IOStatus NotSupported(SubCode msg = kNone) { return IOStatus(kNotSupported, msg); }

  static IOStatus NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kNotFound, msg, msg2);
  }
  static IOStatus NotFound(SubCode msg = kNone) { return IOStatus(kNotFound, msg); }

  static IOStatus Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kCorruption, msg, msg2);
  }
  static IOStatus Corruption(SubCode msg = kNone) { return IOStatus(kCorruption, msg); }

  static IOStatus InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kInvalidArgument, msg, msg2);
  }
  static IOStatus InvalidArgument(SubCode msg = kNone) { return IOStatus(kInvalidArgument, msg); }

  static IOStatus IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, msg, msg2);
  }
  static IOStatus IOError(SubCode msg = kNone) { return IOStatus(kIOError, msg); }

  static IOStatus Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kBusy, msg, msg2);
  }
  static IOStatus Busy(SubCode msg = kNone) { return IOStatus(kBusy, msg); }

  static IOStatus TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kTimedOut, msg, msg2);
  }
  static IOStatus TimedOut(SubCode msg = kNone) { return IOStatus(kTimedOut, msg); }

  static IOStatus Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kAborted, msg, msg2);
  }
  static IOStatus Aborted(SubCode msg = kNone) { return IOStatus(kAborted, msg); }

  // The disk is full.
  static IOStatus NoSpace() { return IOStatus(kIOError, kNoSpace); }
  static IOStatus NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kNoSpace, msg, msg2);
  }

  // A directory on the way does not exist.
  static IOStatus PathNotFound() { return IOStatus(kIOError, kPathNotFound); }
  static IOStatus PathNotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kPathNotFound, msg, msg2);
  }

  // The file system no longer lets this process write.
  static IOStatus IOFenced() { return IOStatus(kIOError, kIOFenced); }
  static IOStatus IOFenced(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kIOFenced, msg, msg2);
  }

 private:
  friend IOStatus status_to_io_status(Status&&);

  explicit IOStatus(Code _code, SubCode _subcode = kNone)
      : Status(_code, _subcode, false, false, kIOErrorScopeFileSystem) {}
  IOStatus(Code _code, SubCode _subcode, const Slice& msg, const Slice& msg2)
      : Status(_code, _subcode, msg, msg2) {}
  IOStatus(Code _code, const Slice& msg, const Slice& msg2) : IOStatus(_code, kNone, msg, msg2) {}
};

// Takes over code, subcode and message; the attributes of I/O stay at their defaults unless the
// Status came from an IOStatus.
inline IOStatus status_to_io_status(Status&& status) {
  IOStatus io;
  static_cast<Status&>(io) = std::move(status);
  return io;
}

}  // namespace ROCKSDB_NAMESPACE
