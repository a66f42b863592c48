// SPDX-License-Identifier: Apache-2.0
#include "tableless/flush/page_flush.h"

#include <algorithm>
#include <atomic>

#include "iter/merging_iterator.h"
#include "tableless/flush/page_writer.h"
#include "tableless/overflow/overflow_batch.h"
#include "tableless/page/page_batch.h"
#include "util/checked.h"
#include "util/parallel.h"
#include "wal/log_values.h"

namespace compassdb {

namespace {

constexpr size_t kChunkPages = 128;
constexpr uint64_t kChunkBytes = 8 << 20;  // of values that are read from logs for them
constexpr size_t kJournalBuffer = 1 << 20;
// Memory for the keys that range tombstones cover, in one part; more if there would be more than kMostParts
// parts.
constexpr uint64_t kCoveredBytes = 64 << 20;
constexpr uint64_t kMostParts = 64;
constexpr uint64_t kKeyOverhead = 128;  // a string of its own, a record for the key store
// For the key store, per run of it.
constexpr uint64_t kKeyStoreBytes = 16 << 20;

std::atomic<uint64_t> covered_bytes{kCoveredBytes};

}  // namespace

void TEST_SetCoveredBytes(uint64_t bytes) { covered_bytes.store(bytes == 0 ? kCoveredBytes : bytes); }

bool PageFlush::FindPage(const PagePart& part, const Slice& user_key, uint64_t* page_key) const {
  const auto& parts = view_->parts();
  const MasterHash master = MasterHashOf(context_->hasher(user_key), parts.geometry.sections);
  const Section& section = *parts.sections[master.section];
  const uint64_t page = section.PageOf(master);
  if (!part.Has(page, section.meta.pages)) return false;
  *page_key = PageKey(master.section, page);
  return true;
}

void PageFlush::AddPlain(uint64_t page_key, const MemTable::Record& record) {
  COMPASSDB_INVARIANT(plain_.size() < UINT32_MAX, "an entry has 32 bits for a record");
  entries_.push_back({page_key, 0, static_cast<uint32_t>(plain_.size())});
  plain_.push_back(record);
}

void PageFlush::AddDeletion(uint64_t page_key, const Slice& user_key, SequenceNumber sequence) {
  std::string& entry = range_keys_.emplace_back(PlainEntries::SizeOf(user_key, Slice()), '\0');
  PlainEntries::Encode(sequence, kTypeDeletion, user_key, Slice(), nullptr, entry.data());
  AddPlain(page_key, MemTable::Record(entry.data()));
}

SequenceNumber PageFlush::NewestOf(const FlushRequest& request) {
  SequenceNumber newest = 0;
  for (const auto& memtable : request.memtables) newest = std::max(newest, memtable->largest_sequence());
  return newest;
}

// Entries point to the memtables, which stay until the flush is installed.
void PageFlush::Collect(const PagePart& part) {
  uint64_t count = 0;
  for (const auto& memtable : request_->memtables) count += memtable->num_entries();
  entries_.reserve(count / part.parts);  // growing takes more memory than the entries
  const auto add = [&](const MemTablePart& records) {
    indexes_.push_back(&records);
    const auto source = static_cast<uint32_t>(indexes_.size());
    records.ForEachWithAddress([&](const MemTable::Record& record, uint32_t address) {
      uint64_t page_key = 0;
      if (!FindPage(part, record.user_key(), &page_key)) return;
      if (address == 0) {
        AddPlain(page_key, record);
      } else {
        entries_.push_back({page_key, source, address});
      }
    });
  };
  for (const auto& memtable : request_->memtables) {
    for (size_t i = 0; i < memtable->part_count(); ++i) add(memtable->part(i));
  }
}

Status PageFlush::ForEachKey(const RangeTombstoneList::Fragment& range, const PagePart& part,
                             const KeyVisitor& f) const {
  const Comparator* const cmp = options_->comparator;
  const auto& parts = view_->parts();
  if (parts.keys_whole) {
    std::vector<InternalIteratorPtr> children;
    RangeTombstoneSet none(cmp);
    Status s = parts.keys->AddIterators(BlockReadOptions(), &children, &none);
    if (!s.ok()) return s;
    const InternalKeyComparator icmp(cmp);
    const InternalIteratorPtr it = NewMergingIterator(&icmp, std::move(children));
    std::string last;
    bool any = false;
    for (it->Seek(LookupKey(range.start, kMaxSequenceNumber).internal_key());
         it->Valid() && cmp->Compare(ExtractUserKey(it->key()), range.end) < 0; it->Next()) {
      const Slice key = ExtractUserKey(it->key());
      if (any && key == last) continue;
      any = true;
      last.assign(key.data(), key.size());
      f(key);
    }
    return it->status();
  }
  return view_->ForEachRecord(
      [&](const PageRecord& record) {
        const Slice& key = record.user_key;
        if (cmp->Compare(key, range.start) >= 0 && cmp->Compare(key, range.end) < 0) f(key);
        return Status::OK();
      },
      part);
}

Status PageFlush::ForEachRange(const std::function<Status(const RangeTombstoneList::Fragment&)>& f) const {
  for (const auto& memtable : request_->memtables) {
    if (memtable->num_range_deletes() == 0) continue;
    const std::shared_ptr<const RangeTombstoneList> list = memtable->RangeTombstones();
    for (const RangeTombstoneList::Fragment& range : list->fragments()) {
      if (Status s = f(range); !s.ok()) return s;
    }
  }
  return Status::OK();
}

Status PageFlush::CountParts(uint32_t* parts) const {
  const uint64_t limit = covered_bytes.load(std::memory_order_relaxed);
  const bool whole = view_->parts().keys_whole;
  uint64_t records = 0, record_bytes = 0;
  for (const SectionRef& section : view_->parts().sections) {
    records += section->meta.records;
    record_bytes += section->meta.bytes;
  }
  uint64_t bytes = 0;
  Status s = ForEachRange([&](const RangeTombstoneList::Fragment& range) {
    const uint64_t of_key = (kKeyOverhead + sizeof(Entry) + sizeof(MemTable::Record)) * range.sequences.size();
    const uint64_t at_most = records * of_key + record_bytes;
    // Without keys in order this needs a read of all pages. With parts, each part reads only its own.
    if (at_most > limit && whole) {
      return ForEachKey(range, PagePart(), [&](const Slice& key) { bytes += of_key + key.size(); });
    }
    bytes += at_most;
    return Status::OK();
  });
  *parts = static_cast<uint32_t>(std::min(kMostParts, bytes / limit + 1));
  return s;
}

// Pages know single keys only: a range tombstone becomes a deletion of each key that it may cover.
Status PageFlush::CollectRangeDeletions(const PagePart& part) {
  const Comparator* const cmp = options_->comparator;
  return ForEachRange([&](const RangeTombstoneList::Fragment& range) {
    Status s = ForEachKey(range, part, [&](const Slice& key) {
      uint64_t page_key = 0;
      if (!FindPage(part, key, &page_key)) return;
      for (SequenceNumber sequence : range.sequences) AddDeletion(page_key, key, sequence);
    });
    for (const auto& other : request_->memtables) {
      const InternalIteratorPtr it = other->NewIterator();
      for (it->Seek(LookupKey(range.start, kMaxSequenceNumber).internal_key());
           it->Valid() && cmp->Compare(ExtractUserKey(it->key()), range.end) < 0; it->Next()) {
        const Slice key = ExtractUserKey(it->key());
        uint64_t page_key = 0;
        if (!FindPage(part, key, &page_key)) continue;
        for (SequenceNumber sequence : range.sequences) AddDeletion(page_key, key, sequence);
      }
    }
    return s;
  });
}

// Steps 1 and 2 (page_flush.h), unless something forbids it.
Status PageFlush::BeginInPlace() {
  if (!options_->pages.atomic_page_writes || !may_begin_ || !request_->commit_ahead) return Status::OK();
  if (entries_.empty() || options_->compaction_filter != nullptr || options_->compaction_filter_factory != nullptr) return Status::OK();
  // Without a key store only the pages show which keys a range covers. A repeated flush would miss pages that have
  // lost a key in place, and what they add to the counts of their section.
  const auto ranges = [](const auto& memtable) { return memtable->num_range_deletes() > 0; };
  const bool any_range = std::any_of(request_->memtables.begin(), request_->memtables.end(), ranges);
  if (any_range && !view_->parts().keys_whole) return Status::OK();
  const auto known = [this](const Entry& e) { return RecordOf(e).sequence() <= in_doubt_until_; };
  if (std::any_of(entries_.begin(), entries_.end(), known)) return Status::OK();
  const uint32_t page_bytes = view_->parts().geometry.page_bytes;
  if (page_bytes > options_->pages.page_bytes) {
    if (context_->log_info) {
      context_->log_info("[" + options_->column_family_name + "] pages of " + std::to_string(page_bytes) +
                         " bytes keep their journal: atomic writes are of tableless_page_bytes, " +
                         std::to_string(options_->pages.page_bytes));
    }
    return Status::OK();
  }
  // Pages of this flush would not be known from those that were committed: nothing was written since the last one.
  if (newest_ <= view_->state()->committed()) return Status::OK();
  if (!may_begin_()) return Status::OK();
  VersionEdit edit;
  edit.column_family = options_->column_family_id;
  edit.in_place_sequence = newest_;
  // Before the commit, whose manifest may begin again with this state.
  view_->state()->RaiseInPlace(newest_);
  return request_->commit_ahead(std::move(edit), &in_place_);
}

// One section, by one thread.
class PageFlush::SectionJob {
 public:
  SectionJob(PageFlush* flush, uint32_t section, std::span<const Entry> entries,
             PageJournalWriter* journal, SectionFlush* out)
      : flush_(flush),
        section_(section),
        entries_(entries),
        journal_(journal),
        out_(out),
        edit_(section, flush->view_->parts().geometry.page_bytes),
        batch_(flush->view_.get()),
        overflowed_(flush->view_->statistics()) {}

  Status Run() {
    Status s;
    fold_.filter = PageFilter(*flush_->options_, /*manual=*/false, &owned_filter_);
    fold_.comparator = flush_->options_->comparator;
    fold_.snapshots = flush_->request_->snapshots;
    fold_.merge.op = flush_->options_->merge_operator.get();
    fold_.merge.statistics = flush_->context_->statistics;
    for (size_t begin = 0; s.ok() && begin < entries_.size();) {
      std::vector<uint64_t> page_keys;
      size_t end = begin;
      uint64_t in_log = 0;
      items_.clear();
      addresses_.clear();
      for (; end < entries_.size(); ++end) {
        const uint64_t key = entries_[end].page_key;
        if (page_keys.empty() || page_keys.back() != key) {
          if (page_keys.size() == kChunkPages || in_log >= kChunkBytes) break;
          page_keys.push_back(key);
        }
        AddItem(entries_[end]);
        LogRef ref;
        if (items_.back().type == kTypeBlobIndex && ref.Parse(items_.back().value)) in_log += ref.size;
      }
      s = ReadLogged();
      if (s.ok()) s = RunPages(std::move(page_keys), items_);
      begin = end;
    }
    if (s.ok()) s = WriteImages();
    if (writer_ != nullptr && s.ok()) s = writer_->Finish();
    if (writer_ != nullptr) {
      out_->pages_in_place += writer_->pages();
      flush_->view_->state()->CountUnjournaled(writer_->pages());
    }
    out_->Add(*edit_.counts());
    out_->records += entries_.size();
    return s;
  }

 private:
  Status RunPages(std::vector<uint64_t> page_keys, std::span<const Item> items) {
    const size_t n = page_keys.size();
    batch_.Read(std::move(page_keys), /*keep=*/false);
    const OverflowIndex& overflow = *flush_->view_->parts().sections[section_]->overflow;
    overflowed_.Clear();
    for (size_t i = 0; i < items.size(); ++i) {
      if (i == 0 || items[i].user_key != items[i - 1].user_key) overflowed_.Add(overflow, items[i].hash);
    }
    overflowed_.Read();
    out_->bytes_read += batch_.bytes_read() + overflowed_.bytes_read();
    Status s;
    for (size_t i = 0, begin = 0; s.ok() && i < n; ++i) {
      size_t end = begin;
      while (end < items.size() && items[end].page_key == batch_.key(i)) ++end;
      s = batch_.status(i);
      if (s.ok()) {
        s = RunPage(PageOfKey(batch_.key(i)), batch_.records(i), batch_.uncounted(i), items.subspan(begin, end - begin));
      }
      begin = end;
    }
    return s;
  }

  Status RunPage(uint64_t page, const Slice& records, const PageChange* uncounted, std::span<const Item> items) {
    std::vector<PageRecord> existing;
    Status s = ListPageRecords(records, &existing);
    if (!s.ok()) return s;
    const std::vector<PageRecord> all = fold_.filter != nullptr ? existing : std::vector<PageRecord>();
    edit_.Begin(std::move(existing));
    outcomes_.clear();
    overflow_rooms_.clear();
    for (size_t begin = 0; s.ok() && begin < items.size();) {
      size_t end = begin;
      std::vector<NewVersion> versions;
      for (; end < items.size() && items[end].user_key == items[begin].user_key; ++end) {
        versions.push_back({items[end].sequence, items[end].type, items[end].value});
      }
      s = RunKey(items[begin].user_key, items[begin].hash, std::move(versions));
      begin = end;
    }
    // A filter sees all of a page that is rewritten.
    for (const PageRecord& record : all) {
      if (!s.ok()) break;
      const bool new_too = std::any_of(items.begin(), items.end(), [&](const Item& item) {
        return item.user_key == record.user_key;
      });
      if (!new_too) s = RunKey(record.user_key, flush_->context_->hasher(record.user_key), {});
    }
    if (!s.ok()) return s;
    bool changed = false;
    edit_.Finish(&changed);
    for (const OverflowEntry& entry : *edit_.overflow()) KeepOverflow(entry, items);
    if (uncounted != nullptr) {
      edit_.counts()->records += uncounted->records;
      edit_.counts()->bytes += uncounted->bytes;
    } else if (!changed) {
      return s;
    } else if (MayGoInPlace(page)) {
      return WriteInPlace(page);
    }
    const size_t offset = images_.size();
    PageBuilder builder(&images_);
    for (const PageRecord& record : edit_.records()) builder.Add(record);
    builder.Finish(flush_->view_->parts().sections[section_]->meta.file_number, page, flush_->newest_);
    places_.push_back({page, static_cast<uint32_t>(offset),
                       static_cast<uint32_t>(images_.size() - offset)});
    return images_.size() >= kJournalBuffer ? WriteImages() : s;
  }

  void AddItem(const Entry& entry) {
    const MemTable::Record record = flush_->RecordOf(entry);
    const Slice user_key = record.user_key();
    const KeyHash hash = !items_.empty() && items_.back().user_key == user_key
                             ? items_.back().hash
                             : flush_->context_->hasher(user_key);
    const ValueType type = record.type();
    std::string* const room = type == kTypeBlobIndex ? &addresses_.emplace_back() : nullptr;
    items_.push_back({entry.page_key, record.sequence(), type, user_key, record.value(room), hash, record});
  }

  // Replaces addresses by values, which are read from the logs together.
  Status ReadLogged() {
    logged_.clear();
    std::vector<LogValues::Request> requests;
    for (const Item& item : items_) {
      if (item.type != kTypeBlobIndex) continue;
      requests.push_back({item.value, &logged_.emplace_back(), Status()});
    }
    if (requests.empty()) return Status::OK();
    flush_->context_->log_values->ReadMany(requests);
    auto request = requests.begin();
    for (Item& item : items_) {
      if (item.type != kTypeBlobIndex) continue;
      if (!request->status.ok()) return request->status;
      item.type = kTypeValue;
      item.value = *request->value;
      out_->bytes_read += item.value.size();
      ++request;
    }
    return Status::OK();
  }

  // The change affects this page alone.
  bool MayGoInPlace(uint64_t page) const {
    if (!flush_->in_place_ || edit_.crossed()) return false;
    const PageJournal* journal = nullptr;
    PageJournal::Place place;
    return edit_.used() + kPageChangeBytes <= flush_->view_->parts().geometry.page_bytes &&
           std::all_of(outcomes_.begin(), outcomes_.end(), [](const KeyOutcome& o) { return o.old_versions.empty(); }) &&
           !flush_->view_->FindInJournals(section_, page, &journal, &place);
  }

  Status WriteInPlace(uint64_t page) {
    const TablelessView& view = *flush_->view_;
    const Section& section = *view.parts().sections[section_];
    if (writer_ == nullptr) {
      writer_ = std::make_unique<PageWriter>(flush_->context_, section.file->path(), section.meta.file_number,
                                             view.parts().geometry.page_bytes, view.cache());
      writer_->WithoutJournal(view.state()->in_flight(),
                              [this](uint64_t tried) { flush_->tried_(PageKey(section_, tried)); });
    }
    in_place_image_.clear();
    PageBuilder builder(&in_place_image_);
    for (const PageRecord& record : edit_.records()) builder.Add(record);
    builder.FinishInPlace(section.meta.file_number, page, flush_->newest_, edit_.change());
    return writer_->Add(page, in_place_image_);
  }

  Status RunKey(const Slice& user_key, const KeyHash& hash, std::vector<NewVersion> versions) {
    const PageRecord* existing = edit_.Take(user_key);
    PageRecord overflowed;
    bool in_overflow = false;
    if (existing == nullptr) {
      OverflowEntryNames::value_type name;
      Status s = overflowed_.Find(user_key, hash, &overflowed, &name);
      const bool alone = s.IsIncomplete();
      if (alone) {
        const Section& section = *flush_->view_->parts().sections[section_];
        s = section.overflow->Find(user_key, hash, &overflow_rooms_.emplace_back(), &overflowed);
      }
      if (!s.ok() && !s.IsNotFound()) return s;
      in_overflow = s.ok();
      if (in_overflow) {
        existing = &overflowed;
        if (!alone) out_->replaced.push_back(name);
      }
    }
    // An earlier try may have changed the page, but not the key store.
    const bool in_doubt = !versions.empty() && versions.back().sequence <= flush_->in_doubt_until_;
    const bool only_filtered = versions.empty();
    if (existing != nullptr) {
      while (!versions.empty() && versions.back().sequence <= existing->sequence) versions.pop_back();
    }
    KeyOutcome& outcome = outcomes_.emplace_back();
    Status s = FoldKey(fold_, user_key, versions, existing, &outcome);
    if (!s.ok()) return s;
    if (only_filtered || versions.empty()) outcome.gone_at = flush_->newest_;
    if (outcome.newest) {
      edit_.Put(*outcome.newest, in_overflow ? &overflowed : nullptr);
    } else {
      edit_.Remove(user_key, outcome.gone_at, in_overflow ? &overflowed : nullptr);
    }
    const bool existed = in_doubt ? !outcome.newest.has_value() : existing != nullptr;
    const bool held = !fold_.snapshots.empty() && fold_.snapshots.front() < outcome.gone_at;
    return AddToKeyStore(flush_->keeps_keys_, user_key, outcome, existed, held, flush_->keys_.get());
  }

  static bool IsValueOf(const Item& item, const OverflowEntry& entry) {
    const PageRecord& record = entry.record;
    return !entry.removal && !record.entity && !record.unfolded && record.sequence == item.sequence &&
           record.user_key == item.user_key && record.value == item.value;
  }

  void KeepOverflow(const OverflowEntry& entry, std::span<const Item> items) {
    for (const Item& item : items) {
      if (item.record.type() == kTypeBlobIndex && IsValueOf(item, entry)) {
        out_->overflow_in_log.push_back(item.record);
        return;
      }
    }
    std::string& bytes = out_->overflow_bytes.emplace_back(entry.record.user_key.ToString());
    bytes.append(entry.record.value.data(), entry.record.value.size());
    OverflowEntry& kept = out_->overflow.emplace_back(entry);
    const size_t key_size = entry.record.user_key.size();
    kept.record.user_key = Slice(bytes.data(), key_size);
    kept.record.value = Slice(bytes.data() + key_size, bytes.size() - key_size);
  }

  Status WriteImages() {
    if (places_.empty()) return Status::OK();
    Status s = journal_->Append(section_, places_, images_);
    if (flush_->context_->throttle) flush_->context_->throttle(images_.size(), true);
    places_.clear();
    images_.clear();
    return s;
  }

  PageFlush* const flush_;
  const uint32_t section_;
  const std::span<const Entry> entries_;
  PageJournalWriter* const journal_;
  SectionFlush* const out_;
  FoldOptions fold_;
  std::unique_ptr<rocksdb::CompactionFilter> owned_filter_;
  PageEdit edit_;
  PageBatch batch_;  // memory of the records of the current pages
  OverflowBatch overflowed_;  // and of those of the items' keys that are in no page
  std::vector<Item> items_;         // of the current pages
  std::deque<std::string> addresses_, logged_;  // their values that are in logs
  std::deque<KeyOutcome> outcomes_;  // of the current page: records point into them
  std::deque<std::string> overflow_rooms_;  // ... and into these, if too many are in no page
  std::string images_;
  std::vector<PageJournalWriter::Image> places_;
  std::unique_ptr<PageWriter> writer_;  // of pages without a journal
  std::string in_place_image_;
};

Status PageFlush::RunSections(PageJournalWriter* journal, std::vector<SectionFlush>* sections) {
  std::vector<std::function<Status()>> tasks;
  for (size_t begin = 0; begin < entries_.size();) {
    const uint32_t section = SectionOfKey(entries_[begin].page_key);
    size_t end = begin;
    while (end < entries_.size() && SectionOfKey(entries_[end].page_key) == section) ++end;
    const std::span<const Entry> entries(entries_.data() + begin, end - begin);
    SectionFlush* const out = &(*sections)[section];
    tasks.emplace_back([this, section, entries, journal, out] {
      return SectionJob(this, section, entries, journal, out).Run();
    });
    begin = end;
  }
  return RunInParallel(tasks, static_cast<int>(options_->pages.write_threads), nullptr);
}

// A key that a range covers may come from several places, as the same deletion.
Status PageFlush::RunPart(const PagePart& part, PageJournalWriter* journal, std::vector<SectionFlush>* sections) {
  entries_.clear();
  plain_.clear();
  indexes_.clear();
  range_keys_.clear();
  Collect(part);
  Status s = CollectRangeDeletions(part);
  if (!s.ok()) return s;
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    if (a.page_key != b.page_key) return a.page_key < b.page_key;
    const MemTable::Record left = RecordOf(a), right = RecordOf(b);
    if (const int c = left.user_key().compare(right.user_key()); c != 0) return c < 0;
    return left.sequence() > right.sequence();
  });
  const auto same = [this](const Entry& a, const Entry& b) {
    if (a.page_key != b.page_key) return false;
    const MemTable::Record left = RecordOf(a), right = RecordOf(b);
    return left.type() == kTypeDeletion && left.trailer() == right.trailer() &&
           left.user_key() == right.user_key();
  };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
  // One of several parts has only some of the records that pages may have from then on.
  if (part.parts == 1) s = BeginInPlace();
  if (s.ok()) s = RunSections(journal, sections);
  return s.ok() ? WriteKeys(/*all=*/false) : s;
}

Status PageFlush::WriteKeys(bool all) {
  if (keys_->empty() || (!all && keys_->data_size() < kKeyStoreBytes)) return Status::OK();
  Status s = flush_keys_(std::move(keys_));
  NewKeys();
  return s;
}

void PageFlush::NewKeys() {
  MemTableOptions memory;
  memory.comparator = options_->comparator;
  keys_ = std::make_shared<MemTable>(memory, 0);
}

Status PageFlush::AddFromLog(std::span<const MemTable::Record> records, uint32_t section,
                             OverflowRunWriter* overflow) const {
  for (size_t begin = 0; begin < records.size();) {
    std::deque<std::string> addresses, values;
    std::vector<LogValues::Request> requests;
    uint64_t bytes = 0;
    for (size_t i = begin; i < records.size() && bytes < kChunkBytes; ++i) {
      requests.push_back({records[i].value(&addresses.emplace_back()), &values.emplace_back(), Status()});
      LogRef ref;
      if (ref.Parse(requests.back().ref)) bytes += ref.size;
    }
    context_->log_values->ReadMany(requests);
    for (const LogValues::Request& request : requests) {
      const MemTable::Record& record = records[begin++];
      Status s = request.status;
      if (s.ok()) s = overflow->Add({{record.user_key(), *request.value, record.sequence()}, section});
      if (!s.ok()) return s;
    }
  }
  return Status::OK();
}

Status PageFlush::Run(JobFile* file, VersionEdit* edit, JobReport* report) {
  NewKeys();
  uint32_t part_count = 1;
  Status s = CountParts(&part_count);
  const auto& parts = view_->parts();
  CompactionFileWriter* writer = nullptr;
  if (s.ok()) s = file->Writer(&writer);
  if (!s.ok()) return s;
  std::vector<uint64_t> section_files;
  for (const SectionRef& section : parts.sections) section_files.push_back(section->meta.file_number);
  PageJournalWriter journal(writer, std::move(section_files));
  std::vector<SectionFlush> sections(parts.sections.size());
  for (uint32_t part = 0; s.ok() && part < part_count; ++part) s = RunPart({part, part_count}, &journal, &sections);
  if (s.ok() && journal.count() > 0) {
    s = journal.Finish(context_->new_number(), &edit->added_page_runs.emplace_back());
  }
  OverflowRunWriter overflow(writer, context_->hasher, context_->new_number);
  OverflowEntryNames replaced;
  for (const SectionFlush& section : sections) {
    replaced.insert(replaced.end(), section.replaced.begin(), section.replaced.end());
  }
  std::sort(replaced.begin(), replaced.end());
  overflow.Replace(std::move(replaced));
  uint64_t in_place = 0;
  for (uint32_t i = 0; i < sections.size(); ++i) {
    report->records_in += sections[i].records;
    report->bytes_read += sections[i].bytes_read;
    in_place += sections[i].pages_in_place;
    for (const OverflowEntry& entry : sections[i].overflow) {
      if (s.ok()) s = overflow.Add(entry);
    }
    if (s.ok()) s = AddFromLog(sections[i].overflow_in_log, i, &overflow);
    const SectionCounts& counts = sections[i].counts;
    PageSectionMeta meta = parts.sections[i]->meta;
    meta.records += static_cast<uint64_t>(counts.records);
    meta.bytes += static_cast<uint64_t>(counts.bytes);
    meta.overflow_records += static_cast<uint64_t>(counts.overflow_records);
    meta.overflow_bytes += static_cast<uint64_t>(counts.overflow_bytes);
    edit->page_sections.push_back(meta);
  }
  if (s.ok()) s = overflow.Finish(&edit->added_page_runs);
  edit->folded_sequence = std::max(newest_, view_->state()->committed());
  if (edit->page_geometry || (parts.keys_whole && !keeps_keys_)) edit->keys_whole = keeps_keys_;
  report->records_out = journal.count() + in_place;
  report->bytes_written += in_place * parts.geometry.page_bytes;
  // No data barrier without data.
  if (s.ok() && !edit->added_page_runs.empty()) s = file->Finish(edit);
  return s.ok() ? WriteKeys(/*all=*/true) : s;
}

}  // namespace compassdb
