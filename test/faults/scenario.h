// SPDX-License-Identifier: Apache-2.0
// What is done to a database while calls fail, and what must exist afterwards, after any failure.
//
// Thread safety: none; one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace compassdb_test {

class Scenario {
 public:
  virtual ~Scenario() = default;

  // Before any call fails. Reads may return wrong bytes (failing_disk.h). Then there is no repair,
  // because it trusts reads, and after a damaged read a job may need a reopen, as in RocksDB.
  void ExpectLies() { lies_ = true; }
  virtual void Prepare() {}
  // The script for the faults. Continues after failures where it can. `healthy`: no call fails now.
  virtual void Live(const std::function<bool()>& healthy) = 0;
  // Opens and compares, without failures. `synced_only`: only synced ones of the acknowledged writes
  // must exist. Returns what is wrong, if anything.
  virtual std::optional<std::string> Check(bool synced_only) = 0;
  virtual int resumed() const { return 0; }
  // After a life without faults, and its check: what should have happened and did not.
  virtual std::optional<std::string> Idle() const { return std::nullopt; }

  struct Failure {
    std::string call;
    rocksdb::Status status;
  };
  // Every call of Live that failed, in order.
  const std::vector<Failure>& failures() const { return failures_; }

 protected:
  bool Note(const char* call, const rocksdb::Status& s) {
    if (!s.ok()) failures_.push_back({call, s});
    return s.ok();
  }
  // With its handles, if it is open.
  template <class Db>
  static rocksdb::Status CloseDb(std::vector<rocksdb::ColumnFamilyHandle*>* handles, std::unique_ptr<Db>* db) {
    if (*db == nullptr) return rocksdb::Status::OK();
    for (auto* handle : *handles) (*db)->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    handles->clear();
    const rocksdb::Status s = (*db)->Close();
    db->reset();
    return s;
  }
  std::vector<Failure> failures_;
  bool lies_ = false;
};

// `env` outlives it.
std::unique_ptr<Scenario> MakeScript(const std::string& layout, rocksdb::Env* env);    // script.h
std::unique_ptr<Scenario> MakeWorkshop(const std::string& layout, rocksdb::Env* env);  // workshop.cc
std::unique_ptr<Scenario> MakeCommitments(const std::string& layout, rocksdb::Env* env);  // commitments.cc

}  // namespace compassdb_test
