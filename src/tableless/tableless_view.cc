// SPDX-License-Identifier: Apache-2.0
#include "tableless/tableless_view.h"

#include <algorithm>

#include "api/wide_column_codec.h"
#include "table/io_limits.h"
#include "tableless/overflow/overflow_batch.h"
#include "tableless/page/page_reads.h"
#include "tableless/page/unfolded.h"
#include "util/checked.h"

namespace compassdb {

namespace {

// Tries with a newer view each time. Only constant writes need many.
constexpr int kTries = 64;

}  // namespace

void TablelessView::CheckInvariants() const {
  if constexpr (!kChecked) return;
  COMPASSDB_INVARIANT(number_ == state_->number() + 1, "a view comes after the current one");
  COMPASSDB_INVARIANT(committed_ <= folded_, "what is committed may be in pages");
  COMPASSDB_INVARIANT(parts_.sections.size() == parts_.geometry.sections, "there are as many sections as the geometry says");
  const auto older = [](const auto& a, const auto& b) { return a->meta().run_id < b->meta().run_id; };
  COMPASSDB_INVARIANT(std::is_sorted(parts_.journals.begin(), parts_.journals.end(), older), "journals are sorted by age");
  COMPASSDB_INVARIANT(std::is_sorted(parts_.runs.begin(), parts_.runs.end(), older), "overflow runs are sorted by id");
  for (uint32_t i = 0; i < parts_.sections.size(); ++i) {
    const SectionRef& section = parts_.sections[i];
    COMPASSDB_INVARIANT(section != nullptr && section->meta.section == i, "each section has its place");
    section->CheckInvariants();
    for (const OverflowRunRef& run : section->overflow->runs()) {
      const bool there = std::find(parts_.runs.begin(), parts_.runs.end(), run) != parts_.runs.end();
      COMPASSDB_INVARIANT(there, "runs with overflow records of a section are in the view");
    }
  }
}

Status TablelessView::Annotate(const Status& s, uint32_t section, uint64_t page,
                               const PageJournal* journal, const PageJournal::Place& place) const {
  if (!s.IsCorruption() && !s.IsNotSupported()) return s;
  if (journal != nullptr && s.IsCorruption()) {
    return journal->run()->Corruption(
        place.offset, "image of page " + std::to_string(page) + ": " + s.ToString());
  }
  const std::string where =
      parts_.sections[section]->file->path() + ": page " + std::to_string(page) + " at offset " +
      std::to_string(page * parts_.geometry.page_bytes) + ": " + s.ToString();
  return s.IsCorruption() ? Status::Corruption(where) : Status::NotSupported(where);
}

bool TablelessView::FindInJournals(uint32_t section, uint64_t page, const PageJournal** journal,
                                   PageJournal::Place* place) const {
  const uint64_t file = parts_.sections[section]->meta.file_number;
  for (auto it = parts_.journals.rbegin(); it != parts_.journals.rend(); ++it) {
    if (!(*it)->Find(section, file, page, place)) continue;
    *journal = it->get();
    return true;
  }
  return false;
}

Status TablelessView::CheckRead(const Slice& image, uint32_t section, uint64_t page, Slice* records) const {
  Status s = CheckPage(image, parts_.sections[section]->meta.file_number, page, records);
  if (!s.ok() || state_->read_only() || !state_->WrittenByPrimary(*records)) return s;
  return Status::Corruption("is newer than the manifest: of sequence " + std::to_string(FoldedOf(*records)) + ", not " +
                            std::to_string(state_->folded()) + " at most");
}

Status TablelessView::ReadOnce(uint32_t section, uint64_t page, PageRoom* room,
                               Slice* records) const {
  const Section& s = *parts_.sections[section];
  const PageJournal* journal = nullptr;
  PageJournal::Place place;
  Slice image;
  Status status;
  if (FindInJournals(section, page, &journal, &place)) {
    const PageReadTimer timer(statistics());
    status = journal->Read(place, &room->image, &image);
  } else {
    const uint32_t bytes = parts_.geometry.page_bytes;
    std::shared_ptr<CompactionFile> hold;
    const RandomAccessFile* file = nullptr;
    status = s.file->Reader(&hold, &file);
    if (!status.ok()) return status;
    const size_t alignment = file->ReadAlignment();
    char* const to = room->page.Reserve(alignment, bytes + 2 * alignment);
    if (to == nullptr) return Status::MemoryLimit("no memory for a page", s.file->path());
    const PageReadTimer timer(statistics());
    status = file->ReadWithin(page * bytes, bytes, &image, to);
  }
  if (!status.ok()) return status;
  CountPagesRead(statistics(), 1, image.size());
  return Annotate(CheckRead(image, section, page, records), section, page, journal, place);
}

Status TablelessView::ReadPage(uint32_t section, uint64_t page, PageRoom* room,
                               Slice* records) const {
  const InFlightPages& in_flight = *state_->in_flight();
  const uint64_t file_number = parts_.sections[section]->meta.file_number;
  uint64_t ended = in_flight.ended();
  Status s = ReadOnce(section, page, room, records);
  // A flush may be writing it. Newer views have it in a journal, or as it is then. A view whose section was
  // rehashed since is of no use, but then no flush writes here. A page without a journal is in flight, or
  // was until just now.
  std::shared_ptr<const TablelessView> last = shared_from_this();
  for (int i = 0; i < kTries && s.IsCorruption(); ++i) {
    if (in_flight.Copy(file_number, page, &room->image)) {
      return Annotate(CheckPage(room->image, file_number, page, records), section, page);
    }
    const uint64_t ended_now = in_flight.ended();
    std::shared_ptr<const TablelessView> now = state_->current();
    if (now == nullptr) break;
    if (now->parts_.sections[section]->meta.file_number !=
        parts_.sections[section]->meta.file_number) {
      now = shared_from_this();
    }
    s = now->ReadOnce(section, page, room, records);
    if (now == last && ended_now == ended) break;
    last = std::move(now);
    ended = ended_now;
  }
  return s;
}

Status TablelessView::LookupInPage(const BlockReadOptions& read, uint32_t section, uint64_t page,
                                   const Slice& user_key, PageLookup* result) const {
  const uint64_t file_number = parts_.sections[section]->meta.file_number;
  Slice records;
  // An image in a journal counts instead of the page.
  const PageJournal* journal = nullptr;
  PageJournal::Place place;
  PageCache* const cache = state_->cache();
  const bool in_place = cache->enabled() && !FindInJournals(section, page, &journal, &place);
  if (in_place) cache->Find(file_number, page, &result->hold);
  if (result->hold.found()) {
    records = result->hold.records();
  } else {
    if (read.cache_only) return Status::Incomplete("the page is not in memory");
    IoTimer timer(read.limits);
    const StatTimer micros(statistics(), BlockReadHistogram(read));
    const uint64_t number = cache->Number(page);
    Status s = timer.Begin();
    if (s.ok()) s = ReadPage(section, page, &result->room, &records);
    if (s.ok()) s = timer.End();
    if (!s.ok()) return s;
    result->written_by_primary = state_->WrittenByPrimary(records);
    if (in_place && read.fill_cache && MayBeKept(records)) cache->Insert(file_number, page, number, records);
  }
  bool damaged = false;
  result->found = FindPageRecord(records, user_key, &result->record, &damaged);
  if (damaged) return Annotate(Status::Corruption("damaged record"), section, page);
  return Status::OK();
}

// The index of the overflow store is in memory, so a key in it costs one read like any other. (The key's page does not
// have it. If the page was written since, it may have a version that is too new for a reader of this view.)
Status TablelessView::Lookup(const BlockReadOptions& read, const Slice& user_key,
                             const KeyHash& hash, PageLookup* result) const {
  result->found = false;
  result->written_by_primary = false;
  result->hold.Release();
  if (parts_.sections.empty()) return Status::OK();
  const MasterHash master = MasterHashOf(hash, parts_.geometry.sections);
  const Section& section = *parts_.sections[master.section];
  if (!section.overflow->EntriesOf(hash).empty()) {
    if (read.cache_only) return Status::Incomplete("the key may be in the overflow store");
    IoTimer timer(read.limits);
    const StatTimer micros(statistics(), BlockReadHistogram(read));
    Status s = timer.Begin();
    if (s.ok()) s = section.overflow->Find(user_key, hash, &result->room.image, &result->record, statistics());
    if (s.ok()) s = timer.End();
    if (!s.IsNotFound()) {  // NotFound: another key of this hash
      result->found = s.ok();
      return s;
    }
  }
  return LookupInPage(read, master.section, section.PageOf(master), user_key, result);
}

// Versions older than all folded ones are in the page, unless a primary has written it since.
Status TablelessView::ChangedByPrimary(uint32_t section, uint64_t page) const {
  if (!state_->read_only()) return Annotate(Status::Corruption("a record is newer than the manifest"), section, page);
  return Status::TryAgain("a page was changed after this opening",
                          "by the primary: open again, or read a checkpoint");
}

Status TablelessView::LookupOldVersion(const BlockReadOptions& read, const Slice& user_key,
                                  const KeyHash& hash, SequenceNumber snapshot,
                                  PageLookup* result) const {
  result->found = false;
  rocksdb::PinnableSlice value;
  std::string marker;
  GetContext ctx(user_key, snapshot, nullptr, &value);
  ctx.DeferSeparated(&marker);
  ctx.KeepEntities();
  Status s = parts_.keys->Get(read, user_key, hash, &ctx);
  if (s.ok()) s = ctx.Finish();
  if (s.IsNotFound()) return Status::OK();
  // A marker. A compaction filter has dropped the key's record.
  if (!s.ok() || !marker.empty()) return s;
  std::string& room = result->room.image;
  room.assign(value.data(), value.size());
  // Compactions of the key store may have zeroed its sequence. But the flush of a version newer than the
  // snapshot stored it there, with everything older: it has all that the snapshot sees.
  result->record = {user_key, room, snapshot, true};
  result->found = true;
  rocksdb::WideColumns columns;
  s = DecodeWideColumns(room, &columns);
  if (s.ok() && columns.size() == 1 && columns[0].name().empty()) {
    result->record.value = columns[0].value();
    result->record.entity = false;
  }
  return s;
}

Status TablelessView::LookupAt(const BlockReadOptions& read, const Slice& user_key,
                               const KeyHash& hash, SequenceNumber snapshot,
                               PageLookup* result) const {
  Status s = Lookup(read, user_key, hash, result);
  std::shared_ptr<const TablelessView> later;
  for (uint64_t number = number_; s.ok() && !result->found && number != state_->number();) {
    number = state_->number();
    std::shared_ptr<const TablelessView> now = state_->current();
    if (now == nullptr) break;
    later = std::move(now);
    s = later->Lookup(read, user_key, hash, result);
  }
  if (!s.ok() || (result->found && result->record.sequence <= snapshot)) return s;
  if (result->found && result->record.unfolded) {
    std::vector<NewVersion> versions;
    s = DecodeUnfolded(result->record.value, &versions);
    if (!s.ok() || versions.back().sequence <= snapshot) return s;
  }
  const bool newer = result->found || result->written_by_primary;
  result->found = false;
  if (snapshot >= state_->folded()) {
    if (!newer) return s;
    const TablelessView& looked = later != nullptr ? *later : *this;
    const MasterHash master = MasterHashOf(hash, looked.parts_.geometry.sections);
    return looked.ChangedByPrimary(master.section, looked.parts_.sections[master.section]->PageOf(master));
  }
  if (!read.snapshot_held) return Status::TryAgain("the page was written since");
  const std::shared_ptr<const TablelessView> now = state_->current();
  if (now == nullptr) return s;
  return now->LookupOldVersion(read, user_key, hash, snapshot, result);
}

Status TablelessView::Feed(const PageRecord& record, GetContext* ctx) {
  if (!record.unfolded) {
    ctx->Add(record.sequence, record.entity ? kTypeWideColumnEntity : kTypeValue, record.value, nullptr);
    return Status::OK();
  }
  std::vector<NewVersion> versions;
  Status s = DecodeUnfolded(record.value, &versions);
  for (size_t i = 0; s.ok() && i < versions.size(); ++i) {
    if (!ctx->Add(versions[i].sequence, versions[i].type, versions[i].value, nullptr)) break;
  }
  return s;
}

Status TablelessView::Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                          GetContext* ctx) const {
  PageLookup lookup;
  Status s = LookupAt(read, user_key, hash, ctx->snapshot(), &lookup);
  if (!s.ok()) return s;
  if (lookup.found) {
    s = Feed(lookup.record, ctx);
  } else if (ctx->snapshot() == kMaxSequenceNumber) {
    // A read of the newest sequence needs deletions, too.
    s = parts_.keys->Get(read, user_key, hash, ctx);
  }
  return s;
}

uint64_t TablelessView::ApproximateSize(const Slice& begin, const Slice& end) const {
  uint64_t key_bytes = 0, bytes = 0;
  for (const LevelStats& level : parts_.keys->Levels()) key_bytes += level.total_bytes;
  for (const SectionRef& section : parts_.sections) bytes += section->meta.bytes;
  if (key_bytes == 0) return 0;
  const double share = static_cast<double>(parts_.keys->ApproximateSize(begin, end)) /
                       static_cast<double>(key_bytes);
  return static_cast<uint64_t>(std::min(1.0, share) * static_cast<double>(bytes + key_bytes));
}

IndexMemory TablelessView::Index() const {
  IndexMemory memory = parts_.keys->Index();
  for (const SectionRef& section : parts_.sections) memory.overflow += section->overflow->MemoryBytes();
  for (const PageJournalRef& journal : parts_.journals) memory.overflow += journal->MemoryBytes();
  return memory;
}

PageStats TablelessView::Pages() const {
  PageStats stats;
  stats.page_bytes = parts_.geometry.page_bytes;
  for (const SectionRef& section : parts_.sections) {
    const PageSectionMeta& m = section->meta;
    stats.pages += m.pages;
    stats.records += m.records;
    stats.bytes += m.bytes;
    stats.overflow_records += m.overflow_records;
    stats.overflow_bytes += m.overflow_bytes;
    stats.overflow_index_bytes += section->overflow->MemoryBytes();
  }
  stats.stored_bytes = stats.pages * stats.page_bytes;
  stats.unjournaled_pages = state_->unjournaled();
  stats.pages_in_place = state_->unjournaled() + state_->journaled();
  stats.overflow_written = state_->overflow_written();
  stats.rehashes = state_->rehashes();
  for (const PageJournalRef& journal : parts_.journals) {
    stats.pending_pages += journal->size();
    stats.stored_bytes += journal->meta().extent.length;
  }
  for (const OverflowRunRef& run : parts_.runs) stats.stored_bytes += run->meta().extent.length;
  return stats;
}

// Pages get newer contents in place only after a view was installed whose journals have them, or after the state
// allows newer pages.
bool TablelessView::PagesMayBeNewer(uint32_t section) const {
  if (folded_ > committed_ || state_->folded() > folded_) return true;
  const std::shared_ptr<const TablelessView> now = state_->current();
  if (now == nullptr || now->parts_.sections[section] != parts_.sections[section]) return true;
  const auto& journals = now->parts_.journals;
  return std::any_of(journals.begin(), journals.end(), [&](const PageJournalRef& j) {
    return j->section_file(section) == parts_.sections[section]->meta.file_number &&
           std::find(parts_.journals.begin(), parts_.journals.end(), j) == parts_.journals.end();
  });
}

Status TablelessView::Verify() const {
  Status s = parts_.keys->Verify();
  PageRoom room;
  std::string overflow_room;
  Slice records;
  std::vector<PageRecord> list;
  for (uint32_t i = 0; i < parts_.sections.size(); ++i) {
    const Section& section = *parts_.sections[i];
    uint64_t found = section.overflow->entries().size();
    for (uint64_t page = 0; s.ok() && page < section.meta.pages; ++page) {
      s = ReadPage(i, page, &room, &records);
      if (s.ok()) s = Annotate(ListPageRecords(records, &list), i, page);
      found += list.size();
      if (s.ok() && state_->WrittenByPrimary(records)) s = ChangedByPrimary(i, page);
      for (const PageRecord& r : list) {
        const MasterHash master = MasterHashOf(parts_.hasher(r.user_key), parts_.geometry.sections);
        if (!s.ok() || (master.section == i && section.PageOf(master) == page)) continue;
        s = Annotate(Status::Corruption("a key of another page"), i, page);
      }
    }
    for (const OverflowIndex::Entry& e : section.overflow->entries()) {
      OverflowEntry entry;
      if (s.ok()) s = section.overflow->Read(e, &overflow_room, &entry);
      if (!s.ok() || (parts_.hasher(entry.record.user_key).h1 == e.hash && entry.section == i)) continue;
      const OverflowRun* run = nullptr;
      s = section.overflow->FindRun(e, &run);
      if (s.ok()) s = run->run()->Corruption(e.place.offset, "an entry that its run's list calls another");
    }
    if (s.ok() && found != section.meta.records && !PagesMayBeNewer(i)) {
      s = Status::Corruption(section.file->path(), "holds " + std::to_string(found) +
                                                       " records, the manifest says " +
                                                       std::to_string(section.meta.records));
    }
  }
  return s;
}

}  // namespace compassdb
