// SPDX-License-Identifier: Apache-2.0
#include "env/fork_watch.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "util/process.h"

namespace compassdb {

bool WatchForks() {
  // A kernel without such memory (before 4.14) leaves children that run no fork handlers unnoticed.
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    if (madvise(page, size, MADV_WIPEONFORK) == 0) {
      KeepProcessNumberIn(new (page) std::atomic<uint64_t>(0));
    } else {
      munmap(page, size);
    }
  }
  pthread_atfork(&BeforeFork, &AfterForkInParent, &EnterChild);
  return true;
}

}  // namespace compassdb
