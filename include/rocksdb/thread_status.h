// SPDX-License-Identifier: Apache-2.0
//
// What a thread of the engine is doing: see Env::GetThreadList().

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#if !defined(ROCKSDB_LITE) && !defined(NROCKSDB_THREAD_STATUS)
#define ROCKSDB_USING_THREAD_STATUS
#endif

namespace ROCKSDB_NAMESPACE {

// The larger of two numbers.
template <int A, int B>
struct constexpr_max {
  static const int result = (A > B) ? A : B;
};

// A moment's view of a thread.
struct ThreadStatus {
  // Its pool; USER for threads of the application.
  enum ThreadType : int {
    HIGH_PRIORITY = 0,
    LOW_PRIORITY,
    USER,
    BOTTOM_PRIORITY,
    NUM_THREAD_TYPES
  };

  // What it works on.
  enum OperationType : int {
    OP_UNKNOWN = 0,
    OP_COMPACTION,
    OP_FLUSH,
    NUM_OP_TYPES
  };

  // How far it is.
  enum OperationStage : int {
    STAGE_UNKNOWN = 0,
    STAGE_FLUSH_RUN,
    STAGE_FLUSH_WRITE_L0,
    STAGE_COMPACTION_PREPARE,
    STAGE_COMPACTION_RUN,
    STAGE_COMPACTION_PROCESS_KV,
    STAGE_COMPACTION_INSTALL,
    STAGE_COMPACTION_SYNC_FILE,
    STAGE_PICK_MEMTABLES_TO_FLUSH,
    STAGE_MEMTABLE_ROLLBACK,
    STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS,
    NUM_OP_STAGES
  };

  // Index into op_properties for each operation.
  enum CompactionPropertyType : int {
    COMPACTION_JOB_ID = 0,
    COMPACTION_INPUT_OUTPUT_LEVEL,
    COMPACTION_PROP_FLAGS,
    COMPACTION_TOTAL_INPUT_BYTES,
    COMPACTION_BYTES_READ,
    COMPACTION_BYTES_WRITTEN,
    NUM_COMPACTION_PROPERTIES
  };

  enum FlushPropertyType : int {
    FLUSH_JOB_ID = 0,
    FLUSH_BYTES_MEMTABLES,
    FLUSH_BYTES_WRITTEN,
    NUM_FLUSH_PROPERTIES
  };
  static const int kNumOperationProperties =
      constexpr_max<NUM_COMPACTION_PROPERTIES, NUM_FLUSH_PROPERTIES>::result;

  // What it waits for.
  enum StateType : int {
    STATE_UNKNOWN = 0,
    STATE_MUTEX_WAIT = 1,
    NUM_STATE_TYPES
  };
  ThreadStatus(const uint64_t _id, const ThreadType _thread_type,
               const std::string& _db_name, const std::string& _cf_name,
               const OperationType _operation_type,
               const uint64_t _op_elapsed_micros,
               const OperationStage _operation_stage,
               const uint64_t _op_props[], const StateType _state_type)
      : thread_id(_id),
        thread_type(_thread_type),
        db_name(_db_name),
        cf_name(_cf_name),
        operation_type(_operation_type),
        op_elapsed_micros(_op_elapsed_micros),
        operation_stage(_operation_stage),
        state_type(_state_type) {
    for (int i = 0; i < kNumOperationProperties; ++i) op_properties[i] = _op_props[i];
  }

  // Unique at a time.
  const uint64_t thread_id;
  const ThreadType thread_type;
  const std::string db_name;
  const std::string cf_name;

  // op_elapsed_micros: microseconds since the operation began.
  const OperationType operation_type;
  const uint64_t op_elapsed_micros;
  const OperationStage operation_stage;
  uint64_t op_properties[kNumOperationProperties];
  const StateType state_type;

  // Names for people; empty for a number out of range.
  static std::string GetThreadTypeName(ThreadType thread_type);
  static const std::string& GetOperationName(OperationType op_type);
  static const std::string MicrosToString(uint64_t op_elapsed_time);
  static const std::string& GetOperationStageName(OperationStage stage);
  static const std::string& GetOperationPropertyName(OperationType op_type,
                                                     int i);
  static std::map<std::string, uint64_t> InterpretOperationProperties(
      OperationType op_type, const uint64_t* op_properties);
  static const std::string& GetStateName(StateType state_type);
};

}  // namespace ROCKSDB_NAMESPACE
