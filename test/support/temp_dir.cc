// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

namespace compassdb_test {

namespace fs = std::filesystem;

namespace {
// Containers often have little of it.
bool HasRoom(const char* path) {
  struct statvfs disk;
  return access(path, W_OK) == 0 && statvfs(path, &disk) == 0 && uint64_t{disk.f_bavail} * disk.f_frsize >= uint64_t{1} << 30;
}
fs::path Root(bool on_disk) {
  if (const char* given = getenv("COMPASSDB_TEST_DIR")) return given;
  if (!on_disk && HasRoom("/dev/shm")) return "/dev/shm";
  return fs::temp_directory_path();
}
}  // namespace

TempDir::TempDir(const std::string& name, bool on_disk) {
  fs::path root = Root(on_disk);
  fs::create_directories(root);
  std::string pattern = (root / ("compassdb-" + name + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) {
    perror(pattern.c_str());
    abort();
  }
  path_ = pattern;
}

TempDir::~TempDir() {
  const char* keep = getenv("COMPASSDB_TEST_KEEP");
  bool kept = keep == nullptr ? keep_ : std::string(keep) == "1";
  if (kept) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TempDir::Clear() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  fs::create_directories(path_);
}

void CopyDirectory(const std::string& from, const std::string& to) {
  std::error_code ignored;
  fs::remove_all(to, ignored);
  fs::create_directories(to);
  fs::copy(from, to, fs::copy_options::recursive);
}

}  // namespace compassdb_test
