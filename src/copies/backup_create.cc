// SPDX-License-Identifier: Apache-2.0
// Creating a backup. The manifest is copied first: it says which bytes of which
// compaction file the backup needs, and so whether an existing copy has them.
// (A file is punched as its pieces die, so two copies of it may differ.)
#include <algorithm>
#include <mutex>

#include "copies/backup_engine_impl.h"
#include "copies/live_copy.h"
#include "db/report/statistics_util.h"
#include "env/missing.h"
#include "env/thread_priority.h"
#include "format/file_names.h"
#include "rocksdb/file_checksum.h"
#include "table/file/compaction_file.h"
#include "util/coding.h"
#include "util/parallel.h"

namespace compassdb {

struct BackupEngineImpl::Creation {
  const rocksdb::CreateBackupOptions* options = nullptr;
  rocksdb::DB* db = nullptr;
  BackupID id = 0;
  BackupMeta meta;
  ExtentsByFile extents;
  std::set<std::string> taken;  // paths of shared files, known ones and new ones
  CopyControl control;
  std::shared_ptr<rocksdb::Statistics> statistics;  // the database's; may be null
};

namespace {

// Counts the bytes of all threads. The callback runs once per interval, in one thread at a time.
std::function<void(uint64_t)> Progress(const rocksdb::CreateBackupOptions& options,
                                       uint64_t interval) {
  if (!options.progress_callback || interval == 0) return nullptr;
  auto copied = std::make_shared<std::atomic<uint64_t>>(0);
  auto calling = std::make_shared<std::mutex>();
  return [copied, calling, interval, callback = options.progress_callback](uint64_t bytes) {
    const uint64_t before = copied->fetch_add(bytes);
    if (before / interval == (before + bytes) / interval) return;
    std::lock_guard<std::mutex> lock(*calling);
    for (uint64_t n = before / interval; n < (before + bytes) / interval; ++n) callback();
  };
}

void LowerPriority(const rocksdb::CreateBackupOptions& options) {
  if (!options.decrease_background_thread_cpu_priority) return;
  // If its priority cannot be lowered, the thread copies nevertheless.
  if (options.background_thread_cpu_priority == rocksdb::CpuPriority::kIdle) {
    LowerThreadPriority(ThreadPriority::kIdle).PermitUncheckedError();
  } else if (options.background_thread_cpu_priority == rocksdb::CpuPriority::kLow) {
    LowerThreadPriority(ThreadPriority::kLow).PermitUncheckedError();
  }
}

// With the database's checksum, if it is of the same function.
Status CompareChecksum(const rocksdb::LiveFileStorageInfo& file, const CopyResult& copied) {
  if (file.file_checksum_func_name != rocksdb::kStandardDbFileChecksumFuncName) return Status::OK();
  std::string known = file.file_checksum;
  std::reverse(known.begin(), known.end());  // the most significant byte is first
  if (known.size() == 4 && DecodeFixed32(known.data()) == copied.crc32c) return Status::OK();
  return Status::Corruption(PathOf(file), "checksum mismatch, expecting " +
                                              Slice(file.file_checksum).ToString(/*hex=*/true));
}

constexpr size_t kMaxAppMetadata = 1 << 20;  // as in RocksDB

std::string Hex(uint64_t value) {
  char text[17];
  snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

IOStatus BackupEngineImpl::CreateNewBackupWithMetadata(const rocksdb::CreateBackupOptions& options,
                                                       rocksdb::DB* db,
                                                       const std::string& app_metadata,
                                                       BackupID* new_id) {
  if (process_.Inherited()) return status_to_io_status(InheritedStatus());
  if (app_metadata.size() > kMaxAppMetadata) return IOStatus::InvalidArgument("App metadata too large");
  std::unique_lock<std::shared_mutex> alone(mu_);
  Creation creation;
  creation.options = &options;
  creation.db = db;
  creation.statistics = db->GetDBOptions().statistics;
  creation.id = std::max(newest_id_, known_.empty() ? 0 : known_.rbegin()->first) + 1;
  creation.meta.app_metadata = app_metadata;
  creation.meta.timestamp = static_cast<int64_t>(clock_->NowMicros() / 1000000);
  creation.control.limiter = backup_limiter_.get();
  creation.control.stop = &stop_;
  creation.control.sync = options_.sync;
  creation.control.progress = Progress(options, options_.callback_trigger_interval_size);
  Status s = Create(&creation);
  Log("backup " + std::to_string(creation.id) + ": " + s.ToString());
  if (!s.ok()) {
    // The copied files are garbage. If they cannot be deleted now, the next call does it.
    if (!s.IsIncomplete()) CollectGarbage().PermitUncheckedError();
    return status_to_io_status(std::move(s));
  }
  if (new_id != nullptr) *new_id = creation.id;
  newest_id_ = creation.id;
  Backup& backup = known_[creation.id];
  backup.meta = std::move(creation.meta);
  return IOStatus::OK();
}

std::set<std::string> BackupEngineImpl::SharedPaths() const {
  std::set<std::string> paths;
  for (const auto& [id, backup] : known_) {
    for (const BackupFile& file : backup.meta.files) paths.insert(file.path);
  }
  return paths;
}

Status BackupEngineImpl::Create(Creation* creation) {
  if (Status s = CollectGarbage(); !s.ok()) return s;
  if (stop_) return Status::Incomplete("Backup stopped");
  creation->taken = SharedPaths();
  Status s = fs_->CreateDir(PrivateDir(creation->id));
  if (!s.ok()) return s;
  creation->meta.sequence = creation->db->GetLatestSequenceNumber();
  s = WithLiveFiles(creation->db, creation->options->flush_before_backup ? 0 : UINT64_MAX,
                    [&](const auto& files) { return CopyLiveFiles(creation, files); });
  for (const std::string& dir :
       {PrivateDir(creation->id), options_.backup_dir + "/private",
        options_.backup_dir + "/shared", options_.backup_dir + "/shared_checksum"}) {
    if (s.ok()) s = SyncIfWanted(dir);
  }
  if (!s.ok()) return s;
  CopySource text;
  text.contents = EncodeBackupMeta(creation->meta);
  CopyControl control;
  control.sync = options_.sync;
  CopyResult result;
  s = CopyFile(text, fs_.get(), MetaPath(creation->id) + ".tmp", control, &result);
  if (s.ok()) s = fs_->RenameFile(MetaPath(creation->id) + ".tmp", MetaPath(creation->id));
  if (s.ok()) s = SyncIfWanted(MetaDir());
  if (s.ok()) return s;
  // If the description was written, it must not name files that are deleted next.
  Status gone = fs_->DeleteFile(MetaPath(creation->id));
  if (!gone.ok() && !IsMissing(gone)) {
    known_[creation->id].status = s;
  }
  return s;
}

Status BackupEngineImpl::CopyLiveFiles(Creation* creation,
                                       const std::vector<rocksdb::LiveFileStorageInfo>& live) {
  BackupMeta& meta = creation->meta;
  const auto copy = [&](const rocksdb::LiveFileStorageInfo& from, BackupFile* file) {
    CopyResult result;
    // Every backup has whole files of pages. If possible they share blocks with the database's.
    const auto copy_file = from.file_type == rocksdb::kBlobFile ? CloneOrCopyFile : CopyFile;
    Status s = copy_file(SourceOf(db_fs_.get(), from), fs_.get(), PathOf(*file), creation->control, &result);
    file->size = result.size;
    file->crc32c = result.crc32c;
    Tick(creation->statistics.get(), rocksdb::BACKUP_READ_BYTES, result.size);
    Tick(creation->statistics.get(), rocksdb::BACKUP_WRITE_BYTES, result.size);
    if (s.ok()) s = CompareChecksum(from, result);
    if (from.file_type == rocksdb::kTableFile) {
      file->holes = HolesOf(result.zeros, creation->extents[from.file_number]);
    }
    return s;
  };
  std::vector<const rocksdb::LiveFileStorageInfo*> wanted;
  for (const auto& file : live) {
    if (file.file_type == rocksdb::kWalFile && !options_.backup_log_files) continue;
    wanted.push_back(&file);
  }
  meta.files.resize(wanted.size());
  std::vector<std::function<Status()>> tasks;
  for (size_t i = 0; i < wanted.size(); ++i) {
    meta.files[i].name = wanted[i]->relative_filename;
    meta.files[i].path =
        "private/" + std::to_string(creation->id) + "/" + wanted[i]->relative_filename;
    if (wanted[i]->file_type != rocksdb::kDescriptorFile) continue;
    Status s = copy(*wanted[i], &meta.files[i]);
    if (s.ok()) {
      s = ReadLiveExtents(fs_.get(), PrivateDir(creation->id), wanted[i]->file_number,
                          &creation->extents);
    }
    if (!s.ok()) return s;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]->file_type == rocksdb::kDescriptorFile) continue;
    creation->extents[wanted[i]->file_number];  // threads must not insert
    bool needed = true;
    if (wanted[i]->file_type == rocksdb::kTableFile && options_.share_table_files) {
      Status s = PlaceTableFile(creation, *wanted[i], &meta.files[i], &needed);
      if (!s.ok()) return s;
    }
    if (!needed) continue;
    tasks.push_back([&copy, from = wanted[i], to = &meta.files[i]] { return copy(*from, to); });
  }
  return RunInParallel(tasks, options_.max_background_operations,
                       [creation] { LowerPriority(*creation->options); });
}

// Finds the copy that another backup has of the file, or a name for a new one.
Status BackupEngineImpl::PlaceTableFile(Creation* creation,
                                        const rocksdb::LiveFileStorageInfo& live, BackupFile* file,
                                        bool* copy) {
  const std::string source = compassdb::PathOf(live);
  std::shared_ptr<CompactionFile> opened;
  Status s = CompactionFile::Open(db_fs_.get(), source, live.file_number, FileOptions(), &opened);
  if (!s.ok()) return s;
  using Options = rocksdb::BackupEngineOptions;
  const uint32_t naming = static_cast<uint32_t>(options_.share_files_with_checksum_naming);
  char number[24];
  snprintf(number, sizeof(number), "%06llu", static_cast<unsigned long long>(live.file_number));
  std::string path = std::string("shared/") + number + "_s" + Hex(opened->file_id());
  if (options_.share_files_with_checksum) {
    path = std::string("shared_checksum/") + number;
    if ((naming & Options::kMaskNoNamingFlags) == Options::kLegacyCrc32cAndFileSize) {
      CopyResult contents;
      s = ChecksumFile(db_fs_.get(), source, creation->control, &contents);
      if (!s.ok()) return s;
      path += "_" + std::to_string(contents.crc32c) + "_" + std::to_string(contents.size);
    } else {
      path += "_s" + Hex(opened->file_id());
      if ((naming & Options::kFlagIncludeFileSize) != 0) path += "_" + std::to_string(live.size);
    }
  }
  // There may be several copies of one file, with other holes.
  for (int copies = 1;; ++copies) {
    file->path = path + (copies == 1 ? "" : "_copy" + std::to_string(copies)) + ".ph";
    bool taken = creation->taken.count(file->path) != 0;
    if (!taken && SomeUnreadable()) {
      s = fs_->FileExists(options_.backup_dir + "/" + file->path);
      if (!s.ok() && !IsMissing(s)) return s;
      taken = s.ok();
    }
    if (!taken) break;
    for (const auto& [id, backup] : known_) {
      if (!backup.status.ok()) continue;
      for (const BackupFile& other : backup.meta.files) {
        if (other.path != file->path || other.size != live.size) continue;
        if (!other.Covers(creation->extents[live.file_number])) continue;
        uint64_t size = 0;
        s = fs_->GetFileSize(PathOf(other), &size);
        if (!s.ok() || size != other.size) continue;  // damaged since the engine was opened
        *file = other;
        *copy = false;
        return Status::OK();
      }
    }
  }
  creation->taken.insert(file->path);
  return Status::OK();
}

}  // namespace compassdb
