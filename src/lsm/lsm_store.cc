// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lsm/compaction/compaction_job.h"
#include "lsm/compaction/flush_job.h"
#include "lsm/lsm_store.h"
#include "lsm/lsm_store_impl.h"
#include "lsm/read/covered_data.h"
#include "manifest/job_record.h"
#include "util/checked.h"
#include "value_store/value_cache.h"

namespace compassdb {

namespace {

class LsmTask : public CompactionTask {
 public:
  // `options` are those of the input.
  LsmTask(LsmStore* store, std::shared_ptr<const StoreOptions> options, CompactionJobInput input,
          bool trivial, const char* reason)
      : store_(store),
        options_(std::move(options)),
        input_(std::move(input)),
        trivial_(trivial),
        reason_(reason) {}

  int input_level() const override { return input_.input_level; }
  int output_level() const override { return input_.output_level; }
  std::vector<uint64_t> BusyTables() const override {
    std::vector<uint64_t> ids;
    for (const TableRef& t : input_.inputs) ids.push_back(t->meta().tph_id);
    for (const TableRef& t : input_.bases) ids.push_back(t->meta().tph_id);
    return ids;
  }

  std::string Describe() const override {
    std::string r = std::string(reason_) + ": " + std::to_string(input_.inputs.size()) +
                    " tables of L" + std::to_string(input_.input_level);
    if (input_.rewrite) return r + " rewritten";
    if (!input_.memtables.empty()) r += ", " + std::to_string(input_.memtables.size()) + " memtables";
    return r + (trivial_ ? " moved to L" : " into " + std::to_string(input_.bases.size()) +
                                               " tables of L") +
           std::to_string(input_.output_level);
  }

  Status Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
             VersionEdit* edit, JobReport* report) override {
    const uint64_t start = store_->context()->clock->NowNanos();
    edit->column_family = store_->options().column_family_id;
    ListInputs(report);
    for (const TableRef& t : input_.inputs) report->bytes_in_upper += t->meta().LiveDataBytes();
    for (const auto& m : input_.memtables) report->bytes_in_upper += m->data_size();
    if (trivial_) {
      for (const TableRef& t : input_.inputs) {
        edit->deleted.push_back({input_.input_level, t->meta().tph_id});
        edit->added.push_back({input_.output_level, t->meta()});
        report->outputs.push_back(t->meta());
      }
      return Status::OK();
    }
    input_.observer = report->observer;
    CompactionJob job(input_, snapshots, cancel);
    Status s = job.Run(edit, report);
    if (!s.ok()) return s;
    store_->PinUntilInstalled(*report);
    report->micros = (store_->context()->clock->NowNanos() - start) / 1000;
    store_->RecordJob(*report);
    return Status::OK();
  }

  void ListInputs(JobReport* report) const override {
    CompactionTask::ListInputs(report);
    report->reason = reason_;
    report->trivial_move = trivial_;
    report->full = input_.full;
    for (const TableRef& t : input_.inputs) store_->ListFiles(t->meta(), input_.input_level, report);
    for (const TableRef& t : input_.bases) store_->ListFiles(t->meta(), input_.output_level, report);
  }

 private:
  LsmStore* const store_;
  const std::shared_ptr<const StoreOptions> options_;
  CompactionJobInput input_;
  const bool trivial_;
  const char* const reason_;
};

TableContextRef MakeTableContext(const StoreContext& context, const StoreOptions& options) {
  TableReaderOptions reader;
  reader.comparator = options.comparator;
  reader.block_cache = options.block_cache;
  reader.statistics = context.statistics;
  reader.index_priority = options.index_high_priority ? rocksdb::Cache::Priority::HIGH
                                                      : rocksdb::Cache::Priority::LOW;
  reader.filters = static_cast<bool>(options.filter.new_bits);
  return std::make_shared<const TableContext>(context.files, reader);
}

std::shared_ptr<const ValueContext> MakeValueContext(const StoreContext& context,
                                                     const StoreOptions& options,
                                                     TableContextRef tables) {
  auto values = std::make_shared<ValueContext>();
  values->tables = std::move(tables);
  values->ledger = context.ledger;
  values->paged = options.index_mode == IndexMode::kPaged;
  values->cache = options.values.cache != nullptr ? options.values.cache : options.block_cache;
  values->own_cache = options.values.cache != nullptr;
  values->cache_space = NewValueCacheSpace();
  values->separates = options.values.enabled;
  if (values->paged && options.block_cache != nullptr) {
    values->charge = std::make_shared<CacheCharge>(options.block_cache);
  }
  values->updates = std::make_shared<UpdateCounts>(values->charge);
  values->snapshots = context.snapshots;
  values->pinned_runs = context.pinned_value_runs;
  return values;
}

// The order of a level. Level 0: newest first; flushes commit in order, so
// their sequences do not interleave. Deeper: by key, or by search key.
auto LevelOrder(const Comparator* cmp, size_t level) {
  return [cmp, level](const TableRef& a, const TableRef& b) {
    if (level != 0 && a->meta().hash_range && b->meta().hash_range) {
      return a->meta().search.first < b->meta().search.first;
    }
    if (level != 0) return cmp->Compare(a->meta().smallest, b->meta().smallest) < 0;
    if (a->meta().largest_seq != b->meta().largest_seq) {
      return a->meta().largest_seq > b->meta().largest_seq;
    }
    return a->meta().tph_id > b->meta().tph_id;
  };
}

bool HasFileIn(const TphMeta& meta, const std::unordered_set<uint64_t>& files) {
  return files.count(meta.directory.file_number) != 0 ||
         std::any_of(meta.pieces.begin(), meta.pieces.end(), [&](const TphPiece& p) {
           return files.count(p.meta->extent.file_number) != 0;
         });
}

// The keys of the memtables, as a table's bounds.
TphMeta MemTableBounds(const Comparator* cmp, const FlushRequest& request) {
  TphMeta bounds;
  bool first = true;
  const auto extend = [&](const Slice& low, const Slice& high, bool exclusive) {
    if (first || cmp->Compare(low, bounds.smallest) < 0) bounds.smallest = low.ToString();
    const int c = first ? 1 : cmp->Compare(high, bounds.largest);
    if (c > 0) bounds.largest = high.ToString();
    if (c > 0 || !exclusive) bounds.largest_exclusive = c > 0 ? exclusive : false;
    first = false;
  };
  for (const auto& memtable : request.memtables) {
    const InternalIteratorPtr it = memtable->NewIterator();
    it->SeekToFirst();
    if (it->Valid()) {
      const std::string low = ExtractUserKey(it->key()).ToString();
      it->SeekToLast();
      extend(low, ExtractUserKey(it->key()), false);
    }
    if (memtable->num_range_deletes() == 0) continue;
    for (const RangeTombstone& t : memtable->RawRangeTombstones()) {
      if (cmp->Compare(t.start, t.end) < 0) extend(t.start, t.end, true);
    }
  }
  return bounds;
}

}  // namespace

LsmStore::LsmStore(const StoreContext* context, const StoreOptions& options)
    : Store(options),
      context_(context),
      table_context_(MakeTableContext(*context, options)),
      values_(MakeValueContext(*context, options, table_context_)),
      recovered_(static_cast<size_t>(std::max(2, options.num_levels))),
      counters_(std::make_shared<JobCounters>(recovered_.size())),
      accounting_(options_.scan_bytes_per_read, context->compaction_wanted, recovered_.size()) {
  current_ = std::make_shared<const StoreOptions>(options);
  SetVersion(std::vector<std::vector<TableRef>>(recovered_.size()));
}

LsmStore::~LsmStore() {
  if (!dropped_) return;
  // Jobs that ended after the drop were not committed: no manifest names their files.
  MutexLock lock(&handles_mu_);
  for (uint64_t number : pinned_files_) context_->ledger->UnpinFile(number);
}

void LsmStore::SetVersion(std::vector<std::vector<TableRef>> levels) {
  version_ =
      std::make_shared<const LsmVersion>(table_context_, std::move(levels), counters_, &accounting_,
                                         context_->hasher, values_.version(),
                                         options_.keep_last_level);
  job_version_.reset();
  MutexLock lock(&handles_mu_);
  newest_version_ = version_;
}

std::shared_ptr<const LsmVersion> LsmStore::VersionForJob() {
  if (values_.version()->empty()) return version_;
  if (job_version_ == nullptr) job_version_ = version_->ForJob(values_.newest());
  return job_version_;
}

Status LsmStore::ApplyRecovered(const VersionEdit& edit) {
  if (edit.page_geometry) {
    return Status::InvalidArgument("column family " + options_.column_family_name,
                                   "is table-less: it is opened with store=tableless only");
  }
  for (const VersionEdit::Deleted& d : edit.deleted) {
    const auto level = static_cast<size_t>(d.level);
    if (level >= recovered_.size() || recovered_[level].erase(d.tph_id) == 0) {
      return Status::Corruption("manifest: deletes a table that does not exist",
                                std::to_string(d.tph_id));
    }
  }
  for (const VersionEdit::Added& a : edit.added) {
    // Deeper levels than are configured may have been in use; Open asks whether they still are.
    const auto level = static_cast<size_t>(a.level);
    if (level >= recovered_.size()) recovered_.resize(level + 1);
    if (!recovered_[level].emplace(a.tph.tph_id, a.tph).second) {
      return Status::Corruption("manifest: adds a table twice", std::to_string(a.tph.tph_id));
    }
  }
  return values_.ApplyRecovered(edit);
}

// *data_ends: where the extents of a file end, if many bytes are behind those that are in use.
Status LsmStore::CheckFiles(std::map<uint64_t, uint64_t>* data_ends) const {
  std::unordered_map<uint64_t, uint64_t> ends;
  const auto add = [&](const Extent& extent) {
    if (extent.length == 0) return;
    uint64_t& end = ends[extent.file_number];
    end = std::max(end, extent.offset + extent.length);
  };
  for (const auto& level : recovered_) {
    for (const auto& [id, meta] : level) {
      for (const TphPiece& p : meta.pieces) add(p.meta->extent);
      add(meta.directory);
    }
  }
  for (const auto& [id, meta] : values_.recovered()) add(meta.extent);
  for (const auto& [number, end] : ends) {
    const std::string path = context_->files->PathOf(number);
    uint64_t size = 0;
    Status s;
    // A file that a secondary holds open may have no name by now.
    if (const std::shared_ptr<CompactionFile> open = context_->files->IfOpen(number)) {
      size = open->size();
    } else {
      s = context_->fs->GetFileSize(path, &size);
    }
    if (!s.ok()) return context_->files->dirs()->Explain(s, number);
    if (size < end) {
      std::unique_ptr<SequentialFile> file;  // a directory has a size, too
      if (s = context_->fs->NewSequentialFile(path, &file); !s.ok()) return s;
      return Status::Corruption(path, "has " + std::to_string(size) +
                                          " bytes, the manifest names extents up to " +
                                          std::to_string(end));
    }
    constexpr uint64_t kManyBytes = 64 << 10;  // a job record is smaller, nearly always
    std::shared_ptr<CompactionFile> file;
    if (size - end < kManyBytes || !context_->files->Get(number, &file).ok()) continue;
    if (const std::optional<uint64_t> data_end = EndOfExtents(*file)) (*data_ends)[number] = *data_end;
  }
  return Status::OK();
}

Status LsmStore::CheckRecovered(const TphMeta& meta) const {
  const char* const broken = meta.BrokenInvariant(options_.comparator);
  return broken == nullptr ? Status::OK()
                           : Status::Corruption("manifest: table " + std::to_string(meta.tph_id), broken);
}

Status LsmStore::Open() {
  const size_t configured = version_->levels().size();
  for (size_t level = configured; level < recovered_.size(); ++level) {
    if (recovered_[level].empty()) continue;
    return Status::InvalidArgument("num_levels of column family " + options_.column_family_name,
                                   "the database has tables on level " + std::to_string(level));
  }
  recovered_.resize(configured);
  std::map<uint64_t, uint64_t> data_ends;
  if (Status s = CheckFiles(&data_ends); !s.ok()) return s;
  std::vector<std::vector<TableRef>> levels(recovered_.size());
  OpenPieces pieces;
  std::vector<Extent> extents;
  for (size_t level = 0; level < recovered_.size(); ++level) {
    for (const auto& [id, meta] : recovered_[level]) {
      if (Status s = CheckRecovered(meta); !s.ok()) return s;
      TableRef table;
      Status s = OpenTable(meta, static_cast<int>(level), &pieces, &table);
      if (!s.ok()) return s;
      for (const TphPiece& p : meta.pieces) extents.push_back(p.meta->extent);
      extents.push_back(meta.directory);
      levels[level].push_back(std::move(table));
    }
    SortLevel(level, &levels[level]);
  }
  context_->ledger->AddRecovered(std::move(extents), data_ends);
  recovered_.clear();
  values_.Open(data_ends);
  SetVersion(std::move(levels));
  if (const char* broken = version_->BrokenInvariant()) {
    return Status::Corruption("manifest: column family " + options_.column_family_name, broken);
  }
  for (size_t level = 0; level < version_->levels().size(); ++level) {
    for (const TableRef& table : version_->levels()[level]) {
      NoteCovered(*version_, static_cast<int>(level), {}, table.get());
    }
  }
  NoteAllKept();
  return Status::OK();
}

void LsmStore::SortLevel(size_t level, std::vector<TableRef>* tables) const {
  std::sort(tables->begin(), tables->end(), LevelOrder(options_.comparator, level));
}

uint32_t LsmStore::PathsOf(const TphMeta& meta) const {
  if (options_.paths.size() < 2) return 0;
  uint32_t paths = 0;
  const auto add = [&](uint64_t number) {
    const std::string dir = context_->files->dirs()->DirOf(number);
    size_t i = 0;  // one behind the last path means all other directories
    while (i < options_.paths.size() && options_.paths[i].dir != dir) ++i;
    paths |= PathBit(i);
  };
  for (const TphPiece& p : meta.pieces) add(p.meta->extent.file_number);
  if (meta.directory.length > 0) add(meta.directory.file_number);
  return paths;
}

Status LsmStore::OpenTable(TphMeta meta, int level, OpenPieces* open, TableRef* table) {
  const IndexMode mode = level == 0 ? options_.level0_index_mode : options_.index_mode;
  std::vector<std::shared_ptr<Piece>> pieces;
  for (TphPiece& p : meta.pieces) {
    // Its hash list and the directory would disagree (rule 7).
    if (p.meta->hash_seed != context_->hasher.seed()) {
      return Status::Corruption("piece " + std::to_string(p.meta->piece_id),
                                "was hashed with the seed of another database");
    }
    std::shared_ptr<Piece>& piece = (*open)[p.meta->piece_id];
    if (piece == nullptr) {
      piece = std::make_shared<PieceHandle>(table_context_, *p.meta, mode, context_->ledger);
    }
    p.meta = std::shared_ptr<const PieceMeta>(piece, &piece->meta());
    pieces.push_back(piece);
  }
  std::shared_ptr<Tph> tph;
  Status s = Tph::Open(table_context_, meta, std::move(pieces), mode, &tph);
  if (!s.ok()) return s;
  *table = std::make_shared<TableHandle>(std::move(tph), context_->ledger, PathsOf(meta));
  MutexLock lock(&handles_mu_);
  table_handles_[meta.tph_id] = *table;
  return Status::OK();
}

void LsmStore::ListFiles(const TphMeta& meta, int level, JobReport* report) const {
  const auto add = [&](uint64_t number) {
    std::vector<uint64_t>& files = report->input_files;
    if (std::find(files.begin(), files.end(), number) != files.end()) return;
    files.push_back(number);
    report->input_paths.push_back(context_->files->PathOf(number));
    report->input_file_levels.push_back(level);
  };
  if (report->observer != nullptr) report->inputs.push_back(meta);
  for (const TphPiece& p : meta.pieces) add(p.meta->extent.file_number);
  if (meta.directory.length > 0) add(meta.directory.file_number);
}

void LsmStore::PinUntilInstalled(const JobReport& report) {
  MutexLock lock(&handles_mu_);
  pinned_files_.insert(report.output_files.begin(), report.output_files.end());
  for (const JobReport::ValueFile& file : report.value_files) pinned_files_.insert(file.number);
}

void LsmStore::Unpin(uint64_t file_number) {
  if (pinned_files_.erase(file_number) != 0) context_->ledger->UnpinFile(file_number);
}

void LsmStore::UnpinAdded(const VersionEdit& edit) {
  for (const VersionEdit::Added& a : edit.added) {
    Unpin(a.tph.directory.file_number);
    // A piece that was just written is the last one.
    if (!a.tph.pieces.empty()) Unpin(a.tph.pieces.back().meta->extent.file_number);
  }
  for (const ValueRunMeta& m : edit.added_values) Unpin(m.extent.file_number);
}

void LsmStore::Abandon(const VersionEdit& edit) {
  MutexLock lock(&handles_mu_);
  UnpinAdded(edit);
}

void LsmStore::RecordJob(const JobReport& report) { counters_->Record(report); }

Status LsmStore::Flush(const FlushRequest& request, VersionEdit* edit, JobReport* report) {
  const std::shared_ptr<const StoreOptions> options = current();
  const auto* const version = static_cast<const LsmVersion*>(request.view.get());
  const uint32_t group_bits = version == nullptr ? 0 : ValueGroupBits(*version->values(), options->values);
  FlushJob job(context_, options.get(), version, group_bits, report->observer);
  edit->column_family = options_.column_family_id;
  Status s = job.Run(request, edit, report);
  if (!s.ok()) return s;
  PinUntilInstalled(*report);
  report->reason = "flush";
  RecordJob(*report);
  return Status::OK();
}

Status LsmStore::Prepare(const VersionEdit& edit, std::unique_ptr<Prepared>* prepared) {
  auto tables = std::make_unique<PreparedTables>();
  // Pieces that stay are in a table that replaces another one.
  OpenPieces pieces;
  std::shared_ptr<const LsmVersion> version;
  {
    MutexLock lock(&handles_mu_);
    version = newest_version_.lock();
  }
  std::unordered_set<uint64_t> gone;
  for (const VersionEdit::Deleted& d : edit.deleted) gone.insert(d.tph_id);
  for (const VersionEdit::Deleted& d : edit.deleted) {
    TableRef table;
    {
      MutexLock lock(&handles_mu_);
      const auto it = table_handles_.find(d.tph_id);
      if (it != table_handles_.end()) table = it->second.lock();
    }
    if (table == nullptr) continue;
    for (const auto& p : table->tph().pieces()) pieces.emplace(p->meta().piece_id, p);
  }
  for (const VersionEdit::Added& a : edit.added) {
    TableRef table;
    {
      // A table that only moves keeps its handle.
      MutexLock lock(&handles_mu_);
      auto it = table_handles_.find(a.tph.tph_id);
      if (it != table_handles_.end()) table = it->second.lock();
    }
    if (table == nullptr) {
      Status s = FollowsFiles() ? CheckRecovered(a.tph) : Status::OK();
      const char* const broken = a.tph.BrokenInvariant(options_.comparator);
      COMPASSDB_INVARIANT(!s.ok() || broken == nullptr, broken);
      if (s.ok()) s = OpenTable(a.tph, a.level, &pieces, &table);
      // A resident index of a new table is loaded here, not by its first reader.
      const IndexMode mode = a.level == 0 ? options_.level0_index_mode : options_.index_mode;
      if (s.ok() && mode != IndexMode::kPaged) s = table->tph().Load();
      if (!s.ok()) return s;
      if (version != nullptr) NoteCovered(*version, a.level, gone, table.get());
    }
    tables->tables.emplace_back(a.level, std::move(table));
  }
  tables->values = values_.Prepare(edit);
  *prepared = std::move(tables);
  return Status::OK();
}

void LsmStore::Install(const VersionEdit& edit, std::unique_ptr<Prepared> prepared) {
  auto* tables = static_cast<PreparedTables*>(prepared.get());
  for (const FileChecksum& checksum : edit.file_checksums) context_->ledger->SetChecksum(checksum);
  std::vector<std::vector<TableRef>> levels = version_->levels();
  std::vector<TableRef> removed;
  for (const VersionEdit::Deleted& d : edit.deleted) {
    TableRef table;
    {
      MutexLock lock(&handles_mu_);
      const auto handle = table_handles_.find(d.tph_id);
      if (handle != table_handles_.end()) table = handle->second.lock();
    }
    // Pointers are compared, and the rest moved: with thousands of tables
    // under the database mutex none of them should be touched.
    auto& level = levels[d.level];
    const auto it = std::find(level.begin(), level.end(), table);
    if (table == nullptr || it == level.end()) continue;
    level.erase(it);
    kept_.erase({table->meta().largest_seq, d.tph_id});
    kept_.erase({table->oldest_range_tombstone(), d.tph_id});
    removed.push_back(std::move(table));
  }
  std::unordered_set<const TableHandle*> old_tables, new_tables;
  std::unordered_map<const PieceHandle*, const TableHandle*> old_pieces;
  std::unordered_set<const PieceHandle*> new_pieces;
  for (const TableRef& t : removed) {
    old_tables.insert(t.get());
    for (size_t i = 0; i < t->num_pieces(); ++i) old_pieces.emplace(t->piece(i), t.get());
  }
  const SequenceNumber oldest_snapshot = OldestSnapshot();
  for (const auto& [level, table] : tables->tables) {
    new_tables.insert(table.get());
    if (oldest_snapshot < table->meta().largest_seq) table->NoteSnapshot();
    NoteKept(level, table);
    if (old_tables.count(table.get()) == 0) context_->ledger->Add(table->meta().directory);
    for (size_t i = 0; i < table->num_pieces(); ++i) {
      PieceHandle* const p = table->piece(i);
      if (new_pieces.insert(p).second && old_pieces.count(p) == 0) {
        context_->ledger->Add(p->meta().extent);
      }
    }
    // A new head on pieces that stay: their loss by scans continues.
    const auto kept = old_pieces.find(table->num_pieces() == 0 ? nullptr : table->piece(0));
    if (kept != old_pieces.end() && kept->second != table.get()) {
      table->scan_cost()->Inherit(*kept->second->scan_cost());
    }
    auto& to = levels[level];
    to.insert(std::upper_bound(to.begin(), to.end(), table,
                               LevelOrder(options_.comparator, static_cast<size_t>(level))),
              table);
  }
  for (const TableRef& t : removed) {
    if (new_tables.count(t.get()) != 0) continue;
    t->MarkDirectoryObsolete();
    for (size_t i = 0; i < t->num_pieces(); ++i) {
      if (new_pieces.count(t->piece(i)) == 0) t->piece(i)->MarkObsolete();
    }
  }
  // Before their file is unpinned, or the file would count as empty.
  values_.Install(edit, tables->values);
  flush_waits_ = false;  // until one asks again
  if (!edit.added_values.empty() && edit.deleted_values.empty()) {
    values_.NoteWritten(context_->clock->NowMicros() / 1000000);
  }
  {
    MutexLock lock(&handles_mu_);
    UnpinAdded(edit);
    for (const VersionEdit::Added& a : edit.added) values_.NoteFlushed(a.tph.largest_seq);
    // The map is swept when half of it may be dead, not at every commit.
    if (table_handles_.size() > sweep_at_) {
      std::erase_if(table_handles_, [](const auto& e) { return e.second.expired(); });
      sweep_at_ = 2 * table_handles_.size() + 256;
    }
  }
  SetVersion(std::move(levels));
  if (!FollowsFiles()) CheckInvariants();
}

void LsmStore::CheckInvariants() const {
  if constexpr (!kChecked) return;
  version_->CheckInvariants();
  values_.version()->CheckInvariants();
  MutexLock lock(&handles_mu_);
  for (const auto& level : version_->levels()) {
    for (const TableRef& table : level) {
      const auto handle = table_handles_.find(table->meta().tph_id);
      COMPASSDB_INVARIANT(handle != table_handles_.end() && handle->second.lock() == table, "open tables can be found");
    }
  }
}

void LsmStore::NoteCovered(const LsmVersion& version, int level, const std::unordered_set<uint64_t>& gone,
                           TableHandle* table) const {
  if (!table->has_range_tombstones() || (!options_.values.enabled && version.values()->empty())) return;
  const CoveredData covered = CoveredBy(options_.comparator, *table, level, version, gone);
  table->SetCovered(covered.bytes, covered.oldest);
}

void LsmStore::NoteKept(int level, const TableRef& table) {
  if (table->covered_bytes() > 0) kept_.emplace(table->oldest_range_tombstone(), table->meta().tph_id);
  if (level == 0 || !table->kept_for_snapshots()) return;
  const TphMeta& meta = table->meta();
  if (!FreesEnough(meta.DataBytes(), table->unseen_bytes(), current()->max_dead_percent)) return;
  kept_.emplace(meta.largest_seq, meta.tph_id);
}

void LsmStore::NoteAllKept() {
  kept_.clear();
  for (size_t level = 0; level < version_->levels().size(); ++level) {
    for (const TableRef& table : version_->levels()[level]) NoteKept(static_cast<int>(level), table);
  }
}

SequenceNumber LsmStore::KeptUntil(SequenceNumber oldest) const {
  const auto next = kept_.upper_bound({oldest, UINT64_MAX});
  return dropped_ || next == kept_.end() ? kMaxSequenceNumber : next->first;
}

void LsmStore::Snapshot(VersionEdit* edit) const {
  const auto& levels = version_->levels();
  for (size_t level = 0; level < levels.size(); ++level) {
    for (const TableRef& t : levels[level]) {
      edit->added.push_back({static_cast<int>(level), t->meta()});
    }
  }
  values_.Snapshot(edit);
}

// The files of `own` with the most dead bytes per live byte, until the rest hold no more dead bytes
// than the family may have. That is its share of the limit, by its `live` bytes.
std::unordered_set<uint64_t> LsmStore::ToVacate(std::vector<ExtentLedger::SparseFile> sparse,
                                                const std::unordered_set<uint64_t>& own,
                                                uint64_t live) const {
  std::unordered_set<uint64_t> vacated;
  std::erase_if(sparse, [&](const auto& f) { return own.count(f.number) == 0; });
  uint64_t held = 0;
  for (const ExtentLedger::SparseFile& f : sparse) held += f.dead_bytes;
  std::sort(sparse.begin(), sparse.end(), [](const auto& a, const auto& b) {
    const auto ratio = [](const ExtentLedger::SparseFile& f) {
      return static_cast<double>(f.dead_bytes) / static_cast<double>(f.live_bytes + 1);
    };
    return ratio(a) > ratio(b);
  });
  const uint64_t all = std::max<uint64_t>(context_->ledger->LiveBytes(), 1);
  const auto limit = static_cast<uint64_t>(
      static_cast<double>(HeldBytesAllowed(all, current()->max_dead_space_percent)) *
      std::min(1.0, static_cast<double>(live) / static_cast<double>(all)));
  for (const ExtentLedger::SparseFile& f : sparse) {
    if (held <= limit) break;
    held -= f.dead_bytes;
    vacated.insert(f.number);
  }
  return vacated;
}

// The sparse files of all families. None if their dead bytes are within the limit.
std::vector<ExtentLedger::SparseFile> LsmStore::SparseFiles() const {
  if (current()->max_dead_space_percent == 0) return {};
  std::vector<ExtentLedger::SparseFile> sparse = context_->ledger->Sparse();
  uint64_t held = 0;
  for (const ExtentLedger::SparseFile& f : sparse) held += f.dead_bytes;
  if (held <= HeldBytesAllowed(context_->ledger->LiveBytes(), current()->max_dead_space_percent)) sparse.clear();
  return sparse;
}

std::unordered_set<uint64_t> LsmStore::FilesToVacate() const {
  std::vector<ExtentLedger::SparseFile> sparse = SparseFiles();
  if (sparse.empty()) return {};
  uint64_t live = 0;
  std::unordered_set<uint64_t> own;
  for (const auto& level : version_->levels()) {
    for (const TableRef& t : level) {
      live += t->meta().TotalBytes();
      for (const TphPiece& p : t->meta().pieces) own.insert(p.meta->extent.file_number);
      own.insert(t->meta().directory.file_number);
    }
  }
  return ToVacate(std::move(sparse), own, live);
}

// Values that range tombstones hide still count as live, and use a part of the reserve. True if that is more than a
// quarter of the reserve, estimated.
bool LsmStore::CoversTooMuch(SequenceNumber oldest_snapshot) const {
  if (values_.version()->empty()) return false;
  uint64_t data = 0, covered = 0;
  for (const auto& level : version_->levels()) {
    for (const TableRef& t : level) {
      data += t->live_bytes();
      if (t->covered_bytes() == 0 || t->oldest_range_tombstone() > oldest_snapshot) continue;
      if (busy_.count(t->meta().tph_id) == 0) covered += t->covered_bytes();
    }
  }
  if (covered == 0) return false;
  const std::shared_ptr<const StoreOptions> options = current();
  const ValueVersion& version = *values_.version();
  const uint64_t values = version.total_bytes() - std::min(version.total_bytes(), version.superseded_bytes());
  const uint64_t limit = std::max(ToleratedGarbage(options->values), values / 400 * options->values.reserve_percent);
  return static_cast<double>(covered) / static_cast<double>(data) * static_cast<double>(values) >
         static_cast<double>(limit);
}

PickerInput LsmStore::MakePickerInput() const {
  PickerInput input;
  input.now_seconds = context_->clock->NowMicros() / 1000000;
  const std::unordered_set<uint64_t> vacated = FilesToVacate();
  const SequenceNumber oldest_snapshot = OldestSnapshot();
  const bool cover = CoversTooMuch(oldest_snapshot);
  for (const auto& level : version_->levels()) {
    auto& out = input.levels.emplace_back();
    out.reserve(level.size());
    for (const TableRef& t : level) {
      const bool busy = !busy_.empty() && busy_.count(t->meta().tph_id) != 0;
      out.push_back({&t->meta(), busy, t->live_bytes()});
      out.back().scan_loss_pieces = t->scan_cost()->pieces();
      out.back().scan_loss_run = t->scan_cost()->run();
      out.back().marked = t->marked_for_compaction();
      out.back().paths = t->paths();
      if (t->kept_for_snapshots() && t->meta().largest_seq <= oldest_snapshot) {
        out.back().released_bytes = t->unseen_bytes();
      }
      out.back().sparse = !vacated.empty() && HasFileIn(t->meta(), vacated);
      out.back().covers = cover && t->covered_bytes() > 0 && t->oldest_range_tombstone() <= oldest_snapshot;
    }
  }
  if (options_.keep_last_level) input.levels.pop_back();
  return input;
}

PickerConfig LsmStore::MakePickerConfig() const {
  const std::shared_ptr<const StoreOptions> options = current();
  PickerConfig c;
  c.CompactionTuning::operator=(*options);
  c.comparator = options->comparator;
  c.rewrites = options->leveled;
  c.one_level = options->one_level;
  c.dynamic_levels = options->dynamic_levels;
  c.hash_range = options->hash_range;
  c.open_below = options_.keep_last_level;
  for (const TablePath& path : options->paths) c.path_targets.push_back(path.target_bytes);
  return c;
}

std::unique_ptr<CompactionTask> LsmStore::MakeTask(const CompactionPlan& plan, bool manual,
                                                   const FlushRequest* flushed,
                                                   bool* conflict) {
  if (plan.empty()) return nullptr;
  CompactionJobInput input;
  input.context = context_;
  const std::shared_ptr<const StoreOptions> options = current();
  input.options = options.get();
  input.version = VersionForJob();
  input.input_level = plan.input_level;
  input.output_level = plan.output_level;
  input.rewrite = plan.rewrite;
  input.whole = plan.whole || options->leveled;
  for (size_t i : plan.fences) {
    input.fences.push_back(version_->levels()[plan.output_level][i]->meta().smallest);
  }
  input.path = plan.path;
  input.manual = manual;
  input.max_threads = plan.threads;
  if (flushed != nullptr) {
    input.memtables = flushed->memtables;
    input.threads = flushed->threads;
    input.hurry = flushed->hurry;
  }
  const auto& levels = version_->levels();
  for (size_t i : plan.inputs) input.inputs.push_back(levels[plan.input_level][i]);
  for (size_t i : plan.bases) input.bases.push_back(levels[plan.output_level][i]);
  input.hash_range = plan.hash_range;
  size_t all = 0;
  for (const auto& level : levels) all += level.size();
  input.full = all == input.inputs.size() + input.bases.size();
  input.group_bits = values_.GroupBits(options->values);
  // What the job may write: each input's own range if tables move or are
  // rewritten, or else all from the first key to the last, between fences.
  std::vector<TphMeta> ranges;
  std::map<ptrdiff_t, size_t> between;  // the range by the number of fences before it
  const auto cover = [&](const TphMeta& m) {
    const auto place = std::partition_point(
        input.fences.begin(), input.fences.end(),
        [&](const std::string& f) { return options_.comparator->Compare(f, m.smallest) <= 0; });
    const auto [at, first] = between.emplace(place - input.fences.begin(), ranges.size());
    if (first || plan.trivial_move || plan.rewrite) {
      TphMeta& range = ranges.emplace_back();
      range.smallest = m.smallest;
      range.largest = m.largest;
      range.largest_exclusive = m.largest_exclusive;
      range.hash_range = plan.trivial_move || plan.rewrite ? m.hash_range : plan.hash_range;
      range.search = m.search;
      return;
    }
    TphMeta& range = ranges[at->second];
    range.search.first = std::min(range.search.first, m.search.first);
    range.search.last = std::max(range.search.last, m.search.last);
    if (options_.comparator->Compare(m.smallest, range.smallest) < 0) range.smallest = m.smallest;
    const int c = options_.comparator->Compare(m.largest, range.largest);
    if (c > 0) range.largest = m.largest;
    if (c >= 0) range.largest_exclusive = m.largest_exclusive && (c > 0 || range.largest_exclusive);
  };
  for (const TableRef& t : input.inputs) cover(t->meta());
  for (const TableRef& t : input.bases) cover(t->meta());
  if (flushed != nullptr) cover(MemTableBounds(options_.comparator, *flushed));
  for (const Claim& claim : claims_) {
    if (claim.level != plan.output_level) continue;
    for (const TphMeta& range : ranges) {
      if (!MayNotShareLevel(options_.comparator, claim.range, range)) continue;
      *conflict = true;
      return nullptr;
    }
  }
  auto task = std::make_unique<LsmTask>(this, options, std::move(input), plan.trivial_move,
                                        plan.reason);
  try {
    for (uint64_t id : task->BusyTables()) busy_.insert(id);
    for (TphMeta& range : ranges) {
      claims_.push_back({task.get(), plan.output_level, std::move(range)});
    }
    if (!plan.trivial_move && options->values.enabled) NoteLateJob(task.get());
  } catch (const std::bad_alloc&) {
    Release(task.get());  // or the tables would stay busy
    throw;
  }
  return task;
}

std::unique_ptr<CompactionTask> LsmStore::PickCompaction() {
  if (dropped_) return nullptr;
  if (std::unique_ptr<CompactionTask> task = PickCollection(/*for_room=*/false)) return task;
  if (options_.fifo) return PickFifo();
  bool conflict = false;
  return MakeTask(compassdb::PickCompaction(MakePickerInput(), MakePickerConfig()), false, nullptr,
                  &conflict);
}

bool LsmStore::NeedsCompaction() const {
  if (dropped_) return false;
  if (NeedsCollection(/*for_room=*/false)) return true;
  if (options_.fifo) return !compassdb::PickFifo(MakePickerInput(), MakePickerConfig()).tables.empty();
  return !compassdb::PickCompaction(MakePickerInput(), MakePickerConfig()).empty();
}

std::unique_ptr<CompactionTask> LsmStore::PickManual(const ManualCompaction& request,
                                                     bool* conflict) {
  *conflict = false;
  if (dropped_) return nullptr;
  if (options_.fifo) return PickFifo();
  ManualRange range;
  range.begin = request.begin;
  range.end = request.end;
  range.input_level = request.input_level;
  range.output_level = request.output_level;
  range.to_base = request.to_base;
  range.created_before = request.created_before;
  range.tables = request.tables;
  range.path = request.path;
  range.released = request.released;
  range.threads = request.threads;
  return MakeTask(compassdb::PickManual(MakePickerInput(), MakePickerConfig(), range, conflict),
                  true, nullptr, conflict);
}

int LsmStore::BaseLevel() const {
  return compassdb::BaseLevel(MakePickerInput(), MakePickerConfig());
}

std::unique_ptr<CompactionTask> LsmStore::PickFlush(const FlushRequest& request) {
  if (dropped_ || options_.fifo) return nullptr;
  const TphMeta bounds = MemTableBounds(options_.comparator, request);
  uint64_t bytes = 0;
  for (const auto& m : request.memtables) bytes += m->table_size();
  if (bytes == 0) return nullptr;
  bool conflict = false;
  return MakeTask(PickMemTableMerge(MakePickerInput(), MakePickerConfig(), bounds, bytes), false,
                  &request, &conflict);
}

void LsmStore::Release(CompactionTask* task) {
  for (uint64_t id : task->BusyTables()) busy_.erase(id);
  std::erase_if(claims_, [&](const Claim& claim) { return claim.task == task; });
  if (const auto group = collecting_.find(task); group != collecting_.end()) {
    values_.Release(group->second.groups);
    group->second.done();
    collecting_.erase(group);
  }
  if (const auto late = late_jobs_.find(task); late != late_jobs_.end()) {
    values_.EndLateJob(late->second);
    late_jobs_.erase(late);
  }
}

void LsmStore::NoteLateJob(const CompactionTask* task) {
  late_jobs_.emplace(task, values_.BeginLateJob());
}

void LsmStore::SetOptions(const StoreOptions& changed) {
  auto next = std::make_shared<StoreOptions>(*current());
  next->Change(changed);
  accounting_.bytes_per_read = changed.scan_bytes_per_read;
  {
    MutexLock lock(&handles_mu_);
    current_ = std::move(next);
  }
  NoteAllKept();
}

uint64_t LsmStore::PendingCompactionBytes() const {
  return PendingBytes(MakePickerInput(), MakePickerConfig());
}

void LsmStore::MarkDropped() {
  dropped_ = true;
  values_.MarkDropped();
  for (const auto& level : version_->levels()) {
    for (const TableRef& t : level) {
      t->MarkDirectoryObsolete();
      for (size_t i = 0; i < t->num_pieces(); ++i) t->piece(i)->MarkObsolete();
    }
  }
}

std::unique_ptr<Store> NewLsmStore(const StoreContext* context, const StoreOptions& options) {
  return std::make_unique<LsmStore>(context, options);
}

}  // namespace compassdb
