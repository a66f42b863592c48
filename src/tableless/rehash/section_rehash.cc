// SPDX-License-Identifier: Apache-2.0
#include "tableless/rehash/section_rehash.h"

#include <algorithm>

#include "format/file_names.h"
#include "tableless/flush/page_writer.h"
#include "tableless/sizing/size_sample.h"

namespace compassdb {

namespace {

constexpr size_t kWriteBytes = 1 << 20;
// A round with this number of pages is short.
constexpr size_t kFewDirtyPages = 64;

bool Cancelled(const std::atomic<bool>* cancel) { return cancel != nullptr && cancel->load(); }

}  // namespace

SectionRehash::SectionRehash(TablelessStore* store, std::shared_ptr<const TablelessView> view, const RehashPart& part,
                             bool filtered)
    : store_(store),
      context_(store->context()),
      options_(store->current_options()),
      view_(std::move(view)),
      part_(part),
      page_bytes_(view_->parts().geometry.page_bytes),
      file_number_(context_->new_number()),
      path_(store->NewSectionPath(file_number_)),
      file_(context_, options_.get(), 0, /*flush=*/false, /*observer=*/nullptr) {
  fold_.filter = PageFilter(store->options(), filtered, &owned_filter_);
  fold_.comparator = store->options().comparator;
}

SectionRehash::~SectionRehash() {
  if (kept_) return;
  file_.Abandon();
  if (made_) context_->delete_later(path_);
}

Status SectionRehash::ChoosePages() {
  pages_ = part_.target.pages;
  Status s;
  if (pages_ == 0) {
    const Section& old = *view_->parts().sections[part_.section];
    SizeDistribution sizes = SizeDistribution::Constant(1);
    s = SampleSizes(*view_, part_.section, options_->pages.rehash_batch, &sizes, &bytes_read_);
    if (!s.ok()) return s;
    const SectionLoad load = old.Load(view_->parts().geometry);
    const uint64_t resized = ResizedPages(SizingRule(options_->pages), part_.target.resize, load, sizes);
    pages_ = NormalPages(std::min(kMaxSectionPages, resized));
    if (context_->log_info) {
      context_->log_info("[" + store_->options().column_family_name + "] section " + std::to_string(part_.section) +
                         ": " + std::to_string(pages_) + " pages for " + std::to_string(load.bytes) + " bytes");
    }
  }
  divisor_ = PageDivisor(pages_);
  return s;
}

Status SectionRehash::WriteAll(const std::atomic<bool>* cancel) {
  Status s = ChoosePages();
  if (s.ok()) s = WriteFile(cancel);
  return s.ok() ? context_->fs->SyncDir(ParentOf(path_)) : s;
}

Status SectionRehash::WriteFile(const std::atomic<bool>* cancel) {
  std::unique_ptr<WritableFile> file;
  made_ = true;
  Status s = context_->fs->NewWritableFile(path_, context_->write_options, &file);
  OldPages old(view_, part_.section, options_->pages.rehash_batch);
  std::string buffer;
  for (uint64_t page = 0; s.ok() && page < pages_; ++page) {
    if (Cancelled(cancel)) s = Status::ShutdownInProgress("rehash");
    if (s.ok()) s = Build(&old, page, &buffer);
    if (!s.ok() || (buffer.size() < kWriteBytes && page + 1 < pages_)) continue;
    s = file->Append(buffer);
    if (context_->throttle) context_->throttle(buffer.size(), false);
    bytes_written_ += buffer.size();
    buffer.clear();
  }
  Note(old, {});
  if (s.ok()) s = file->Sync();
  if (file != nullptr) {
    Status closed = file->Close();
    if (s.ok()) s = closed;
  }
  return s;
}

uint64_t SectionRehash::LastHash(uint64_t page) const {
  return std::min((page + 1) * divisor_ - 1, (uint64_t{1} << kMasterBits) - 1);
}

Status SectionRehash::CatchUp(const std::atomic<bool>* cancel) {
  for (size_t before = SIZE_MAX;;) {
    const std::vector<uint64_t> dirty = store_->TakeDirty(part_.section);
    if (dirty.empty()) return Status::OK();
    // The current view has the changes that made them dirty.
    if (Status s = Repeat(store_->current(), dirty, cancel); !s.ok()) return s;
    if (dirty.size() <= kFewDirtyPages || dirty.size() > before / 2) return Status::OK();
    before = dirty.size();
  }
}

Status SectionRehash::Repeat(std::shared_ptr<const TablelessView> view, const std::vector<uint64_t>& dirty,
                             const std::atomic<bool>* cancel) {
  const Section& section = *view->parts().sections[part_.section];
  const uint64_t last_hash = (uint64_t{1} << kMasterBits) - 1;
  std::set<uint64_t> again, wanted;
  for (uint64_t page : dirty) {
    const uint64_t low = page * section.divisor;
    const uint64_t high = std::min(low + section.divisor - 1, last_hash);
    for (uint64_t p = low / divisor_; p <= high / divisor_; ++p) again.insert(p);
  }
  for (uint64_t page : again) {
    const uint64_t last = std::min(LastHash(page) / section.divisor, section.meta.pages - 1);
    for (uint64_t p = page * divisor_ / section.divisor; p <= last; ++p) wanted.insert(p);
  }
  OldPages old(std::move(view), part_.section, options_->pages.rehash_batch,
               std::vector<uint64_t>(wanted.begin(), wanted.end()));
  PageWriter writer(context_, path_, file_number_, page_bytes_, /*cache=*/nullptr);
  std::string image;
  Status s;
  for (uint64_t page : again) {
    image.clear();
    if (Cancelled(cancel)) s = Status::ShutdownInProgress("rehash");
    if (s.ok()) s = Build(&old, page, &image);
    if (s.ok()) s = writer.Add(page, image);
    if (!s.ok()) break;
  }
  Note(old, dirty);
  pages_again_ += writer.pages();
  bytes_written_ += writer.pages() * page_bytes_;
  Status finished = writer.Finish();
  return s.ok() ? finished : s;
}

// Pages that are ahead of the section's counts, by a flush that is running or has failed. The new pages do not say so.
void SectionRehash::Note(const OldPages& read, const std::vector<uint64_t>& dirty) {
  bytes_read_ += read.bytes_read();
  for (uint64_t page : dirty) ahead_.erase(page);
  for (const auto& [page, ahead] : read.ahead()) ahead_[page] = ahead;
}

Status SectionRehash::Build(OldPages* old, uint64_t page, std::string* out) {
  const size_t begin = out->size();
  PageBuilder builder(out);
  size_t used = kPageHeaderBytes;
  const Rest before = std::exchange(rest_[page], Rest());
  Rest& rest = rest_[page];
  Status s = old->ForEach(page * divisor_, LastHash(page), [&](const PageRecord& r) {
    KeyOutcome outcome;
    outcome.newest = r;
    if (fold_.filter != nullptr) {
      if (Status filtered = Filter(r, &outcome, &rest); !filtered.ok()) return filtered;
    }
    if (!outcome.newest) return Status::OK();
    const PageRecord& record = *outcome.newest;
    const size_t size = EncodedSize(record);
    if (record.unfolded || used + size > page_bytes_) return Spill(record, before.spilled, &rest);
    used += size;
    builder.Add(record);
    return Status::OK();
  });
  if (!s.ok()) return s;
  builder.Finish(file_number_, page, 0);
  out->resize(begin + page_bytes_);
  for (const Spilled& old_one : before.spilled) {
    const auto same = [&](const Spilled& one) { return one.key == old_one.key; };
    if (std::any_of(rest.spilled.begin(), rest.spilled.end(), same)) continue;
    OverflowEntry gone;
    gone.removal = true;
    gone.record.user_key = old_one.key;
    gone.record.sequence = old_one.sequence;
    if (s.ok()) s = AddEntry(gone);
  }
  if (rest.spilled.empty() && rest.gone.empty() && rest.change.records == 0 && rest.change.bytes == 0) {
    rest_.erase(page);
  }
  return s;
}

// No entry is written for a record if the newest entry in the run is the same. If a flush and the
// writes in place of its pages come between two reads, a page may have two records of a key. Then
// it is rebuilt, and the last entry counts. A compaction filter may change a record differently the
// next time.
Status SectionRehash::Spill(const PageRecord& record, const std::vector<Spilled>& before, Rest* rest) {
  Spilled& spilled = rest->spilled.emplace_back();
  spilled = {record.user_key.ToString(), record.sequence, EncodedSize(record), record.unfolded};
  const auto of_key = [&](const Spilled& one) { return one.key == spilled.key; };
  const auto last = std::find_if(before.rbegin(), before.rend(), of_key);
  const bool same = last != before.rend() && last->sequence == spilled.sequence && last->bytes == spilled.bytes &&
                    last->unfolded == spilled.unfolded;
  if (same && fold_.filter == nullptr) return Status::OK();
  OverflowEntry entry;
  entry.record = record;
  return AddEntry(entry);
}

Status SectionRehash::AddEntry(const OverflowEntry& entry) {
  if (run_ == nullptr) {
    CompactionFileWriter* writer = nullptr;
    if (Status s = file_.Writer(&writer); !s.ok()) return s;
    run_ = std::make_unique<OverflowRunWriter>(writer, context_->hasher, context_->new_number);
  }
  OverflowEntry of_section = entry;
  of_section.section = part_.section;
  Status s = run_->Add(of_section);
  file_.Throttle();
  return s;
}

Status SectionRehash::Filter(const PageRecord& record, KeyOutcome* outcome, Rest* rest) {
  // Flushes decide which of its versions snapshots see: some snapshots are newer than this job.
  if (record.unfolded) return Status::OK();
  Status s = FoldKey(fold_, record.user_key, {}, &record, outcome);
  if (!s.ok()) return s;
  rest->change.bytes -= static_cast<int64_t>(EncodedSize(record));
  if (outcome->newest) {
    rest->change.bytes += static_cast<int64_t>(EncodedSize(*outcome->newest));
    return s;
  }
  rest->change.records -= 1;
  rest->gone.push_back(record.user_key.ToString());
  return s;
}

Status SectionRehash::Conclude(const std::atomic<bool>* cancel, VersionEdit* edit, std::shared_ptr<MemTable>* keys) {
  const std::shared_ptr<const TablelessView> now = store_->current();
  const uint64_t again = pages_again_;
  if (const auto dirty = store_->TakeDirty(part_.section); !dirty.empty()) {
    if (Status s = Repeat(now, dirty, cancel); !s.ok()) return s;
  }
  pages_held_up_ = pages_again_ - again;
  const uint64_t overflow_from = context_->new_number();
  if (run_ != nullptr) {
    Status s = run_->Finish(&edit->added_page_runs);
    if (s.ok()) s = file_.Finish(edit);
    if (!s.ok()) return s;
    bytes_written_ += run_->bytes();
  }
  PageSectionMeta& meta = edit->page_sections.emplace_back(now->parts().sections[part_.section]->meta);
  records_in_ = meta.records;
  meta.file_number = file_number_;
  meta.pages = pages_;
  meta.overflow_from = overflow_from;
  meta.overflow_records = meta.overflow_bytes = 0;
  for (const auto& [page, ahead] : ahead_) {
    if (ahead.folded <= now->state()->committed()) continue;
    meta.records += static_cast<uint64_t>(ahead.change.records);
    meta.bytes += static_cast<uint64_t>(ahead.change.bytes);
  }
  for (const auto& [page, rest] : rest_) {
    meta.records += static_cast<uint64_t>(rest.change.records);
    meta.bytes += static_cast<uint64_t>(rest.change.bytes);
    meta.overflow_records += rest.spilled.size();
    for (const Spilled& spilled : rest.spilled) meta.overflow_bytes += spilled.bytes;
  }
  records_out_ = meta.records;
  return DeleteKeys(now->state()->committed(), keys);
}

// Deletions of the records that the filter dropped. If a flush failed, its records beyond `committed` come again.
Status SectionRehash::DeleteKeys(SequenceNumber committed, std::shared_ptr<MemTable>* keys) const {
  keys->reset();
  if (!store_->options().pages.key_store) return Status::OK();
  for (const auto& [page, rest] : rest_) {
    for (const std::string& key : rest.gone) {
      if (*keys == nullptr) {
        MemTableOptions memory;
        memory.comparator = store_->options().comparator;
        *keys = std::make_shared<MemTable>(memory, 0);
      }
      Status s = (*keys)->Add(committed, kTypeDeletion, key, Slice(), /*concurrent=*/false);
      if (!s.ok()) return s;
    }
  }
  return Status::OK();
}

void SectionRehash::Keep() {
  kept_ = true;
  if (run_ != nullptr) store_->PinUntilInstalled(file_.number());
}

void SectionRehash::Report(JobReport* report) const {
  report->bytes_read += bytes_read_;
  report->bytes_written += bytes_written_;
  report->records_in += records_in_;
  report->records_out += records_out_;
}

}  // namespace compassdb
