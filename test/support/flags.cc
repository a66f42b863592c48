// SPDX-License-Identifier: Apache-2.0
#include "support/flags.h"

#include <cstdio>
#include <cstdlib>

namespace compassdb_test {

namespace {
[[noreturn]] void Usage(const std::string& what) {
  fprintf(stderr, "bad flag: %s\n", what.c_str());
  exit(2);
}
}  // namespace

Flags::Flags(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    std::string arg = argv[i];
    if (arg.rfind("--", 0) != 0) Usage(arg);
    size_t equals = arg.find('=');
    if (equals == std::string::npos) {
      given_[arg.substr(2)] = "true";
    } else {
      given_[arg.substr(2, equals - 2)] = arg.substr(equals + 1);
    }
  }
}

std::string Flags::String(const std::string& name, const std::string& otherwise) {
  known_[name] = true;
  auto found = given_.find(name);
  return found == given_.end() ? otherwise : found->second;
}

uint64_t Flags::Number(const std::string& name, uint64_t otherwise) {
  std::string text = String(name, "");
  if (text.empty()) return otherwise;
  char* end = nullptr;
  uint64_t number = strtoull(text.c_str(), &end, 10);
  if (*end != '\0') Usage("--" + name + "=" + text);
  return number;
}

bool Flags::Bool(const std::string& name) { return String(name, "false") == "true"; }

void Flags::RejectUnknown() const {
  for (const auto& [name, value] : given_) {
    if (known_.count(name) == 0) Usage("--" + name + "=" + value);
  }
}

}  // namespace compassdb_test
