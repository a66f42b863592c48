// SPDX-License-Identifier: Apache-2.0
//
// A long life of a database under a steady load: eight families are filled to --mb of live data between
// them, then overwritten, deleted, read and scanned for --minutes. Each value names its key and version,
// so that every read is checked. Memory, descriptors and the disk's space are printed every --every seconds
// or, where there are not many seconds, --every-operations, and must stay flat and within bounds.
//
//   soak --mb=10240 --minutes=1440 [--threads=4] [--layout=default] [--dir=DIR] [--seed=1] [--operations=N]
//
// After --operations it ends earlier.
//
// Bounds: resident memory and descriptors in the last quarter of the samples at most a tenth (and --growth-mb, 32, and
// 16 descriptors) above those in the second; on disk, without the logs, --max-amplification (170) percent of the live
// data, once it is filled, on the average of each quarter but the first. Of fewer than eight samples nothing could be
// said: that fails. COMPASSDB_TEST_DIR or --dir says where; not in memory.

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "compassdb/preset.h"
#include "rocksdb/db.h"
#include "support/flags.h"
#include "support/random.h"
#include "support/temp_dir.h"
#include "support/text.h"

namespace compassdb_test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using rocksdb::Status;

constexpr int kFamilies = 8;
constexpr size_t kSamplesToJudge = 8;
constexpr size_t kValueBytes = 1000;  // on the average

struct Plan {
  uint64_t mb = 0, minutes = 0, operations = 0, every = 0, every_operations = 0, growth_mb = 0, max_amplification = 0, seed = 0;
  int threads = 0;
  std::string layout, path;
  compassdb::Preset preset = compassdb::Preset::kDefault;
  uint64_t keys() const { return (mb << 20) / kFamilies / (kValueBytes + 16); }  // of a family
};

// The value of the key's version; version 0 means absent.
std::string ValueOf(int family, uint64_t key, uint32_t version) {
  Random random((key * kFamilies + static_cast<uint64_t>(family)) * 1000003 + version);
  const size_t length = kValueBytes / 2 + random.Uniform(kValueBytes);
  return std::to_string(key) + ":" + std::to_string(version) + ":" + random.Bytes(length);
}

size_t LengthOf(int family, uint64_t key, uint32_t version) {
  return version == 0 ? 0 : 16 + ValueOf(family, key, version).size();
}

std::string KeyText(uint64_t key) {
  char text[24];
  snprintf(text, sizeof(text), "k%015llu", static_cast<unsigned long long>(key));
  return text;
}

struct Sample {
  uint64_t resident = 0, descriptors = 0, disk = 0, live = 0;
  double amplification() const { return static_cast<double>(disk) / static_cast<double>(std::max<uint64_t>(1, live)); }
};

// Thread safety: threads write keys of their own (by remainder) and read all of those.
class Soak {
 public:
  explicit Soak(const Plan& plan) : plan_(plan) {
    for (auto& family : versions_) family.resize(plan.keys());
  }

  bool Run() {
    if (!Open()) return false;
    RunThreads([this](int thread) { Fill(thread); });
    if (failed_) return false;
    Report("filled");
    std::thread watch;
    if (plan_.every_operations == 0) watch = std::thread([this] { Watch(); });
    RunThreads([this](int thread) { Load(thread); });
    done_ = true;
    if (watch.joinable()) watch.join();
    return !failed_ && Judge() && Reopen();
  }

 private:
  bool Good(const std::string& what, const Status& s) {
    if (!s.ok()) Wrong(what + ": " + s.ToString());
    return s.ok();
  }
  void Wrong(const std::string& what) {
    if (failed_.exchange(true)) return;
    fprintf(stderr, "FAILED: %s (seed %llu)\ndatabase: %s\n", what.c_str(), static_cast<unsigned long long>(plan_.seed),
            plan_.path.c_str());
  }

  // The engine's defaults, except for the sizes: the ratio of memtables to data is that of a large database.
  rocksdb::ColumnFamilyOptions FamilyOptions() const {
    rocksdb::ColumnFamilyOptions options;
    if (!compassdb::ApplyPreset(plan_.preset, &options).ok()) abort();
    options.compression = rocksdb::kNoCompression;  // bytes on disk against bytes of data
    const uint64_t family_bytes = (plan_.mb << 20) / kFamilies;
    options.write_buffer_size = std::min<uint64_t>(64 << 20, std::max<uint64_t>(256 << 10, family_bytes / 32));
    options.target_file_size_base = options.write_buffer_size;
    options.max_bytes_for_level_base = options.write_buffer_size * 4;
    return options;
  }

  bool Open() {
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.max_open_files = 500;
    options.max_background_jobs = 3;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (int i = 0; i < kFamilies; i++) families.emplace_back(i == 0 ? "default" : "f" + std::to_string(i), FamilyOptions());
    rocksdb::DB* db = nullptr;
    const Status s = rocksdb::DB::Open(options, plan_.path + "/db", families, &handles_, &db);
    db_.reset(db);
    return Good("open", s);
  }

  void RunThreads(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < plan_.threads; i++) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
  }

  void Write(int family, uint64_t key, uint32_t version) {
    const uint32_t before = versions_[family][key];
    const Status s = version == 0 ? db_->Delete(rocksdb::WriteOptions(), handles_[family], KeyText(key))
                                  : db_->Put(rocksdb::WriteOptions(), handles_[family], KeyText(key), ValueOf(family, key, version));
    if (!Good("write", s)) return;
    live_ += LengthOf(family, key, version) - LengthOf(family, key, before);
    versions_[family][key] = version;
  }

  void Fill(int thread) {
    for (uint64_t key = thread; key < plan_.keys() && !failed_; key += plan_.threads) {
      for (int family = 0; family < kFamilies; family++) Write(family, key, 1);
    }
  }

  void Load(int thread) {
    Random random(plan_.seed * 100 + thread);
    const auto end = Clock::now() + std::chrono::minutes(plan_.minutes);
    uint32_t version = 1;
    while (!failed_ && Clock::now() < end && (plan_.operations == 0 || operations_ < plan_.operations)) {
      const int family = static_cast<int>(random.Uniform(kFamilies));
      // Half of all go to a tenth of the keys.
      uint64_t key = random.Uniform(random.OneIn(2) ? plan_.keys() : plan_.keys() / 10 + 1);
      key = key / plan_.threads * plan_.threads + thread;
      if (key >= plan_.keys()) continue;
      const uint64_t what = random.Uniform(1000);
      if (what < 450) Write(family, key, ++version);
      if (what >= 450 && what < 460) Write(family, key, 0);
      if (what >= 460 && what < 990) Read(family, key);
      if (what >= 990) Walk(family, key, thread);
      const uint64_t done = ++operations_;
      if (plan_.every_operations != 0 && done % plan_.every_operations == 0) Take(std::to_string(done));
    }
  }

  void Read(int family, uint64_t key) {
    rocksdb::PinnableSlice value;
    const Status s = db_->Get(rocksdb::ReadOptions(), handles_[family], KeyText(key), &value);
    if (!s.ok() && !s.IsNotFound()) Good("read", s);
    Compare(family, key, s.ok(), value);
  }

  void Compare(int family, uint64_t key, bool found, const rocksdb::Slice& value) {
    const uint32_t version = versions_[family][key];
    if (found == (version != 0) && (!found || value == ValueOf(family, key, version))) return;
    Wrong(KeyText(key) + " of family " + std::to_string(family) + " should have version " + std::to_string(version) + " and is " +
          (found ? Show(value.ToString()) : "absent"));
  }

  // A hundred keys; what is the thread's own is compared.
  void Walk(int family, uint64_t key, int thread) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handles_[family]));
    it->Seek(KeyText(key));
    for (int i = 0; i < 100 && it->Valid(); i++, it->Next()) {
      const uint64_t at = strtoull(it->key().ToString().c_str() + 1, nullptr, 10);
      if (at < plan_.keys() && at % plan_.threads == static_cast<uint64_t>(thread)) Compare(family, at, true, it->value());
    }
    if (!it->status().ok()) Good("walk", it->status());
  }

  Sample Measure() const {
    Sample sample;
    unsigned long long pages = 0;
    if (FILE* statm = fopen("/proc/self/statm", "r")) {
      if (fscanf(statm, "%*s %llu", &pages) != 1) pages = 0;
      fclose(statm);
    }
    sample.resident = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    std::error_code gone;
    for (auto it = fs::directory_iterator("/proc/self/fd", gone); it != fs::directory_iterator(); it.increment(gone)) sample.descriptors++;
    for (auto it = fs::recursive_directory_iterator(plan_.path + "/db", gone); it != fs::recursive_directory_iterator(); it.increment(gone)) {
      struct stat about;
      if (it->path().extension() == ".log" || stat(it->path().c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
      sample.disk += static_cast<uint64_t>(about.st_blocks) * 512;
    }
    sample.live = live_;
    return sample;
  }

  Sample Report(const char* when) {
    const Sample sample = Measure();
    uint64_t dead = 0, garbage = 0;
    if (!db_->GetIntProperty("compassdb.dead-bytes", &dead)) Wrong("dead bytes are not reported");
    if (!db_->GetAggregatedIntProperty("rocksdb.live-blob-file-garbage-size", &garbage)) Wrong("no garbage reported");
    const auto n = [](uint64_t v) { return static_cast<unsigned long long>(v); };
    printf("%s: %llu operations, %llu MB resident, %llu descriptors, %llu MB live, %llu MB on disk (%llu MB dead in files in use, "
           "%llu MB garbage of values), %.2f\n",
           when, n(operations_), n(sample.resident >> 20), n(sample.descriptors), n(sample.live >> 20), n(sample.disk >> 20),
           n(dead >> 20), n(garbage >> 20), sample.amplification());
    fflush(stdout);
    return sample;
  }

  void Watch() {
    auto next = Clock::now();
    const auto begin = next;
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (Clock::now() < next) continue;
      next += std::chrono::seconds(plan_.every);
      const auto passed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
      Take(std::to_string(passed) + " s");
    }
  }

  void Take(const std::string& when) {
    const std::lock_guard<std::mutex> lock(samples_mutex_);
    samples_.push_back(Report(when.c_str()));
  }

  // Of a quarter, 0 to 3: the highest of everything, and the mean amplification.
  std::pair<Sample, double> Quarter(size_t quarter) const {
    Sample most;
    double amplification = 0;
    const size_t begin = samples_.size() * quarter / 4, end = samples_.size() * (quarter + 1) / 4;
    for (size_t i = begin; i < end; i++) {
      most.resident = std::max(most.resident, samples_[i].resident);
      most.descriptors = std::max(most.descriptors, samples_[i].descriptors);
      amplification += samples_[i].amplification();
    }
    return {most, amplification / static_cast<double>(std::max<size_t>(1, end - begin))};
  }

  bool Judge() {
    if (samples_.size() < kSamplesToJudge) {
      Wrong("memory, descriptors and space could not be judged by " + std::to_string(samples_.size()) + " samples");
      return false;
    }
    const Sample early = Quarter(1).first, late = Quarter(3).first;
    if (late.resident > early.resident + early.resident / 10 + (plan_.growth_mb << 20)) Wrong("memory grows");
    if (late.descriptors > early.descriptors + early.descriptors / 10 + 16) Wrong("descriptors become more");
    for (size_t quarter = 1; quarter < 4; quarter++) {
      if (Quarter(quarter).second * 100 > static_cast<double>(plan_.max_amplification)) Wrong("too much space");
    }
    return !failed_;
  }

  bool Reopen() {
    for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    handles_.clear();
    db_.reset();
    if (!Open()) return false;
    for (int family = 0; family < kFamilies && !failed_; family++) {
      std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handles_[family]));
      it->SeekToFirst();
      for (uint64_t key = 0; key < plan_.keys() && !failed_; key++) {
        const bool found = it->Valid() && it->key() == KeyText(key);
        Compare(family, key, found, found ? it->value() : rocksdb::Slice());
        if (found) it->Next();
      }
      if (it->Valid()) Wrong("invented " + it->key().ToString());
      Good("the last walk", it->status());
    }
    for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    db_.reset();
    if (!failed_) printf("%llu operations, all read again after reopening: equal\n", static_cast<unsigned long long>(operations_));
    return !failed_;
  }

  const Plan plan_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::vector<uint32_t> versions_[kFamilies];
  std::atomic<uint64_t> live_ = 0;
  std::atomic<uint64_t> operations_ = 0;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> done_ = false;
  std::mutex samples_mutex_;
  std::vector<Sample> samples_;  // samples_mutex_, while threads are at work
};

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  Plan plan;
  plan.mb = flags.Number("mb", 10240);
  plan.minutes = flags.Number("minutes", 1440);
  plan.operations = flags.Number("operations", 0);
  plan.every = std::max<uint64_t>(1, flags.Number("every", std::max<uint64_t>(1, plan.minutes * 60 / 40)));
  plan.every_operations = flags.Number("every-operations", 0);
  plan.growth_mb = flags.Number("growth-mb", 32);
  plan.threads = static_cast<int>(flags.Number("threads", 4));
  plan.layout = flags.String("layout", "default");
  plan.max_amplification = flags.Number("max-amplification", 170);
  plan.seed = flags.Number("seed", 1);
  const std::string directory = flags.String("dir", "");
  flags.RejectUnknown();
  const Status known = compassdb::PresetFromName(plan.layout, &plan.preset);
  if (!known.ok()) {
    fprintf(stderr, "%s\n", known.ToString().c_str());
    return 2;
  }
  if (!directory.empty()) setenv("COMPASSDB_TEST_DIR", directory.c_str(), 1);
  TempDir dir("soak", /*on_disk=*/true);
  plan.path = dir.path();
  printf("%llu MB in %d families, %d threads, %llu minutes, layout %s, seed %llu\n", static_cast<unsigned long long>(plan.mb), kFamilies,
         plan.threads, static_cast<unsigned long long>(plan.minutes), plan.layout.c_str(), static_cast<unsigned long long>(plan.seed));
  fflush(stdout);
  return Soak(plan).Run() ? 0 : 1;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
