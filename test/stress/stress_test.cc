// SPDX-License-Identifier: Apache-2.0
//
// Several threads use the whole API on one database. Each knows the values of its own keys, and the
// sum of their common accounts must hold. The database is closed and opened again with other options, as a DB, a
// TransactionDB or an OptimisticTransactionDB, and compared before and after.
//
//   stress_test --ops=3000000 --threads=4 --seed=1 [--layout=NAME [--flavour=sealed|expiring]] [--reopen=30000]
//   stress_test --minutes=20         (the same over and over, with the next seed each time)
//   stress_test --ops=20000 --lose-one-in=200    (a canary: the database does not get some of the
//                                                 writes; must be noticed)
//
// Operations are divided between databases of each layout (support/layout.h), one more of encrypted files and one whose values
// expire, and between its threads;
// --reopen is their number between two openings. What a thread does follows from the seed and from
// which transactions conflict. The order of threads does not follow from it.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "stress/engine_options.h"
#include "stress/worker.h"
#include "support/flags.h"
#include "support/layout.h"
#include "support/temp_dir.h"
#include "support/tuning.h"

namespace compassdb_test {
namespace {

struct Plan {
  std::string layout;
  Flavour flavour = Flavour::kUsual;
  uint64_t ops = 0;     // of all threads
  uint64_t reopen = 0;  // operations between openings
  int threads = 0;
};

class LayoutRun {
 public:
  LayoutRun(const Plan& plan, Settings* settings)
      : plan_(plan), settings_(settings), random_(settings->seed), db_(settings->directory + "/db", plan.layout, plan.flavour, plan.threads) {
    for (int thread = 0; thread < plan.threads; thread++) {
      workers_.push_back(std::make_unique<Worker>(thread, &db_, &bank_, settings));
    }
  }

  bool Run() {
    if (!Open()) return false;
    if (!Good("to begin with", bank_.Fill(db_))) return false;
    const uint64_t lives = std::max<uint64_t>(1, plan_.ops / plan_.reopen);
    for (uint64_t life = 0; life < lives; life++) {
      if (!Live(plan_.ops / lives / plan_.threads) || !Verify("before closing") || !Good("closing", Text(db_.Close()))) return false;
      if (!Open() || !Verify("after opening")) return false;
    }
    return Good("checksums", Text(db_.db()->VerifyChecksum())) && Good("closing", Text(db_.Close()));
  }
  uint64_t conflicts() const { return bank_.conflicts(); }

 private:
  static std::string Text(const rocksdb::Status& s) { return s.ok() ? "" : s.ToString(); }

  bool Good(const char* when, const std::string& wrong) {
    if (wrong.empty()) return true;
    fprintf(stderr, "FAILED: layout %s, %s: %s\ndatabase: %s\nrepeat with: %s\n", plan_.layout.c_str(), when, wrong.c_str(),
            db_.path().c_str(), settings_->repeat.c_str());
    return false;
  }

  bool Open() {
    if (plan_.layout == "tableless" && random_.OneIn(2) && !Good("flushing without keys", Text(db_.FlushWithoutKeys(random_.Next())))) {
      return false;
    }
    return Good("opening", Text(db_.Open(random_.Next())));
  }

  bool Live(uint64_t ops) {
    std::vector<std::thread> running;
    for (auto& worker : workers_) {
      running.emplace_back([&worker, ops] { worker->Live(ops); });
    }
    for (std::thread& thread : running) thread.join();
    return !settings_->stop;
  }

  // Each thread's keys, the accounts, and that there is nothing else.
  bool Verify(const char* when) {
    for (auto& worker : workers_) {
      if (!worker->Verify(db_, when)) return false;
    }
    if (!Good(when, bank_.CheckSum(db_, true)) || !Good(when, bank_.CheckBalances(db_))) return false;
    for (int family = 0; family < kSharedFamilies; family++) {
      size_t expected = family == 0 ? Bank::kAccounts : 0;
      for (auto& worker : workers_) expected += worker->Count(family);
      size_t found = 0;
      std::unique_ptr<rocksdb::Iterator> it(All(family));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        std::string value = it->value().ToString();
        if (NormalizeFiltered(StressFamilies(0)[family], &value)) found++;
      }
      if (!Good(when, Text(it->status()))) return false;
      if (found == expected) continue;
      return Good(when, "family " + std::to_string(family) + " has " + std::to_string(found) + " entries instead of " +
                            std::to_string(expected));
    }
    return true;
  }

  rocksdb::Iterator* All(int family) {
    rocksdb::ReadOptions read;
    read.total_order_seek = true;
    return db_.db()->NewIterator(read, db_.Handles(0)[family]);
  }

  const Plan plan_;
  Settings* const settings_;
  Random random_;
  StressDb db_;
  Bank bank_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

bool RunLayout(const Plan& plan, uint64_t seed, uint64_t lose_one_in) {
  TempDir dir("stress-" + plan.layout);
  const bool usual = plan.flavour == Flavour::kUsual;
  const std::string flavour = NameOf(plan.flavour);
  Settings settings;
  settings.seed = seed;
  settings.lose_one_in = lose_one_in;
  settings.directory = dir.path();
  settings.repeat = "stress_test --layout=" + plan.layout + (usual ? "" : " --flavour=" + flavour) + " --seed=" + std::to_string(seed) + " --ops=" +
                    std::to_string(plan.ops) + " --threads=" + std::to_string(plan.threads) + " --reopen=" + std::to_string(plan.reopen);
  LayoutRun run(plan, &settings);
  const bool good = run.Run();
  if (!good) dir.Keep();
  if (good) {
    printf("%s%s: %llu operations of %d threads, seed %llu, %llu conflicts: equal\n", plan.layout.c_str(), usual ? "" : (", " + flavour).c_str(),
           static_cast<unsigned long long>(plan.ops), plan.threads, static_cast<unsigned long long>(seed),
           static_cast<unsigned long long>(run.conflicts()));
  }
  fflush(stdout);
  return good;
}

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  Plan plan;
  uint64_t seed = flags.Number("seed", 1);
  const uint64_t ops = flags.Number("ops", 300000);
  plan.threads = static_cast<int>(flags.Number("threads", 4));
  plan.reopen = std::max<uint64_t>(1, flags.Number("reopen", 30000));
  const uint64_t lose_one_in = flags.Number("lose-one-in", 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(flags.Number("minutes", 0));
  const std::string only = flags.String("layout", "");
  const std::string flavour = flags.String("flavour", NameOf(Flavour::kUsual));
  flags.RejectUnknown();
  if (plan.threads < 1 || plan.threads > 'y' - 'a') {
    fprintf(stderr, "bad flag: --threads=%d\n", plan.threads);
    return 2;
  }
  const std::vector<Flavour> flavours = Limits().flavours;
  const auto chosen = std::find_if(flavours.begin(), flavours.end(), [&](Flavour each) { return flavour == NameOf(each); });
  if (chosen == flavours.end()) {
    fprintf(stderr, "bad flag: --flavour=%s\n", flavour.c_str());
    return 2;
  }
  std::vector<std::pair<std::string, Flavour>> layouts;
  if (only.empty()) {
    for (const std::string& layout : Layouts()) layouts.emplace_back(layout, Flavour::kUsual);
    for (size_t i = 1; i < flavours.size(); i++) layouts.emplace_back("tuned", flavours[i]);
  } else {
    layouts.emplace_back(only, *chosen);
  }
  plan.ops = ops / layouts.size();
  do {
    for (const auto& [layout, each] : layouts) {
      plan.layout = layout;
      plan.flavour = each;
      if (!RunLayout(plan, seed, lose_one_in)) return 1;
    }
    ++seed;
  } while (std::chrono::steady_clock::now() < end);
  return 0;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
