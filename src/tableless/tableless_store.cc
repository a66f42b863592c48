// SPDX-License-Identifier: Apache-2.0
#include "tableless/tableless_store.h"

#include <algorithm>

#include "format/file_names.h"
#include "store/salvage_report.h"
#include "table/piece/piece_salvage.h"
#include "tableless/flush/page_flush.h"
#include "tableless/page/page_resolver.h"
#include "tableless/page/page_salvage.h"
#include "tableless/tableless_store_impl.h"
#include "util/no_memory.h"

namespace compassdb {

namespace {

// Markers per run of a key store that is rebuilt.
constexpr uint64_t kMarkerBytes = 64 << 20;

// Pages per section of a new store: enough for the first flush. Rehashes add pages for later ones.
uint64_t FirstPages(const FlushRequest& request, const PageOptions& options) {
  if (options.pages != 0) return (options.pages + options.sections - 1) / options.sections;
  const uint64_t usable = options.page_bytes - kPageHeaderBytes;
  std::map<uint64_t, uint64_t> counts;
  uint64_t bytes = 0;
  for (const auto& memtable : request.memtables) {
    const InternalIteratorPtr it = memtable->NewIterator();
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      LogRef ref;
      const bool logged = ExtractType(it->key()) == kTypeBlobIndex && ref.Parse(it->value());
      const Slice value = logged ? Slice() : it->value();
      const PageRecord record{ExtractUserKey(it->key()), value, ExtractSequence(it->key())};
      const size_t size = EncodedSize(record) + ref.size;
      if (size > usable) continue;
      ++counts[size];
      bytes += size;
    }
  }
  std::vector<SizeDistribution::Share> shares;
  for (const auto& [size, count] : counts) shares.push_back({size, static_cast<double>(count)});
  if (shares.empty()) return kLeastSectionPages;
  return SizedPages(SizingRule(options), SizeDistribution::Histogram(std::move(shares)), bytes / options.sections,
                    usable);
}

}  // namespace

// Keys alone, sorted, without any index for point reads. Filters and merges are for the pages.
StoreOptions KeyStoreOptions(const StoreOptions& options) {
  StoreOptions keys = options;
  keys.pages.enabled = false;
  keys.filter_index = keys.leveled = true;
  keys.max_pieces = 1;
  keys.filter = FilterOptions();
  keys.one_level = keys.hash_range = false;
  keys.data_order = DataOrder::kKey;
  keys.target_table_bytes = std::min<uint64_t>(keys.target_table_bytes, 1 << 20);
  keys.compaction_filter = nullptr;
  keys.compaction_filter_factory = nullptr;
  keys.merge_operator = nullptr;
  keys.collectors.clear();
  keys.ttl_seconds = keys.periodic_seconds = 0;
  return keys;
}

TablelessStore::TablelessStore(const StoreContext* context, const StoreOptions& options,
                               std::unique_ptr<Store> keys)
    : Store(options),
      context_(context),
      keys_(std::move(keys)),
      state_(std::make_shared<PageState>(options.block_cache, options.merge_operator, context->statistics,
                                         context->read_only, context->log_values)) {
  current_ = std::make_shared<const StoreOptions>(options);
}

TablelessStore::~TablelessStore() {
  state_->SetCurrent(nullptr);
  MutexLock lock(&turn_mu_);
  if (!dropped_) return;
  for (uint64_t number : pinned_files_) context_->ledger->UnpinFile(number);
  for (uint64_t number : new_sections_) context_->delete_later(NewSectionPath(number));
}

void TablelessStore::AwaitTurn() {
  MutexLock lock(&turn_mu_);
  const uint64_t mine = next_turn_++;
  while (turn_ != mine) turn_changed_.Wait();
}

void TablelessStore::EndTurn() {
  MutexLock lock(&turn_mu_);
  ++turn_;
  turn_changed_.SignalAll();
}

void TablelessStore::PinUntilInstalled(uint64_t file_number) {
  MutexLock lock(&turn_mu_);
  pinned_files_.insert(file_number);
}

std::vector<uint64_t> TablelessStore::TakeDirty(uint32_t section) {
  MutexLock lock(&turn_mu_);
  std::vector<uint64_t> pages;
  std::vector<bool>& dirty = dirty_[section];
  for (uint64_t page = 0; page < dirty.size(); ++page) {
    if (dirty[page]) pages.push_back(page);
  }
  dirty.assign(dirty.size(), false);
  return pages;
}

uint64_t TablelessStore::CountDirty(uint32_t section) const {
  MutexLock lock(&turn_mu_);
  const auto dirty = dirty_.find(section);
  if (dirty == dirty_.end()) return 0;
  return static_cast<uint64_t>(std::count(dirty->second.begin(), dirty->second.end(), true));
}

void TablelessStore::SetOptions(const StoreOptions& changed) {
  keys_->SetOptions(KeyStoreOptions(changed));
  auto next = std::make_shared<StoreOptions>(*current_options());
  next->Change(changed);
  MutexLock lock(&options_mu_);
  current_ = std::move(next);
}

Status TablelessStore::ApplyRecovered(const VersionEdit& edit) {
  if (!edit.page_geometry && (!edit.added.empty() || !edit.added_values.empty())) {
    return Status::InvalidArgument(
        "column family " + options_.column_family_name,
        "has tables, which the table-less store does not open; write its data to a new family");
  }
  recovered_ = edit;
  VersionEdit tables = edit;
  tables.page_geometry.reset();
  tables.page_sections.clear();
  tables.added_page_runs.clear();
  tables.folded_sequence.reset();
  tables.keys_whole.reset();
  tables.in_place_sequence.reset();
  return keys_->ApplyRecovered(tables);
}

std::string TablelessStore::NewSectionPath(uint64_t number) const {
  const std::string dir = options_.paths.empty() ? context_->files->dirs()->All().front()
                                                 : options_.paths.front().dir;
  return PageFileName(dir, number);
}

// In the order of TableDirs, the database's own directory first: a copy has all of its files there, and its source
// may still change the files in other directories. It may have been made when the family had other paths.
std::string TablelessStore::FindSectionPath(uint64_t number) const {
  std::vector<std::string> paths;
  for (const std::string& dir : context_->files->dirs()->All()) paths.push_back(PageFileName(dir, number));
  paths.push_back(NewSectionPath(number));
  bool found = false;
  const size_t at = WhichExists(context_->fs, paths, &found);
  return paths[at];
}

std::shared_ptr<SectionFile> TablelessStore::MakeSectionFile(const std::string& path,
                                                             uint64_t number) const {
  return std::make_shared<SectionFile>(context_->files, path, number, context_->delete_later);
}

Status TablelessStore::OpenSection(const PageSectionMeta& meta, const PageGeometry& geometry,
                                   std::shared_ptr<SectionFile>* file) const {
  *file = MakeSectionFile(FindSectionPath(meta.file_number), meta.file_number);
  return (*file)->Open(meta.pages * geometry.page_bytes);
}

Status TablelessStore::Open() {
  Status s = keys_->Open();
  if (!s.ok()) return s;
  TablelessView::Parts parts;
  parts.hasher = context_->hasher;
  parts.keys = keys_->view();
  if (recovered_.page_geometry) {
    parts.geometry = *recovered_.page_geometry;
    if (recovered_.page_sections.size() != parts.geometry.sections) {
      return Status::Corruption("manifest", "column family " + options_.column_family_name +
                                                " lacks sections of its pages");
    }
    for (uint32_t i = 0; i < recovered_.page_sections.size(); ++i) {
      if (recovered_.page_sections[i].section != i) return Status::Corruption("manifest", "a page section twice");
    }
    s = OpenRecovered(&parts);
    if (!s.ok()) return s;
    state_->RaiseCommitted(recovered_.folded_sequence.value_or(0));
    state_->RaiseInPlace(recovered_.in_place_sequence.value_or(0));
    parts.keys_whole = recovered_.keys_whole.value_or(false);
  }
  recovered_ = VersionEdit();
  const auto view = std::make_shared<TablelessView>(state_, std::move(parts));
  view->CheckInvariants();
  state_->SetCurrent(view);
  return s;
}

// The first flush chooses the geometry.
Status TablelessStore::MakeSections(const FlushRequest& request, TablelessView::Parts* parts,
                                    VersionEdit* edit) {
  const PageOptions options = current_options()->pages;
  parts->geometry = {options.sections, options.page_bytes};
  const uint64_t pages = NormalPages(std::clamp<uint64_t>(FirstPages(request, options), 1, kMaxSectionPages));
  edit->page_geometry = parts->geometry;
  Status s;
  for (uint32_t i = 0; s.ok() && i < options.sections; ++i) {
    auto section = std::make_shared<Section>();
    section->meta.section = i;
    section->meta.file_number = context_->new_number();
    section->meta.pages = pages;
    section->divisor = PageDivisor(pages);
    section->overflow = std::make_shared<const OverflowIndex>();
    const std::string path = NewSectionPath(section->meta.file_number);
    section->file = MakeSectionFile(path, section->meta.file_number);
    s = SectionFile::Create(context_->fs, path, section->meta.file_number, pages,
                            options.page_bytes, context_->write_options);
    if (s.ok()) s = section->file->Open(pages * options.page_bytes);
    parts->sections.push_back(std::move(section));
  }
  if (s.ok()) s = context_->fs->SyncDir(ParentOf(parts->sections.front()->file->path()));
  if (s.ok()) return s;
  for (const SectionRef& section : parts->sections) section->file->MarkObsolete();
  return s;
}

Status TablelessStore::FlushKeys(std::shared_ptr<MemTable> keys,
                                 const std::vector<SequenceNumber>& snapshots, VersionEdit* edit,
                                 JobReport* report) {
  FlushRequest request;
  request.memtables.push_back(std::move(keys));
  request.snapshots = snapshots;
  JobReport of_keys;
  of_keys.observer = report->observer;
  Status s = keys_->Flush(request, edit, &of_keys);
  const auto append = [](auto* to, auto&& more) { to->insert(to->end(), more.begin(), more.end()); };
  append(&report->outputs, of_keys.outputs);
  append(&report->output_files, of_keys.output_files);
  append(&report->output_paths, of_keys.output_paths);
  append(&report->output_bytes, of_keys.output_bytes);
  report->bytes_written += of_keys.bytes_written;
  return s;
}

Status TablelessStore::Flush(const FlushRequest& request, VersionEdit* edit, JobReport* report) {
  AwaitTurn();
  Status s = CatchOutOfMemory("a flush", [&] { return FlushPages(request, edit, report); });
  if (!s.ok()) EndTurn();
  return s;
}

// With the turn.
Status TablelessStore::FlushPages(const FlushRequest& request, VersionEdit* edit, JobReport* report) {
  const uint64_t start = context_->clock->NowNanos();
  const std::shared_ptr<const StoreOptions> options = current_options();
  std::shared_ptr<const TablelessView> view = current();
  edit->column_family = options_.column_family_id;
  Status s;
  const bool first = view->parts().sections.empty();
  if (first) {
    TablelessView::Parts parts = view->parts();
    s = MakeSections(request, &parts, edit);
    view = std::make_shared<TablelessView>(state_, std::move(parts));
  }
  JobFile file(context_, options.get(), 0, /*flush=*/true, /*observer=*/nullptr);
  if (s.ok()) {
    PageFlush job(context_, options.get(), view, &request, [&](std::shared_ptr<MemTable> keys) {
      return FlushKeys(std::move(keys), request.snapshots, edit, report);
    });
    if (!first) job.AllowInPlace([this] { return BeginInPlace(); }, [this](uint64_t page) { NoteDirty(page); });
    s = job.Run(&file, edit, report);
  }
  if (!s.ok()) {
    file.Abandon();
    if (first) {
      for (const SectionRef& section : view->parts().sections) section->file->MarkObsolete();
    }
    return s;
  }
  report->micros = (context_->clock->NowNanos() - start) / 1000;
  MutexLock lock(&turn_mu_);
  if (edit->added_page_runs.empty()) {
    file.Abandon();
  } else {
    report->bytes_written += file.bytes();
    pinned_files_.insert(file.number());
  }
  flush_has_turn_ = true;
  return s;
}

// Sets the flag, then checks deletions. A call that disables deletions does that first and then checks the flag.
bool TablelessStore::BeginInPlace() {
  flush_in_place_.store(true);
  if (context_->ledger->deletions_enabled()) return true;
  flush_in_place_.store(false);
  return false;
}

// A section that is being rehashed may have read the page before it was written.
void TablelessStore::NoteDirty(uint64_t page_key) {
  MutexLock lock(&turn_mu_);
  MarkDirty(page_key);
}

void TablelessStore::MarkDirty(uint64_t page_key) {
  const auto dirty = dirty_.find(SectionOfKey(page_key));
  const uint64_t page = PageOfKey(page_key);
  if (dirty != dirty_.end() && page < dirty->second.size()) dirty->second[page] = true;
}

// Reads all of the key store's tables, which it holds from then on.
Status TablelessStore::CheckKeys(const VersionEdit& recovered, bool* whole) {
  VersionEdit tables;
  tables.column_family = recovered.column_family;
  tables.added = recovered.added;
  std::unique_ptr<Prepared> prepared;
  Status s = keys_->Prepare(tables, &prepared);
  if (s.ok()) {
    keys_->Install(tables, std::move(prepared));
    s = keys_->view()->Verify();
  }
  *whole = s.ok();
  // It is rebuilt from the pages, and its old contents are not used.
  if (*whole || (!IsDamage(s) && !s.IsNotSupported())) return s;
  if (context_->log_info) context_->log_info("repair: the key store is rebuilt: " + s.ToString());
  return Status::OK();
}

Status TablelessStore::Salvage(const VersionEdit& recovered, VersionEdit* edit, bool* changed,
                               SalvageReport* report) {
  *changed = false;
  if (!recovered.page_geometry) return Status::OK();
  PageSalvage::Calls calls;
  calls.existing_path = [this](uint64_t number) { return FindSectionPath(number); };
  calls.new_path = [this](uint64_t number) { return NewSectionPath(number); };
  calls.flush_keys = [&](std::shared_ptr<MemTable> keys) {
    JobReport job;
    return FlushKeys(std::move(keys), {}, edit, &job);
  };
  PageSalvage pages(context_, &options_, recovered, std::move(calls));
  bool whole = false, keys_whole = false;
  Status s = pages.Check(&whole);
  report->lost_pages += pages.damages();
  if (s.ok()) s = CheckKeys(recovered, &keys_whole);
  if (!s.ok()) return s;
  const bool keys_lacking = options_.pages.key_store && !recovered.keys_whole.value_or(false);
  // Pages are ahead of the key store and of the sections' counts. They may have more than damaged logs give back, or
  // than an older manifest knows of.
  const SequenceNumber in_place = std::max(recovered.in_place_sequence.value_or(0), pages.newest());
  const bool in_doubt = in_place > recovered.folded_sequence.value_or(0);
  (keys_whole && !in_doubt ? report->tables : report->rewritten_tables) += recovered.added.size();
  if (whole && keys_whole && !keys_lacking && !in_doubt) return s;
  *changed = true;
  if (in_doubt) edit->folded_sequence = in_place;
  edit->keys_whole = options_.pages.key_store;
  for (const VersionEdit::Added& table : recovered.added) {
    edit->deleted.push_back({table.level, table.tph.tph_id});
  }
  return pages.Rebuild(edit);
}

// A key store that lacks keys is rebuilt from the records. Its other versions were for snapshots of earlier opens.
// Pages may be ahead and not durable. After a power cut has undone them, the log has their records, and no marker may
// hide those.
Status TablelessStore::Complete(VersionEdit* edit, bool* changed) {
  const std::shared_ptr<const TablelessView> view = current();
  *changed = options_.pages.key_store && !view->parts().keys_whole;
  if (!*changed) return Status::OK();
  if (context_->log_info) {
    context_->log_info("[" + options_.column_family_name + "] the key store lacks keys: it is rebuilt");
  }
  // Damaged tables are replaced, but files of a later release are not.
  if (Status s = view->parts().keys->Verify(); s.IsNotSupported()) return s;
  edit->column_family = options_.column_family_id;
  edit->keys_whole = true;
  view->ForEachTable([edit](int level, const TphMeta& tph) { edit->deleted.push_back({level, tph.tph_id}); });
  MemTableOptions memory;
  memory.comparator = options_.comparator;
  std::shared_ptr<MemTable> keys;
  const auto flush = [&] {
    JobReport report;
    return FlushKeys(std::move(keys), {}, edit, &report);
  };
  Status s = view->ForEachRecord([&](const PageRecord& record) {
    if (keys == nullptr) keys = std::make_shared<MemTable>(memory, 0);
    const SequenceNumber sequence = std::min(record.sequence, state_->committed());
    Status added = keys->Add(sequence, kTypeBlobIndex, record.user_key, kKeyMarker, /*concurrent=*/false);
    if (added.ok() && keys->data_size() >= kMarkerBytes) added = flush();
    return added;
  });
  return s.ok() && keys != nullptr ? flush() : s;
}

void TablelessStore::ForgetFlush() {
  flush_in_place_.store(false);
  {
    MutexLock lock(&turn_mu_);
    if (!flush_has_turn_) return;
    flush_has_turn_ = false;
  }
  EndTurn();
}

void TablelessStore::Snapshot(VersionEdit* edit) const {
  keys_->Snapshot(edit);
  const auto now = current();
  const TablelessView::Parts& parts = now->parts();
  if (parts.sections.empty()) return;
  edit->page_geometry = parts.geometry;
  for (const SectionRef& section : parts.sections) edit->page_sections.push_back(section->meta);
  for (const PageJournalRef& journal : parts.journals) edit->added_page_runs.push_back(journal->meta());
  for (const OverflowRunRef& run : parts.runs) edit->added_page_runs.push_back(run->meta());
  edit->folded_sequence = state_->committed();
  if (state_->folded() > state_->committed()) edit->in_place_sequence = state_->folded();
  edit->keys_whole = parts.keys_whole;
}

// A pending journal counts for five tables on level 0: with the usual triggers writers slow down at four. Journals
// of different sections, from parts of memtables, count once together. Those that wait because file deletions, and so
// writes in place, are disabled do not count.
int TablelessStore::Level0Runs() const {
  const auto now = current();
  const auto& journals = now->parts().journals;
  int pending = 0;
  for (const PageJournalRef& from : journals) {
    if (from->meta().run_id <= held_journal_ || from->size() == 0) continue;
    const uint32_t section = SectionOfKey(from->key(0));
    const auto of_section = std::count_if(journals.begin(), journals.end(), [&](const PageJournalRef& journal) {
      return journal->meta().run_id > held_journal_ && journal->size() > 0 &&
             SectionOfKey(journal->key(0)) <= section && section <= SectionOfKey(journal->key(journal->size() - 1));
    });
    pending = std::max(pending, static_cast<int>(of_section));
  }
  const int runs = context_->ledger->deletions_enabled() ? 5 * pending : 0;
  return std::max(keys_->Level0Runs(), runs);
}

std::vector<std::string> TablelessStore::FilesInPlace() const {
  const auto now = current();
  std::vector<std::string> paths;
  for (const SectionRef& section : now->parts().sections) paths.push_back(section->file->path());
  return paths;
}

void TablelessStore::MarkDropped() {
  dropped_ = true;
  keys_->MarkDropped();
  const auto now = current();
  for (const SectionRef& section : now->parts().sections) section->file->MarkObsolete();
  for (const PageJournalRef& journal : now->parts().journals) journal->run()->MarkObsolete();
  for (const OverflowRunRef& run : now->parts().runs) run->run()->MarkObsolete();
}

std::unique_ptr<Store> NewTablelessStore(const StoreContext* context, const StoreOptions& options,
                                         std::unique_ptr<Store> keys) {
  return std::make_unique<TablelessStore>(context, options, std::move(keys));
}

}  // namespace compassdb
