// SPDX-License-Identifier: Apache-2.0
// Reads of a tree that is stated as text. The cases are in testdata/. They have the same answers
// whether values are in the tables or separated from them.
//
//   tree     a new database: a memtable and levels, newest first; arguments are options
//   write    adds records to the memtable
//   flush, compact [low=TIME], release (the snapshots)
//   walk     all entries, for each line of read options (`now`: none); what a walk backward or Get
//            see differently is shown, too
//   iter     a new iterator; arguments are read options; input are steps, an answer for each line
//   step     more steps of that iterator
//   count    what it added to statistics and to the PerfContext; ends it, except with `open`
//
// A record is a word: a=1 (put), a+1 (merge), a:del, a:single, a-c:del (range deletion), a{x=1,y=2}
// (an entity), 10..29=v (each of these keys), a@5=1 (at a time); snapshot:s takes a snapshot.
// Entries are shown in the same way. Where an iterator is not valid, `.` or its error is shown.
#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "api/comparator_u64ts.h"
#include "db/testing/db_test_util.h"
#include "db/testing/timed_test_util.h"
#include "format/internal_key.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/wide_columns.h"
#include "util/testing/data_driven.h"

namespace compassdb {
namespace {

using rocksdb::ReadOptions;
using rocksdb::WriteOptions;

std::vector<std::string> WordsOf(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Read options that own what they point to.
struct StatedRead {
  StatedRead(const std::map<std::string, const rocksdb::Snapshot*>& snapshots, DataCase* data,
             std::string* unknown) {
    if (data->Has("snapshot")) {
      const std::string name = data->Take("snapshot");
      const auto found = snapshots.find(name);
      if (found == snapshots.end()) {
        *unknown += "unknown snapshot " + name + "\n";
      } else {
        options.snapshot = found->second;
      }
    }
    Point(data, "lower", &lower, &options.iterate_lower_bound);
    Point(data, "upper", &upper, &options.iterate_upper_bound);
    Point(data, "at", &at, &options.timestamp);
    Point(data, "from", &from, &options.iter_start_ts);
    options.total_order_seek = data->TakeFlag("total_order_seek");
    options.auto_prefix_mode = data->TakeFlag("auto_prefix_mode");
    options.prefix_same_as_start = data->TakeFlag("prefix_same_as_start");
    options.tailing = data->TakeFlag("tailing");
    options.max_skippable_internal_keys = std::stoull(data->Take("max_skippable", "0"));
  }

  std::string lower, upper, at, from;
  Slice slices[4];
  ReadOptions options;

 private:
  void Point(DataCase* data, const std::string& name, std::string* bytes, const Slice** to) {
    if (!data->Has(name)) return;
    *bytes = data->Take(name);
    if (name == "at" || name == "from") *bytes = Time(std::stoull(*bytes));
    slices[used_] = *bytes;
    *to = &slices[used_++];
  }
  int used_ = 0;
};

class IteratorTest : public DbTest, public ::testing::WithParamInterface<std::string> {
 protected:
  IteratorTest() : original_(options_) {}
  ~IteratorTest() override { CloseTree(); }

  // Only the answers without separated values are ever written: those with them must be the same.
  void RunCases(bool separate_values) {
    separate_values_ = separate_values;
    const auto answer = [&](DataCase& data) {
      unknown_.clear();
      const std::string text = Run(data);
      return unknown_.empty() ? text : unknown_;
    };
    RunDataDriven(GetParam(), answer, IsDataRewrite() && !separate_values);
  }

 private:
  std::string Run(DataCase& data) {
    if (data.command == "tree") return Build(data);
    if (data.command == "write") {
      for (const std::string& line : data.input) Write(line);
    } else if (data.command == "flush") {
      Flush();
    } else if (data.command == "compact") {
      if (data.Has("low")) {
        const Status s = db_->IncreaseFullHistoryTsLow(db_->DefaultColumnFamily(),
                                                       Time(std::stoull(data.Take("low"))));
        EXPECT_TRUE(s.ok()) << s.ToString();
      }
      Compact(/*force=*/true);
    } else if (data.command == "release") {
      Release();
    } else if (data.command == "walk") {
      std::string answer;
      for (const std::string& line : data.input) {
        DataCase read = ParseDataCase("walk " + line);
        read.TakeFlag("now");
        answer += Walk(&read) + "\n";
        unknown_ += read.Unknown();
      }
      return answer;
    } else if (data.command == "iter") {
      NewIterator(&data);
      return Steps(data.input);
    } else if (data.command == "step") {
      return Steps(data.input);
    } else if (data.command == "count") {
      if (!data.TakeFlag("open")) it_.reset();
      return Counts();
    } else {
      return "unknown: " + data.command + "\n";
    }
    return "";
  }

  void Release() {
    for (const auto& [name, snapshot] : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
  }
  void CloseTree() {
    it_.reset();
    keys_.clear();
    Release();
    CloseDb();
  }

  std::string Build(DataCase& data) {
    CloseTree();
    EXPECT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    options_ = original_;
    options_.disable_auto_compactions = true;
    options_.statistics = rocksdb::CreateDBStatistics();
    options_.merge_operator = std::make_shared<AppendOperator>();
    const bool timed = data.TakeFlag("times");
    if (timed) options_.comparator = BytewiseComparatorWithU64Ts();
    options_.enable_blob_files = separate_values_ && !timed;  // not together
    options_.min_blob_size = 1;
    if (data.TakeFlag("reverse")) options_.comparator = rocksdb::ReverseBytewiseComparator();
    if (data.Has("prefix")) {
      options_.prefix_extractor.reset(
          rocksdb::NewFixedPrefixTransform(std::stoull(data.Take("prefix"))));
      rocksdb::BlockBasedTableOptions table;
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
      options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    }
    options_.max_sequential_skip_in_iterations = std::stoull(data.Take("max_sequential_skip", "8"));
    OpenDb();
    for (auto line = data.input.rbegin(); line != data.input.rend(); ++line) {
      const size_t colon = line->find(": ");
      Write(line->substr(colon + 2));
      const std::string part = line->substr(0, colon);
      if (part == "memtable") continue;
      Flush();
      const int level = part[1] - '0';
      if (part[0] != 'L' || !MoveTo(level)) unknown_ += "unknown: " + part + "\n";
    }
    return "";
  }
  // What was flushed last. False if it is not there then.
  bool MoveTo(int level) {
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    if (metadata.levels[0].files.empty()) return false;
    if (level == 0) return true;
    const Status s = db_->CompactFiles({}, {metadata.levels[0].files[0].name}, level);
    EXPECT_TRUE(s.ok()) << s.ToString();
    db_->GetColumnFamilyMetaData(&metadata);
    return !metadata.levels[static_cast<size_t>(level)].files.empty();
  }

  void Write(const std::string& records) {
    for (const std::string& record : WordsOf(records)) {
      if (record.starts_with("snapshot:")) {
        snapshots_[record.substr(9)] = db_->GetSnapshot();
        continue;
      }
      const size_t kind = record.find_first_of("=+:{");
      const std::string value = record.substr(std::min(record.size(), kind + 1));
      std::string key = record.substr(0, kind), time;
      if (const size_t at = key.find('@'); at != std::string::npos) {
        time = Time(std::stoull(key.substr(at + 1)));
        key.resize(at);
      }
      std::vector<std::string> keys = {key};
      if (const size_t dots = key.find(".."); dots != std::string::npos) {
        keys.clear();
        for (int i = std::stoi(key); i <= std::stoi(key.substr(dots + 2)); ++i) {
          keys.push_back(std::to_string(i));
        }
      }
      for (const std::string& each : keys) {
        keys_.insert(each);
        const Status s = WriteRecord(each, time, record.substr(kind, 1), value);
        if (!s.ok()) unknown_ += "unknown: " + record + ": " + s.ToString() + "\n";
      }
    }
  }
  Status WriteRecord(const std::string& key, const std::string& time, const std::string& kind,
                     const std::string& value) {
    const WriteOptions w;
    const bool timed = !time.empty();
    if (kind == "=") return timed ? db_->Put(w, key, time, value) : db_->Put(w, key, value);
    if (kind == "+") return db_->Merge(w, key, value);
    if (kind == "{") return db_->PutEntity(w, db_->DefaultColumnFamily(), key, ColumnsOf(value));
    if (value == "single") {
      return timed ? db_->SingleDelete(w, key, time) : db_->SingleDelete(w, key);
    }
    if (value != "del") return Status::InvalidArgument(value);
    const size_t dash = key.find('-');
    if (dash == std::string::npos) return timed ? db_->Delete(w, key, time) : db_->Delete(w, key);
    const std::string begin = key.substr(0, dash), end = key.substr(dash + 1);
    rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
    return timed ? db_->DeleteRange(w, family, begin, end, time)
                 : db_->DeleteRange(w, family, begin, end);
  }
  // Of "x=1,y=2}".
  static rocksdb::WideColumns ColumnsOf(const std::string& text) {
    rocksdb::WideColumns columns;
    for (size_t begin = 0; begin < text.size();) {
      const size_t equal = text.find('=', begin), end = text.find_first_of(",}", begin);
      columns.emplace_back(Slice(text.data() + begin, equal - begin),
                           Slice(text.data() + equal + 1, end - equal - 1));
      begin = end + 1;
    }
    return columns;
  }

  void NewIterator(DataCase* read) {
    it_.reset();
    rocksdb::SetPerfLevel(rocksdb::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    EXPECT_TRUE(options_.statistics->Reset().ok());
    read_.emplace(snapshots_, read, &unknown_);
    it_.reset(db_->NewIterator(read_->options));
  }

  std::string Walk(DataCase* read) {
    NewIterator(read);
    std::vector<std::string> forward, backward;
    for (it_->SeekToFirst(); it_->Valid(); it_->Next()) forward.push_back(Position());
    const std::string end = Position();
    for (it_->SeekToLast(); it_->Valid(); it_->Prev()) backward.push_back(Position());
    const std::string begin = Position();
    const std::string shown = Joined(forward) + end;
    std::reverse(backward.begin(), backward.end());
    if (backward != forward || begin != end) {
      return shown + " backward: " + begin + " " + Joined(backward);
    }
    if (end != "." || !read_->from.empty()) return shown;
    std::string differ;
    for (const std::string& key : keys_) {
      if (!read_->lower.empty() && key < read_->lower) continue;
      if (!read_->upper.empty() && key >= read_->upper) continue;
      const auto entry = std::find_if(forward.begin(), forward.end(), [&](const std::string& e) {
        return e.substr(0, e.find_first_of("=@{")) == key;
      });
      const std::string got = Get(key);
      const bool same = entry == forward.end() ? got == key + ":none"
                        : entry->ends_with('}') ? got.starts_with(key + "=")  // of a column
                                                : got == *entry;
      if (!same) differ += " Get " + got;
    }
    return shown + differ;
  }
  std::string Get(const std::string& key) {
    std::string value, time;
    const Status s = read_->at.empty() ? db_->Get(read_->options, key, &value)
                                       : db_->Get(read_->options, key, &value, &time);
    if (!s.ok()) return key + ":" + (s.IsNotFound() ? "none" : s.ToString());
    return key + Shown(time) + "=" + value;
  }
  static std::string Joined(const std::vector<std::string>& entries) {
    std::string joined;
    for (const std::string& entry : entries) joined += entry + " ";
    return joined;
  }

  std::string Steps(const std::vector<std::string>& lines) {
    std::string answer;
    for (const std::string& line : lines) {
      std::string shown;
      for (const std::string& step : WordsOf(line)) shown += " " + Step(step);
      answer += shown.substr(1) + "\n";
    }
    return answer;
  }
  std::string Step(const std::string& step) {
    const size_t equal = step.find('=');
    const std::string name = step.substr(0, equal);
    const std::string key = equal == std::string::npos ? "" : step.substr(equal + 1);
    if (name == "first") {
      it_->SeekToFirst();
    } else if (name == "last") {
      it_->SeekToLast();
    } else if (name == "seek") {
      it_->Seek(key);
    } else if (name == "seek_for_prev") {
      it_->SeekForPrev(key);
    } else if (name == "next") {
      it_->Next();
    } else if (name == "prev") {
      it_->Prev();
    } else if (name == "refresh") {
      const Status s = it_->Refresh();
      return s.ok() ? "refreshed" : s.ToString();
    } else {
      unknown_ += "unknown: " + step + "\n";
    }
    return Position();
  }
  std::string Position() const {
    if (!it_->Valid()) return it_->status().ok() ? "." : "!" + it_->status().ToString();
    std::string key = it_->key().ToString();
    bool deleted = false;
    if (!read_->from.empty()) {  // an internal key
      deleted = ExtractType(key) != kTypeValue;
      key = ExtractUserKey(key).ToString();
      key.resize(key.size() - it_->timestamp().size());
    }
    if (!read_->at.empty()) key += Shown(it_->timestamp());
    if (deleted) return key + ":del";
    const rocksdb::WideColumns& columns = it_->columns();
    if (columns.size() == 1 && columns[0].name().empty()) {
      return key + "=" + it_->value().ToString();
    }
    std::string shown;
    for (const rocksdb::WideColumn& column : columns) {
      shown += shown.empty() ? "" : ",";
      shown += column.name().ToString() + "=" + column.value().ToString();
    }
    return key + "{" + shown + "}";
  }
  static std::string Shown(const Slice& time) {
    return time.empty() ? "" : "@" + std::to_string(DecodeFixed64(time.data()));
  }

  std::string Counts() const {
    using Names = std::vector<std::pair<const char*, uint64_t>>;
    const auto list = [](const char* title, const Names& counts) {
      std::string line = title;
      for (const auto& [name, count] : counts) {
        if (count > 0) line += std::string(" ") + name + "=" + std::to_string(count);
      }
      return line + "\n";
    };
    const auto ticker = [&](uint32_t t) { return options_.statistics->getTickerCount(t); };
    rocksdb::HistogramData timed;
    options_.statistics->histogramData(rocksdb::DB_SEEK, &timed);
    const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
    return list("statistics:", {{"seek", ticker(rocksdb::NUMBER_DB_SEEK)},
                                {"found", ticker(rocksdb::NUMBER_DB_SEEK_FOUND)},
                                {"timed", timed.count},
                                {"next", ticker(rocksdb::NUMBER_DB_NEXT)},
                                {"found", ticker(rocksdb::NUMBER_DB_NEXT_FOUND)},
                                {"prev", ticker(rocksdb::NUMBER_DB_PREV)},
                                {"found", ticker(rocksdb::NUMBER_DB_PREV_FOUND)},
                                {"reseeks", ticker(rocksdb::NUMBER_OF_RESEEKS_IN_ITERATION)},
                                {"bytes", ticker(rocksdb::ITER_BYTES_READ)},
                                {"deleted", ticker(rocksdb::NO_ITERATOR_DELETED)}}) +
           list("skipped:", {{"keys", perf.internal_key_skipped_count},
                             {"deletions", perf.internal_delete_skipped_count},
                             {"recent", perf.internal_recent_skipped_count}}) +
           list("perf:", {{"bytes", perf.iter_read_bytes}, {"merges", perf.internal_merge_count}});
  }

  const rocksdb::Options original_;
  bool separate_values_ = false;
  std::set<std::string> keys_;  // that were written
  std::map<std::string, const rocksdb::Snapshot*> snapshots_;
  std::optional<StatedRead> read_;
  std::unique_ptr<rocksdb::Iterator> it_;
  std::string unknown_;
};

TEST_P(IteratorTest, Cases) { RunCases(/*separate_values=*/false); }
TEST_P(IteratorTest, CasesWithSeparatedValues) { RunCases(/*separate_values=*/true); }

TEST(StatedReadTest, ASnapshotThatNobodyTookIsUnknown) {
  DataCase data = ParseDataCase("iter snapshot=s");
  std::string unknown;
  const StatedRead read({}, &data, &unknown);
  EXPECT_EQ(unknown, "unknown snapshot s\n");
}

INSTANTIATE_TEST_SUITE_P(Files, IteratorTest, ::testing::ValuesIn(DataFiles(__FILE__)),
                         DataFileName);

}  // namespace
}  // namespace compassdb
