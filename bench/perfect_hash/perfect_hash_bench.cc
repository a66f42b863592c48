// SPDX-License-Identifier: Apache-2.0
// Perfect hash functions against each other: space, building, queries. One thread, CPU time of the
// process, keys random and already hashed. All functions of a suite take turns, round after round;
// a figure is the median of the rounds, the spread half the distance from least to most.
//
//   perfect_hash_bench [--suite=functions|paper|threads] [--sizes=10000,1000000] [--rounds=5]
//                      [--only=NAME,...] [--no-rivals] [--json=FILE]
//
//   functions  ours, CHD, PTHash, and FMPH, PHast, PtrHash (crates; built by cargo on first use)
//   paper      the paper's section 5.4: CPHash, CHD and PTHash at load 0.9 and 5 keys per bucket,
//              each instruction set by itself, and our default
//   threads    our builders on 1, 2 and 4 threads, wall clock
//
// --json writes every sample as a line of JSON (functions and paper).
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "chd.h"
#include "measure.h"
#include "perfect_hash/cp_search.h"
#include "perfect_hash/perfect_hash.h"
#include "pthash.h"
#include "rivals.h"
#include "segmented.h"

namespace perfect_hash_bench {
namespace {

namespace ph = compassdb::perfect_hash;

// A built function with its bytes.
struct Ours {
  std::unique_ptr<std::string> bytes;
  ph::Function f;

  uint64_t operator()(uint64_t hash) const { return f(hash); }
  uint64_t slots() const { return f.slots(); }
  size_t SizeBytes() const { return f.SizeBytes(); }
  void Batch(const uint64_t* hashes, uint64_t* out, size_t n) const { f.Batch(hashes, out, n); }
};

Ours BuildOurs(const KeySet& set, ph::Kind kind, unsigned threads = 1) {
  Ours ours{std::make_unique<std::string>(), {}};
  ph::BuildOptions options;
  options.kind = kind;
  options.seed = 1;
  options.sorted = set.sorted;
  options.threads = threads;
  const std::string& bytes = *ours.bytes;
  if (!ph::Build(set.keys, options, ours.bytes.get()).ok ||
      !ph::Function::Open({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                          &ours.f)) {
    std::fprintf(stderr, "perfect_hash_bench: building failed\n");
    std::exit(1);
  }
  return ours;
}

Contender OurFunction(const std::string& name, ph::Kind kind, ph::Simd simd = ph::Simd::kAuto) {
  return {name, [=](const KeySet& set) {
            if (!ph::ForceSimd(simd)) return Sample();
            const Sample sample = MeasureFunction(set, [&] { return BuildOurs(set, kind); });
            ph::ForceSimd(ph::Simd::kAuto);
            return sample;
          }};
}

template <typename F>
Contender Plain(const std::string& name, double keys_per_bucket, double load) {
  return {name, [=](const KeySet& set) {
            return MeasureFunction(set, [&] { return F::Build(set.keys, keys_per_bucket, load); });
          }};
}

struct Arguments {
  std::string suite = "functions";
  std::vector<size_t> sizes;
  size_t rounds = 5;
  std::vector<std::string> only;
  bool rivals = true;
  std::string json;  // a file
};

std::vector<Contender> ContendersOf(const Arguments& arguments, Rivals* rivals) {
  std::vector<Contender> all;
  if (arguments.suite == "paper") {
    all.push_back(OurFunction("CPHash AVX-512", ph::Kind::kCpHash, ph::Simd::kAvx512));
    all.push_back(OurFunction("CPHash AVX2", ph::Kind::kCpHash, ph::Simd::kAvx2));
    all.push_back(OurFunction("CPHash scalar", ph::Kind::kCpHash, ph::Simd::kScalar));
    all.push_back(Plain<Chd>("CHD", 5, 0.9));
    all.push_back(Plain<Segmented<Chd>>("CHD segmented", 5, 0.9));
    all.push_back(Plain<PtHash>("PTHash", 5, 0.9));
    all.push_back(Plain<Segmented<PtHash>>("PTHash segmented", 5, 0.9));
    all.push_back(OurFunction("default", ph::Kind::kPilot));
    return all;
  }
  all.push_back(OurFunction("default", ph::Kind::kPilot));
  all.push_back(OurFunction("CPHash", ph::Kind::kCpHash));
  all.push_back(Plain<Chd>("CHD", 5, 0.9));
  all.push_back(Plain<PtHash>("PTHash", 3, 0.94));
  const std::pair<const char*, const char*> crates[] = {{"FMPH", "fmph"},
                                                        {"PHast", "phast"},
                                                        {"PHast+", "phast+"},
                                                        {"PtrHash", "ptrhash"},
                                                        {"PtrHash fast", "ptrhash-fast"}};
  for (const auto& [name, id] : crates) {
    if (rivals == nullptr) break;
    all.push_back({name, [rivals, id = id](const KeySet& set) { return rivals->Measure(id, set); }});
  }
  return all;
}

struct Figure {
  double median = -1;
  double spread = 0;
};

Figure Summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  if (values.empty() || values.front() < 0) return {};
  const size_t n = values.size();
  return {n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2,
          (values.back() - values.front()) / 2};
}

std::string Cell(const std::vector<Sample>& samples, double Sample::*field, int digits,
                 bool spread) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*field);
  const Figure figure = Summarize(values);
  if (figure.median < 0) return "-";
  char text[64];
  std::snprintf(text, sizeof(text), spread ? "%.*f ± %.*f" : "%.*f", digits, figure.median, digits,
                figure.spread);
  return text;
}

void PrintTable(size_t n, const std::vector<Contender>& contenders,
                const std::vector<std::vector<Sample>>& sorted,
                const std::vector<std::vector<Sample>>& unsorted) {
  std::printf("\n%zu keys\n\n", n);
  std::printf("| function | bits/key | slots/key | build ns, sorted | build ns, unsorted | "
              "query ns | batch of 16 |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t c = 0; c < contenders.size(); ++c) {
    std::printf("| %s | %s | %s | %s | %s | %s | %s |\n", contenders[c].name.c_str(),
                Cell(unsorted[c], &Sample::bits, 2, false).c_str(),
                Cell(unsorted[c], &Sample::slots, 3, false).c_str(),
                Cell(sorted[c], &Sample::build_ns, 1, true).c_str(),
                Cell(unsorted[c], &Sample::build_ns, 1, true).c_str(),
                Cell(unsorted[c], &Sample::query_ns, 1, true).c_str(),
                Cell(unsorted[c], &Sample::batch_ns, 1, true).c_str());
  }
  std::fflush(stdout);
}

void WriteSample(std::FILE* json, size_t keys, bool sorted, const std::string& name,
                 const Sample& s) {
  std::fprintf(json,
               "{\"keys\": %zu, \"sorted\": %s, \"function\": \"%s\", \"bits\": %.4f, "
               "\"slots\": %.4f, \"build_ns\": %.3f, \"query_ns\": %.3f, \"batch_ns\": %.3f}\n",
               keys, sorted ? "true" : "false", name.c_str(), s.bits, s.slots, s.build_ns,
               s.query_ns, s.batch_ns);
  std::fflush(json);
}

void RunSuite(const Arguments& arguments, const std::vector<Contender>& contenders,
              std::FILE* json) {
  for (const size_t n : arguments.sizes) {
    std::vector<std::vector<Sample>> samples[2];
    for (const bool sorted : {false, true}) {
      samples[sorted].resize(contenders.size());
      const KeySet set(n, n, sorted);
      for (size_t round = 0; round < arguments.rounds; ++round) {
        for (size_t c = 0; c < contenders.size(); ++c) {
          samples[sorted][c].push_back(contenders[c].measure(set));
          if (json != nullptr) {
            WriteSample(json, n, sorted, contenders[c].name, samples[sorted][c].back());
          }
        }
      }
    }
    PrintTable(n, contenders, samples[1], samples[0]);
  }
}

void RunThreads(const Arguments& arguments) {
  std::printf("| keys | function | input | threads | build ns, wall clock |\n"
              "| ---: | --- | --- | ---: | ---: |\n");
  for (const size_t n : arguments.sizes) {
    for (const bool sorted : {true, false}) {
      const KeySet set(n, n, sorted);
      for (const ph::Kind kind : {ph::Kind::kPilot, ph::Kind::kCpHash}) {
        std::vector<double> times[5];
        for (size_t round = 0; round < arguments.rounds; ++round) {
          for (const unsigned threads : {1u, 2u, 4u}) {
            const auto start = std::chrono::steady_clock::now();
            BuildOurs(set, kind, threads);
            const std::chrono::duration<double, std::nano> took =
                std::chrono::steady_clock::now() - start;
            times[threads].push_back(took.count() / static_cast<double>(n));
          }
        }
        for (const unsigned threads : {1u, 2u, 4u}) {
          const Figure figure = Summarize(times[threads]);
          std::printf("| %zu | %s | %s | %u | %.1f ± %.1f |\n", n,
                      kind == ph::Kind::kPilot ? "default" : "CPHash",
                      sorted ? "sorted" : "unsorted", threads, figure.median, figure.spread);
        }
      }
    }
  }
}

std::vector<std::string> Split(const char* text) {
  std::vector<std::string> parts;
  std::string part;
  for (; ; ++text) {
    if (*text != ',' && *text != '\0') {
      part += *text;
      continue;
    }
    if (!part.empty()) parts.push_back(part);
    part.clear();
    if (*text == '\0') return parts;
  }
}

bool Parse(int argc, char** argv, Arguments* out) {
  const auto value = [](const char* arg, const char* name) {
    const size_t length = std::strlen(name);
    return std::strncmp(arg, name, length) == 0 ? arg + length : nullptr;
  };
  for (int i = 1; i < argc; ++i) {
    if (const char* suite = value(argv[i], "--suite=")) {
      out->suite = suite;
    } else if (const char* sizes = value(argv[i], "--sizes=")) {
      for (const std::string& size : Split(sizes)) {
        out->sizes.push_back(std::strtoull(size.c_str(), nullptr, 10));
        if (out->sizes.back() == 0) return false;
      }
    } else if (const char* rounds = value(argv[i], "--rounds=")) {
      out->rounds = std::strtoull(rounds, nullptr, 10);
    } else if (const char* only = value(argv[i], "--only=")) {
      out->only = Split(only);
    } else if (std::strcmp(argv[i], "--no-rivals") == 0) {
      out->rivals = false;
    } else if (const char* json = value(argv[i], "--json=")) {
      out->json = json;
    } else {
      std::fprintf(stderr, "perfect_hash_bench: unknown argument %s\n", argv[i]);
      return false;
    }
  }
  if (out->sizes.empty()) out->sizes = {10'000, 1'000'000};
  return out->rounds > 0 &&
         (out->suite == "functions" || out->suite == "paper" || out->suite == "threads");
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(stderr, "usage: perfect_hash_bench [--suite=functions|paper|threads] "
                         "[--sizes=N,...] [--rounds=N] [--only=NAME,...] [--no-rivals] "
                         "[--json=FILE]\n");
    return 2;
  }
  if (arguments.suite == "threads") {
    RunThreads(arguments);
    return 0;
  }
  Rivals rivals;
  const bool crates = arguments.suite == "functions" && arguments.rivals &&
                      rivals.Start(PERFECT_HASH_RIVALS_BUILD);
  std::vector<Contender> contenders = ContendersOf(arguments, crates ? &rivals : nullptr);
  std::erase_if(contenders, [&](const Contender& contender) {
    return !arguments.only.empty() &&
           std::find(arguments.only.begin(), arguments.only.end(), contender.name) ==
               arguments.only.end();
  });
  std::FILE* json = nullptr;
  if (!arguments.json.empty()) {
    json = std::fopen(arguments.json.c_str(), "w");
    if (json == nullptr) {
      std::perror(arguments.json.c_str());
      return 1;
    }
  }
  RunSuite(arguments, contenders, json);
  return json != nullptr && std::fclose(json) != 0 ? 1 : 0;
}

}  // namespace
}  // namespace perfect_hash_bench

int main(int argc, char** argv) { return perfect_hash_bench::Main(argc, argv); }
