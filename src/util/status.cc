// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/status.h"

#include <cassert>
#include <cstring>

namespace ROCKSDB_NAMESPACE {

namespace {

// The wording is part of the interface: applications and tools match on it.
const char* CodePrefix(Status::Code code) {
  switch (code) {
    case Status::kOk: return "OK";
    case Status::kNotFound: return "NotFound: ";
    case Status::kCorruption: return "Corruption: ";
    case Status::kNotSupported: return "Not implemented: ";
    case Status::kInvalidArgument: return "Invalid argument: ";
    case Status::kIOError: return "IO error: ";
    case Status::kMergeInProgress: return "Merge in progress: ";
    case Status::kIncomplete: return "Result incomplete: ";
    case Status::kShutdownInProgress: return "Shutdown in progress: ";
    case Status::kTimedOut: return "Operation timed out: ";
    case Status::kAborted: return "Operation aborted: ";
    case Status::kBusy: return "Resource busy: ";
    case Status::kExpired: return "Operation expired: ";
    case Status::kTryAgain: return "Operation failed. Try again.: ";
    case Status::kCompactionTooLarge: return "Compaction too large: ";
    case Status::kColumnFamilyDropped: return "Column family dropped: ";
    case Status::kMaxCode: break;
  }
  return nullptr;
}

const char* SubCodeText(Status::SubCode subcode) {
  switch (subcode) {
    case Status::kNone: return "";
    case Status::kMutexTimeout: return "Timeout Acquiring Mutex";
    case Status::kLockTimeout: return "Timeout waiting to lock key";
    case Status::kLockLimit: return "Failed to acquire lock due to max_num_locks limit";
    case Status::kNoSpace: return "No space left on device";
    case Status::kDeadlock: return "Deadlock";
    case Status::kStaleFile: return "Stale file handle";
    case Status::kMemoryLimit: return "Memory limit reached";
    case Status::kSpaceLimit: return "Space limit reached";
    case Status::kPathNotFound: return "No such file or directory";
    case Status::KMergeOperandsInsufficientCapacity:
      return "Insufficient capacity for merge operands";
    case Status::kManualCompactionPaused: return "Manual compaction paused";
    case Status::kOverwritten: return " (overwritten)";
    case Status::kTxnNotPrepared: return "Txn not prepared";
    case Status::kIOFenced: return "IO fenced off";
    case Status::kMergeOperatorFailed: return "Merge operator failed";
    case Status::kMaxSubCode: break;
  }
  return "";
}

}  // namespace

Status::Status(Code _code, SubCode _subcode, const Slice& msg, const Slice& msg2, Severity sev)
    : code_(_code), subcode_(_subcode), sev_(sev) {
  assert(subcode_ != kMaxSubCode);
  const size_t separator = msg2.empty() ? 0 : 2;
  char* text = new char[msg.size() + separator + msg2.size() + 1];
  state_.reset(text);
  memcpy(text, msg.data(), msg.size());
  text += msg.size();
  if (separator != 0) {
    memcpy(text, ": ", separator);
    memcpy(text + separator, msg2.data(), msg2.size());
    text += separator + msg2.size();
  }
  *text = '\0';
}

std::unique_ptr<const char[]> Status::CopyState(const char* s) {
  const size_t bytes = strlen(s) + 1;
  std::unique_ptr<char[]> copy(new char[bytes]);
  memcpy(copy.get(), s, bytes);
  return copy;
}

std::string Status::ToString() const {
  const char* prefix = CodePrefix(code_);
  std::string result =
      prefix != nullptr ? prefix : "Unknown code(" + std::to_string(int{code_}) + "): ";
  if (code_ == kOk) return result;
  result += SubCodeText(subcode_);
  if (state_ != nullptr) {
    if (subcode_ != kNone) result += ": ";
    result += state_.get();
  }
  return result;
}

}  // namespace ROCKSDB_NAMESPACE
