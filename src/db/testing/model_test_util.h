// SPDX-License-Identifier: Apache-2.0
// Random operations on a database against a map.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "db/testing/db_test_util.h"
#include "rocksdb/convenience.h"
#include "util/random.h"

namespace compassdb {

// The options have AppendOperator.
class ModelTest : public DbTest {
 protected:
  struct Run {
    uint64_t seed = 1;
    int keys = 400;
    bool scans = true;  // or else the family has no order
    std::function<std::string(int step, Random* rnd)> value;
    std::function<Status(Random* rnd)> change_options;  // of the open database
    std::function<void(Random* rnd)> before_cut;  // the power is cut right behind it
  };

  // Many operations, with snapshots, reopenings and compactions.
  void MatchAMap(const Run& run) {
    SCOPED_TRACE("seed " + std::to_string(run.seed));
    Random rnd(run.seed);
    OpenDb();
    model_.clear();
    for (int step = 0; step < 12000; ++step) {
      const uint64_t what = rnd.Uniform(1000);
      if (what < 905) {
        Write(run, what, step, &rnd);
      } else if (what < 925) {
        Maintain(run, what, &rnd);
      } else {
        const std::string key = RandomKey(run, &rnd);
        const auto found = model_.find(key);
        ASSERT_EQ(Get(key), found == model_.end() ? "NOT_FOUND" : found->second) << key;
      }
      if (HasFatalFailure()) return;
    }
    Check(run, model_, nullptr, &rnd);
    while (!snaps_.empty()) Release(run, 0, &rnd);
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
  }

  // Power cuts of one of these kinds at any write: synced records exist. Of `run` seed, keys and values.
  void SurvivePowerCuts(const Run& run, const std::vector<CutMode>& modes) {
    SCOPED_TRACE("seed " + std::to_string(run.seed));
    Random rnd(run.seed);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    OpenDb();
    Model model;
    for (uint64_t crash = 0; crash < 4; ++crash) {
      const int steps = 200 + static_cast<int>(rnd.Uniform(600));
      for (int i = 0; i < steps; ++i) {
        const std::string key = RandomKey(run, &rnd);
        const std::string value = run.value(static_cast<int>(rnd.Uniform(1000000)), &rnd);
        ASSERT_TRUE(Put(key, value, /*sync=*/true).ok());
        model[key] = value;
      }
      if (run.before_cut) run.before_cut(&rnd);
      Crash(modes[rnd.Uniform(modes.size())], run.seed + crash);
      OpenDb();
      for (const auto& [key, value] : model) ASSERT_EQ(Get(key), value) << key;
      const Status s = db_->VerifyChecksum();
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
  }

 private:
  using Model = std::map<std::string, std::string>;
  struct Snap {
    const rocksdb::Snapshot* snapshot;
    Model model;
  };

  static std::string RandomKey(const Run& run, Random* rnd) {
    return Key(static_cast<int>(rnd->Uniform(static_cast<uint64_t>(run.keys))));
  }
  void Write(const Run& run, uint64_t what, int step, Random* rnd) {
    const rocksdb::WriteOptions write;
    const std::string key = RandomKey(run, rnd);
    if (what < 600) {
      const std::string value = run.value(step, rnd);
      ASSERT_TRUE(Put(key, value).ok());
      model_[key] = value;
    } else if (what < 750) {
      ASSERT_TRUE(db_->Delete(write, key).ok());
      model_.erase(key);
    } else if (what < 900) {
      const std::string operand = "m" + std::to_string(step);
      ASSERT_TRUE(db_->Merge(write, key, operand).ok());
      std::string& value = model_[key];
      value += (value.empty() ? "" : ",") + operand;
    } else {
      const int from = static_cast<int>(rnd->Uniform(static_cast<uint64_t>(run.keys)));
      const std::string end = Key(from + 1 + static_cast<int>(rnd->Uniform(40)));
      ASSERT_TRUE(db_->DeleteRange(write, db_->DefaultColumnFamily(), Key(from), end).ok());
      model_.erase(model_.lower_bound(Key(from)), model_.lower_bound(end));
    }
  }
  void Maintain(const Run& run, uint64_t what, Random* rnd) {
    if (what < 910) {
      if (snaps_.size() < 4) snaps_.push_back({db_->GetSnapshot(), model_});
    } else if (what < 916) {
      if (!snaps_.empty()) Release(run, rnd->Uniform(snaps_.size()), rnd);
    } else if (what < 918) {
      Flush();
    } else if (what == 918) {
      Compact(/*force=*/rnd->OneIn(2));
    } else if (what == 919) {
      for (const Snap& snap : snaps_) db_->ReleaseSnapshot(snap.snapshot);
      snaps_.clear();
      OpenDb();
    } else if (what == 920) {
      const Status s = run.change_options(rnd);
      ASSERT_TRUE(s.ok()) << s.ToString();
    } else {
      Check(run, model_, nullptr, rnd);
    }
  }
  void Release(const Run& run, size_t i, Random* rnd) {
    const Snap snap = std::move(snaps_[i]);
    snaps_.erase(snaps_.begin() + static_cast<ptrdiff_t>(i));
    Check(run, snap.model, snap.snapshot, rnd);
    db_->ReleaseSnapshot(snap.snapshot);
  }

  void Check(const Run& run, const Model& expected, const rocksdb::Snapshot* snapshot, Random* rnd) {
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    if (run.scans) CheckScans(expected, read);
    std::vector<std::string> names;
    for (int i = 0; i < 50; ++i) names.push_back(RandomKey(run, rnd));
    CheckReads(expected, read, names);
  }
  void CheckScans(const Model& expected, const rocksdb::ReadOptions& read) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
    auto e = expected.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++e) {
      ASSERT_NE(e, expected.end()) << it->key().ToString();
      ASSERT_EQ(it->key().ToString(), e->first);
      ASSERT_EQ(it->value().ToString(), e->second) << e->first;
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(e, expected.end()) << e->first;
    auto r = expected.rbegin();
    for (it->SeekToLast(); it->Valid(); it->Prev(), ++r) {
      ASSERT_NE(r, expected.rend());
      ASSERT_EQ(it->key().ToString(), r->first);
      ASSERT_EQ(it->value().ToString(), r->second);
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(r, expected.rend());
  }
  void CheckReads(const Model& expected, const rocksdb::ReadOptions& read, const std::vector<std::string>& names) {
    std::vector<std::string> values;
    const std::vector<Status> statuses =
        db_->MultiGet(read, std::vector<Slice>(names.begin(), names.end()), &values);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto found = expected.find(names[i]);
      ASSERT_EQ(Get(names[i], read.snapshot), found == expected.end() ? "NOT_FOUND" : found->second) << names[i];
      ASSERT_EQ(statuses[i].ok(), found != expected.end()) << statuses[i].ToString();
      if (statuses[i].ok()) {
        ASSERT_EQ(values[i], found->second);
      }
    }
  }

  Model model_;
  std::vector<Snap> snaps_;
};

}  // namespace compassdb
