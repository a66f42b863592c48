// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace compassdb_test {

// A directory of its own under $COMPASSDB_TEST_DIR, else /dev/shm (tests that
// simulate durability do not need a disk) if it has a GiB free, else the system's. Removed at the
// end unless Keep() was called; $COMPASSDB_TEST_KEEP=1 or 0 overrides both.
class TempDir {
 public:
  explicit TempDir(const std::string& name, bool on_disk = false);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  void Keep() { keep_ = true; }
  // Empties it.
  void Clear();

 private:
  std::string path_;
  bool keep_ = false;
};

void CopyDirectory(const std::string& from, const std::string& to);

}  // namespace compassdb_test
