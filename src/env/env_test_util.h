// SPDX-License-Identifier: Apache-2.0
// Where tests of files keep them, and the kinds of file systems that they run over.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "env/clock.h"
#include "env/file_system.h"
#include "env/io_ring.h"
#include "env/rocksdb/env_adapter.h"

namespace compassdb {

// A path of its own among the operating system's files; it does not exist yet.
inline std::string NewTestPath() {
  const char* const tmp = getenv("TEST_TMPDIR");
  return std::string(tmp != nullptr ? tmp : "/tmp") + "/compassdb_test_" + std::to_string(SystemClock()->NowNanos());
}

// A process that opens it for reading waits for a writer.
inline bool MakeFifo(const std::string& path) { return mkfifo(path.c_str(), 0600) == 0; }

struct Backend {
  const char* name;
  bool posix;  // or else in memory
  bool ring;
  bool direct;
  bool adapter;  // through a user's Env
};
inline std::string NameOfBackend(const testing::TestParamInfo<Backend>& backend) { return backend.param.name; }

class BackendTest : public testing::TestWithParam<Backend> {
 protected:
  // `base`: a file system of the backend's kind.
  void SetUpOver(std::shared_ptr<FileSystem> base) {
    const Backend& b = GetParam();
    IoRing::TEST_Permit(b.ring);
    if (b.ring && IoRing::OfThread() == nullptr) GTEST_SKIP() << "no io_uring here";
    dir_ = b.posix ? NewTestPath() : "/test";
    fs_ = std::move(base);
    if (b.adapter) {
      env_ = NewEnvForFileSystem(fs_);
      wrapper_ = std::make_unique<rocksdb::EnvWrapper>(env_.get());
      fs_ = FileSystemOfEnv(wrapper_.get());
    }
    options_.direct = b.direct;
    ASSERT_TRUE(fs_->CreateDir(dir_).ok());
  }
  void TearDown() override {
    IoRing::TEST_Permit(true);
    if (dir_.empty()) return;
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(dir_, &names).ok());
    for (const std::string& name : names) EXPECT_TRUE(fs_->DeleteFile(Path(name)).ok());
    EXPECT_TRUE(fs_->DeleteDir(dir_).ok());
  }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }

  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::EnvWrapper> wrapper_;
  std::shared_ptr<FileSystem> fs_;
  FileOptions options_;
  std::string dir_;
};

}  // namespace compassdb
