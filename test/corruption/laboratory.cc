// SPDX-License-Identifier: Apache-2.0
#include "corruption/laboratory.h"

#include "support/history.h"
#include "support/sealed_env.h"
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

  // By the counter; if that cannot be read, the state after all batches.
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

// A database's contents, by family. Scans in both directions and Gets must agree, without errors.
std::optional<std::string> ReadAll(const Opened& opened, const Specimen& specimen, Specimen::State* found) {
  found->assign(kSpecimenFamilies, {});
  for (int family = 0; family < kSpecimenFamilies; family++) {
    auto& entries = (*found)[family];
    std::unique_ptr<rocksdb::Iterator> it(
        opened.db->NewIterator(rocksdb::ReadOptions(), opened.handles[family]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) entries[it->key().ToString()] = it->value().ToString();
    if (!it->status().ok()) return "a scan ends with " + it->status().ToString();
    size_t seen = 0;
    for (it->SeekToLast(); it->Valid(); it->Prev(), seen++) {
      const auto entry = entries.find(it->key().ToString());
      if (entry == entries.end() || entry->second != it->value()) return "scans forward and backward differ";
    }
    if (!it->status().ok()) return "a backward scan ends with " + it->status().ToString();
    if (seen != entries.size()) return "a backward scan shows fewer keys";
    for (const auto& keys : {entries, specimen.states.back()[family]}) {
      for (const auto& [key, unused] : keys) {
        std::string value;
        const Status s = opened.db->Get(rocksdb::ReadOptions(), opened.handles[family], key, &value);
        if (!s.ok() && !s.IsNotFound()) return "Get of " + Show(key) + ": " + s.ToString();
        const auto entry = entries.find(key);
        if (s.ok() != (entry != entries.end()) || (s.ok() && entry->second != value)) {
          return "Get and a scan differ about " + Show(key);
        }
      }
    }
  }
  return std::nullopt;
}

// Values of a key that was not merged must have been written once.
std::optional<std::string> CheckEver(const Specimen& specimen, const Specimen::State& found) {
  for (int family = 0; family < kSpecimenFamilies; family++) {
    for (const auto& [key, value] : found[family]) {
      const auto ever = specimen.ever[family].find(key);
      if (ever != specimen.ever[family].end() && ever->second.count(value) == 0) {
        return "a value that was never written, of " + Show(key);
      }
    }
  }
  return std::nullopt;
}

std::set<std::pair<int, std::string>> Differences(const Specimen::State& found, const Specimen::State& truth) {
  std::set<std::pair<int, std::string>> keys;
  for (int family = 0; family < kSpecimenFamilies; family++) {
    for (const auto& [key, value] : truth[family]) {
      const auto entry = found[family].find(key);
      if (entry == found[family].end() || entry->second != value) keys.insert({family, key});
    }
  }
  return keys;
}

// Opens, which must succeed, and reads everything, with `compact` again after a compaction.
std::optional<std::string> OpenAndRead(const rocksdb::DBOptions& options, const std::string& path, const Specimen& specimen,
                                       bool compact, Specimen::State* found) {
  Opened opened;
  OpenSpecimen(options, path, specimen.kind.layout, false, &opened);
  if (!opened.status.ok()) return "it does not open: " + opened.status.ToString();
  std::optional<std::string> wrong = ReadAll(opened, specimen, found);
  if (!wrong) wrong = CheckEver(specimen, *found);
  if (wrong || !compact) return wrong;
  for (auto* family : opened.handles) {
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    const Status s = opened.db->CompactRange(all, family, nullptr, nullptr);
    if (!s.ok()) return "it does not compact: " + s.ToString();
  }
  Specimen::State compacted;
  wrong = ReadAll(opened, specimen, &compacted);
  if (!wrong && compacted != *found) wrong = "a compaction changes what it shows";
  return wrong;
}

std::optional<std::string> RepairAt(rocksdb::Env* env, const std::string& path, const Specimen& specimen,
                                    bool compact, Specimen::State* found) {
  const rocksdb::DBOptions options = SpecimenOptions(env, rocksdb::WALRecoveryMode::kPointInTimeRecovery, specimen.kind);
  const Status s = rocksdb::RepairDB(path, options, SpecimenFamilies(specimen.kind.layout));
  if (!s.ok()) return "it fails: " + s.ToString();
  return OpenAndRead(options, path, specimen, compact, found);
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
  OpenSpecimen(SpecimenOptions(env, treatment.mode, specimen.kind), path, specimen.kind.layout, treatment.read_only, &opened);
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

}  // namespace

Laboratory::Laboratory() = default;
Laboratory::~Laboratory() = default;

std::string Laboratory::NewPath() {
  // It keeps a journal of unsynced data: use a new one now and then.
  constexpr uint64_t kPathsPerEnv = 16;
  if (count_ % kPathsPerEnv == 0) {
    sealed_.reset();
    env_.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
    sealed_ = SealedEnvOver(env_.get());
  }
  return "/case" + std::to_string(++count_);
}

std::optional<std::string> Laboratory::KeysOfFile(const Specimen& specimen, const std::string& file,
                                                  const Keys** keys) {
  const auto [at, first] = keys_of_files_.try_emplace({&specimen, file});
  *keys = &at->second;
  if (!first) return std::nullopt;
  Files files = specimen.files;
  std::erase_if(files, [&file](const auto& entry) { return entry.first == file; });
  const std::string path = NewPath();
  PutFiles(env_.get(), path, files);
  Specimen::State found;
  std::optional<std::string> wrong = RepairAt(EnvOf(specimen), path, specimen, false, &found);
  RemoveAll(env_.get(), path);
  if (wrong) return "with " + file + " removed " + *wrong;
  at->second = Differences(found, specimen.states.back());
  return wrong;
}

std::optional<std::string> Laboratory::Recover(const Specimen& specimen, const Files& files, const Treatment& treatment,
                                               Way way) {
  const Keys* may_differ = nullptr;
  std::optional<std::string> wrong = KeysOfFile(specimen, treatment.damaged, &may_differ);
  if (wrong) return wrong;
  const std::string path = NewPath();
  PutFiles(env_.get(), path, files);
  Specimen::State found;
  rocksdb::Env* const env = EnvOf(specimen);
  wrong = way == Way::kRepair ? RepairAt(env, path, specimen, treatment.compact, &found)
                              : OpenAndRead(SpecimenOptions(env, rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords, specimen.kind),
                                            path, specimen, treatment.compact, &found);
  RemoveAll(env_.get(), path);
  if (wrong) return wrong;
  if (treatment.repair_exactly && found != specimen.states.back()) return "not everything exists";
  const Keys different = Differences(found, specimen.states.back());
  for (const auto& key : different) {
    if (may_differ->count(key) == 0) return "key " + Show(key.second) + " is lost, which was not in that file";
  }
  if (different.size() > treatment.most_lost) return std::to_string(different.size()) + " keys are lost";
  return wrong;
}

Examination Laboratory::Examine(const Specimen& specimen, const Files& files,
                                const Treatment& treatment) {
  const std::string path = NewPath();
  PutFiles(env_.get(), path, files);
  Examination result = ExamineAt(EnvOf(specimen), path, specimen, treatment);
  RemoveAll(env_.get(), path);
  const bool fails = result.verdict == Verdict::kOpenError || result.verdict == Verdict::kReadError;
  if (fails && treatment.repair && !result.wrong) {
    result.wrong = Recover(specimen, files, treatment, Way::kRepair);
    if (result.wrong) result.wrong = "after repair (" + result.open.ToString() + "): " + *result.wrong;
    result.repaired = !result.wrong;
  }
  if (treatment.skip && !result.wrong) {
    result.wrong = Recover(specimen, files, treatment, Way::kSkip);
    if (result.wrong) result.wrong = "with kSkipAnyCorruptedRecords: " + *result.wrong;
    result.skipped = !result.wrong;
  }
  return result;
}

}  // namespace compassdb_test
