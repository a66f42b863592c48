// SPDX-License-Identifier: Apache-2.0
#include "support/op.h"

#include "support/text.h"

namespace compassdb_test {

namespace {

std::string ToString(const WriteItem& item) {
  static const char* const kNames[] = {"Put",   "Delete",  "SingleDelete", "DeleteRange", "Merge",
                                       "LogData", "SetSavePoint", "Rollback", "PopSavePoint"};
  std::string out = kNames[static_cast<int>(item.kind)];
  return out + "(" + std::to_string(item.family) + " " + Show(item.key) + " " + Show(item.value) +
         ")";
}

std::string ToString(const IteratorMove& move) {
  static const char* const kNames[] = {"Seek", "SeekForPrev", "First", "Last",
                                       "Next", "Prev",        "Refresh"};
  return std::string(kNames[static_cast<int>(move.kind)]) + "(" + Show(move.key) + " x" +
         std::to_string(move.count) + ")";
}

std::string ToString(const IteratorSpec& spec) {
  std::string out;
  if (spec.has_lower) out += " lower=" + Show(spec.lower);
  if (spec.has_upper) out += " upper=" + Show(spec.upper);
  if (spec.prefix_same_as_start) out += " prefix";
  if (spec.pin_data) out += " pin";
  return out;
}

}  // namespace

std::string ToString(const Op& op) {
  static const char* const kNames[] = {
      "Write",         "Get",          "MultiGet",        "KeyMayExist", "TakeSnapshot",
      "ReleaseSnapshot", "NewIterator", "MoveIterator",   "ReleaseIterator", "Scan",
      "Flush",         "Compact",      "CreateFamily",    "DropFamily",  "Reopen",
      "ReadOnly",      "VerifyChecksum"};
  std::string out = kNames[static_cast<int>(op.kind)];
  out += " family=" + std::to_string(op.family) + " slot=" + std::to_string(op.slot);
  if (op.snapshot != kNoSnapshot) out += " snapshot=" + std::to_string(op.snapshot);
  if (op.batch) out += " batch";
  if (op.sync) out += " sync";
  if (op.disable_wal) out += " nowal";
  if (op.number != 0) out += " number=" + std::to_string(op.number);
  if (op.has_begin) out += " begin=" + Show(op.begin);
  if (op.has_end) out += " end=" + Show(op.end);
  out += ToString(op.iterator);
  for (const WriteItem& item : op.items) out += " " + ToString(item);
  for (const auto& [family, key] : op.keys) {
    out += " " + std::to_string(family) + ":" + Show(key);
  }
  for (const IteratorMove& move : op.moves) out += " " + ToString(move);
  return out;
}

std::string FamilyName(int slot) {
  return slot == 0 ? "default" : "family" + std::to_string(slot);
}

}  // namespace compassdb_test
