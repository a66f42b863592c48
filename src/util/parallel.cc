// SPDX-License-Identifier: Apache-2.0
#include "util/parallel.h"

#include <algorithm>
#include <atomic>

#include "util/helper_threads.h"
#include "util/mutex.h"
#include "util/no_memory.h"

namespace compassdb {

Status RunInParallel(const std::vector<std::function<Status()>>& tasks, int threads,
                     const std::function<void()>& start) {
  std::atomic<size_t> next{0};
  Mutex mu;
  Status first;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      Status s = CatchOutOfMemory("a part of a job", tasks[i]);
      if (s.ok()) continue;
      next = tasks.size();
      MutexLock lock(&mu);
      if (first.ok()) first = s;
    }
  };
  const size_t wanted = std::min(tasks.size(), static_cast<size_t>(std::max(1, threads)));
  HelperThreads running(wanted, [&](size_t) {
    if (start) start();
    work();
  });
  if (running.count() == 0) work();
  running.Join();
  return first;
}

}  // namespace compassdb
