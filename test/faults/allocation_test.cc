// SPDX-License-Identifier: Apache-2.0
//
// Each allocation of an Open (with recovery) and of a write fails once: the call gives an error instead of an
// exception, nothing that was acknowledged is lost, and the database opens again. So does each of the larger ones of
// flushes and compactions in the background: writes continue by themselves after it.
//
// No failed call of the POSIX file system leaves a file open.
//
//   allocation_test --stride=7     (every 7th allocation; 1: all)
//   allocation_test --call=open --number=123

#include <dirent.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <thread>

#include "env/rocksdb/env_adapter.h"
#include "env/sim/memory_file_system.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"
#include "support/flags.h"
#include "support/small_options.h"
#include "support/temp_dir.h"
#include "util/concurrent_arena.h"

namespace {

// Of this thread: the allocation that fails, counted down; 0: none.
thread_local long countdown = 0;
thread_local bool failed = false;

// The thread of the test itself.
thread_local bool client = false;
// Of all other threads: the failing allocation of at least this size, counted down; 0 or less: none. A machine
// without memory refuses blocks and buffers, not nodes of a map.
constexpr size_t kLarge = 2048;
std::atomic<long> others_countdown = 0;
std::atomic<bool> others_failed = false;

void* Take(size_t n, size_t alignment) {
  if (countdown > 0 && --countdown == 0) {
    failed = true;
    throw std::bad_alloc();
  }
  if (n >= kLarge && !client && others_countdown.load(std::memory_order_relaxed) > 0 && others_countdown.fetch_sub(1) == 1) {
    others_failed = true;
    throw std::bad_alloc();
  }
  void* p = alignment == 0 ? malloc(n) : aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(size_t n) { return Take(n, 0); }
void* operator new[](size_t n) { return Take(n, 0); }
void* operator new(size_t n, std::align_val_t a) { return Take(n, static_cast<size_t>(a)); }
void* operator new[](size_t n, std::align_val_t a) { return Take(n, static_cast<size_t>(a)); }
// (std::stable_sort allocates so, and also works without memory.)
void* operator new(size_t n, const std::nothrow_t&) noexcept { return malloc(n); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return malloc(n); }
void operator delete(void* p) noexcept { free(p); }
void operator delete[](void* p) noexcept { free(p); }
void operator delete(void* p, size_t) noexcept { free(p); }
void operator delete[](void* p, size_t) noexcept { free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { free(p); }

namespace compassdb_test {
namespace {

using rocksdb::Status;

class Subject {
 public:
  explicit Subject(const std::string& layout) : options_(SmallOptions(layout)) {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.info_log_level = rocksdb::FATAL_LEVEL;
    options_.keep_log_file_num = 2;  // or listings would grow
    options_.write_buffer_size = 8 << 10;
    options_.bgerror_resume_retry_interval = 1000;  // microseconds
  }
  // Allocation `n` of the open fails, if there is one.
  Status Open(long n) {
    const std::string path = "/db";
    rocksdb::DB* db = nullptr;
    Status s;
    countdown = n;
    try {
      s = rocksdb::DB::Open(options_, path, &db);
    } catch (const std::bad_alloc&) {
      thrown_ = true;
      s = Status::Aborted("thrown");
    }
    countdown = 0;
    db_.reset(db);
    return s;
  }
  Status Write(int i, long n) {
    const std::string key = Key(i), value = Value(i);
    Status s;
    countdown = n;
    try {
      s = db_->Put(rocksdb::WriteOptions(), key, value);
    } catch (const std::bad_alloc&) {
      thrown_ = true;
      s = Status::Aborted("thrown");
    }
    countdown = 0;
    return s;
  }
  // The first of n that does not exist; n: all exist.
  int FirstMissing(int n) const {
    std::string value;
    for (int i = 0; i < n; ++i) {
      if (!db_->Get(rocksdb::ReadOptions(), Key(i), &value).ok() || value != Value(i)) return i;
    }
    return n;
  }
  // The same value until it is taken, or for half a minute; only a fatal error needs a new opening.
  bool WriteInTheEnd(int i) {
    for (int tries = 0; tries < 30000; ++tries) {
      const Status s = Write(i, 0);
      if (s.ok()) return true;
      if (s.severity() == Status::kFatalError) {
        Close();
        if (!Open(0).ok()) return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  Status Settle() {
    Status s = db_->Flush(rocksdb::FlushOptions());
    return s.ok() ? db_->WaitForCompact(rocksdb::WaitForCompactOptions()) : s;
  }
  void Close() { db_.reset(); }
  bool thrown() const { return thrown_; }

 private:
  static std::string Key(int i) { return "key" + std::to_string(i); }
  static std::string Value(int i) { return std::to_string(i) + std::string(static_cast<size_t>(i % 3 == 0 ? 3000 : 90), 'v'); }

  const std::unique_ptr<rocksdb::Env> env_ = compassdb::NewEnvForFileSystem(std::make_shared<compassdb::MemoryFileSystem>());
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
  bool thrown_ = false;
};

bool Fail(const std::string& layout, const char* call, long n, const std::string& what) {
  fprintf(stderr, "FAILED: %s, allocation_test --call=%s --number=%ld: %s\n", layout.c_str(), call, n, what.c_str());
  return false;
}

// False if something is wrong. *last: there are no more allocations.
bool OpenOnce(const std::string& layout, Subject* subject, int written, long n, bool* last) {
  failed = false;
  Status s = subject->Open(n);
  *last = !failed;
  if (subject->thrown()) return Fail(layout, "open", n, "the exception came through");
  // The memory was not really needed.
  if (!s.ok() && !failed) return Fail(layout, "open", n, s.ToString());
  if (s.ok() && subject->FirstMissing(written) != written) return Fail(layout, "open", n, "a write is lost while open");
  subject->Close();
  s = subject->Open(0);
  if (!s.ok()) return Fail(layout, "open", n, "does not open any more: " + s.ToString());
  const int missing = subject->FirstMissing(written);
  if (missing != written) return Fail(layout, "open", n, "write " + std::to_string(missing) + " is lost");
  subject->Close();
  return true;
}

bool Opens(const std::string& layout, long stride, long only, long* runs) {
  Subject subject(layout);
  if (!subject.Open(0).ok()) return false;
  constexpr int kWritten = 150;
  for (int i = 0; i < kWritten; ++i) {
    if (!subject.Write(i, 0).ok()) return false;
  }
  subject.Close();
  bool last = false;
  for (long n = only > 0 ? only : 1; !last; n += stride, ++*runs) {
    if (!OpenOnce(layout, &subject, kWritten, n, &last)) return false;
    if (only > 0) break;
  }
  return true;
}

bool Writes(const std::string& layout, long stride, long only, long* runs) {
  int written = 0;
  long most = 1;
  // Writes that switch the memtable have many allocations, the others few.
  for (long n = only > 0 ? only : 1; n <= most + stride; n += stride) {
    Subject subject(layout);
    if (!subject.Open(0).ok()) return false;
    for (written = 0; written < 60; ++*runs) {
      failed = false;
      const Status s = subject.Write(written, n);
      if (failed && n > most) most = n;
      if (subject.thrown()) return Fail(layout, "write", n, "the exception came through");
      if (s.ok()) {
        ++written;
        continue;
      }
      if (!failed) return Fail(layout, "write", n, s.ToString());
      // Without the failure it continues, or after the database was opened again.
      const int missing = subject.FirstMissing(written);
      if (missing != written) return Fail(layout, "write", n, "write " + std::to_string(missing) + " cannot be read");
      if (!subject.Write(written, 0).ok()) {
        subject.Close();
        if (const Status again = subject.Open(0); !again.ok()) return Fail(layout, "write", n, "does not open any more: " + again.ToString());
        if (!subject.Write(written, 0).ok()) return Fail(layout, "write", n, "no writes after opening again");
      }
      ++written;
    }
    subject.Close();
    if (const Status again = subject.Open(0); !again.ok()) return Fail(layout, "write", n, "does not open any more: " + again.ToString());
    const int missing = subject.FirstMissing(written);
    if (missing != written) return Fail(layout, "write", n, "write " + std::to_string(missing) + " is lost");
    if (only > 0) break;
  }
  return true;
}

bool Jobs(const std::string& layout, long stride, long only, long* runs) {
  constexpr int kWritten = 150;
  bool last = false;
  for (long n = only > 0 ? only : 1; !last; n += stride, ++*runs) {
    Subject subject(layout);
    if (!subject.Open(0).ok()) return false;
    others_failed = false;
    others_countdown = n;
    for (int i = 0; i < kWritten; ++i) {
      if (!subject.WriteInTheEnd(i)) return Fail(layout, "job", n, "writes do not continue");
    }
    subject.Settle().PermitUncheckedError();  // it may be what fails
    last = !others_failed;
    others_countdown = 0;
    if (!subject.WriteInTheEnd(0)) return Fail(layout, "job", n, "writes do not continue after flushing");
    int missing = subject.FirstMissing(kWritten);
    if (missing != kWritten) return Fail(layout, "job", n, "write " + std::to_string(missing) + " cannot be read");
    subject.Close();
    if (const Status again = subject.Open(0); !again.ok()) return Fail(layout, "job", n, "does not open any more: " + again.ToString());
    missing = subject.FirstMissing(kWritten);
    if (missing != kWritten) return Fail(layout, "job", n, "write " + std::to_string(missing) + " is lost");
    if (only > 0) break;
  }
  return true;
}

size_t OpenDescriptors() {
  size_t n = 0;
  DIR* const dir = opendir("/proc/self/fd");
  while (dir != nullptr && readdir(dir) != nullptr) ++n;
  if (dir != nullptr) closedir(dir);
  return n;
}

bool ClosesFiles() {
  namespace cdb = compassdb;
  cdb::FileSystem* const fs = cdb::PosixFileSystem();
  const TempDir dir("allocation");
  const std::string path = dir.path() + "/a file with a name that is allocated";
  std::unique_ptr<cdb::SequentialFile> sequential;
  std::unique_ptr<cdb::RandomAccessFile> random;
  std::unique_ptr<cdb::WritableFile> writable;
  std::unique_ptr<cdb::PageFile> pages;
  std::vector<std::string> names;
  if (!cdb::WriteFileAtomically(fs, path, "data").ok()) return false;
  const std::function<Status()> calls[] = {
      [&] { return fs->NewSequentialFile(path, &sequential); },
      [&] { return fs->NewRandomAccessFile(path, cdb::FileOptions(), &random); },
      [&] { return fs->ReopenWritableFile(path, cdb::FileOptions(), &writable); },
      [&] { return fs->NewPageFile(path, cdb::FileOptions(), /*create=*/false, &pages); },
      [&] { return fs->GetChildren(dir.path(), &names); },
      [&] { return fs->NewSequentialFile(dir.path(), &sequential); },  // which is no file
  };
  const size_t before = OpenDescriptors();
  for (size_t call = 0; call < std::size(calls); ++call) {
    for (long n = 1;; ++n) {
      failed = false;
      countdown = n;
      try {
        calls[call]().PermitUncheckedError();
      } catch (const std::bad_alloc&) {
      }
      countdown = 0;
      sequential.reset(), random.reset(), writable.reset(), pages.reset();
      if (OpenDescriptors() != before) {
        fprintf(stderr, "FAILED: allocation %ld of file system call %zu leaves a descriptor open\n", n, call);
        return false;
      }
      if (!failed) break;
    }
  }
  return true;
}

// Once there is memory again, an arena gives it.
bool AnArenaContinues() {
  compassdb::ConcurrentArena arena(1 << 20);
  for (int i = 0; i < 8; ++i) {
    failed = false;
    countdown = 1;
    try {
      arena.Allocate(16);
    } catch (const std::bad_alloc&) {
    }
    countdown = 0;
    if (!failed) return false;
  }
  std::atomic<bool> done = false;
  std::thread other([&] {
    arena.Allocate(16);
    done = true;
  });
  for (int i = 0; i < 10'000 && !done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!done) {
    fprintf(stderr, "FAILED: a thread waits for an arena that has found no memory\n");
    _exit(1);
  }
  other.join();
  return true;
}

// An entry without memory is not in the cache, and the other entries can be dropped.
bool ACacheContinues() {
  const auto keep = [](const rocksdb::Slice&, void*) {};
  bool last = false;
  for (long n = 1; !last; ++n) {
    const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(64 << 10, /*num_shard_bits=*/0);
    failed = false;
    countdown = n;
    std::string refused;
    for (int i = 0; i < 200; ++i) {
      const std::string key = "key " + std::to_string(1000 + i);
      try {
        if (!cache->Insert(key, &last, 1 << 10, keep).ok()) return false;
      } catch (const std::bad_alloc&) {
        refused = key;
      }
    }
    countdown = 0;
    last = !failed;
    if (rocksdb::Cache::Handle* const handle = refused.empty() ? nullptr : cache->Lookup(refused)) {
      cache->Release(handle);
      fprintf(stderr, "FAILED: allocation %ld of a cache: what it refused is in it\n", n);
      return false;
    }
    std::atomic<bool> done = false;
    std::thread other([&] {
      cache->SetCapacity(0);
      done = true;
    });
    for (int i = 0; i < 10'000 && !done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!done) {
      fprintf(stderr, "FAILED: after allocation %ld of a cache nothing can be evicted\n", n);
      _exit(1);
    }
    other.join();
    if (cache->GetUsage() != 0 || cache->GetOccupancyCount() != 0) {
      fprintf(stderr, "FAILED: after allocation %ld of a cache its counts are not zero\n", n);
      return false;
    }
  }
  return true;
}

}  // namespace

int Main(int argc, char** argv) {
  client = true;
  std::set_terminate([] {
    fprintf(stderr, "FAILED: an exception of a thread (%ld left to fail)\n", others_countdown.load());
    abort();
  });
  Flags flags(argc, argv);
  const long stride = static_cast<long>(flags.Number("stride", 7));
  const std::string call = flags.String("call", "");
  const long number = static_cast<long>(flags.Number("number", 0));
  const std::string only = flags.String("layout", "");
  flags.RejectUnknown();
  bool good = ClosesFiles() && AnArenaContinues() && ACacheContinues();
  for (const std::string& layout : Layouts()) {
    if (!only.empty() && only != layout) continue;
    long opens = 0, writes = 0, jobs = 0;
    if (call.empty() || call == "open") good &= Opens(layout, stride, number, &opens);
    if (call.empty() || call == "write") good &= Writes(layout, 1 + stride / 10, number, &writes);
    if (call.empty() || call == "job") good &= Jobs(layout, stride, number, &jobs);
    printf("%-14s %ld opens, %ld writes, %ld jobs\n", layout.c_str(), opens, writes, jobs);
    fflush(stdout);
  }
  return good ? 0 : 1;
}

}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
