// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"

namespace compassdb_test {

// Lines on stdout that must be the same for both libraries. The
// writer leaves out what may differ (the database's path, times, thread numbers).
class Transcript {
 public:
  explicit Transcript(std::string path) : path_(std::move(path)) {}

  // Where the scenario may make databases.
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  void Line(const std::string& text);
  // Code only, for messages that are the engine's own business.
  void Code(const std::string& what, const rocksdb::Status& status);
  // Code and message: what programs and people rely on. The path becomes $DIR.
  void Full(const std::string& what, const rocksdb::Status& status);
  // Code, and whether the message has these words; an engine may say more.
  void Says(const std::string& what, const rocksdb::Status& status, const std::string& words);
  void Value(const std::string& what, const rocksdb::Status& status, const std::string& value);
  // All entries, forward and then keys backward.
  void Scan(const std::string& what, rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family = nullptr,
            const rocksdb::ReadOptions& options = rocksdb::ReadOptions());

 private:
  std::string path_;
};

// Opens a fresh or existing database; a failure is written down and gives null.
std::unique_ptr<rocksdb::DB> OpenOrNote(Transcript* t, const std::string& name,
                                        const rocksdb::Options& options);
rocksdb::Options FreshOptions();
rocksdb::Options MergingOptions();  // which append

struct Scenario {
  const char* name;
  std::function<void(Transcript*)> run;
};

std::vector<Scenario> OpenScenarios();
std::vector<Scenario> WriteScenarios();
std::vector<Scenario> ReadScenarios();
std::vector<Scenario> CompactionScenarios();
std::vector<Scenario> ListenerScenarios();
std::vector<Scenario> OptionScenarios();
std::vector<Scenario> OptionFileScenarios();
std::vector<Scenario> CopyScenarios();
std::vector<Scenario> ControlScenarios();
std::vector<Scenario> BatchIndexScenarios();
std::vector<Scenario> EntityScenarios();
std::vector<Scenario> TimestampScenarios();
std::vector<Scenario> TimedScenarios();
std::vector<Scenario> WalkScenarios();
std::vector<Scenario> TransactionScenarios();
std::vector<Scenario> LogScenarios();
std::vector<Scenario> PathScenarios();
std::vector<Scenario> FilterScenarios();
std::vector<Scenario> EnvScenarios();
std::vector<Scenario> TraceScenarios();
std::vector<Scenario> FileChecksumScenarios();

}  // namespace compassdb_test
