// SPDX-License-Identifier: Apache-2.0
// A section gets a new file with another number of pages (KallaxDB 3.2, background rehash). Old and new
// pages are both in the order of the master hash, so the new file is written front to back from batches of
// consecutive old pages. Flushes go on meanwhile, into the old pages; at the end, with the turn, the new pages
// that theirs lead to are made again. A crash leaves a section either old or new.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/file_names.h"
#include "tableless/key_fold.h"
#include "tableless/page_batch.h"
#include "tableless/page_edit.h"
#include "tableless/size_sample.h"
#include "tableless/tableless_tasks.h"

namespace compassdb {

namespace {

constexpr size_t kWriteBytes = 1 << 20;

}  // namespace

// The old section, in the order of the master hash. What it gave stays until the next call for a higher page.
class OldPages {
 public:
  OldPages(std::shared_ptr<const TablelessView> view, uint32_t section, uint32_t batch)
      : view_(std::move(view)), section_(section), batch_(batch) {
    const Section& s = *view_->parts().sections[section];
    for (const OverflowIndex::Entry& e : s.overflow->entries()) {
      const KeyHash hash{e.hash, 0, 0};
      overflow_.emplace_back(MasterHashOf(hash, view_->parts().geometry.sections).value, e);
    }
    std::sort(overflow_.begin(), overflow_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  struct Record {
    PageRecord record;
    uint64_t master;
  };
  // All whose master hash lies in [low, high].
  Status Range(uint64_t low, uint64_t high, std::vector<Record>* out) {
    const Section& s = *view_->parts().sections[section_];
    out->clear();
    overflow_rooms_.clear();
    const uint64_t first = low / s.divisor;
    const uint64_t last = std::min(high / s.divisor, s.meta.pages - 1);
    pages_.erase(pages_.begin(), pages_.lower_bound(first));
    for (uint64_t page = first; page <= last; ++page) {
      auto it = pages_.find(page);
      if (it == pages_.end()) {
        if (Status status = Load(page); !status.ok()) return status;
        it = pages_.find(page);
      }
      for (const Record& r : it->second.records) {
        if (r.master >= low && r.master <= high) out->push_back(r);
      }
    }
    for (auto it = std::lower_bound(overflow_.begin(), overflow_.end(), low,
                                    [](const auto& e, uint64_t v) { return e.first < v; });
         it != overflow_.end() && it->first <= high; ++it) {
      OverflowEntry entry;
      Status status = s.overflow->Read(it->second, &overflow_rooms_.emplace_back(), &entry);
      if (!status.ok()) return status;
      out->push_back({entry.record, it->first});
    }
    return Status::OK();
  }
  uint64_t bytes_read() const { return bytes_read_; }
  // Of the pages that were read, those that did not count in their section then (PageState::Uncounted).
  struct Ahead {
    SequenceNumber folded;
    PageChange change;
  };
  const std::map<uint64_t, Ahead>& ahead() const { return ahead_; }

 private:
  struct Page {
    std::shared_ptr<PageBatch> batch;  // what they lie in, or
    std::shared_ptr<PageRoom> room;
    std::vector<Record> records;
  };
  Status Load(uint64_t first) {
    const TablelessView::Parts& parts = view_->parts();
    std::vector<uint64_t> keys;
    for (uint64_t page = first;
         page < parts.sections[section_]->meta.pages && keys.size() < batch_; ++page) {
      keys.push_back(PageKey(section_, page));
    }
    const size_t n = keys.size();
    const auto batch = std::make_shared<PageBatch>(view_.get());
    batch->Read(std::move(keys), /*keep=*/false);
    bytes_read_ += batch->bytes_read();
    for (size_t i = 0; i < n; ++i) {
      const uint64_t number = first + i;
      Page page;
      page.batch = batch;
      Slice of_page;
      if (batch->status(i).ok()) {
        of_page = batch->records(i);
      } else {
        // It may just be written: it is read again until it is whole.
        page.room = std::make_shared<PageRoom>();
        Status one = view_->ReadPage(section_, number, page.room.get(), &of_page);
        if (!one.ok()) return one;
      }
      ahead_.erase(number);
      PageChange change;
      if (!batch->status(i).ok()) {
        if (view_->Uncounted(of_page, &change)) ahead_[number] = {FoldedOf(of_page), change};
      } else if (batch->uncounted(i) != nullptr) {
        ahead_[number] = {FoldedOf(of_page), *batch->uncounted(i)};
      }
      PageRecord record;
      while (NextPageRecord(&of_page, &record)) {
        const KeyHash hash = parts.hasher(record.user_key);
        page.records.push_back({record, MasterHashOf(hash, parts.geometry.sections).value});
      }
      if (!of_page.empty()) {
        return Status::Corruption(parts.sections[section_]->file->path(),
                                  "page " + std::to_string(number) + " has a damaged record");
      }
      pages_[number] = std::move(page);
    }
    return Status::OK();
  }

  const std::shared_ptr<const TablelessView> view_;
  const uint32_t section_;
  const uint32_t batch_;
  std::map<uint64_t, Page> pages_;
  std::vector<std::pair<uint64_t, OverflowIndex::Entry>> overflow_;  // by master hash
  std::deque<std::string> overflow_rooms_;
  std::map<uint64_t, Ahead> ahead_;
  uint64_t bytes_read_ = 0;
};

class SectionRehash {
 public:
  SectionRehash(TablelessStore* store, uint32_t section, uint64_t pages, uint32_t page_bytes,
                const rocksdb::CompactionFilter* filter)
      : store_(store),
        section_(section),
        pages_(pages),
        divisor_(PageDivisor(pages)),
        page_bytes_(page_bytes),
        file_number_(store->context()->new_number()),
        path_(store->NewSectionPath(file_number_)) {
    fold_.comparator = store->options().comparator;
    fold_.merge.op = store->options().merge_operator.get();
    fold_.filter = filter;
    MemTableOptions memory;
    memory.comparator = store->options().comparator;
    keys_ = std::make_shared<MemTable>(memory, 0);
  }

  uint64_t file_number() const { return file_number_; }
  const std::string& path() const { return path_; }
  const std::shared_ptr<MemTable>& keys() const { return keys_; }

  // The whole file from `old`.
  Status WriteAll(OldPages* old, const std::atomic<bool>* cancel) {
    const StoreContext* const context = store_->context();
    std::unique_ptr<WritableFile> file;
    Status s = context->fs->NewWritableFile(path_, context->write_options, &file);
    std::string buffer;
    for (uint64_t page = 0; s.ok() && page < pages_; ++page) {
      if (cancel != nullptr && cancel->load()) s = Status::ShutdownInProgress("rehash");
      if (s.ok()) s = Build(old, page, &buffer);
      if (!s.ok() || (buffer.size() < kWriteBytes && page + 1 < pages_)) continue;
      s = file->Append(buffer);
      if (context->throttle) context->throttle(buffer.size(), false);
      buffer.clear();
    }
    if (file != nullptr) {
      Status closed = file->Close();
      if (s.ok()) s = closed;
    }
    return s;
  }

  // Pages of the old section with changes; `old` has them.
  Status Repeat(OldPages* old, uint64_t old_divisor, const std::vector<uint64_t>& dirty) {
    std::set<uint64_t> again;
    const uint64_t last_hash = (uint64_t{1} << kMasterBits) - 1;
    for (uint64_t page : dirty) {
      const uint64_t low = page * old_divisor;
      const uint64_t high = std::min(low + old_divisor - 1, last_hash);
      for (uint64_t p = low / divisor_; p <= high / divisor_; ++p) again.insert(p);
    }
    std::unique_ptr<PageFile> file;
    const StoreContext* const context = store_->context();
    Status s = context->fs->NewPageFile(path_, context->write_options, /*create=*/false, &file);
    std::string image;
    for (uint64_t page : again) {
      image.clear();
      if (s.ok()) s = Build(old, page, &image);
      if (!s.ok()) break;
      s = file->Write(page * page_bytes_, image);
    }
    if (s.ok()) s = file->Sync();
    if (file != nullptr) {
      Status closed = file->Close();
      if (s.ok()) s = closed;
    }
    if (s.ok()) s = context->fs->SyncDir(ParentOf(path_));
    return s;
  }

  // With the turn, after Repeat: pages are ahead of the section's counts, by a flush that has failed. The new ones no
  // longer say so.
  void CountPagesAhead(const OldPages& first, const OldPages& changed, const std::vector<uint64_t>& dirty,
                       SequenceNumber committed) {
    std::map<uint64_t, OldPages::Ahead> all = first.ahead();
    for (uint64_t page : dirty) all.erase(page);
    for (const auto& [page, ahead] : changed.ahead()) all[page] = ahead;
    for (const auto& [page, ahead] : all) {
      if (ahead.folded <= committed) continue;
      ahead_.records += ahead.change.records;
      ahead_.bytes += ahead.change.bytes;
    }
  }

  // What did not fit, and counts.
  Status Finish(const PageSectionMeta& old, OverflowRunWriter* run, PageSectionMeta* meta) const {
    *meta = old;
    meta->file_number = file_number_;
    meta->pages = pages_;
    meta->overflow_records = meta->overflow_bytes = 0;
    for (const auto& [page, spilled] : overflow_) {
      for (const Spilled& s : spilled) {
        OverflowEntry entry;
        entry.section = section_;
        entry.record = s.record;
        entry.record.user_key = s.key;
        entry.record.value = s.value;
        if (Status status = run->Add(entry); !status.ok()) return status;
        ++meta->overflow_records;
        meta->overflow_bytes += EncodedSize(entry.record);
      }
    }
    meta->records += static_cast<uint64_t>(ahead_.records);
    meta->bytes += static_cast<uint64_t>(ahead_.bytes);
    for (const auto& [page, change] : changes_) {
      meta->records += static_cast<uint64_t>(change.records);
      meta->bytes += static_cast<uint64_t>(change.bytes);
    }
    return Status::OK();
  }

 private:
  struct Spilled {
    PageRecord record;
    std::string key, value;
  };

  // Appends the image of a new page, padded.
  Status Build(OldPages* old, uint64_t page, std::string* out) {
    const uint64_t low = page * divisor_;
    const uint64_t high =
        std::min(low + divisor_ - 1, (uint64_t{1} << kMasterBits) - 1);
    Status s = old->Range(low, high, &found_);
    if (!s.ok()) return s;
    const size_t begin = out->size();
    PageBuilder builder(out);
    std::vector<Spilled> spilled;
    SectionCounts change;
    std::vector<std::string> gone;
    size_t used = kPageHeaderBytes;
    for (const OldPages::Record& r : found_) {
      KeyOutcome outcome;
      outcome.newest = r.record;
      if (fold_.filter != nullptr) s = Filter(r.record, &outcome, &change, &gone);
      if (!s.ok()) return s;
      if (!outcome.newest) continue;
      const PageRecord& record = *outcome.newest;
      const size_t size = EncodedSize(record);
      if (!record.unfolded && used + size <= page_bytes_) {
        used += size;
        builder.Add(record);
      } else {
        spilled.push_back({record, record.user_key.ToString(), record.value.ToString()});
      }
    }
    builder.Finish(file_number_, page, 0);
    out->resize(begin + page_bytes_);
    if (spilled.empty()) {
      overflow_.erase(page);
    } else {
      overflow_[page] = std::move(spilled);
    }
    if (change.records != 0 || change.bytes != 0) {
      changes_[page] = change;
    } else {
      changes_.erase(page);
    }
    if (gone.empty()) {
      gone_.erase(page);
    } else {
      gone_[page] = std::move(gone);
    }
    return s;
  }

  Status Filter(const PageRecord& record, KeyOutcome* outcome, SectionCounts* change,
                std::vector<std::string>* gone) {
    Status s = FoldKey(fold_, record.user_key, {}, &record, outcome);
    if (!s.ok()) return s;
    change->bytes -= static_cast<int64_t>(EncodedSize(record));
    if (outcome->newest) {
      change->bytes += static_cast<int64_t>(EncodedSize(*outcome->newest));
      return s;
    }
    change->records -= 1;
    gone->push_back(record.user_key.ToString());
    return s;
  }

 public:
  // Deletions of what the filter took, for the key store. What a failed flush has in pages beyond `committed` it brings
  // once more.
  Status TellKeys(SequenceNumber committed) {
    Status s;
    if (!store_->options().pages.key_store) return s;
    for (const auto& [page, keys] : gone_) {
      for (const std::string& key : keys) {
        if (s.ok()) s = keys_->Add(committed, kTypeDeletion, key, Slice(), /*concurrent=*/false);
      }
    }
    return s;
  }

 private:
  TablelessStore* const store_;
  const uint32_t section_;
  const uint64_t pages_;
  const uint64_t divisor_;
  const size_t page_bytes_;
  const uint64_t file_number_;
  const std::string path_;
  FoldOptions fold_;
  std::shared_ptr<MemTable> keys_;
  std::vector<OldPages::Record> found_;
  std::map<uint64_t, std::vector<Spilled>> overflow_;  // by new page
  std::map<uint64_t, SectionCounts> changes_;          // by the filter, likewise
  SectionCounts ahead_;
  std::map<uint64_t, std::vector<std::string>> gone_;  // what the filter took, likewise
};

Status RehashTask::ChoosePages(uint64_t* pages, JobReport* report) const {
  *pages = target_.pages;
  if (*pages != 0) return Status::OK();
  const StoreContext* const context = store_->context();
  const PageOptions options = store_->current_options()->pages;
  const Section& old = *view_->parts().sections[section];
  SizeDistribution sizes = SizeDistribution::Constant(1);
  Status s = SampleSizes(*view_, section, options.rehash_batch, &sizes, &report->bytes_read);
  if (!s.ok()) return s;
  const SectionLoad load = old.Load(view_->parts().geometry);
  *pages = NormalPages(std::min(kMaxSectionPages, ResizedPages(SizingRule(options), target_.resize, load, sizes)));
  if (context->log_info) {
    context->log_info("[" + store_->options().column_family_name + "] section " + std::to_string(section) + ": " +
                      std::to_string(*pages) + " pages for " + std::to_string(load.bytes) + " bytes");
  }
  return s;
}

Status RehashTask::Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
                       VersionEdit* edit, JobReport* report) {
  const StoreContext* const context = store_->context();
  const uint64_t start = context->clock->NowNanos();
  const auto options = store_->current_options();
  edit->column_family = store_->options().column_family_id;
  report->reason = "rehash";
  const PageGeometry geometry = view_->parts().geometry;
  std::unique_ptr<rocksdb::CompactionFilter> owned;
  const rocksdb::CompactionFilter* const filter = PageFilter(store_->options(), filter_, &owned);
  uint64_t pages = 0;
  Status s = ChoosePages(&pages, report);
  if (!s.ok()) return s;
  SectionRehash rehash(store_, section, pages, geometry.page_bytes, filter);
  OldPages first(view_, section, options->pages.rehash_batch);
  s = rehash.WriteAll(&first, cancel);
  report->bytes_read += first.bytes_read();
  report->bytes_written = pages * geometry.page_bytes;
  JobFile file(context, options.get(), 0, /*flush=*/false, /*observer=*/nullptr);
  if (s.ok()) {
    store_->AwaitTurn();
    has_turn = true;
    s = Conclude(snapshots, first, &rehash, &file, edit, report);
  }
  if (!s.ok()) {
    file.Abandon();
    context->delete_later(rehash.path());
    return s;
  }
  report->micros = (context->clock->NowNanos() - start) / 1000;
  return s;
}

// With the turn: what flushes changed meanwhile, then everything that the edit names becomes durable.
Status RehashTask::Conclude(const std::vector<SequenceNumber>& snapshots, const OldPages& first,
                            SectionRehash* rehash, JobFile* file, VersionEdit* edit, JobReport* report) {
  const StoreContext* const context = store_->context();
  const std::shared_ptr<const TablelessView> now = store_->current();
  const TablelessView::Parts& parts = now->parts();
  const Section& old = *parts.sections[section];
  OldPages changed(now, section, 1);
  const std::vector<uint64_t> dirty = store_->TakeDirty(section);
  Status s = rehash->Repeat(&changed, old.divisor, dirty);
  rehash->CountPagesAhead(first, changed, dirty, now->state()->committed());
  CompactionFileWriter* writer = nullptr;
  if (s.ok()) s = file->Writer(&writer);
  if (!s.ok()) return s;
  const uint64_t overflow_from = context->new_number();
  OverflowRunWriter run(writer, context->new_number);
  PageSectionMeta& meta = edit->page_sections.emplace_back();
  s = rehash->Finish(old.meta, &run, &meta);
  meta.overflow_from = overflow_from;
  if (s.ok()) s = rehash->TellKeys(now->state()->committed());
  if (s.ok() && !rehash->keys()->empty()) {
    s = store_->FlushKeys(rehash->keys(), snapshots, edit, report);
  }
  if (s.ok() && run.count() > 0) {
    run.Finish(&edit->added_page_runs);
    s = file->Finish(edit);
    if (s.ok()) store_->PinUntilInstalled(file->number());
  } else {
    file->Abandon();
  }
  for (const OverflowRunRef& other : parts.runs) {
    const uint64_t id = other->meta().run_id;
    const bool needed = std::any_of(
        parts.sections.begin(), parts.sections.end(), [&](const SectionRef& one) {
          return one->meta.section != section && one->meta.overflow_from <= id;
        });
    if (!needed) edit->deleted_page_runs.push_back(id);
  }
  report->bytes_written += run.bytes();
  report->records_in = old.meta.records;
  report->records_out = meta.records;
  return s;
}

}  // namespace compassdb
