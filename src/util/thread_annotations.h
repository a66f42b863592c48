// SPDX-License-Identifier: Apache-2.0
// Clang's thread-safety attributes; empty for other compilers.
#pragma once

#if defined(__clang__)
#define COMPASSDB_TS_ATTRIBUTE(x) __attribute__((x))
#else
#define COMPASSDB_TS_ATTRIBUTE(x)
#endif

#define CAPABILITY(x) COMPASSDB_TS_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY COMPASSDB_TS_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) COMPASSDB_TS_ATTRIBUTE(guarded_by(x))
#define PT_GUARDED_BY(x) COMPASSDB_TS_ATTRIBUTE(pt_guarded_by(x))
#define ACQUIRED_BEFORE(...) COMPASSDB_TS_ATTRIBUTE(acquired_before(__VA_ARGS__))
#define ACQUIRED_AFTER(...) COMPASSDB_TS_ATTRIBUTE(acquired_after(__VA_ARGS__))
#define REQUIRES(...) COMPASSDB_TS_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) COMPASSDB_TS_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define ACQUIRE(...) COMPASSDB_TS_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) COMPASSDB_TS_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) COMPASSDB_TS_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) COMPASSDB_TS_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) COMPASSDB_TS_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define EXCLUDES(...) COMPASSDB_TS_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ASSERT_CAPABILITY(x) COMPASSDB_TS_ATTRIBUTE(assert_capability(x))
#define RETURN_CAPABILITY(x) COMPASSDB_TS_ATTRIBUTE(lock_returned(x))
#define NO_THREAD_SAFETY_ANALYSIS COMPASSDB_TS_ATTRIBUTE(no_thread_safety_analysis)
