// SPDX-License-Identifier: Apache-2.0
#include "env/sim/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <new>

#include "env/clock.h"
#include "env/posix_error.h"
#include "env/sim/memory_file.h"
#include "env/sim/memory_open_files.h"

namespace compassdb {

// A file or a directory. Names are the directory's; a file may have several.
struct MemoryFileSystem::Node {
  explicit Node(bool is_dir)
      : directory(is_dir), file(SystemClock()->NowMicros() / 1000000) {}
  const bool directory;
  MemoryFile file;                           // not for directories
  uint64_t links = 0;                        // visible names
  std::map<std::string, NodePtr> children;  // visible; of directories
  std::map<std::string, NodePtr> durable;   // what a cut finds
};

// One atomic change of names; a rename has two parts.
struct MemoryFileSystem::Change {
  struct Part {
    NodePtr dir;
    std::string name;
    NodePtr node;  // null: the name is removed
  };
  std::vector<Part> parts;
  bool Touches(const Node* dir) const {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Part& p) { return p.dir.get() == dir; });
  }
};

class MemoryFileSystem::Lock : public FileLock {
 public:
  Lock(MemoryFileSystem* fs, NodePtr node) : fs_(fs), node_(std::move(node)) {}
  ~Lock() override {
    MutexLock l(&fs_->mu_);
    const auto it = fs_->locked_.find(node_.get());
    if (it != fs_->locked_.end() && it->second == epoch_) fs_->locked_.erase(it);
  }

 private:
  friend class MemoryFileSystem;
  MemoryFileSystem* const fs_;
  const NodePtr node_;
  const uint64_t epoch_ = fs_->power_.epoch();
};

namespace {

std::vector<std::string> SplitPath(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part == ".." && !parts.empty()) {
      parts.pop_back();
    } else if (!part.empty() && part != "." && part != "..") {
      parts.push_back(part);
    }
    begin = end + 1;
  }
  return parts;
}

}  // namespace

MemoryFileSystem::MemoryFileSystem() : root_(std::make_shared<Node>(true)) {}
MemoryFileSystem::~MemoryFileSystem() {
  // A node's maps may hold long chains of nodes; nothing refers upwards.
}

Status MemoryFileSystem::CheckPowered(const char* operation, const std::string& path) const {
  if (!IsDown()) return Status::OK();
  return Status::IOError("While " + std::string(operation) + ": " + path, "the power is off");
}

MemoryFileSystem::NodePtr MemoryFileSystem::Find(const std::vector<std::string>& parts) const {
  NodePtr node = root_;
  for (const std::string& part : parts) {
    if (!node->directory) return nullptr;
    const auto it = node->children.find(part);
    if (it == node->children.end()) return nullptr;
    node = it->second;
  }
  return node;
}

Status MemoryFileSystem::FindFile(const char* operation, const std::string& path, NodePtr* node) {
  Status s = CheckPowered(operation, path);
  if (!s.ok()) return s;
  *node = Find(SplitPath(path));
  if (*node == nullptr) return PosixError(operation, path, ENOENT);
  if ((*node)->directory) return PosixError(operation, path, EISDIR);
  return s;
}

Status MemoryFileSystem::FindParent(const char* operation, const std::string& path, NodePtr* dir,
                                    std::string* name) {
  Status s = CheckPowered(operation, path);
  if (!s.ok()) return s;
  std::vector<std::string> parts = SplitPath(path);
  if (parts.empty()) return PosixError(operation, path, EINVAL);
  *name = parts.back();
  parts.pop_back();
  *dir = Find(parts);
  if (*dir == nullptr) return PosixError(operation, path, ENOENT);
  if (!(*dir)->directory) return PosixError(operation, path, ENOTDIR);
  return s;
}

void MemoryFileSystem::SetEntry(const NodePtr& dir, const std::string& name,
                                const NodePtr& node) {
  NodePtr& slot = dir->children[name];
  if (slot != nullptr) --slot->links;
  if (node != nullptr) {
    ++node->links;
    slot = node;
  } else {
    dir->children.erase(name);
  }
}

void MemoryFileSystem::ApplyDurably(const Change& change) {
  for (const Change::Part& part : change.parts) {
    if (part.node != nullptr) {
      part.dir->durable[part.name] = part.node;
    } else {
      part.dir->durable.erase(part.name);
    }
  }
}

Status MemoryFileSystem::NewSequentialFile(const std::string& path,
                                           std::unique_ptr<SequentialFile>* file) {
  MutexLock l(&mu_);
  NodePtr node;
  Status s = FindFile("open a file for sequential read", path, &node);
  if (s.ok()) {
    *file = NewMemorySequentialFile(&power_, path, FileOf(node));
  }
  return s;
}

Status MemoryFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions&,
                                             std::unique_ptr<RandomAccessFile>* file) {
  MutexLock l(&mu_);
  NodePtr node;
  Status s = FindFile("open a file for random read", path, &node);
  if (s.ok()) {
    *file = NewMemoryRandomAccessFile(&power_, path, FileOf(node));
  }
  return s;
}

std::shared_ptr<MemoryFile> MemoryFileSystem::FileOf(const NodePtr& node) {
  return std::shared_ptr<MemoryFile>(node, &node->file);
}

Status MemoryFileSystem::FindOrCreateFile(const char* operation, const std::string& path,
                                          NodePtr* node) {
  NodePtr dir;
  std::string name;
  Status s = FindParent(operation, path, &dir, &name);
  if (!s.ok()) return s;
  const auto it = dir->children.find(name);
  if (it != dir->children.end()) {
    *node = it->second;
    return (*node)->directory ? PosixError(operation, path, EISDIR) : s;
  }
  *node = std::make_shared<Node>(false);
  SetEntry(dir, name, *node);
  journal_.push_back({{{dir, name, *node}}});
  return s;
}

Status MemoryFileSystem::NewWritableFile(const std::string& path, const FileOptions&,
                                         std::unique_ptr<WritableFile>* file) {
  MutexLock l(&mu_);
  NodePtr node;
  Status s = FindOrCreateFile("open a file for appending", path, &node);
  if (!s.ok()) return s;
  node->file.Truncate(0);
  *file = NewMemoryWritableFile(&power_, path, FileOf(node));
  return s;
}
Status MemoryFileSystem::ReopenWritableFile(const std::string& path, const FileOptions&,
                                            std::unique_ptr<WritableFile>* file) {
  MutexLock l(&mu_);
  NodePtr node;
  Status s = FindOrCreateFile("open a file for appending", path, &node);
  if (s.ok()) *file = NewMemoryWritableFile(&power_, path, FileOf(node));
  return s;
}

Status MemoryFileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                           const FileOptions&,
                                           std::unique_ptr<WritableFile>* file) {
  Status s = RenameFile(old_path, path);
  MutexLock l(&mu_);
  NodePtr node;
  if (s.ok()) s = FindFile("open a file for writing over it", path, &node);
  if (s.ok()) *file = NewMemoryReusedFile(&power_, path, FileOf(node));
  return s;
}

Status MemoryFileSystem::NewPageFile(const std::string& path, const FileOptions& options,
                                     bool create, std::unique_ptr<PageFile>* file) {
  MutexLock l(&mu_);
  const char* const operation = "open a file for writing in place";
  NodePtr node;
  Status s = create ? FindOrCreateFile(operation, path, &node) : FindFile(operation, path, &node);
  if (!s.ok()) return s;
  if (create) node->file.Truncate(0);
  *file = NewMemoryPageFile(&power_, path, options, FileOf(node));
  return s;
}

Status MemoryFileSystem::FileExists(const std::string& path) {
  MutexLock l(&mu_);
  Status s = CheckPowered("access", path);
  if (!s.ok()) return s;
  return Find(SplitPath(path)) ? Status::OK() : Status::NotFound("While access: " + path);
}

Status MemoryFileSystem::GetFileSize(const std::string& path, uint64_t* size) {
  MutexLock l(&mu_);
  NodePtr node;
  *size = 0;
  Status s = FindFile("stat a file for size", path, &node);
  if (s.ok()) *size = node->file.Size();
  return s;
}

Status MemoryFileSystem::GetModificationTime(const std::string& path, uint64_t* seconds) {
  MutexLock l(&mu_);
  *seconds = 0;
  Status s = CheckPowered("stat a file for modification time", path);
  if (!s.ok()) return s;
  const NodePtr node = Find(SplitPath(path));
  if (node == nullptr) return PosixError("stat a file for modification time", path, ENOENT);
  *seconds = node->file.mtime();
  return s;
}

Status MemoryFileSystem::GetLinkCount(const std::string& path, uint64_t* count) {
  MutexLock l(&mu_);
  NodePtr node;
  *count = 0;
  Status s = FindFile("stat a file for link count", path, &node);
  if (s.ok()) *count = node->links;
  return s;
}

Status MemoryFileSystem::GetChildren(const std::string& dir, std::vector<std::string>* names) {
  MutexLock l(&mu_);
  names->clear();
  Status s = CheckPowered("opendir", dir);
  if (!s.ok()) return s;
  const NodePtr node = Find(SplitPath(dir));
  if (node == nullptr) return PosixError("opendir", dir, ENOENT);
  if (!node->directory) return PosixError("opendir", dir, ENOTDIR);
  for (const auto& [name, child] : node->children) names->push_back(name);
  return s;
}

Status MemoryFileSystem::CreateDir(const std::string& dir) {
  MutexLock l(&mu_);
  Status s = CheckPowered("mkdir", dir);
  if (!s.ok()) return s;
  NodePtr node = root_;
  for (const std::string& name : SplitPath(dir)) {
    const auto it = node->children.find(name);
    if (it == node->children.end()) {
      const auto child = std::make_shared<Node>(true);
      SetEntry(node, name, child);
      journal_.push_back({{{node, name, child}}});
      node = child;
    } else if (!it->second->directory) {
      return PosixError("mkdir", dir, ENOTDIR);
    } else {
      node = it->second;
    }
  }
  return s;
}

Status MemoryFileSystem::DeleteDir(const std::string& dir) {
  MutexLock l(&mu_);
  NodePtr parent;
  std::string name;
  Status s = FindParent("rmdir", dir, &parent, &name);
  if (!s.ok()) return s;
  const auto it = parent->children.find(name);
  if (it == parent->children.end()) return PosixError("rmdir", dir, ENOENT);
  if (!it->second->directory) return PosixError("rmdir", dir, ENOTDIR);
  if (!it->second->children.empty()) return PosixError("rmdir", dir, ENOTEMPTY);
  SetEntry(parent, name, nullptr);
  journal_.push_back({{{parent, name, nullptr}}});
  return s;
}

Status MemoryFileSystem::DeleteFile(const std::string& path) {
  MutexLock l(&mu_);
  NodePtr dir, node;
  std::string name;
  Status s = FindFile("unlink", path, &node);
  if (s.ok()) s = FindParent("unlink", path, &dir, &name);
  if (!s.ok()) return s;
  SetEntry(dir, name, nullptr);
  journal_.push_back({{{dir, name, nullptr}}});
  return s;
}

Status MemoryFileSystem::RenameFile(const std::string& from, const std::string& to) {
  MutexLock l(&mu_);
  NodePtr from_dir, to_dir;
  std::string from_name, to_name;
  Status s = FindParent("renaming a file", from, &from_dir, &from_name);
  if (s.ok()) s = FindParent("renaming a file to", to, &to_dir, &to_name);
  if (!s.ok()) return s;
  const auto source = from_dir->children.find(from_name);
  if (source == from_dir->children.end()) {
    return PosixError("renaming a file to " + to, from, ENOENT);
  }
  const NodePtr node = source->second;
  const auto target = to_dir->children.find(to_name);
  if (target != to_dir->children.end()) {
    if (target->second == node) return s;
    if (target->second->directory != node->directory) {
      return PosixError("renaming a file to " + to, from, node->directory ? ENOTDIR : EISDIR);
    }
    if (!target->second->children.empty()) {
      return PosixError("renaming a file to " + to, from, ENOTEMPTY);
    }
  }
  SetEntry(from_dir, from_name, nullptr);
  SetEntry(to_dir, to_name, node);
  journal_.push_back({{{from_dir, from_name, nullptr}, {to_dir, to_name, node}}});
  return s;
}

Status MemoryFileSystem::LinkFile(const std::string& from, const std::string& to) {
  MutexLock l(&mu_);
  NodePtr node, dir;
  std::string name;
  Status s = FindFile("link file", from, &node);
  if (s.ok()) s = FindParent("link file to", to, &dir, &name);
  if (!s.ok()) return s;
  if (dir->children.count(name) != 0) return PosixError("link file to " + to, from, EEXIST);
  SetEntry(dir, name, node);
  journal_.push_back({{{dir, name, node}}});
  return s;
}

Status MemoryFileSystem::CloneFile(const std::string& from, const std::string& to) {
  MutexLock l(&mu_);
  NodePtr source, dir, node;
  std::string name;
  Status s = FindFile("clone file", from, &source);
  if (s.ok()) s = FindParent("clone file to", to, &dir, &name);
  if (!s.ok()) return s;
  if (dir->children.count(name) != 0) return PosixError("clone file to " + to, from, EEXIST);
  s = FindOrCreateFile("clone file to", to, &node);
  if (!s.ok()) return s;
  std::string data(source->file.Size(), '\0');
  data.resize(source->file.Read(0, data.size(), data.data()));
  node->file.Append(data, SystemClock()->NowMicros() / 1000000);
  return s;
}

Status MemoryFileSystem::TruncateFile(const std::string& path, uint64_t size) {
  MutexLock l(&mu_);
  NodePtr node;
  Status s = FindFile("truncate", path, &node);
  if (s.ok()) node->file.Truncate(size);
  return s;
}

Status MemoryFileSystem::PunchHole(const std::string& path, uint64_t offset, uint64_t length) {
  MutexLock l(&mu_);
  NodePtr node;
  Status s = FindFile("punch a hole", path, &node);
  if (s.ok()) node->file.PunchHole(offset, length);
  return s;
}

Status MemoryFileSystem::SyncDir(const std::string& dir) {
  MutexLock l(&mu_);
  Status s = CheckPowered("fsync directory", dir);
  if (!s.ok()) return s;
  const NodePtr node = Find(SplitPath(dir));
  if (node == nullptr || !node->directory) return PosixError("fsync directory", dir, ENOENT);
  // Renames between directories tie the directories together.
  std::vector<const Node*> dirs = {node.get()};
  for (size_t known = 0; known != dirs.size();) {
    known = dirs.size();
    for (const Change& change : journal_) {
      const auto touches = [&](const Node* d) { return change.Touches(d); };
      if (!std::any_of(dirs.begin(), dirs.end(), touches)) continue;
      for (const Change::Part& part : change.parts) {
        if (std::find(dirs.begin(), dirs.end(), part.dir.get()) == dirs.end()) {
          dirs.push_back(part.dir.get());
        }
      }
    }
  }
  for (auto it = journal_.begin(); it != journal_.end();) {
    const auto touches = [&](const Node* d) { return it->Touches(d); };
    if (std::any_of(dirs.begin(), dirs.end(), touches)) {
      ApplyDurably(*it);
      it = journal_.erase(it);
    } else {
      ++it;
    }
  }
  return s;
}

Status MemoryFileSystem::GetFreeSpace(const std::string& path, uint64_t* bytes) {
  *bytes = uint64_t{1} << 40;
  return CheckPowered("statvfs", path);
}

Status MemoryFileSystem::LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) {
  lock->reset();
  std::unique_ptr<WritableFile> file;
  Status s = ReopenWritableFile(path, FileOptions(), &file);
  if (!s.ok()) return s;
  MutexLock l(&mu_);
  NodePtr node;
  s = FindFile("lock file", path, &node);
  if (!s.ok()) return s;
  if (!locked_.emplace(node.get(), power_.epoch()).second) {
    return Status::IOError("lock hold by current process: " + path, "No locks available");
  }
  try {
    *lock = std::make_unique<Lock>(this, node);
  } catch (const std::bad_alloc&) {
    locked_.erase(node.get());
    return Status::MemoryLimit();
  }
  return s;
}

Status MemoryFileSystem::GetAbsolutePath(const std::string& path, std::string* absolute) {
  *absolute = !path.empty() && path[0] == '/' ? path : "/" + path;
  return Status::OK();
}

uint64_t MemoryFileSystem::AllocatedBytes() const {
  MutexLock l(&mu_);
  uint64_t bytes = 0;
  std::vector<const Node*> todo = {root_.get()};
  std::vector<const Node*> files;
  while (!todo.empty()) {
    const Node* dir = todo.back();
    todo.pop_back();
    for (const auto& [name, child] : dir->children) {
      (child->directory ? todo : files).push_back(child.get());
    }
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  for (const Node* file : files) bytes += file->file.AllocatedBytes();
  return bytes;
}

void MemoryFileSystem::CutFile(Node* node, Random* random, CutMode mode) {
  using Survives = MemoryFile::Survives;
  Survives survives = Survives::kDurable;
  switch (mode) {
    case CutMode::kDropUnsynced: survives = Survives::kDurable; break;
    case CutMode::kKeepUnsynced: survives = Survives::kAll; break;
    case CutMode::kTornBytes: survives = Survives::kBytes; break;
    case CutMode::kTornPages: survives = Survives::kPages; break;
    case CutMode::kRandom: survives = static_cast<Survives>(random->Uniform(4)); break;
  }
  node->file.Cut(survives, atomic_bytes_.load(), random);
}

// Makes the durable names of the tree the visible ones, each file cut once.
void MemoryFileSystem::CutTree(Node* dir, Random* random, CutMode mode,
                               std::vector<const Node*>* seen) {
  dir->children = dir->durable;
  for (auto& [name, child] : dir->children) {
    const bool first = std::find(seen->begin(), seen->end(), child.get()) == seen->end();
    if (first) {
      seen->push_back(child.get());
      child->links = 0;
      if (child->directory) {
        CutTree(child.get(), random, mode, seen);
      } else {
        CutFile(child.get(), random, mode);
      }
    }
    ++child->links;
  }
}

void MemoryFileSystem::PowerCut(uint64_t seed, CutMode mode) {
  MutexLock l(&mu_);
  std::unique_lock<std::shared_mutex> power(*power_.mutex());
  down_.store(true, std::memory_order_release);
  power_.Cut();
  Random random(seed);
  size_t keep = 0;
  if (mode == CutMode::kKeepUnsynced) {
    keep = journal_.size();
  } else if (mode != CutMode::kDropUnsynced) {
    keep = random.Uniform(journal_.size() + 1);
  }
  // Without a journal directories reach the disk block by block.
  const bool any_order = mode == CutMode::kRandom && random.OneIn(2);
  for (const Change& change : journal_) {
    if (any_order ? random.OneIn(2) : keep > 0) ApplyDurably(change);
    if (keep > 0) --keep;
  }
  journal_.clear();
  locked_.clear();
  std::vector<const Node*> seen;
  CutTree(root_.get(), &random, mode, &seen);
}

void MemoryFileSystem::Restart() { down_.store(false, std::memory_order_release); }

}  // namespace compassdb
