// SPDX-License-Identifier: Apache-2.0
// The picker's results for given tables. The cases are in testdata/. Commands:
//
//   config      sets fields of PickerConfig for the rest of the file
//   pick        PickCompaction
//   group       PickGroup of level 1, with limit= and gain= (0 if there is none)
//   memtables   PickMemTableMerge of memtables with range=a-z and bytes=
//   manual      PickManual from=LEVEL to=LEVEL, to_base, created_before=ID, path=
//   sizes       limit, goal and score of each level; with dynamic_levels the base level and the
//               pending bytes
//   paths       the path for files of each level
//   settle      the levels to which each table may move by the manifest alone
//   pieces      ChooseVictimPieces of the table in the input, for delta=
//
// All take fields of PickerConfig as arguments, too, and now=, the time in seconds. The time and a
// command's input, which is the tables of each level that has any, stay for the commands that follow:
//
//   L1: a-c d-f(200,busy)
//
// is two tables, by their smallest and largest keys, in parentheses their properties: live bytes
// (100 if there is no number), and
//
//   busy, marked, sparse, covers, path0, path1, released=, scans_pieces=, scans_run=
//                           fields of PickerTable
//   exclusive               the largest key is not in the table
//   hash, from=, to=        of a level that is cut by hash: the range of search keys
//   directory=              bytes of the directory
//   oldest=, newest=        sequences
//   pieces=, id=, created=  how many pieces; the id and the creation time of each
#include "lsm/policy/picker.h"

#include <deque>

#include "lsm/policy/gc_policy.h"
#include "util/testing/data_driven.h"

namespace compassdb {
namespace {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

class PickerCases {
 public:
  PickerCases() {
    base_.comparator = rocksdb::BytewiseComparator();
    input_.levels.resize(5);
  }

  std::string Answer(DataCase& data) {
    data_ = &data;
    unknown_.clear();
    config_ = base_;
    SetConfig();
    if (data.command != "pieces" && !data.input.empty()) SetTables(data.input);
    const std::string answer = Run();
    return unknown_.empty() ? answer : unknown_;
  }

 private:
  std::string Run() {
    const std::string& command = data_->command;
    if (command == "config") {
      base_ = config_;
      return "";
    }
    if (command == "pick") return Show(PickCompaction(input_, config_));
    if (command == "group") {
      const uint64_t limit = Take("limit"), gain = Take("gain");
      return Show(PickGroup(input_, config_, 1, limit, static_cast<double>(gain)));
    }
    if (command == "memtables") {
      TphMeta bounds;
      SetBounds(data_->Take("range"), &bounds);
      return Show(PickMemTableMerge(input_, config_, bounds, Take("bytes")));
    }
    if (command == "manual") return Manual();
    if (command == "fifo") return Show(PickFifo(input_, config_));
    if (command == "sizes") return Sizes();
    if (command == "paths") return Paths();
    if (command == "settle") return Settle();
    if (command == "pieces") return Pieces(data_->input.front());
    return "unknown: " + command + "\n";
  }

  std::string Manual() {
    ManualRange range;
    range.input_level = static_cast<int>(Take("from"));
    range.output_level = static_cast<int>(Take("to"));
    range.to_base = data_->TakeFlag("to_base");
    range.created_before = Take("created_before");
    if (data_->Has("path")) range.path = Take("path");
    bool conflict = false;
    const CompactionPlan plan = PickManual(input_, config_, range, &conflict);
    return conflict ? "conflict\n" : Show(plan);
  }

  std::string Sizes() const {
    std::string answer;
    for (int level = 0; level < static_cast<int>(input_.levels.size()); ++level) {
      const double score = 100 * LevelScore(input_, config_, level);
      answer += "L" + std::to_string(level) + ": ";
      if (level > 0) {
        answer += "at most " + std::to_string(LevelMaxBytes(input_, config_, level)) + ", goal " +
                  std::to_string(LevelGoalBytes(input_, config_, level)) + ", ";
      }
      answer += "score " + std::to_string(static_cast<uint64_t>(score)) + "%\n";
    }
    if (config_.dynamic_levels) {
      answer += "base L" + std::to_string(BaseLevel(input_, config_)) + ", pending " +
                std::to_string(PendingBytes(input_, config_)) + "\n";
    }
    return answer;
  }

  // Of each level's files.
  std::string Paths() const {
    std::string answer;
    for (size_t level = 0; level < input_.levels.size(); ++level) {
      answer += (level == 0 ? "" : " ") +
                std::to_string(PathOfLevel(input_, config_, static_cast<int>(level)));
    }
    return answer + "\n";
  }

  // The levels below 0 to which each table may move by the manifest alone.
  std::string Settle() const {
    std::string answer;
    for (const auto& tables : input_.levels) {
      for (const PickerTable& table : tables) {
        answer += Name(table) + ":";
        for (int level = 1; level < static_cast<int>(input_.levels.size()); ++level) {
          if (SettlesOn(input_, config_, table, level)) answer += " L" + std::to_string(level);
        }
        answer += "\n";
      }
    }
    return answer;
  }

  // A table of pieces: data bytes, and how many of a thousand keys are live.
  std::string Pieces(const std::string& line) {
    TphMeta table;
    table.smallest = "a";
    for (const std::string& word : Split(line, ' ')) {
      const auto parts = Split(word, '/');
      PieceMeta piece;
      piece.data_bytes = Number(parts[0]);
      piece.num_keys = piece.num_records = 1000;
      table.pieces.push_back({std::make_shared<const PieceMeta>(piece), Number(parts[1])});
    }
    const GcChoice choice = ChooseVictimPieces(table, Take("delta"), config_);
    if (choice.whole) return "the whole table\n";
    std::string answer = choice.victims.empty() ? "none" : "victims";
    for (size_t i : choice.victims) answer += " " + std::to_string(i);
    return answer + "\n";
  }

  uint64_t Number(const std::string& text) {
    char* end = nullptr;
    const uint64_t n = strtoull(text.c_str(), &end, 10);
    const std::string unit = end;
    if (end == text.c_str() || (unit != "" && unit != "K" && unit != "M")) Unknown(text);
    return n << (unit == "M" ? 20 : unit == "K" ? 10 : 0);
  }
  void Unknown(const std::string& name) { unknown_ += "unknown: " + name + "\n"; }
  uint64_t Take(const std::string& name) { return Number(data_->Take(name, "0")); }

  void SetConfig() {
    const auto flag = [&](const char* name, bool* field) {
      if (!data_->Has(name)) return;
      const std::string value = data_->Take(name);
      *field = value != "no";
      if (value != "no" && !value.empty()) Unknown(value);
    };
    const auto number = [&](const char* name, auto* field) {
      if (data_->Has(name)) {
        *field = static_cast<std::remove_reference_t<decltype(*field)>>(Take(name));
      }
    };
    const auto list = [&](const char* name, auto* field) {
      if (!data_->Has(name)) return;
      field->clear();
      using Item = typename std::remove_reference_t<decltype(*field)>::value_type;
      for (const std::string& n : Split(data_->Take(name), ',')) {
        field->push_back(static_cast<Item>(Number(n)));
      }
    };
    number("now", &input_.now_seconds);
    number("level0_trigger", &config_.level0_trigger);
    number("level1_max_bytes", &config_.level1_max_bytes);
    number("level_multiplier", &config_.level_multiplier);
    list("level_multiplier_additional", &config_.level_multiplier_additional);
    number("target_table_bytes", &config_.target_table_bytes);
    number("max_compaction_bytes", &config_.max_compaction_bytes);
    number("group_compaction_bytes", &config_.group_compaction_bytes);
    number("max_pieces", &config_.max_pieces);
    number("max_dead_percent", &config_.max_dead_percent);
    number("ttl_seconds", &config_.ttl_seconds);
    number("periodic_seconds", &config_.periodic_seconds);
    number("fifo_bytes", &config_.fifo_bytes);
    flag("rewrites", &config_.rewrites);
    flag("one_level", &config_.one_level);
    flag("dynamic_levels", &config_.dynamic_levels);
    flag("hash_range", &config_.hash_range);
    flag("open_below", &config_.open_below);
    list("path_targets", &config_.path_targets);
    if (!data_->Has("input_order")) return;
    const std::string order = data_->Take("input_order");
    if (order == "longest_ago") {
      config_.input_order = InputOrder::kLongestAgo;
    } else if (order == "oldest_newest") {
      config_.input_order = InputOrder::kOldestNewest;
    } else if (order == "largest") {
      config_.input_order = InputOrder::kLargest;
    } else {
      Unknown(order);
    }
  }

  static void SetBounds(const std::string& text, TphMeta* meta) {
    const size_t dash = text.find('-');
    meta->smallest = text.substr(0, dash);
    meta->largest = text.substr(dash + 1);
  }

  void SetTables(const std::vector<std::string>& lines) {
    for (auto& level : input_.levels) level.clear();
    metas_.clear();
    for (const std::string& line : lines) {  // "L1: ..."
      for (const std::string& table : Split(line.substr(3), ' ')) {
        input_.levels[static_cast<size_t>(line[1] - '0')].push_back(MakeTable(table));
      }
    }
  }

  PickerTable MakeTable(const std::string& text) {
    const size_t open = text.find('(');
    DataCase has;
    if (open != std::string::npos) {
      std::string inside = text.substr(open + 1, text.size() - open - 2);
      std::replace(inside.begin(), inside.end(), ',', ' ');
      has = ParseDataCase("table " + inside);
    }
    uint64_t bytes = 100;
    std::erase_if(has.args, [&](const auto& arg) {
      const bool is_bytes = isdigit(arg.first[0]);
      if (is_bytes) bytes = Number(arg.first);
      return is_bytes;
    });
    const auto get = [&](const char* name, uint64_t otherwise = 0) {
      return has.Has(name) ? Number(has.Take(name)) : otherwise;
    };
    const auto is = [&has](const char* name) { return has.TakeFlag(name); };
    TphMeta& meta = metas_.emplace_back();
    SetBounds(text.substr(0, open), &meta);
    meta.tph_id = metas_.size();
    meta.largest_exclusive = is("exclusive");
    meta.hash_range = is("hash");
    meta.search.first = static_cast<uint32_t>(get("from", meta.search.first));
    meta.search.last = static_cast<uint32_t>(get("to", meta.search.last));
    meta.directory.length = get("directory");
    meta.smallest_seq = get("oldest");
    meta.largest_seq = get("newest");
    const uint64_t pieces = get("pieces", 1), id = get("id", meta.tph_id);
    const uint64_t created = get("created");
    for (uint64_t i = 0; i < pieces; ++i) {
      PieceMeta piece;
      piece.piece_id = id;
      piece.data_bytes = bytes / pieces;
      piece.num_keys = piece.num_records = 1000;
      piece.creation_time = created;
      meta.pieces.push_back({std::make_shared<const PieceMeta>(piece), 1000});
    }
    PickerTable table(&meta, is("busy"), bytes);
    table.scan_loss_pieces = get("scans_pieces");
    table.scan_loss_run = get("scans_run");
    table.marked = is("marked");
    table.sparse = is("sparse");
    table.released_bytes = get("released");
    table.covers = is("covers");
    for (size_t path : {0, 1}) {
      if (is(path == 0 ? "path0" : "path1")) table.paths |= PathBit(path);
    }
    unknown_ += has.Unknown();
    return table;
  }

  static std::string Name(const PickerTable& table) {
    return table.meta->smallest + "-" + table.meta->largest;
  }
  std::string Names(int level, const std::vector<size_t>& tables) const {
    std::string names;
    for (size_t i : tables) names += " " + Name(input_.levels[static_cast<size_t>(level)][i]);
    return names;
  }

  std::string Show(const CompactionPlan& plan) const {
    if (plan.empty()) return "nothing\n";
    const std::string from = " L" + std::to_string(plan.input_level),
                      to = " to L" + std::to_string(plan.output_level);
    std::string text;
    if (plan.rewrite) {
      text = "rewrite" + from;
    } else if (plan.trivial_move) {
      text = "move" + from + to;
    } else {
      text = (plan.whole ? "merge whole" : "merge") + from + to;
    }
    text += std::string(" (") + plan.reason + "):" + Names(plan.input_level, plan.inputs);
    if (!plan.bases.empty()) text += " with" + Names(plan.output_level, plan.bases);
    if (!plan.fences.empty()) text += ", cut at" + Names(plan.output_level, plan.fences);
    if (plan.path != 0) text += ", path " + std::to_string(plan.path);
    return text + "\n";
  }

  std::string Show(const DropPlan& plan) const {
    if (plan.tables.empty()) return "nothing\n";
    std::string text = std::string("drop (") + plan.reason + "):";
    for (const DropPlan::Table& t : plan.tables) {
      text += Names(static_cast<int>(t.level), {t.index}) + " of L" + std::to_string(t.level);
    }
    return text + "\n";
  }

  PickerConfig base_, config_;
  PickerInput input_;
  DataCase* data_ = nullptr;
  std::string unknown_;
  std::deque<TphMeta> metas_;
};

class PickerTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PickerTest, Cases) {
  PickerCases cases;
  RunDataDriven(GetParam(), [&](DataCase& data) { return cases.Answer(data); });
}

INSTANTIATE_TEST_SUITE_P(Files, PickerTest, ::testing::ValuesIn(DataFiles(__FILE__)), DataFileName);

}  // namespace
}  // namespace compassdb
