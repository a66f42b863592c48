// SPDX-License-Identifier: Apache-2.0
// The one place where the engine starts threads (perfect_hash, which is independent, has its own).
#pragma once

#include <cstdint>
#include <functional>
#include <thread>

namespace compassdb {

// Runs `body` on a new thread. False if the system refuses a thread or has no memory for one. Throws nothing.
// `thread` must not be joinable.
[[nodiscard]] bool StartThread(std::thread* thread, std::function<void()> body) noexcept;

// The last attempt failed. io_uring, whose workers count as threads of the user, is slow then.
bool ThreadsAreScarce();

// For tests: that many more threads start, all others are refused. Negative: no limit, the initial state.
void LimitThreadsForTest(int64_t more);

}  // namespace compassdb
