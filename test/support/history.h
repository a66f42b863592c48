// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/model.h"

namespace compassdb_test {

// The batches given to a database since its state was last known exactly, and how
// far they are promised to survive. After a crash the database must equal
// this model at some prefix of the batches, no shorter than the promise.
// Every batch carries its number in key kCounterKey of the default family, so
// that the prefix can be read off. Thread safety: none.
class History {
 public:
  explicit History(std::vector<FamilySpec> specs) : base_(std::move(specs)) {}

  // To be called before the write; the batch gets its counter item.
  std::vector<WriteItem>* Begin(std::vector<WriteItem> items);
  // The last begun batch was acknowledged; `durable`: with a promise to survive.
  void Acknowledge(bool durable);
  // Everything acknowledged so far survives from now on.
  void PromiseAll() { promised_ = acknowledged_; }

  // A family was created or dropped here, durably: everything before it has to be
  // promised already (PromiseAll after a sync).
  void CreateFamily(int family) { events_.push_back({begun(), family, true}); }
  void DropFamily(int family) { events_.push_back({begun(), family, false}); }

  uint64_t begun() const { return base_number_ + batches_.size(); }
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t promised() const { return promised_; }

  // Adopts the state that a database was found in: its families' contents after a
  // crash. Nothing on success; else what is wrong.
  std::optional<std::string> Recover(const std::vector<Entries>& families);

  // After the last crash but before any new batch: the exact contents.
  const Model& model() const { return base_; }
  Model* mutable_model() { return &base_; }

  static const char kCounterKey[];

 private:
  struct FamilyEvent {
    uint64_t after;  // the number of the last batch before it
    int family;
    bool create;
  };
  void ApplyEvents(uint64_t after);

  Model base_;
  std::vector<FamilyEvent> events_;
  uint64_t base_number_ = 0;
  uint64_t acknowledged_ = 0;
  uint64_t promised_ = 0;
  std::vector<std::vector<WriteItem>> batches_;
};

}  // namespace compassdb_test
