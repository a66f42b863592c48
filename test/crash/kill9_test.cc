// SPDX-License-Identifier: Apache-2.0
//
// A real process that writes with several threads and reports over a pipe what was
// acknowledged, killed with SIGKILL at random moments; then the database is
// opened here and compared. Half of the writers sync; the others too must lose
// nothing, because the kernel survives. Each writer's batches touch both families.
//
//   kill9_test --kills=200 --seed=1 [--layout=NAME]
//
// The kills are divided between databases of all layouts (support/layout.h).
// (The same program is the writer: --writer --db=DIR --layout=NAME --ack=FD.)

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "rocksdb/db.h"
#include "support/flags.h"
#include "support/layout.h"
#include "support/random.h"
#include "support/temp_dir.h"
#include "support/text.h"
#include "support/tuning.h"

namespace compassdb_test {
namespace {

constexpr int kThreads = 4;
constexpr int kKeys = 60;      // per writer
constexpr int kItems = 5;      // per batch
constexpr int kFamilyCount = 2;

struct Opened {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status;

  ~Opened() {
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
};

void Open(const std::string& path, const std::string& layout, uint64_t seed, Opened* out) {
  Tuning tuning;
  tuning.seed = seed;
  rocksdb::DBOptions options = TunedDbOptions(tuning);
  options.create_missing_column_families = true;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (int slot = 0; slot < kFamilyCount; slot++) {
    families.emplace_back(slot == 0 ? "default" : "second",
                          TunedFamilyOptions(tuning, FamilySpec(), slot));
    ApplyLayout(layout, &families.back().options);
  }
  rocksdb::DB* db = nullptr;
  out->status = rocksdb::DB::Open(options, path, families, &out->handles, &db);
  out->db.reset(db);
}

std::string CounterKey(int thread) { return "counter" + std::to_string(thread); }

struct Item {
  int family;
  std::string key;
  std::string value;  // empty: a deletion
};

// The contents of a writer's batch `number`; the same for writer and checker.
std::vector<Item> BatchItems(int thread, uint64_t number) {
  Random random(number * 64 + static_cast<uint64_t>(thread));
  std::vector<Item> items;
  for (int i = 0; i < kItems; i++) {
    Item item;
    item.family = i % kFamilyCount;
    item.key = "w" + std::to_string(thread) + "k" + std::to_string(random.Uniform(kKeys));
    if (!random.OneIn(5)) {
      item.value = std::to_string(number) + ":" + random.Bytes(random.Uniform(400));
    }
    items.push_back(std::move(item));
  }
  return items;
}

rocksdb::Status WriteNumber(const Opened& opened, int thread, uint64_t number) {
  rocksdb::WriteBatch batch;
  rocksdb::Status s;
  for (const Item& item : BatchItems(thread, number)) {
    rocksdb::ColumnFamilyHandle* family = opened.handles[item.family];
    s = item.value.empty() ? batch.Delete(family, item.key)
                           : batch.Put(family, item.key, item.value);
    if (!s.ok()) return s;
  }
  s = batch.Put(CounterKey(thread), std::to_string(number));
  if (!s.ok()) return s;
  rocksdb::WriteOptions options;
  options.sync = thread % 2 == 0;
  return opened.db->Write(options, &batch);
}

bool ReadCounter(const Opened& opened, int thread, uint64_t* number, std::string* wrong) {
  std::string value;
  rocksdb::Status s = opened.db->Get(rocksdb::ReadOptions(), CounterKey(thread), &value);
  *number = s.ok() ? strtoull(value.c_str(), nullptr, 10) : 0;
  if (s.ok() || s.IsNotFound()) return true;
  *wrong = "counter of writer " + std::to_string(thread) + ": " + s.ToString();
  return false;
}

// The process that will be killed.
int Writer(const std::string& path, const std::string& layout, uint64_t seed, int ack) {
  Opened opened;
  Open(path, layout, seed, &opened);
  if (!opened.status.ok()) {
    fprintf(stderr, "writer cannot open: %s\n", opened.status.ToString().c_str());
    return 3;
  }
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; thread++) {
    threads.emplace_back([&, thread] {
      uint64_t number = 0;
      std::string wrong;
      if (!ReadCounter(opened, thread, &number, &wrong)) _exit(3);
      for (;;) {
        rocksdb::Status s = WriteNumber(opened, thread, ++number);
        if (!s.ok()) {
          fprintf(stderr, "write failed: %s\n", s.ToString().c_str());
          _exit(3);
        }
        uint64_t message[2] = {static_cast<uint64_t>(thread), number};
        if (write(ack, message, sizeof(message)) != sizeof(message)) _exit(4);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

class Checker {
 public:
  Checker(std::string path, std::string layout, uint64_t seed)
      : path_(std::move(path)), layout_(std::move(layout)), random_(seed) {
    state_.resize(kThreads);
    found_.resize(kThreads);
  }

  // Starts a writer, kills it, compares. Empty if there is no error.
  std::string Round() {
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return "pipe2 failed";
    std::vector<std::string> arguments = {"kill9_test", "--writer", "--db=" + path_, "--layout=" + layout_,
                                          "--seed=" + std::to_string(random_.Next() >> 1),
                                          "--ack=" + std::to_string(pipe_ends[1])};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_t child = fork();
    if (child < 0) return "fork failed";
    if (child == 0) {
      fcntl(pipe_ends[1], F_SETFD, 0);  // survives exec
      execv("/proc/self/exe", argv.data());
      _exit(127);
    }
    close(pipe_ends[1]);
    std::string wrong = Listen(child, pipe_ends[0]);
    close(pipe_ends[0]);
    return wrong.empty() ? Compare() : wrong;
  }
  uint64_t acknowledged() const { return acknowledged_count_; }

 private:
  // Notes acknowledgements, kills the child some time after the first, and
  // notes what was still in the pipe.
  std::string Listen(pid_t child, int ack) {
    using Clock = std::chrono::steady_clock;
    auto deadline = Clock::now() + std::chrono::seconds(60);
    bool started = false;
    bool killed = false;
    acknowledged_ = found_;
    for (;;) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      pollfd waiting = {ack, POLLIN, 0};
      int ready = killed ? 1 : poll(&waiting, 1, std::max<int>(0, static_cast<int>(left.count())));
      if (ready == 0) {
        kill(child, SIGKILL);
        killed = true;
        if (!started) break;
        continue;
      }
      uint64_t message[2];
      ssize_t n = read(ack, message, sizeof(message));
      if (n != sizeof(message)) break;  // the end: writes of 16 bytes to a pipe are atomic
      acknowledged_[message[0]] = message[1];
      acknowledged_count_++;
      if (!started) {
        started = true;
        deadline = Clock::now() + std::chrono::milliseconds(random_.Range(0, 120));
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!started) return "the writer acknowledged nothing in 60 seconds";
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
      return "the writer ended by itself, status " + std::to_string(status);
    }
    return "";
  }

  std::string Compare() {
    Opened opened;
    Open(path_, layout_, random_.Next(), &opened);
    if (!opened.status.ok()) return "open after kill: " + opened.status.ToString();
    std::map<std::string, std::string> expected[kFamilyCount];
    for (int thread = 0; thread < kThreads; thread++) {
      uint64_t number = 0;
      std::string wrong;
      if (!ReadCounter(opened, thread, &number, &wrong)) return wrong;
      if (number < acknowledged_[thread] || number > acknowledged_[thread] + 1) {
        return "writer " + std::to_string(thread) + " was acknowledged batch " +
               std::to_string(acknowledged_[thread]) + " but the database has batch " +
               std::to_string(number);
      }
      for (uint64_t n = found_[thread] + 1; n <= number; n++) {
        for (Item& item : BatchItems(thread, n)) {
          state_[thread][{item.family, item.key}] = std::move(item.value);
        }
      }
      found_[thread] = number;
      for (const auto& [place, value] : state_[thread]) {
        if (!value.empty()) expected[place.first][place.second] = value;
      }
      if (number > 0) expected[0][CounterKey(thread)] = std::to_string(number);
    }
    for (int family = 0; family < kFamilyCount; family++) {
      std::string wrong = CompareFamily(opened, family, expected[family]);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  static std::string CompareFamily(const Opened& opened, int family,
                                   const std::map<std::string, std::string>& expected) {
    std::unique_ptr<rocksdb::Iterator> it(
        opened.db->NewIterator(rocksdb::ReadOptions(), opened.handles[family]));
    it->SeekToFirst();
    for (const auto& [key, value] : expected) {
      if (!it->Valid() || it->key() != key || it->value() != value) {
        return "family " + std::to_string(family) + ": expected " + Show(key) + " = " +
               Show(value) + ", found " +
               (it->Valid() ? Show(it->key().ToString()) + " = " + Show(it->value().ToString())
                            : "the end, " + it->status().ToString());
      }
      it->Next();
    }
    if (it->Valid()) return "invented key " + Show(it->key().ToString());
    return it->status().ok() ? "" : it->status().ToString();
  }

  const std::string path_;
  const std::string layout_;
  Random random_;
  std::vector<uint64_t> acknowledged_;
  std::vector<uint64_t> found_;
  std::vector<std::map<std::pair<int, std::string>, std::string>> state_;
  uint64_t acknowledged_count_ = 0;
};

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  bool writer = flags.Bool("writer");
  std::string path = flags.String("db", "");
  uint64_t seed = flags.Number("seed", 1);
  int ack = static_cast<int>(flags.Number("ack", 1));
  uint64_t kills = flags.Number("kills", 50);
  std::string only = flags.String("layout", "");
  flags.RejectUnknown();
  if (writer) return Writer(path, only, seed, ack);

  const std::vector<std::string> layouts = only.empty() ? Layouts() : std::vector{only};
  TempDir dir("kill9", /*on_disk=*/path.empty());
  if (path.empty()) path = dir.path() + "/db";
  uint64_t acknowledged = 0;
  uint64_t round = 1;
  for (size_t i = 0; i < layouts.size(); i++) {
    Checker checker(path + "-" + layouts[i], layouts[i], seed + i);
    for (; round <= kills * (i + 1) / layouts.size(); round++) {
      std::string wrong = checker.Round();
      if (wrong.empty()) continue;
      dir.Keep();
      fprintf(stderr, "FAILED at kill %llu of seed %llu, %s: %s\ndatabase: %s-%s\n",
              static_cast<unsigned long long>(round), static_cast<unsigned long long>(seed),
              layouts[i].c_str(), wrong.c_str(), path.c_str(), layouts[i].c_str());
      return 1;
    }
    acknowledged += checker.acknowledged();
  }
  printf("%llu kills, seed %llu, %llu acknowledged batches, nothing lost\n",
         static_cast<unsigned long long>(kills), static_cast<unsigned long long>(seed),
         static_cast<unsigned long long>(acknowledged));
  return 0;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
