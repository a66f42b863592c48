// SPDX-License-Identifier: Apache-2.0
// A checkpoint is built in PLACE.tmp, synced, and renamed: there is never half of one. It is marked
// as unfinished until the end, so that the next attempt can distinguish the leftovers of an earlier
// one from a user's directory. Compaction files are linked: neither database punches a file with two
// names (docs/design/space.md), so each may compact on its own.
#include "rocksdb/utilities/checkpoint.h"

#include <memory>

#include "copies/file_copy.h"
#include "copies/live_copy.h"
#include "db/extended_db.h"
#include "env/missing.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "manifest/unfinished.h"
#include "util/process.h"

namespace compassdb {
namespace {

constexpr char kWork[] = "checkpoint";

// The mark is deleted last, so that a failed removal can be repeated.
Status RemoveDir(FileSystem* fs, const std::string& dir) {
  std::vector<std::string> names;
  Status s = fs->GetChildren(dir, &names);
  for (const std::string& name : names) {
    if (s.ok() && name != kUnfinishedFileName) s = fs->DeleteFile(JoinPath(dir, name));
  }
  if (s.ok()) s = UnmarkUnfinished(fs, dir);
  return s.ok() ? fs->DeleteDir(dir) : s;
}

// Removes what an earlier attempt left, if any. InvalidArgument with `exists` if the directory is something else.
Status RemoveLeftover(FileSystem* fs, const std::string& dir, const std::string& exists) {
  Status s = fs->FileExists(dir);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  std::string what;
  if (s = ReadUnfinished(fs, dir, &what); !s.ok()) return s;
  if (what == kWork) return RemoveDir(fs, dir);
  return Status::InvalidArgument(exists);
}

// The same for the directory where it was built: a killed process may not have marked it.
Status RemoveStaging(FileSystem* fs, const std::string& dir) {
  std::vector<std::string> names;
  if (!fs->GetChildren(dir, &names).ok()) names.clear();  // the error appears below
  // It may be the mark under its temporary name.
  const bool unmarked = names.empty() || (names.size() == 1 && names[0].rfind(kUnfinishedFileName, 0) == 0);
  if (unmarked && fs->FileExists(dir).ok()) return RemoveDir(fs, dir);
  return RemoveLeftover(fs, dir, dir + " exists, and is not what a checkpoint left: delete it, or choose another name");
}

// Fills `dir`, which exists.
Status FillDir(rocksdb::DB* db, FileSystem* fs, const std::string& dir, uint64_t wal_size_for_flush) {
  Status s = WithLiveFiles(db, wal_size_for_flush, [&](const auto& files) {
    bool links = true;
    for (const rocksdb::LiveFileStorageInfo& file : files) {
      const std::string to = JoinPath(dir, file.relative_filename);
      if (file.file_type == rocksdb::kTableFile && links) {
        Status linked = fs->LinkFile(PathOf(file), to);
        if (linked.ok()) continue;
        if (!linked.IsNotSupported()) return linked;
        links = false;  // another file system: copies instead
      }
      // Written in place, so never linked. If the file system can, blocks are shared until one is written.
      if (file.file_type == rocksdb::kBlobFile) {
        Status cloned = CloneWholeFile(SourceOf(fs, file), fs, to, /*sync=*/true);
        if (cloned.ok()) continue;
        if (!cloned.IsNotSupported()) return cloned;
      }
      CopyResult result;
      Status copied = CopyFile(SourceOf(fs, file), fs, to, CopyControl(), &result);
      if (!copied.ok()) return copied;
    }
    return Status::OK();
  });
  return s.ok() ? fs->SyncDir(dir) : s;
}

class CheckpointImpl final : public rocksdb::Checkpoint {
 public:
  explicit CheckpointImpl(rocksdb::DB* db) : db_(db), fs_(FileSystemOfEnv(db->GetEnv())) {}

  Status CreateCheckpoint(const std::string& checkpoint_dir, uint64_t log_size_for_flush,
                          uint64_t* sequence_number_ptr) override {
    if (process_.Inherited()) return InheritedStatus();
    std::string staging;
    if (Status s = Begin(checkpoint_dir, "Directory exists", &staging); !s.ok()) return s;
    const rocksdb::SequenceNumber sequence = db_->GetLatestSequenceNumber();
    Status s = FillDir(db_, fs_.get(), staging, log_size_for_flush);
    s = End(std::move(s), staging, checkpoint_dir);
    if (s.ok() && sequence_number_ptr != nullptr) *sequence_number_ptr = sequence;
    return s;
  }

  Status ExportColumnFamily(rocksdb::ColumnFamilyHandle* handle, const std::string& export_dir,
                            rocksdb::ExportImportFilesMetaData** metadata) override {
    if (process_.Inherited()) return InheritedStatus();
    auto* const db = ExtendedDB::Of(db_);
    if (db == nullptr) return Status::InvalidArgument("ExportColumnFamily: not a CompassDB database");
    if (handle == nullptr) return Status::InvalidArgument("column family handle cannot be null");
    std::string staging;
    if (Status s = Begin(export_dir, "Specified export_dir exists", &staging); !s.ok()) return s;
    auto result = std::make_unique<rocksdb::ExportImportFilesMetaData>();
    result->db_comparator_name = handle->GetComparator()->Name();
    rocksdb::LiveFileMetaData file;
    bool written = false;
    Status s = db->ExportTable(handle, JoinPath(staging, "000001.sst"), &file, &written);
    if (s.ok()) s = fs_->SyncDir(staging);
    s = End(std::move(s), staging, export_dir);
    if (!s.ok()) return s;
    file.db_path = file.directory = export_dir;
    if (written) result->files.push_back(std::move(file));
    *metadata = result.release();
    return s;
  }

 private:
  // Makes the directory that is renamed at the end.
  Status Begin(const std::string& dir, const char* exists, std::string* staging) {
    Status s = RemoveLeftover(fs_.get(), dir, exists);
    if (!s.ok()) return s;
    const size_t end = dir.find_last_not_of('/');
    if (end == std::string::npos) {
      return Status::InvalidArgument("invalid checkpoint directory name");
    }
    *staging = dir.substr(0, end + 1) + ".tmp";
    if (s = RemoveStaging(fs_.get(), *staging); !s.ok()) return s;
    const std::string parent = ParentOf(*staging);
    if (s = fs_->FileExists(parent); !s.ok()) {
      if (!IsMissing(s)) return s;
      return Status::PathNotFound("While mkdir: " + *staging, "there is no " + parent);
    }
    if (s = fs_->CreateDir(*staging); !s.ok()) return s;
    s = MarkUnfinished(fs_.get(), *staging, kWork);
    if (!s.ok()) RemoveDir(fs_.get(), *staging).PermitUncheckedError();
    return s;
  }
  Status End(Status s, const std::string& staging, const std::string& dir) {
    const std::string place = staging.substr(0, staging.size() - 4);
    if (s.ok()) s = fs_->RenameFile(staging, place);
    if (s.ok()) {
      s = fs_->SyncDir(ParentOf(place));
      return s.ok() ? UnmarkUnfinished(fs_.get(), place) : s;
    }
    RemoveDir(fs_.get(), staging).PermitUncheckedError();  // the first error is what counts
    return s;
  }

  const ProcessMark process_;
  rocksdb::DB* const db_;
  const std::shared_ptr<FileSystem> fs_;
};

}  // namespace
}  // namespace compassdb

namespace rocksdb {

Status Checkpoint::Create(DB* db, Checkpoint** checkpoint_ptr) {
  *checkpoint_ptr = new compassdb::CheckpointImpl(db);
  return Status::OK();
}

Status Checkpoint::CreateCheckpoint(const std::string&, uint64_t, uint64_t*) {
  return Status::NotSupported("CreateCheckpoint");
}

Status Checkpoint::ExportColumnFamily(ColumnFamilyHandle*, const std::string&,
                                      ExportImportFilesMetaData**) {
  return Status::NotSupported("ExportColumnFamily");
}

}  // namespace rocksdb
