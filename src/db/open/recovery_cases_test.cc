// SPDX-License-Identifier: Apache-2.0
// What an opening or a repair finds and says. A case of testdata/ is `database`, its arguments are
// options, and its input is steps, separated by "; ", on a new file system in memory:
//
//   options NAME=VALUE...     from now on, also families=A,B (else the default one alone),
//                             db_paths=A,B and wal_recovery_mode and the like
//   put KEY VALUE, delete KEY, delete-range FROM TO, merge KEY VALUE, fill FIRST LAST VALUE,
//   flush, compact, create, drop: of family=NAME, the writes with "sync"
//   sync-wal, flush-wal
//   close, kill (the process), power-cut (nothing stays that was not synced)
//   remove FILE..., flip FILE AT, cut FILE SIZE, write FILE TEXT, mkdir DIRECTORY
//   copy FROM TO              under its name, if TO is a directory and ends with /
//   fail CALL PATH, works     every such call of the file system, until it works again
//   open, read-only           the status, or what all families have
//   repair, repair only=A,B   with all families, or those; what was kept, lost and moved
//   destroy, verify, property NAME, sequence (the latest), list DIRECTORY (without LOG)
//
// Steps that need an open database open it. There are no automatic compactions. VALUE v*300 is 300
// times v; what is read is shown like that, and keys in a row with one value as
// key000000..key000099. FILE is a name, in the database's directory if it has no other, where * is
// any text; of several which are not empty, the last one, or with #2 the second. AT and SIZE are
// bytes, from the end if negative, or a share (50%). In an answer # is a number that may differ: of
// files and tables, and the length of records in a manifest.
#include <regex>

#include "compassdb/repair.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/convenience.h"
#include "util/testing/data_driven.h"

namespace compassdb {
namespace {

using Words = std::vector<std::string>;

Words SplitText(const std::string& text, char separator) {
  Words parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::string Unfold(const std::string& value) {
  const size_t star = value.find('*');
  return star != 1 ? value : std::string(std::stoul(value.substr(2)), value[0]);
}
std::string Fold(const std::string& value) {
  if (value.size() < 9 || value.find_first_not_of(value[0]) != std::string::npos) return value;
  return value.substr(0, 1) + "*" + std::to_string(value.size());
}

// key000009 after key000008
bool IsNext(const std::string& key, const std::string& last) {
  const size_t digits = last.find_last_not_of("0123456789") + 1;
  if (key.size() != last.size() || digits + 6 != key.size()) return false;
  return key.compare(0, digits, last, 0, digits) == 0 &&
         std::stoul(key.substr(digits)) == std::stoul(last.substr(digits)) + 1;
}

class RecoveryCase : public DbTest {
 public:
  RecoveryCase() { options_.disable_auto_compactions = true; }

  std::string Answer(DataCase* data) {
    for (const auto& [name, value] : data->args) Option(name, value);
    data->args.clear();
    for (const std::string& line : data->input) {
      for (const std::string& step : SplitText(line, ';')) {
        if (!Take(SplitText(step, ' '))) return "unknown: " + step + "\n";
      }
    }
    CloseDb();
    for (const char* number : {"()[0-9]{6,}(\\.[a-z]+)", "((?:MANIFEST|MIRROR|OPTIONS)-)[0-9]+()",
                               "(table )[0-9]+()", "(MANIFEST-# at offset )[0-9]+()",
                               "(\\()[0-9]+( bytes dropped\\))"}) {
      answer_ = std::regex_replace(answer_, std::regex(number), "$1#$2");
    }
    return answer_;
  }

 private:
  void TestBody() override {}

  void Say(const std::string& step, const std::string& text) {
    answer_ += step + ":" + (text.empty() ? "" : " ") + text + "\n";
  }
  bool IsOpen() {
    if (db_ == nullptr) OpenDb();
    return db_ != nullptr;
  }
  void SayError(const std::string& step, const Status& s) {
    if (!s.ok()) Say(step, s.ToString());
  }

  void Option(const std::string& name, const std::string& value) {
    if (name == "families") {
      families_ = SplitText(value, ',');
    } else if (name == "db_paths") {
      options_.db_paths.clear();
      for (const std::string& path : SplitText(value, ',')) {
        options_.db_paths.emplace_back(path, 1 << 30);
      }
    } else {
      const rocksdb::Options base = options_;
      SayError("options", rocksdb::GetOptionsFromString(rocksdb::ConfigOptions(), base,
                                                        name + "=" + value, &options_));
    }
  }

  // Whether there is such a step.
  bool Take(Words words) {
    if (words.empty()) return false;
    const std::string step = words.front();
    words.erase(words.begin());
    sync_ = std::erase(words, "sync") != 0;
    family_.clear();
    std::erase_if(words, [this](const std::string& word) {
      if (word.starts_with("family=")) family_ = word.substr(7);
      return word.starts_with("family=");
    });
    return Reads(step, words) || Changes(step, words) || Writes(step, words);
  }

  // Steps that read, and those that are about a whole database.
  bool Reads(const std::string& step, const Words& words) {
    if (step == "open") {
      Opened(step, TryOpen());
    } else if (step == "read-only") {
      CloseDb();
      Opened(step, TryOpenReadOnly());
    } else if (step == "repair") {
      Repair(words.empty() ? "" : words[0].substr(5));
    } else if (step == "destroy") {
      CloseDb();
      SayError(step, rocksdb::DestroyDB(name_, options_));
    } else if (step == "verify" && IsOpen()) {
      Say(step, db_->VerifyChecksum().ToString());
    } else if (step == "property" && IsOpen()) {
      std::string value;
      EXPECT_TRUE(db_->GetProperty(words[0], &value)) << words[0];
      if (value.ends_with('\n')) value.pop_back();
      Say(words[0], value);
    } else if (step == "sequence" && IsOpen()) {
      Say(step, std::to_string(db_->GetLatestSequenceNumber()));
    } else if (step == "list") {
      std::vector<std::string> names;
      const Status s = fs_->GetChildren(words[0], &names);
      std::sort(names.begin(), names.end());
      std::string text;
      for (const std::string& name : names) {
        if (!name.starts_with("LOG")) text += (text.empty() ? "" : " ") + name;
      }
      Say(step, s.ok() ? text : s.ToString());
    } else {
      return false;
    }
    return true;
  }

  // Steps that change files without the database.
  bool Changes(const std::string& step, const Words& words) {
    if (step == "options") {
      for (const std::string& word : words) {
        const size_t equal = word.find('=');
        Option(word.substr(0, equal), word.substr(equal + 1));
      }
    } else if (step == "close" && IsOpen()) {
      CloseDb();
    } else if (step == "kill") {
      for (int op = 0; op < static_cast<int>(FaultOp::kNumOps); ++op) {
        fs_->FailAll(static_cast<FaultOp>(op), "", Status::IOError("killed"));
      }
      CloseDb();
      fs_->ClearFaults();
    } else if (step == "power-cut") {
      Crash();
    } else if (step == "remove") {
      for (const std::string& file : words) {
        const Words paths = Find(file, /*also_empty=*/true);
        if (paths.empty()) Say(step, "no " + file);
        for (const std::string& path : paths) SayError(step, fs_->DeleteFile(path));
      }
    } else if (step == "flip") {
      const std::string path = One(words[0]);
      FlipBit(path, Place(path, words[1]));
    } else if (step == "cut") {
      const std::string path = One(words[0]);
      SetFile(path, ReadFile(path).substr(0, Place(path, words[1])));
    } else if (step == "write") {
      SetFile(InDatabase(words[0]), Unfold(words[1]) + "\n");
    } else if (step == "copy") {
      const std::string from = One(words[0]), to = words[1];
      SetFile(to.ends_with('/') ? to + from.substr(from.rfind('/') + 1) : One(to), ReadFile(from));
    } else if (step == "mkdir") {
      SayError(step, fs_->CreateDir(words[0]));
    } else if (step == "works") {
      fs_->ClearFaults();
    } else if (step == "fail") {
      for (int op = 0; op < static_cast<int>(FaultOp::kNumOps); ++op) {
        if (words[0] != FaultOpName(static_cast<FaultOp>(op))) continue;
        fs_->FailAll(static_cast<FaultOp>(op), words[1], Status::IOError("injected"));
        return true;
      }
      return false;
    } else {
      return false;
    }
    return true;
  }

  bool Writes(const std::string& step, const Words& words) {
    if (!IsOpen()) return false;
    rocksdb::WriteOptions write;
    write.sync = sync_;
    rocksdb::ColumnFamilyHandle* const family = Family();
    Status s;
    if (step == "put") {
      s = db_->Put(write, family, words[0], Unfold(words[1]));
    } else if (step == "delete") {
      s = db_->Delete(write, family, words[0]);
    } else if (step == "delete-range") {
      s = db_->DeleteRange(write, family, words[0], words[1]);
    } else if (step == "merge") {
      s = db_->Merge(write, family, words[0], words[1]);
    } else if (step == "fill") {
      for (int i = std::stoi(words[0]); s.ok() && i <= std::stoi(words[1]); ++i) {
        s = db_->Put(write, family, Key(i), Unfold(words[2]));
      }
    } else if (step == "flush") {
      s = db_->Flush(rocksdb::FlushOptions(), family);
    } else if (step == "compact") {
      rocksdb::CompactRangeOptions options;
      options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      s = db_->CompactRange(options, family, nullptr, nullptr);
    } else if (step == "create") {
      rocksdb::ColumnFamilyHandle* created = nullptr;
      s = db_->CreateColumnFamily(options_, family_, &created);
      if (created != nullptr) handles_.push_back(created);
    } else if (step == "drop") {
      s = db_->DropColumnFamily(family);
    } else if (step == "sync-wal") {
      s = db_->SyncWAL();
    } else if (step == "flush-wal") {
      s = db_->FlushWAL(sync_);
    } else {
      return false;
    }
    SayError(step, s);
    return true;
  }

  // The last one of that name that was opened or created.
  rocksdb::ColumnFamilyHandle* Family() {
    rocksdb::ColumnFamilyHandle* found = db_->DefaultColumnFamily();
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      if (handle->GetName() == family_) found = handle;
    }
    return found;
  }

  Status TryOpenReadOnly() {
    rocksdb::DB* db = nullptr;
    Status s;
    if (families_.empty()) {
      s = rocksdb::DB::OpenForReadOnly(options_, name_, &db);
    } else {
      std::vector<rocksdb::ColumnFamilyDescriptor> families;
      for (const std::string& family : families_) families.emplace_back(family, options_);
      s = rocksdb::DB::OpenForReadOnly(options_, name_, families, &handles_, &db);
    }
    db_.reset(db);
    return s;
  }

  void Opened(const std::string& step, const Status& s) {
    if (!s.ok()) return Say(step, s.ToString());
    if (handles_.empty()) return Say(step, Contents(db_->DefaultColumnFamily()));
    std::string text;
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      const std::string contents = Contents(handle);
      text += (text.empty() ? "[" : " [") + handle->GetName() + "]" +
              (contents.empty() ? "" : " ") + contents;
    }
    Say(step, text);
  }

  std::string Contents(rocksdb::ColumnFamilyHandle* family) {
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(rocksdb::ReadOptions(), family));
    std::string text, first, last, value;
    const auto add = [&] {
      if (last.empty()) return;
      text += (text.empty() ? "" : " ") + first + (first == last ? "" : ".." + last) + "=" + value;
    };
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const std::string key = it->key().ToString(), found = Fold(it->value().ToString());
      if (last.empty() || found != value || !IsNext(key, last)) {
        add();
        first = key;
      }
      last = key;
      value = found;
    }
    add();
    if (!it->status().ok()) text += " " + it->status().ToString();
    return text;
  }

  void Repair(const std::string& only) {
    CloseDb();
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& family : SplitText(only, ',')) families.emplace_back(family, options_);
    const rocksdb::ColumnFamilyOptions unknown = options_;
    RepairReport report;
    const Status s = compassdb::RepairDB(name_, options_, families,
                                         only.empty() ? &unknown : nullptr, &report);
    if (!s.ok()) return Say("repair", s.ToString());
    std::string text;
    const auto add = [&text](uint64_t n, const char* what) {
      if (n > 0) text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + what;
    };
    add(report.kept_tables, "tables kept");
    add(report.rewritten_tables, "rewritten");
    add(report.lost_tables, "tables lost");
    add(report.lost_records, "records lost");
    add(report.lost_range_deletions, "range deletions lost");
    add(report.lost_values, "values lost");
    add(report.damaged_logs, "damaged places in logs");
    Say("repair", text.empty() ? "OK" : text);
    for (const std::string& line : report.log) {
      if (line.starts_with("uncertain")) answer_ += "  " + line + "\n";
    }
    for (const std::string& path : report.moved) answer_ += "  moved " + path + "\n";
  }

  std::string InDatabase(const std::string& file) const {
    return file.front() == '/' ? file : JoinPath(name_, file);
  }
  // By name.
  Words Find(const std::string& file, bool also_empty) {
    const size_t number = file.find('#');
    const std::string path = InDatabase(file.substr(0, number));
    const size_t slash = path.rfind('/'), star = path.find('*');
    if (star == std::string::npos) return fs_->FileExists(path).ok() ? Words{path} : Words{};
    const std::string dir = path.substr(0, slash);
    const std::string begin = path.substr(0, star), end = path.substr(star + 1);
    Words names, found;
    EXPECT_TRUE(fs_->GetChildren(dir, &names).ok()) << dir;
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string candidate = JoinPath(dir, name);
      if (!candidate.starts_with(begin) || !candidate.ends_with(end)) continue;
      uint64_t size = 0;
      EXPECT_TRUE(fs_->GetFileSize(candidate, &size).ok());
      if (size > 0 || (also_empty && number == std::string::npos)) found.push_back(candidate);
    }
    if (number == std::string::npos) return found;
    const size_t at = std::stoul(file.substr(number + 1)) - 1;
    return at < found.size() ? Words{found[at]} : Words{};
  }
  std::string One(const std::string& file) {
    const Words found = Find(file, /*also_empty=*/false);
    return found.empty() ? InDatabase(file) : found.back();
  }
  size_t Place(const std::string& path, const std::string& text) {
    const size_t size = ReadFile(path).size();
    if (text.back() == '%') return size * std::stoul(text) / 100;
    return text.front() == '-' ? size - std::stoul(text.substr(1)) : std::stoul(text);
  }

  std::string answer_, family_;
  bool sync_ = false;
};

class RecoveryCasesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RecoveryCasesTest, Cases) {
  RunDataDriven(GetParam(), [](DataCase& data) { return RecoveryCase().Answer(&data); });
}

INSTANTIATE_TEST_SUITE_P(Files, RecoveryCasesTest, ::testing::ValuesIn(DataFiles(__FILE__)),
                         DataFileName);

}  // namespace
}  // namespace compassdb
