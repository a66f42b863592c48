// SPDX-License-Identifier: Apache-2.0
// The one place where the engine starts threads (perfect_hash, which is independent, has its own).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace compassdb {

// Runs `body` on a new thread. False if the system refuses a thread or has no memory for one. Throws nothing.
// `thread` must not be joinable. For `top -H` and `perf` it is named "compassdb:" and `name`, of at
// most 5 characters.
[[nodiscard]] bool StartThread(std::thread* thread, const std::string& name,
                               std::function<void()> body) noexcept;
// A name of that length: "low" and 12 are "low12", "high" and 12 are "hig12".
std::string NumberedName(const std::string& name, size_t number);

// The last attempt failed. io_uring, whose workers count as threads of the user, is slow then.
bool ThreadsAreScarce();

// For tests: that many more threads start, all others are refused. Negative: no limit, the initial state.
void LimitThreadsForTest(int64_t more);

}  // namespace compassdb
