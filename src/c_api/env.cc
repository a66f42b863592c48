// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/env.h"

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::MustSucceed;
using rocksdb::Env;

extern "C" {

rocksdb_env_t* rocksdb_create_default_env(void) {
  return compassdb::Create<rocksdb_env_t>(Env::Default(), true);
}

rocksdb_env_t* rocksdb_create_mem_env(void) {
  return compassdb::OrNull([] { return new rocksdb_env_t{rocksdb::NewMemEnv(Env::Default()), false}; });
}

void rocksdb_env_destroy(rocksdb_env_t* env) {
  MustSucceed([&] {
    if (!env->is_default) delete env->rep;
  });
  delete env;
}

void rocksdb_env_set_background_threads(rocksdb_env_t* env, int n) {
  MustSucceed([&] { env->rep->SetBackgroundThreads(n); });
}

int rocksdb_env_get_background_threads(rocksdb_env_t* env) { return env->rep->GetBackgroundThreads(); }

void rocksdb_env_set_bottom_priority_background_threads(rocksdb_env_t* env, int n) {
  MustSucceed([&] { env->rep->SetBackgroundThreads(n, Env::BOTTOM); });
}

int rocksdb_env_get_bottom_priority_background_threads(rocksdb_env_t* env) {
  return env->rep->GetBackgroundThreads(Env::BOTTOM);
}

void rocksdb_env_set_high_priority_background_threads(rocksdb_env_t* env, int n) {
  MustSucceed([&] { env->rep->SetBackgroundThreads(n, Env::HIGH); });
}

int rocksdb_env_get_high_priority_background_threads(rocksdb_env_t* env) {
  return env->rep->GetBackgroundThreads(Env::HIGH);
}

void rocksdb_env_set_low_priority_background_threads(rocksdb_env_t* env, int n) {
  MustSucceed([&] { env->rep->SetBackgroundThreads(n, Env::LOW); });
}

int rocksdb_env_get_low_priority_background_threads(rocksdb_env_t* env) {
  return env->rep->GetBackgroundThreads(Env::LOW);
}

void rocksdb_env_join_all_threads(rocksdb_env_t* env) {
  MustSucceed([&] { env->rep->WaitForJoin(); });
}

void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t* env) {
  MustSucceed([&] { env->rep->LowerThreadPoolIOPriority(); });
}

void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t* env) {
  MustSucceed([&] { env->rep->LowerThreadPoolIOPriority(Env::HIGH); });
}

void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t* env) {
  MustSucceed([&] { env->rep->LowerThreadPoolCPUPriority(); });
}

void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t* env) {
  MustSucceed([&] { env->rep->LowerThreadPoolCPUPriority(Env::HIGH); });
}

void rocksdb_create_dir_if_missing(rocksdb_env_t* env, const char* path, char** errptr) {
  compassdb::Succeeds(errptr, [&] { return env->rep->CreateDirIfMissing(path); });
}

}  // extern "C"
