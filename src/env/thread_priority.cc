// SPDX-License-Identifier: Apache-2.0
#include "env/thread_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "env/posix_error.h"

namespace compassdb {

rocksdb::Status LowerThreadPriority(ThreadPriority priority) {
  constexpr int kLowestNice = 19;
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  if (priority == ThreadPriority::kLow) {
    if (setpriority(PRIO_PROCESS, thread, kLowestNice) == 0) return rocksdb::Status::OK();
  } else {
    sched_param none = {};
    if (sched_setscheduler(0, SCHED_IDLE, &none) == 0) return rocksdb::Status::OK();
  }
  return PosixError("set priority", "of a thread", errno);
}

}  // namespace compassdb
