// SPDX-License-Identifier: Apache-2.0
#include "device_counters.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace kvbench {
namespace {

int64_t DiskReads(const std::string& dir) {
  struct stat st;
  if (stat(dir.c_str(), &st) != 0) return -1;
  std::ifstream in("/proc/diskstats");
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    unsigned major_number, minor_number;
    std::string name;
    int64_t reads;
    if (fields >> major_number >> minor_number >> name >> reads &&
        major_number == major(st.st_dev) && minor_number == minor(st.st_dev)) {
      return reads;
    }
  }
  return -1;
}

double Seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

}  // namespace

bool ReadDeviceCounters(const std::string& dir, DeviceCounters* counters, std::string* error) {
  std::ifstream in("/proc/self/io");
  std::string name;
  int64_t value, cancelled = 0;
  int found = 0;
  while (in >> name >> value) {
    if (name == "read_bytes:") {
      counters->read_bytes = value, ++found;
    } else if (name == "write_bytes:") {
      counters->write_bytes = value, ++found;
    } else if (name == "cancelled_write_bytes:") {
      cancelled = value, ++found;
    } else if (name == "syscr:") {
      counters->read_calls = value, ++found;
    }
  }
  if (found != 4) {
    *error = "/proc/self/io does not count bytes (kernel without task I/O accounting)";
    return false;
  }
  counters->dirtied_bytes = counters->write_bytes;
  counters->write_bytes -= cancelled;
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    counters->user_seconds = Seconds(usage.ru_utime);
    counters->system_seconds = Seconds(usage.ru_stime);
  }
  counters->disk_reads = DiskReads(dir);
  counters->syncs = ReadSyncCounts();
  return true;
}

void ResetPeakRss() {
  std::ofstream out("/proc/self/clear_refs");
  out << "5";
}

uint64_t PeakRssBytes() {
  std::ifstream in("/proc/self/status");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

FileSpace SpaceOf(const std::string& dir) {
  FileSpace sum;
  std::error_code ec;
  for (std::filesystem::recursive_directory_iterator it(dir, ec), end; !ec && it != end;
       it.increment(ec)) {
    struct stat st;
    if (lstat(it->path().c_str(), &st) == 0 && S_ISREG(st.st_mode)) {
      sum.allocated += static_cast<uint64_t>(st.st_blocks) * 512;
      sum.length += static_cast<uint64_t>(st.st_size);
    }
  }
  return sum;
}

}  // namespace kvbench
