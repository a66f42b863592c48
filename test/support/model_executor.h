// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/model.h"
#include "support/op.h"

namespace compassdb_test {

// Answers operations from a Model, in the words of DbExecutor.
class ModelExecutor {
 public:
  explicit ModelExecutor(std::vector<FamilySpec> specs) : model_(std::move(specs)) {}

  std::string Run(const Op& op);
  Model& model() { return model_; }
  const Model& model() const { return model_; }
  // The expected result of a full scan (kScan), to explain a difference.
  Entries Dump(int family, int snapshot) const;

 private:
  struct IteratorState {
    int family = 0;
    uint64_t sequence = 0;
    bool at_snapshot = false;
    IteratorSpec spec;
    Model::Entry position;
    std::string prefix;
  };

  uint64_t ReadSequence(int snapshot) const {
    return snapshot == kNoSnapshot ? model_.sequence() : *snapshots_[snapshot];
  }
  void Move(const IteratorMove& move, IteratorState* it, std::string* out);
  void Position(const IteratorMove& move, IteratorState* it);
  void Restrict(IteratorState* it) const;
  void ReleaseIterator(int slot);
  void ReleaseAll();

  Model model_;
  std::optional<uint64_t> snapshots_[kMaxSnapshots];
  std::optional<IteratorState> iterators_[kMaxIterators];
};

// The words that both executors use.
std::string ShowFound(const std::string& value);
std::string ShowScan(const Entries& entries);
extern const char kAbsent[];

}  // namespace compassdb_test
