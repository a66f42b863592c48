// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/thread_status.h"

#include <cstdio>

#include "util/c_locale.h"

namespace ROCKSDB_NAMESPACE {

namespace {

using Names = std::vector<std::string>;

const std::string& NameAt(const Names& names, int i) {
  static const std::string empty;
  return i >= 0 && static_cast<size_t>(i) < names.size() ? names[static_cast<size_t>(i)] : empty;
}

const Names& CompactionProperties() {
  static const Names names = {"JobID",           "InputOutputLevel", "Manual/Deletion/Trivial",
                              "TotalInputBytes", "BytesRead",        "BytesWritten"};
  return names;
}

const Names& FlushProperties() {
  static const Names names = {"JobID", "BytesMemtables", "BytesWritten"};
  return names;
}

}  // namespace

std::string ThreadStatus::GetThreadTypeName(ThreadType thread_type) {
  static const Names names = {"High Pri", "Low Pri", "User", "Bottom Pri"};
  return NameAt(names, thread_type);
}

const std::string& ThreadStatus::GetOperationName(OperationType op_type) {
  static const Names names = {"", "Compaction", "Flush"};
  return NameAt(names, op_type);
}

const std::string& ThreadStatus::GetOperationStageName(OperationStage stage) {
  static const Names names = {"",
                              "FlushJob::Run",
                              "FlushJob::WriteLevel0Table",
                              "CompactionJob::Prepare",
                              "CompactionJob::Run",
                              "CompactionJob::ProcessKeyValueCompaction",
                              "CompactionJob::Install",
                              "CompactionJob::FinishCompactionOutputFile",
                              "MemTableList::PickMemtablesToFlush",
                              "MemTableList::RollbackMemtableFlush",
                              "MemTableList::TryInstallMemtableFlushResults"};
  return NameAt(names, stage);
}

const std::string& ThreadStatus::GetOperationPropertyName(OperationType op_type, int i) {
  static const Names none;
  switch (op_type) {
    case OP_COMPACTION: return NameAt(CompactionProperties(), i);
    case OP_FLUSH: return NameAt(FlushProperties(), i);
    default: return NameAt(none, i);
  }
}

// Two properties of compactions hold several numbers: the levels in halves of 32 bits, the flags in
// bits 1 to 3.
std::map<std::string, uint64_t> ThreadStatus::InterpretOperationProperties(
    OperationType op_type, const uint64_t* op_properties) {
  std::map<std::string, uint64_t> result;
  const int count = op_type == OP_COMPACTION ? int{NUM_COMPACTION_PROPERTIES}
                    : op_type == OP_FLUSH    ? int{NUM_FLUSH_PROPERTIES}
                                             : 0;
  for (int i = 0; i < count; ++i) {
    const uint64_t value = op_properties[i];
    if (op_type == OP_COMPACTION && i == COMPACTION_INPUT_OUTPUT_LEVEL) {
      result["BaseInputLevel"] = value >> 32;
      result["OutputLevel"] = value & 0xffffffffu;
    } else if (op_type == OP_COMPACTION && i == COMPACTION_PROP_FLAGS) {
      result["IsManual"] = value >> 1 & 1;
      result["IsDeletion"] = value >> 2 & 1;
      result["IsTrivialMove"] = value >> 3 & 1;
    } else {
      result[GetOperationPropertyName(op_type, i)] = value;
    }
  }
  return result;
}

const std::string& ThreadStatus::GetStateName(StateType state_type) {
  static const Names names = {"", "Mutex Wait"};
  return NameAt(names, state_type);
}

const std::string ThreadStatus::MicrosToString(uint64_t micros) {
  if (micros == 0) return "";
  char text[64];
  const auto seconds = static_cast<unsigned long long>(micros / 1000000);
  const double minute = static_cast<double>(micros % 60000000) / 1000000;
  if (micros < 10000) {
    compassdb::CLocaleSnprintf(text, sizeof(text), "%llu us", static_cast<unsigned long long>(micros));
  } else if (seconds < 10) {
    compassdb::CLocaleSnprintf(text, sizeof(text), "%.3f ms", static_cast<double>(micros) / 1000);
  } else if (seconds < 60) {
    compassdb::CLocaleSnprintf(text, sizeof(text), "%.3f sec", minute);
  } else if (seconds < 3600) {
    compassdb::CLocaleSnprintf(text, sizeof(text), "%02llu:%05.3f M:S", seconds / 60, minute);
  } else {
    compassdb::CLocaleSnprintf(text, sizeof(text), "%02llu:%02llu:%05.3f H:M:S", seconds / 3600, seconds / 60 % 60,
             minute);
  }
  return text;
}

}  // namespace ROCKSDB_NAMESPACE
