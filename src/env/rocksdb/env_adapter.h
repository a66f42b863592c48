// SPDX-License-Identifier: Apache-2.0
// The bridge between rocksdb::Env, which users see and may subclass, and the
// file system, clock and thread pools that the engine works with.
//
// Env::Default() wraps PosixFileSystem() and DefaultThreadPools();
// NewMemEnv() wraps a MemoryFileSystem of its own.
#pragma once

#include <memory>

#include "env/clock.h"
#include "env/file_system.h"
#include "env/thread_pools.h"
#include "rocksdb/env.h"

namespace compassdb {

// An Env whose file functions work on `fs`. Time and threads are those of `base`,
// or the system's if it is null.
std::unique_ptr<rocksdb::Env> NewEnvForFileSystem(std::shared_ptr<FileSystem> fs,
                                                  rocksdb::Env* base = nullptr);

// The engine's file system behind an Env of ours; for any other Env an adapter
// that calls its virtual functions (and answers NotSupported to PunchHole, CloneFile
// and direct writes, which Env has no functions for). `env` outlives the result.
std::shared_ptr<FileSystem> FileSystemOfEnv(rocksdb::Env* env);

// The time of the Env. `env` outlives the result.
std::shared_ptr<Clock> ClockOfEnv(rocksdb::Env* env);

// The pools whose sizes the Env's SetBackgroundThreads changes; the process-wide
// ones for Envs that are not ours.
ThreadPools* ThreadPoolsOfEnv(rocksdb::Env* env);

}  // namespace compassdb
