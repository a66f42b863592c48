// SPDX-License-Identifier: Apache-2.0
#include "corruption/laboratory.h"

#include "support/history.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Status;

const char* VerdictName(Verdict verdict) {
  static const char* const kNames[] = {"refused", "read error", "exact", "log tail lost"};
  return kNames[static_cast<int>(verdict)];
}

namespace {

// Reads of one damaged database, against the state that it claims to be in.
class Reader {
 public:
  Reader(const Opened& opened, const Specimen& specimen) : opened_(opened), specimen_(specimen) {}

  // False when something is wrong; see wrong().
  bool ReadEverything() {
    if (!ChooseState()) return false;
    for (int family = 0; family < kSpecimenFamilies; family++) {
      if (!Scan(family, false) || !Scan(family, true) || !Gets(family)) return false;
    }
    return true;
  }
  const std::string& wrong() const { return wrong_; }
  bool errors() const { return errors_; }
  bool tail_lost() const { return state_ != &specimen_.states.back(); }

 private:
  bool Wrong(const std::string& what) {
    wrong_ = what;
    return false;
  }

  // By the counter; when that cannot be read, the truth.
  bool ChooseState() {
    state_ = &specimen_.states.back();
    std::string value;
    Status s = opened_.db->Get(rocksdb::ReadOptions(), opened_.handles[0],
                               History::kCounterKey, &value);
    if (s.IsNotFound()) return Wrong("the counter is gone");
    if (!s.ok()) {
      errors_ = true;
      return true;
    }
    for (const Specimen::State& state : specimen_.states) {
      auto counter = state[0].find(History::kCounterKey);
      if (counter->second != value) continue;
      state_ = &state;
      return true;
    }
    return Wrong("the counter is " + Show(value) + ", which it was before the last flush, or never");
  }

  bool Scan(int family, bool backward) {
    const auto& expected = (*state_)[family];
    std::unique_ptr<rocksdb::Iterator> it(
        opened_.db->NewIterator(rocksdb::ReadOptions(), opened_.handles[family]));
    size_t seen = 0;
    if (backward) {
      it->SeekToLast();
    } else {
      it->SeekToFirst();
    }
    while (it->Valid()) {
      auto found = expected.find(it->key().ToString());
      if (found == expected.end()) return Wrong("a scan shows " + Show(it->key().ToString()));
      if (it->value() != found->second) {
        return Wrong("a scan shows a wrong value of " + Show(found->first));
      }
      seen++;
      if (backward) {
        it->Prev();
      } else {
        it->Next();
      }
    }
    if (!it->status().ok()) {
      errors_ = true;
    } else if (seen != expected.size()) {
      return Wrong(std::string(backward ? "a backward" : "a forward") + " scan without error shows " + std::to_string(seen) + " of " +
                   std::to_string(expected.size()) + " entries");
    }
    return true;
  }

  bool Gets(int family) {
    const auto& expected = (*state_)[family];
    for (int i = 0; i < kSpecimenKeys; i += 2) {
      std::string key = "key" + std::to_string(i);
      std::string value;
      Status s = opened_.db->Get(rocksdb::ReadOptions(), opened_.handles[family], key, &value);
      auto found = expected.find(key);
      if (s.ok() && (found == expected.end() || found->second != value)) {
        return Wrong("Get shows a wrong value of " + key);
      }
      if (s.IsNotFound() && found != expected.end()) return Wrong("Get does not find " + key);
      if (!s.ok() && !s.IsNotFound()) errors_ = true;
    }
    return true;
  }

  const Opened& opened_;
  const Specimen& specimen_;
  const Specimen::State* state_ = nullptr;
  std::string wrong_;
  bool errors_ = false;
};

// Of a repaired database: everything that is there was once written, and most is there.
std::optional<std::string> CheckRepaired(const Opened& opened, const Specimen& specimen,
                                         size_t* found) {
  for (int family = 0; family < kSpecimenFamilies; family++) {
    std::unique_ptr<rocksdb::Iterator> it(
        opened.db->NewIterator(rocksdb::ReadOptions(), opened.handles[family]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      ++*found;
      const auto key = specimen.ever[family].find(it->key().ToString());
      if (key == specimen.ever[family].end()) continue;  // merged
      if (key->second.count(it->value().ToString()) == 0) {
        return "after repair a value that was never written, of " + Show(it->key().ToString());
      }
    }
    if (!it->status().ok()) return std::nullopt;  // damage inside a block is found by reading
  }
  return std::nullopt;
}

void PutFiles(rocksdb::Env* env, const std::string& path, const Files& files) {
  Must(env->CreateDirIfMissing(path), "mkdir");
  for (const auto& [name, bytes] : files) {
    std::unique_ptr<rocksdb::WritableFile> file;
    Must(env->NewWritableFile(path + "/" + name, &file, rocksdb::EnvOptions()), "create");
    Must(file->Append(bytes), "fill");
    Must(file->Close(), "close");
  }
}

void RemoveAll(rocksdb::Env* env, const std::string& path) {
  std::vector<std::string> names;
  env->GetChildren(path, &names).PermitUncheckedError();
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    if (!env->DeleteFile(path + "/" + name).ok()) RemoveAll(env, path + "/" + name);
  }
  env->DeleteDir(path).PermitUncheckedError();
}

Examination ExamineAt(rocksdb::Env* env, const std::string& path, const Specimen& specimen,
                      const Treatment& treatment) {
  Examination result;
  Opened opened;
  OpenSpecimen(SpecimenOptions(env, treatment.mode), path, specimen.layout, treatment.read_only, &opened);
  if (!opened.status.ok()) {
    result.verdict = Verdict::kOpenError;
    result.open = opened.status;
    return result;
  }
  bool errors = false;
  bool tail_lost = false;
  const bool compact = treatment.compact && !treatment.read_only;
  for (int round = 0; round < (compact ? 2 : 1); round++) {
    Reader reader(opened, specimen);
    if (!reader.ReadEverything()) {
      result.wrong = reader.wrong() + (round == 1 ? " (after compaction)" : "");
      return result;
    }
    errors |= reader.errors();
    tail_lost |= reader.tail_lost();
    if (round == 1 || !compact) break;
    for (auto* family : opened.handles) {
      rocksdb::CompactRangeOptions options;
      options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      errors |= !opened.db->CompactRange(options, family, nullptr, nullptr).ok();
    }
  }
  result.verdict = errors      ? Verdict::kReadError
                   : tail_lost ? Verdict::kLogTailLost
                               : Verdict::kExact;
  return result;
}

// A refused database can be repaired; with its manifest's mirror to the last key, if that was it.
void RepairAt(rocksdb::Env* env, const std::string& path, const Specimen& specimen, bool exactly,
              Examination* result) {
  const rocksdb::DBOptions options =
      SpecimenOptions(env, rocksdb::WALRecoveryMode::kPointInTimeRecovery);
  Status s = rocksdb::RepairDB(path, options, SpecimenFamilies(specimen.layout));
  if (!s.ok()) {
    result->wrong = "refused: " + result->open.ToString() + "; and repair fails: " + s.ToString();
    return;
  }
  Opened opened;
  OpenSpecimen(options, path, specimen.layout, false, &opened);
  size_t found = 0;
  if (!opened.status.ok()) {
    result->wrong = "does not open after repair: " + opened.status.ToString();
  } else if (exactly) {
    Reader reader(opened, specimen);
    if (!reader.ReadEverything()) result->wrong = "after repair: " + reader.wrong();
    if (reader.errors() || reader.tail_lost()) result->wrong = "repair did not find everything";
  } else {
    result->wrong = CheckRepaired(opened, specimen, &found);
  }
  result->repaired = !result->wrong;
}

}  // namespace

Laboratory::Laboratory() = default;
Laboratory::~Laboratory() = default;

Examination Laboratory::Examine(const Specimen& specimen, const Files& files,
                                const Treatment& treatment) {
  // It keeps a journal of what was not synced: a new one now and then.
  constexpr uint64_t kCasesPerEnv = 16;
  if (count_ % kCasesPerEnv == 0) env_.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  const std::string path = "/case" + std::to_string(++count_);
  PutFiles(env_.get(), path, files);
  Examination result = ExamineAt(env_.get(), path, specimen, treatment);
  if (result.verdict == Verdict::kOpenError && treatment.repair && !result.wrong) {
    RepairAt(env_.get(), path, specimen, treatment.repair_exactly, &result);
  }
  RemoveAll(env_.get(), path);
  return result;
}

}  // namespace compassdb_test
