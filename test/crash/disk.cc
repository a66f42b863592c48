// SPDX-License-Identifier: Apache-2.0
#include "crash/disk.h"

#include <algorithm>
#include <cstdlib>

#include "support/sealed_env.h"

namespace compassdb_test {

using compassdb::FaultOp;

// Adds one canary that rules on names cannot state: directory syncs left out.
class Disk::FileSystem : public compassdb::FaultInjectionFileSystem {
 public:
  rocksdb::Status SyncDir(const std::string& dir) override {
    if (!leave_out_directories_) return FaultInjectionFileSystem::SyncDir(dir);
    return Before(FaultOp::kDirSync, dir);
  }
  std::atomic<bool> leave_out_directories_ = false;
};

namespace {

constexpr uint64_t kLeastHole = 4096;  // tables are that small

bool IsChange(FaultOp op) {
  switch (op) {
    case FaultOp::kCreate:
    case FaultOp::kWrite:
    case FaultOp::kSync:
    case FaultOp::kDirSync:
    case FaultOp::kRename:
    case FaultOp::kLink:
    case FaultOp::kClone:
    case FaultOp::kDelete:
    case FaultOp::kTruncate:
    case FaultOp::kPunch:
    case FaultOp::kCreateDir: return true;
    default: return false;
  }
}

bool IsInfoLog(const std::string& path) {
  size_t slash = path.rfind('/');
  return path.compare(slash == std::string::npos ? 0 : slash + 1, 3, "LOG") == 0;
}


bool IsWal(const std::string& path) {
  return path.size() > 4 && path.compare(path.size() - 4, 4, ".log") == 0;
}

bool IsPages(const std::string& path) {
  return path.size() > 6 && path.compare(path.size() - 6, 6, ".pages") == 0;
}

}  // namespace

Disk::Disk(bool sealed)
    : fs_(std::make_shared<FileSystem>()), env_(MakeEnvOver(fs_)), sealed_(sealed ? SealedEnvOver(env_.get()) : nullptr) {
  fs_->memory()->SetLeastHole(kLeastHole);
  fs_->SetHook([this](FaultOp op, const std::string& path) { OnOperation(op, path); });
}

void Disk::SetAtomicWrites(uint64_t bytes) { fs_->memory()->SetAtomicWrites(bytes); }

void Disk::OnOperation(FaultOp op, const std::string& path) {
  if (!IsChange(op) || IsInfoLog(path)) return;
  if (IsDown()) {
    if (op == FaultOp::kWrite && IsWal(path)) NoteLateAppend(path);
    return;
  }
  if (op == FaultOp::kWrite && IsWal(path)) NoteAppend(path);
  if (IsWal(path)) NoteReuse(op, path);
  const uint64_t changes = ++changes_;
  const uint64_t of_pages = IsPages(path) ? ++page_changes_ : 0;
  const uint64_t of_punches = op == FaultOp::kPunch ? ++punches_of_life_ : 0;
  const uint64_t counted = cut_.at_pages ? of_pages : cut_.at_punches ? of_punches : changes;
  bool cut = counted == cut_at_change_ && cut_at_change_ != 0;
  if (op == FaultOp::kSync || op == FaultOp::kDirSync) cut |= ++syncs_ == cut_at_sync_;
  if (op == FaultOp::kPunch) (cut ? cuts_at_punches_ : punches_)++;
  if (!cut) return;
  {
    std::lock_guard<std::mutex> lock(cut_mutex_);
    cut_at_ = std::string(compassdb::FaultOpName(op)) + " " + path;
  }
  CutNow();
}

void Disk::CutNow() {
  // The life may end just as another thread meets the cut: logs are noted once, with the disk still there.
  std::lock_guard<std::mutex> lock(down_mutex_);
  if (IsDown()) return;
  NoteLogs();
  if (!cut_.kill) {
    fs_->PowerCut(seed_, cut_.mode);
    return;
  }
  killed_ = true;
  for (int op = 0; op < static_cast<int>(FaultOp::kNumOps); op++) {
    fs_->FailAll(static_cast<FaultOp>(op), "", rocksdb::Status::IOError("the process is dead"));
  }
}

void Disk::NoteAppend(const std::string& path) {
  uint64_t size = 0;
  if (!fs_->memory()->GetFileSize(path, &size).ok()) return;
  std::lock_guard<std::mutex> lock(cut_mutex_);
  if (logs_[path].recycled && !logs_[path].over) return;
  if (size == 0) logs_.erase(path);  // one that was lost may have had the same number
  logs_[path].ends.insert(size);
}

// By another thread while the process is killed: half of a new log may be written.
void Disk::NoteLateAppend(const std::string& path) {
  const std::string bytes = ReadFile(path);
  std::lock_guard<std::mutex> lock(cut_mutex_);
  const auto [log, made] = logs_.try_emplace(path);
  if (!made) return;
  log->second.ends.insert(bytes.size());
  log->second.bytes = bytes;
  log->second.over = true;
}

// A log is renamed only for another one to be written over it.
void Disk::NoteReuse(FaultOp op, const std::string& path) {
  std::lock_guard<std::mutex> lock(cut_mutex_);
  // Other threads may delete logs between the two.
  const std::thread::id me = std::this_thread::get_id();
  if (renamed_by_ == me && op == FaultOp::kCreate) {
    logs_.erase(path);
    logs_[path].recycled = true;
  }
  if (op == FaultOp::kRename) {
    renamed_by_ = me;
  } else if (renamed_by_ == me) {
    renamed_by_ = std::thread::id();
  }
}

std::string Disk::ReadFile(const std::string& path) {
  std::string bytes;
  rocksdb::Status s = compassdb::ReadFileToString(fs_->memory(), path, &bytes);
  if (!s.ok()) bytes.clear();
  return bytes;
}

void Disk::NoteLogs() {
  std::lock_guard<std::mutex> lock(cut_mutex_);
  for (auto it = logs_.begin(); it != logs_.end();) {
    Log& log = it->second;
    if (!fs_->memory()->FileExists(it->first).ok()) {
      it = logs_.erase(it);
      continue;
    }
    if (!log.over) log.bytes = ReadFile(it->first);
    log.over = true;
    ++it;
  }
}

// With less than a header, zeros for it, or the one with which it was created in advance.
bool Disk::IsEmptySealed(const std::string& path, const std::string& bytes) {
  if (bytes.size() < kSealedHeader || bytes.find_first_not_of('\0') == std::string::npos) return true;
  std::string plain;
  return rocksdb::ReadFileToString(sealed_.get(), path, &plain).ok() && plain.empty();
}

LogDamage Disk::Logs(const std::string& dir) {
  LogDamage damage;
  const uint64_t first = FirstNeededLog(env(), dir);
  std::lock_guard<std::mutex> lock(cut_mutex_);
  for (const auto& [path, log] : logs_) {  // by number: those have the same length
    const uint64_t number = strtoull(path.c_str() + path.rfind('/') + 1, nullptr, 10);
    // One that is not over was begun by another thread during the cut: of that nothing is known.
    if (number < first) continue;
    damage.any |= damage.newest_torn;
    damage.newest_torn = false;
    // Lost with its name: earlier ones may have been abandoned for it.
    if (!fs_->memory()->FileExists(path).ok()) continue;
    const std::string bytes = ReadFile(path);
    const bool known = bytes.size() <= log.bytes.size();  // else appended to during the cut
    const bool empty = sealed_ != nullptr && bytes.size() <= kSealedHeader && IsEmptySealed(path, bytes);
    const bool at_end = empty || bytes.size() == log.bytes.size() || log.ends.count(bytes.size()) != 0;
    const bool same = empty || (known && log.bytes.compare(0, bytes.size(), bytes) == 0);
    damage.newest = path;
    if (log.recycled) {
      damage.any |= bytes != log.bytes;
      continue;
    }
    damage.newest_torn = known && !(at_end && same);
    damage.any |= !at_end || !same || bytes.size() < log.bytes.size();
  }
  return damage;
}

void Disk::Walk(const std::string& dir, std::vector<std::string>* files) {
  std::vector<std::string> names;
  if (!fs_->memory()->GetChildren(dir, &names).ok()) return;
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = dir + (dir == "/" ? "" : "/") + name;
    std::vector<std::string> children;
    if (fs_->memory()->GetChildren(path, &children).ok()) {
      Walk(path, files);
    } else if (!IsInfoLog(path)) {
      files->push_back(path);
    }
  }
}

uint64_t Disk::Fingerprint() {
  constexpr size_t kPage = 4096;
  std::vector<std::string> files;
  Walk("/", &files);
  std::string all;
  for (const std::string& path : files) {
    const std::string bytes = ReadFile(path);
    size_t zeros = 0;
    for (size_t at = 0; at < bytes.size(); at += kPage) {
      const size_t end = std::min(bytes.size(), at + kPage);
      zeros += bytes.find_first_not_of('\0', at) >= end ? 1 : 0;
    }
    all += path + ":" + std::to_string(bytes.size()) + ":" + std::to_string(zeros) + "\n";
  }
  return std::hash<std::string>()(all);
}

std::string Disk::Listing() {
  std::vector<std::string> files;
  Walk("/", &files);
  std::string all;
  for (const std::string& path : files) all += "\n  " + path + ": " + std::to_string(ReadFile(path).size()) + " bytes";
  return all;
}

void Disk::Arm(uint64_t cut_at_change, uint64_t cut_at_sync, uint64_t seed, const Cut& cut) {
  cut_at_change_ = 0;
  cut_at_sync_ = 0;
  changes_ = page_changes_ = punches_of_life_ = 0;
  syncs_ = 0;
  seed_ = seed;
  cut_ = cut;
  {
    std::lock_guard<std::mutex> lock(cut_mutex_);
    cut_at_ = "between operations";
  }
  cut_at_change_ = cut_at_change;
  cut_at_sync_ = cut_at_sync;
}

void Disk::MakeDirectory(const std::string& path) {
  rocksdb::Status s = fs_->CreateDir(path);
  for (size_t at = path.rfind('/'); s.ok() && at != 0 && at != std::string::npos;
       at = path.rfind('/', at - 1)) {
    s = fs_->SyncDir(path.substr(0, at));
  }
  if (s.ok()) s = fs_->SyncDir("/");
  if (!s.ok()) abort();
}

bool Disk::IsDown() const { return killed_ || fs_->IsDown(); }

void Disk::Restart() {
  // (Numbers of files that were never created are used again.)
  if (killed_ || left_out_ == SyncKind::kValues) {
    fs_->ClearFaults();
    LeaveOut(left_out_);
    killed_ = false;
  }
  fs_->Restart();
}

std::string Disk::cut_at() const {
  std::lock_guard<std::mutex> lock(cut_mutex_);
  return cut_at_;
}

void Disk::LeaveOutFile(const std::string& path) { fs_->IgnoreSync(path); }

void Disk::LeaveOut(SyncKind kind) {
  left_out_ = kind;
  switch (kind) {
    case SyncKind::kNone: break;
    case SyncKind::kWal: fs_->IgnoreSync(".log"); break;
    case SyncKind::kManifest: fs_->IgnoreSync("MANIFEST"); break;
    case SyncKind::kTable: fs_->IgnoreSync(TableFileSuffix()); break;
    case SyncKind::kValues: break;  // LeaveOutFile
    case SyncKind::kCurrent:
      fs_->IgnoreSync("CURRENT");
      fs_->IgnoreSync(".dbtmp");
      break;
    case SyncKind::kDirectory: fs_->leave_out_directories_ = true; break;
    case SyncKind::kPages: fs_->IgnoreSync(".pages"); break;
  }
}

}  // namespace compassdb_test
