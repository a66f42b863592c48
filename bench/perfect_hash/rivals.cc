// SPDX-License-Identifier: Apache-2.0
#include "rivals.h"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace perfect_hash_bench {

bool Rivals::Start(const std::string& build_script) {
  FILE* build = popen(("'" + build_script + "'").c_str(), "r");
  std::string program;
  char line[4096];
  while (build != nullptr && std::fgets(line, sizeof(line), build) != nullptr) program = line;
  while (!program.empty() && program.back() == '\n') program.pop_back();
  if (build == nullptr || pclose(build) != 0 || program.empty()) {
    std::fprintf(stderr,
                 "perfect_hash_bench: FMPH, PHast and PtrHash are NOT measured: %s failed. They "
                 "need cargo and its registry.\n",
                 build_script.c_str());
    return false;
  }
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) return false;
  std::signal(SIGPIPE, SIG_IGN);
  pid_ = fork();
  if (pid_ < 0) return false;
  if (pid_ == 0) {
    dup2(to[0], 0);
    dup2(from[1], 1);
    for (const int fd : {to[0], to[1], from[0], from[1]}) close(fd);
    setenv("RAYON_NUM_THREADS", "1", 1);
    execl(program.c_str(), program.c_str(), nullptr);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  to_ = fdopen(to[1], "w");
  from_ = fdopen(from[0], "r");
  return to_ != nullptr && from_ != nullptr;
}

Rivals::~Rivals() {
  if (to_ != nullptr) std::fclose(to_);
  if (from_ != nullptr) std::fclose(from_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

Sample Rivals::Measure(const std::string& name, const KeySet& set) {
  std::fprintf(to_, "%s %zu %llu %d\n", name.c_str(), set.keys.size(),
               static_cast<unsigned long long>(set.seed), set.sorted ? 1 : 0);
  std::fflush(to_);
  Sample sample;
  if (std::fscanf(from_, "%lf %lf %lf %lf", &sample.bits, &sample.build_ns, &sample.query_ns,
                  &sample.batch_ns) != 4) {
    std::fprintf(stderr, "perfect_hash_bench: the helper of %s died\n", name.c_str());
    std::exit(1);
  }
  sample.slots = 1;  // all of them are minimal
  return sample;
}

}  // namespace perfect_hash_bench
