// SPDX-License-Identifier: Apache-2.0
//
// Runs the fuzz targets over a corpus: every file of CORPUS/<target>/, and --mutations mutations of
// each file (the same ones every time).
//
//   fuzz_replay --corpus=test/fuzz/corpus [--target=name] [--mutations=100] [--seed=1]
//   fuzz_replay --target=name --file=crash-0123     (one input again)
//   fuzz_replay --list
//
// The input that was run last is left in fuzz-last-<target>.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz/fuzz_target.h"
#include "fuzz/heap_limit.h"
#include "support/flags.h"
#include "support/random.h"

namespace compassdb_test {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  if (!in) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(2);
  }
  return bytes.str();
}

// A few of: a bit flipped, a byte or a number replaced, bytes left out, copied or cut off.
std::string Mutated(std::string bytes, Random* random) {
  static constexpr uint64_t kNumbers[] = {0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF,
                                          0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x100000000};
  for (uint64_t n = 1 + random->Uniform(4); n > 0 && !bytes.empty(); --n) {
    const size_t at = random->Uniform(bytes.size());
    switch (random->Uniform(7)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ 1 << random->Uniform(8)); break;
      case 1: bytes[at] = static_cast<char>(random->Uniform(256)); break;
      case 2:
      case 3: {
        const uint64_t number = kNumbers[random->Uniform(std::size(kNumbers))];
        const size_t width = size_t{1} << random->Uniform(4);
        for (size_t i = 0; i < width && at + i < bytes.size(); ++i) {
          bytes[at + i] = static_cast<char>(number >> (8 * i));
        }
        break;
      }
      case 4: bytes.erase(at, 1 + random->Uniform(16)); break;
      case 5: bytes.insert(at, bytes.substr(random->Uniform(bytes.size()), 1 + random->Uniform(16))); break;
      default:
        if (random->OneIn(4)) bytes.resize(at);
    }
  }
  return bytes;
}

// Holds the input that is being run, to be found if the process dies.
class LastInput {
 public:
  explicit LastInput(const std::string& target)
      : file_(open(("fuzz-last-" + target).c_str(), O_CREAT | O_RDWR | O_TRUNC, 0644)) {}
  ~LastInput() { close(file_); }
  void Set(const std::string& bytes) const {
    if (pwrite(file_, bytes.data(), bytes.size(), 0) < 0 || ftruncate(file_, static_cast<off_t>(bytes.size())) != 0) {
      perror("fuzz-last");
    }
  }

 private:
  const int file_;
};

size_t Replay(const FuzzTarget& target, const std::string& corpus, uint64_t mutations, uint64_t seed) {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path dir = std::filesystem::path(corpus) / target.name;
  if (std::filesystem::is_directory(dir)) {
    for (const auto& entry : std::filesystem::directory_iterator(dir)) files.push_back(entry.path());
  }
  if (files.empty()) {
    fprintf(stderr, "no corpus: %s\n", dir.c_str());
    exit(1);
  }
  std::sort(files.begin(), files.end());
  Random random(seed);
  const LastInput last(target.name);
  size_t runs = 0, peak = 0;
  for (const auto& file : files) {
    const std::string bytes = ReadFile(file);
    fprintf(stderr, "%s\n", file.c_str());
    for (uint64_t i = 0; i <= mutations; ++i) {
      const std::string input = i == 0 ? bytes : Mutated(bytes, &random);
      last.Set(input);
      const bool good = RunFuzzTarget(target, input);
      if (i == 0 && !good && file.filename().string().rfind("seed-", 0) == 0) {
        fprintf(stderr, "FAILED: the seed %s is refused; after a change of the format run fuzz_seeds\n", file.c_str());
        exit(1);
      }
      peak = std::max(peak, HeapLimit::PeakBytes());
      ++runs;
    }
  }
  printf("%-14s %7zu runs, at most %zu KiB in use\n", target.name, runs, peak >> 10);
  fflush(stdout);
  return runs;
}

}  // namespace

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  const bool list = flags.Bool("list");
  const std::string corpus = flags.String("corpus", "");
  const std::string name = flags.String("target", "");
  const std::string file = flags.String("file", "");
  const uint64_t mutations = flags.Number("mutations", 0);
  const uint64_t seed = flags.Number("seed", 1);
  flags.RejectUnknown();
  if (!name.empty() && FindFuzzTarget(name) == nullptr) {
    fprintf(stderr, "no target %s\n", name.c_str());
    return 2;
  }
  size_t runs = 0;
  for (const FuzzTarget& target : FuzzTargets()) {
    if (!name.empty() && name != target.name) continue;
    if (list) {
      printf("%s\n", target.name);
    } else if (!file.empty()) {
      printf("%s\n", RunFuzzTarget(target, ReadFile(file)) ? "accepted" : "refused");
    } else {
      runs += Replay(target, corpus, mutations, seed);
    }
  }
  if (runs > 0) printf("seed %llu: %zu runs\n", static_cast<unsigned long long>(seed), runs);
  return 0;
}

}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
