// SPDX-License-Identifier: Apache-2.0
#include "support/text.h"

namespace compassdb_test {

uint64_t HashBytes(std::string_view data, uint64_t seed) {
  uint64_t h = seed ^ 0xcbf29ce484222325ull;
  for (char c : data) {
    h ^= static_cast<uint8_t>(c);
    h *= 0x100000001b3ull;
  }
  return h ^ (h >> 29);
}

std::string Hex(std::string_view data) {
  static const char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(data.size() * 2);
  for (char c : data) {
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

std::string Show(std::string_view data) {
  constexpr size_t kHead = 24;
  std::string out;
  for (char c : data.substr(0, kHead)) {
    if (c > ' ' && c < 127 && c != '\\') {
      out += c;
    } else {
      out += "\\x" + Hex(std::string_view(&c, 1));
    }
  }
  if (data.size() > kHead) {
    uint64_t hash = HashBytes(data);
    out += "~" + std::to_string(data.size()) + "~" +
           Hex(std::string_view(reinterpret_cast<const char*>(&hash), sizeof(hash)));
  }
  return out;
}

namespace {

const char* CodeName(rocksdb::Status::Code code) {
  using S = rocksdb::Status;
  switch (code) {
    case S::kOk: return "OK";
    case S::kNotFound: return "NotFound";
    case S::kCorruption: return "Corruption";
    case S::kNotSupported: return "NotSupported";
    case S::kInvalidArgument: return "InvalidArgument";
    case S::kIOError: return "IOError";
    case S::kMergeInProgress: return "MergeInProgress";
    case S::kIncomplete: return "Incomplete";
    case S::kShutdownInProgress: return "ShutdownInProgress";
    case S::kTimedOut: return "TimedOut";
    case S::kAborted: return "Aborted";
    case S::kBusy: return "Busy";
    case S::kExpired: return "Expired";
    case S::kTryAgain: return "TryAgain";
    case S::kCompactionTooLarge: return "CompactionTooLarge";
    case S::kColumnFamilyDropped: return "ColumnFamilyDropped";
    default: return "Unknown";
  }
}

}  // namespace

std::string ShowCode(const rocksdb::Status& status) {
  std::string out = CodeName(status.code());
  if (status.subcode() != rocksdb::Status::kNone) {
    out += "/" + std::to_string(static_cast<int>(status.subcode()));
  }
  return out;
}

}  // namespace compassdb_test
