// SPDX-License-Identifier: Apache-2.0
// What listeners are notified of, in which order, with which fields. This leaves out what the engines do not
// share: numbers, names and sizes of files, how many there are, and reads and flushes of files.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "equality/transcript.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/listener.h"
#include "rocksdb/sst_file_writer.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::FileOperationInfo;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Options;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

namespace {

std::string Show(uint64_t n) { return std::to_string(n); }

// What kind of file it is.
std::string KindOf(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("MANIFEST") || name.starts_with("MIRROR")) return "manifest";
  if (name.ends_with(".log")) return "log";
  if (name.ends_with(".sst") || name.ends_with(".ph")) return "table";
  return "other";
}

class RecordingListener : public rocksdb::EventListener {
 public:
  explicit RecordingListener(bool io) : io_(io) {}
  bool ShouldBeNotifiedOnFileIO() override { return io_; }

  void OnMemTableSealed(const rocksdb::MemTableInfo& info) override {
    Note("sealed " + info.cf_name + " first " + Show(info.first_seqno) + " earliest " +
         Show(info.earliest_seqno) + ", " + Show(info.num_entries) + " entries, " +
         Show(info.num_deletes) + " deletes");
  }
  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override {
    NoteFlush("flush begins", db, info);
  }
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override {
    NoteFlush("flush completed", db, info);
  }
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override {
    NoteCompaction("compaction begins", db, info);
  }
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override {
    NoteCompaction("compaction completed", db, info);
  }
  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo& info) override {
    NotePart("part begins", info, &parts_begun);
  }
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo& info) override {
    NotePart("part completed", info, &parts_completed);
  }
  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& info) override {
    NoteTable("table begins", info, KindOf(info.file_path));
    std::lock_guard<std::mutex> lock(mu_);
    begun_.insert(info.file_path);
  }
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    NoteTable("table ends", info, ShowCode(info.status) + (info.status.ok() && info.file_size > 0
                                            ? ", " + Show(info.table_properties.num_entries) + " entries"
                                            : ""));
    std::lock_guard<std::mutex> lock(mu_);
    if (begun_.count(info.file_path) == 0) lines_.push_back("that had not begun");
  }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    if (info.status.ok()) deleted++;
  }
  void OnExternalFileIngested(rocksdb::DB*, const rocksdb::ExternalFileIngestionInfo& info) override {
    Note("ingested into " + info.cf_name + " " + KindOf(info.external_file_path) + " as " +
         KindOf(info.internal_file_path) + " sequence " + Show(info.global_seqno) + ", " +
         Show(info.table_properties.num_entries) + " entries");
  }
  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    Note("handle of " + handle->GetName() + " is deleted");
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, Status* error) override {
    Note("background error " + ShowCode(*error) + " reason " + Show(static_cast<uint64_t>(reason)));
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, Status error, bool*) override {
    recoveries++;
    Note("recovery begins " + ShowCode(error) + " reason " + Show(static_cast<uint64_t>(reason)));
  }
  void OnErrorRecoveryCompleted(Status old_error) override {
    Note("recovery completed " + ShowCode(old_error));
  }
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override {
    Note("recovery ends " + ShowCode(info.old_bg_error) + " -> " + ShowCode(info.new_bg_error));
  }
  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& info) override {
    Note("stall " + info.cf_name + " " + Show(static_cast<uint64_t>(info.condition.prev)) + " -> " +
         Show(static_cast<uint64_t>(info.condition.cur)));
  }
  void OnIOError(const rocksdb::IOErrorInfo& info) override {
    Note("io error " + ShowCode(info.io_status) + " operation " +
         Show(static_cast<uint64_t>(info.operation)) + " of " + KindOf(info.file_path) +
         (info.length > 0 ? " with bytes" : ""));
  }
  void OnFileReadFinish(const FileOperationInfo& info) override { NoteFile("read", info); }
  void OnFileWriteFinish(const FileOperationInfo& info) override { NoteFile("write", info); }
  void OnFileSyncFinish(const FileOperationInfo& info) override { NoteFile("sync", info); }
  void OnFileCloseFinish(const FileOperationInfo& info) override { NoteFile("close", info); }

  void Note(const std::string& line) {
    std::lock_guard<std::mutex> lock(mu_);
    lines_.push_back(line);
  }
  std::vector<std::string> Take() {
    std::lock_guard<std::mutex> lock(mu_);
    return std::exchange(lines_, {});
  }
  bool WasNotified(const std::string& operation) {
    std::lock_guard<std::mutex> lock(mu_);
    return files_.count(operation) != 0;
  }
  void ForgetFiles() {
    std::lock_guard<std::mutex> lock(mu_);
    files_.clear();
  }
  bool quiet = false;  // of tables and parts
  std::atomic<int> deleted = 0, parts_begun = 0, parts_completed = 0, compactions = 0, flushes = 0,
                   recoveries = 0;

 private:
  // Jobs by the order in which they are first seen.
  std::string Job(int id) {
    std::lock_guard<std::mutex> lock(mu_);
    return " of job " + Show(jobs_.emplace(id, jobs_.size()).first->second);
  }
  void NoteFlush(const std::string& what, rocksdb::DB* db, const rocksdb::FlushJobInfo& info) {
    Note(what + Job(info.job_id) + " " + info.cf_name + " id " + Show(info.cf_id) + " reason " +
         Show(static_cast<uint64_t>(info.flush_reason)) + " file " + (info.file_number > 0 ? "known" : "unknown") +
         " sequences " + Show(info.smallest_seqno) + " to " + Show(info.largest_seqno) + " slowdown " +
         Show(info.triggered_writes_slowdown) + " stop " + Show(info.triggered_writes_stop) + ", " +
         Show(info.table_properties.num_entries) + " entries, this thread " +
         Show(info.thread_id == db->GetEnv()->GetThreadID()));
    if (info.file_number > 0) flushes++;
  }
  void NoteCompaction(const std::string& what, rocksdb::DB* db,
                      const rocksdb::CompactionJobInfo& info) {
    std::string levels;
    // For compactions within a level RocksDB has the number of the input instead.
    for (const auto& file : info.input_file_infos) {
      levels += " L" + Show(info.base_input_level == info.output_level ? info.output_level : file.level);
    }
    std::set<int> to;
    for (const auto& file : info.output_file_infos) to.insert(file.level);
    size_t described = 0;
    for (const auto* files : {&info.input_files, &info.output_files}) {
      for (const std::string& file : *files) described += info.table_properties.count(file);
    }
    Note(what + Job(info.job_id) + " " + info.cf_name + " id " + Show(info.cf_id) + " " +
         ShowCode(info.status) + " L" + Show(info.base_input_level) + " -> L" +
         Show(info.output_level) + " of" + (quiet ? "" : levels) +
         (to.empty() ? "" : " to L" + Show(*to.begin())) + " reason " +
         Show(static_cast<uint64_t>(info.compaction_reason)) + " manual " +
         Show(info.stats.is_manual_compaction) +
         (quiet ? "" : " records " + Show(info.stats.num_input_records) + " -> " +
                           Show(info.stats.num_output_records)) +
         " all described " +
         Show(described == info.input_files.size() + info.output_files.size()) + " this thread " +
         Show(info.thread_id == db->GetEnv()->GetThreadID()));
    if (what != "compaction completed") return;
    compactions++;
    if (quiet) return;
    Note("full " + Show(info.stats.is_full_compaction) + " keys " +
         info.stats.smallest_output_key_prefix + " to " + info.stats.largest_output_key_prefix);
  }
  void NotePart(const std::string& what, const rocksdb::SubcompactionJobInfo& info,
                std::atomic<int>* count) {
    (*count)++;
    if (quiet) return;
    Note(what + Job(info.job_id) + " part " + Show(info.subcompaction_job_id) + " " + info.cf_name +
         " " + ShowCode(info.status) + " L" + Show(info.base_input_level) + " -> L" +
         Show(info.output_level));
  }
  void NoteTable(const std::string& what, const rocksdb::TableFileCreationBriefInfo& info,
                 const std::string& more) {
    if (quiet) return;
    Note(what + Job(info.job_id) + " " + info.cf_name + " reason " +
         Show(static_cast<uint64_t>(info.reason)) + " " + more);
  }
  void NoteFile(const std::string& operation, const FileOperationInfo& info) {
    std::lock_guard<std::mutex> lock(mu_);
    if (info.status.ok() && info.duration.count() >= 0) {
      files_.insert(operation + " " + KindOf(info.path));
    }
  }

  const bool io_;
  std::mutex mu_;
  std::vector<std::string> lines_;
  std::map<int, size_t> jobs_;
  std::set<std::string> begun_, files_;
};

void Await(const std::function<bool()>& done) {
  for (int i = 0; i < 5000 && !done(); i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// An engine may try more than once what fails.
void Show(Transcript* t, RecordingListener* listener) {
  std::vector<std::string> lines = listener->Take();
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  for (const std::string& line : lines) t->Line("  " + line);
}

// RocksDB makes a handle that it deletes again, and reports that.
std::unique_ptr<rocksdb::DB> OpenQuietly(Transcript* t, const std::string& name,
                                         const Options& options, RecordingListener* listener) {
  auto db = OpenOrNote(t, name, options);
  listener->Take();
  return db;
}

rocksdb::CompactRangeOptions Forced() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  return options;
}

// Neither engine promises to call a listener before Flush returns.
void FlushAndShow(Transcript* t, rocksdb::DB* db, RecordingListener* listener,
                  rocksdb::ColumnFamilyHandle* family = nullptr) {
  const int before = listener->flushes;
  t->Code("flush", db->Flush(rocksdb::FlushOptions(),
                             family == nullptr ? db->DefaultColumnFamily() : family));
  Await([&] { return listener->flushes > before; });
  Show(t, listener);
}

void JobsOfAListener(Transcript* t) {
  auto listener = std::make_shared<RecordingListener>(false);
  Options options = FreshOptions();
  options.listeners.push_back(listener);
  options.disable_auto_compactions = true;
  auto db = OpenQuietly(t, "db", options, listener.get());
  if (!db) return;
  const WriteOptions write;
  db->Put(write, "a", "1").PermitUncheckedError();
  db->Put(write, "b", "1").PermitUncheckedError();
  FlushAndShow(t, db.get(), listener.get());
  db->Put(write, "a", "2").PermitUncheckedError();
  db->Delete(write, "c").PermitUncheckedError();
  FlushAndShow(t, db.get(), listener.get());
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  Await([&] { return listener->compactions == 1; });
  Show(t, listener.get());
  t->Code("compact again", db->CompactRange(Forced(), nullptr, nullptr));
  Await([&] { return listener->compactions == 2; });
  Show(t, listener.get());

  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  const std::string path = t->Path("in.sst");
  t->Code("open", writer.Open(path));
  t->Code("put", writer.Put("a", "v"));
  t->Code("finish", writer.Finish());
  db->Put(write, "a", "3").PermitUncheckedError();
  const int before = listener->flushes;
  t->Code("ingest", db->IngestExternalFile({path}, rocksdb::IngestExternalFileOptions()));
  Await([&] { return listener->flushes > before; });
  std::vector<std::string> flushed = listener->Take();
  std::sort(flushed.begin(), flushed.end());  // nothing waits for the notification of the flush
  for (const std::string& line : flushed) t->Line("  " + line);

  rocksdb::ColumnFamilyHandle* family = nullptr;
  t->Code("create", db->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "two", &family));
  if (family == nullptr) return;
  db->Put(write, family, "x", "y").PermitUncheckedError();
  FlushAndShow(t, db.get(), listener.get(), family);
  db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  t->Code("close", db->Close());
  Show(t, listener.get());
  db.reset();
}

// Fill, and compact by several threads.
void PartsOfACompaction(Transcript* t) {
  auto listener = std::make_shared<RecordingListener>(false);
  listener->quiet = true;
  Options options = FreshOptions();
  options.listeners.push_back(listener);
  options.disable_auto_compactions = true;
  options.max_subcompactions = 4;
  options.target_file_size_base = 8 << 10;
  auto db = OpenQuietly(t, "db", options, listener.get());
  if (!db) return;
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < 2000; i++) {
      char key[16];
      snprintf(key, sizeof(key), "k%06d", i * 6 + round);
      db->Put(WriteOptions(), key, std::string(100, 'v')).PermitUncheckedError();
    }
    FlushAndShow(t, db.get(), listener.get());
  }
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  Await([&] { return listener->compactions == 1; });
  Show(t, listener.get());
  for (int i = 0; i < 12000; i += 2) {  // between tables, by which every engine cuts
    char key[16];
    snprintf(key, sizeof(key), "k%06d", i);
    db->Put(WriteOptions(), key, std::string(100, 'w')).PermitUncheckedError();
  }
  FlushAndShow(t, db.get(), listener.get());
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  Await([&] { return listener->compactions == 2; });
  Show(t, listener.get());
  t->Line(listener->parts_begun > 2 ? "several parts" : "one part");
  t->Line(listener->parts_begun == listener->parts_completed ? "all completed" : "not all completed");
}

// Fails what is done with files of a kind, on demand.
class FailingFiles : public rocksdb::FileSystemWrapper {
 public:
  explicit FailingFiles(const std::shared_ptr<rocksdb::FileSystem>& base)
      : FileSystemWrapper(base) {}
  const char* Name() const override { return "FailingFiles"; }
  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    if (IOStatus s = Fails(path, "create"); !s.ok()) return s;
    IOStatus s = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (s.ok()) *file = std::make_unique<File>(std::move(*file), this, path);
    return s;
  }
  void Fail(const std::string& kind, const std::string& operation, bool full) {
    std::lock_guard<std::mutex> lock(mu_);
    what_ = operation + " " + kind;
    full_ = full;
  }

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile>&& file, FailingFiles* files, std::string path)
        : FSWritableFileOwnerWrapper(std::move(file)), files_(files), path_(std::move(path)) {}
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
      IOStatus s = files_->Fails(path_, "append");
      return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, debug) : s;
    }
    IOStatus Append(const Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo& verification,
                    IODebugContext* debug) override {
      IOStatus s = files_->Fails(path_, "append");
      return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, verification, debug) : s;
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
      IOStatus s = files_->Fails(path_, "sync");
      return s.ok() ? FSWritableFileOwnerWrapper::Sync(options, debug) : s;
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
      IOStatus s = files_->Fails(path_, "sync");
      return s.ok() ? FSWritableFileOwnerWrapper::Fsync(options, debug) : s;
    }

   private:
    FailingFiles* const files_;
    const std::string path_;
  };
  IOStatus Fails(const std::string& path, const std::string& operation) {
    std::lock_guard<std::mutex> lock(mu_);
    if (what_ != operation + " " + KindOf(path)) return IOStatus::OK();
    return full_ ? IOStatus::NoSpace("injected") : IOStatus::IOError("injected");
  }
  std::mutex mu_;
  std::string what_;
  bool full_ = false;
};

void ErrorsOfAListener(Transcript* t) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"log", "append"}, {"log", "sync"}, {"table", "append"}, {"table", "sync"}, {"manifest", "sync"}};
  for (const bool full : {false, true}) {
    for (const auto& [kind, operation] : faults) {
      t->Line(operation + " of " + kind + (full ? ", disk full" : ""));
      auto files = std::make_shared<FailingFiles>(rocksdb::FileSystem::Default());
      std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
      auto listener = std::make_shared<RecordingListener>(true);
      Options options = FreshOptions();
      options.env = env.get();
      options.listeners.push_back(listener);
      options.disable_auto_compactions = true;
      // An attempt to resume by itself comes at any time, with its notifications.
      if (!full) options.max_bgerror_resume_count = 0;
      options.bgerror_resume_retry_interval = 3600ull * 1000 * 1000;
      auto db =
          OpenQuietly(t, "db" + kind + operation + (full ? "full" : ""), options, listener.get());
      if (!db) return;
      WriteOptions synced;
      synced.sync = true;
      t->Code("put", db->Put(synced, "a", "1"));
      Show(t, listener.get());
      files->Fail(kind, operation, full);
      if (kind == "log") {
        t->Code("put", db->Put(synced, "b", "2"));
      } else {
        t->Code("flush", db->Flush(rocksdb::FlushOptions()));
      }
      files->Fail("", "", false);
      if (full) {
        Await([&] { return listener->recoveries > 0; });
        t->Line(listener->recoveries > 0 ? "a recovery begins" : "no recovery begins");
      } else {
        t->Code("put", db->Put(synced, "c", "3"));
        Show(t, listener.get());
      }
      db.reset();
      listener->Take();
    }
  }
}

void FilesOfAListener(Transcript* t) {
  auto listener = std::make_shared<RecordingListener>(true);
  Options options = FreshOptions();
  options.listeners.push_back(listener);
  options.disable_auto_compactions = true;
  const auto asked = [&](const std::string& when, const std::vector<std::string>& operations) {
    for (const std::string& operation : operations) {
      t->Line(when + ": " + operation + (listener->WasNotified(operation) ? " was reported" : " was not reported"));
    }
    listener->ForgetFiles();
  };
  auto db = OpenQuietly(t, "db", options, listener.get());
  if (!db) return;
  asked("open", {"write manifest", "sync manifest", "write other", "sync other"});
  WriteOptions write;
  t->Code("put", db->Put(write, "a", "1"));
  asked("put", {"write log", "sync log", "write table"});
  write.sync = true;
  t->Code("put", db->Put(write, "b", "1"));
  asked("synced put", {"write log", "sync log", "write table"});
  FlushAndShow(t, db.get(), listener.get());
  asked("flush", {"write table", "sync table", "close table", "write manifest", "sync manifest"});
  std::string value;
  t->Code("get", db->Get(rocksdb::ReadOptions(), "a", &value));
  asked("get", {"read table", "write table", "write manifest"});
  t->Code("close", db->Close());
  asked("close", {"close manifest", "close log"});
  db.reset();
  listener->Take();
  db = OpenQuietly(t, "db", options, listener.get());
  if (!db) return;
  asked("reopen", {"read manifest", "read log", "read other", "write manifest"});
}

void StallsOfAListener(Transcript* t) {
  auto listener = std::make_shared<RecordingListener>(false);
  listener->quiet = true;
  Options options = FreshOptions();
  options.listeners.push_back(listener);
  options.disable_auto_compactions = true;
  options.level0_file_num_compaction_trigger = 2;
  options.level0_slowdown_writes_trigger = 2;
  options.level0_stop_writes_trigger = 10;
  auto db = OpenQuietly(t, "db", options, listener.get());
  if (!db) return;
  for (int round = 0; round < 3; round++) {
    db->Put(WriteOptions(), "a", "1").PermitUncheckedError();
    FlushAndShow(t, db.get(), listener.get());
  }
  t->Code("enable", db->SetOptions({{"disable_auto_compactions", "false"}}));
  std::vector<std::string> stalls;
  Await([&] {
    for (const std::string& line : listener->Take()) {
      if (line.starts_with("stall")) stalls.push_back(line);
    }
    return stalls.size() >= 2;
  });
  std::sort(stalls.begin(), stalls.end());  // RocksDB sometimes reports the second first
  for (const std::string& line : stalls) t->Line("  " + line);
}

// The names of all fields of each event in the logs of a database. Those that only RocksDB has are
// left out, and events of moves, which the engines do not plan alike.
std::map<std::string, std::set<std::string>> LoggedEvents(const std::string& directory) {
  const std::set<std::string> kTheirs = {
      "score",          "compaction_time_cpu_micros",   "num_subcompactions",
      "blob_file_head", "num_single_delete_mismatches", "num_single_delete_fallthrough",
      "blob_file_tail", "num_blob_output_files",        "total_blob_output_size",
      "oldest_blob_file_number"};
  std::map<std::string, std::set<std::string>> events;
  rocksdb::Env* const env = rocksdb::Env::Default();
  std::vector<std::string> names;
  env->GetChildren(directory, &names).PermitUncheckedError();
  for (const std::string& name : names) {
    std::string log;
    if (!name.starts_with("LOG")) continue;
    rocksdb::ReadFileToString(env, directory + "/" + name, &log).PermitUncheckedError();
    const std::string kMark = "EVENT_LOG_v1 ";
    for (size_t at = log.find(kMark); at != std::string::npos; at = log.find(kMark, at + 1)) {
      const std::string line = log.substr(at, log.find('\n', at) - at);
      std::set<std::string> fields;
      for (size_t end = line.find("\": "); end != std::string::npos; end = line.find("\": ", end + 1)) {
        const size_t begin = line.rfind('"', end - 1) + 1;
        const std::string field = line.substr(begin, end - begin);
        if (!kTheirs.contains(field)) fields.insert(field);
      }
      const std::string kEvent = "\"event\": \"";
      const size_t event = line.find(kEvent) + kEvent.size();
      const std::string what = line.substr(event, line.find('"', event) - event);
      if (what != "trivial_move") events[what].merge(fields);
    }
  }
  return events;
}

void EventsInLog(Transcript* t) {
  Options options = FreshOptions();
  options.enable_blob_files = true;
  options.enable_blob_garbage_collection = true;
  options.blob_garbage_collection_age_cutoff = 1;
  options.min_blob_size = 1000;
  {
    auto db = OpenOrNote(t, "db", options);
    if (!db) return;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 50; ++i) {
        const std::string value(i % 10 == 0 ? 2000 : 20, static_cast<char>('a' + round));
        db->Put(WriteOptions(), "k" + Show(i), value).PermitUncheckedError();
      }
      t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    }
    t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    t->Code("table", writer.Open(t->Path("table")));
    writer.Put("z", "1").PermitUncheckedError();
    t->Code("table", writer.Finish());
    t->Code("ingest", db->IngestExternalFile({t->Path("table")}, {}));
    db->Put(WriteOptions(), "last", "1").PermitUncheckedError();
  }
  OpenOrNote(t, "db", options).reset();
  for (const auto& [event, fields] : LoggedEvents(t->Path("db"))) {
    if (event == "blob_file_deletion") continue;  // when is up to the collection
    std::string line = event + ":";
    for (const std::string& field : fields) line += " " + field;
    t->Line(line);
  }
}

}  // namespace

std::vector<Scenario> ListenerScenarios() {
  return {{"listener_jobs", JobsOfAListener},
          {"listener_parts", PartsOfACompaction},
          {"listener_errors", ErrorsOfAListener},
          {"listener_files", FilesOfAListener},
          {"listener_stalls", StallsOfAListener},
          {"events_in_log", EventsInLog}};
}

}  // namespace compassdb_test
