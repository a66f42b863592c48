// SPDX-License-Identifier: Apache-2.0
// Functions of other projects, measured by a helper process (rivals/) that is built on demand.
#pragma once

#include <cstdio>
#include <string>

#include "measure.h"

namespace perfect_hash_bench {

class Rivals {
 public:
  ~Rivals();

  // Builds and starts the helper. False, having said why on stderr, if that cannot be: everything
  // else is measured without it.
  bool Start(const std::string& build_script);

  // `name` as the helper knows it.
  Sample Measure(const std::string& name, const KeySet& set);

 private:
  int pid_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

}  // namespace perfect_hash_bench
