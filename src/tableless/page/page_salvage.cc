// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_salvage.h"

#include <algorithm>

#include "format/file_names.h"
#include "table/piece/piece_salvage.h"
#include "tableless/page/page_resolver.h"

namespace compassdb {

namespace {

constexpr size_t kWriteBytes = 1 << 20;
constexpr uint64_t kKeyBytes = 16 << 20;  // of markers per run of the key store

}  // namespace

PageSalvage::PageSalvage(const StoreContext* context, const StoreOptions* options, const VersionEdit& pages,
                         Calls calls)
    : context_(context),
      options_(options),
      pages_(pages),
      calls_(std::move(calls)),
      geometry_(*pages.page_geometry) {}

void PageSalvage::Damaged(const std::string& what, const Status& s) {
  ++damages_;
  if (failed_.ok() && !IsDamage(s)) failed_ = s;
  if (context_->log_info) {
    context_->log_info("repair: of [" + options_->column_family_name + "] " + what + " is lost: " + s.ToString());
  }
}

void PageSalvage::OpenRuns() {
  overflow_.resize(geometry_.sections);
  for (const PageRunMeta& meta : pages_.added_page_runs) {
    if (meta.kind == PageRunKind::kJournal) {
      PageJournalRef journal;
      Status s = PageJournal::Open(context_->files, context_->ledger, meta, geometry_.page_bytes, &journal);
      if (s.ok()) {
        journals_.push_back(std::move(journal));
      } else {
        Damaged("a journal", s);
      }
      continue;
    }
    runs_.push_back(std::make_shared<OverflowRun>(context_->files, context_->ledger, meta));
    const OverflowRun* const run = runs_.back().get();
    const auto take = [&](const OverflowPlace& place, const OverflowEntry& entry) {
      if (entry.section >= geometry_.sections || entry.section >= pages_.page_sections.size()) {
        return run->run()->Corruption(place.offset, "section");
      }
      if (meta.run_id < pages_.page_sections[entry.section].overflow_from) return Status::OK();
      auto& section = overflow_[entry.section];
      const std::string key = entry.record.user_key.ToString();
      if (entry.removal) {
        section.erase(key);
      } else {
        section[key] = {run, place, entry.record.sequence};
      }
      return Status::OK();
    };
    Status s = run->Scan(take, [this](const Status& entry) { Damaged("an overflow record", entry); });
    if (!s.ok()) Damaged("the rest of an overflow run", s);
  }
}

void PageSalvage::OpenSection(uint32_t section) {
  meta_ = pages_.page_sections[section];
  file_.reset();
  const std::string path = calls_.existing_path(meta_.file_number);
  uint64_t size = 0;
  Status s = context_->fs->GetFileSize(path, &size);
  if (s.ok()) s = context_->fs->NewRandomAccessFile(path, context_->files->options(), &file_);
  if (s.ok() && size != meta_.pages * geometry_.page_bytes) {
    s = Status::Corruption(path, "has " + std::to_string(size) + " bytes, the manifest says " +
                                     std::to_string(meta_.pages * geometry_.page_bytes));
  }
  if (!s.ok()) Damaged("what is missing of a section", s);
  pages_there_ = file_ == nullptr ? 0 : std::min(meta_.pages, size / geometry_.page_bytes);
  by_page_.clear();
  const uint64_t divisor = PageDivisor(meta_.pages);
  for (const auto& entry : overflow_[section]) {
    const MasterHash master = MasterHashOf(context_->hasher(entry.first), geometry_.sections);
    if (master.section == section) by_page_.emplace(master.value / divisor, &entry);
  }
}

Status PageSalvage::PageImage::Decode(const Slice& image, uint64_t file_number, uint64_t page) {
  Slice encoded;
  Status s = CheckPage(image, file_number, page, &encoded);
  if (!s.ok()) return s;
  folded = FoldedOf(encoded);
  s = ListPageRecords(encoded, &records);
  if (!s.ok()) records.clear();
  return s;
}

bool PageSalvage::ReadImage(uint64_t page, PageImage* found) {
  for (auto it = journals_.rbegin(); it != journals_.rend(); ++it) {
    PageJournal::Place place;
    if (!(*it)->Find(meta_.section, meta_.file_number, page, &place)) continue;
    Slice image;
    Status s = (*it)->Read(place, &room_.image, &image);
    if (s.ok()) s = found->Decode(image, meta_.file_number, page);
    if (s.ok()) return true;
    Damaged("an image of page " + std::to_string(page) + " in a journal", s);
  }
  return false;
}

Status PageSalvage::ReadInPlace(uint64_t page, PageImage* found) {
  const size_t alignment = file_->ReadAlignment();
  char* const to = room_.page.Reserve(alignment, geometry_.page_bytes + 2 * alignment);
  if (to == nullptr) return Status::MemoryLimit("no memory for a page");
  Slice image;
  Status s = file_->ReadWithin(page * geometry_.page_bytes, geometry_.page_bytes, &image, to);
  return s.ok() ? found->Decode(image, meta_.file_number, page) : s;
}

void PageSalvage::ReadPage(uint64_t page, std::vector<PageRecord>* records) {
  PageImage newest;
  const bool journaled = ReadImage(page, &newest);
  if (page < pages_there_) {
    PageImage in_place;
    Status s = ReadInPlace(page, &in_place);
    // It may be newer than an image, if the manifest is older than the pages. (It is torn if a write was interrupted.)
    if (s.ok() && (!journaled || in_place.folded > newest.folded)) newest = std::move(in_place);
    if (!s.ok() && !(journaled && IsDamage(s))) {
      Damaged("page " + std::to_string(page) + " of section " + std::to_string(meta_.section), s);
    }
  }
  newest_ = std::max(newest_, newest.folded);
  *records = std::move(newest.records);
}

Status PageSalvage::Check(bool* whole) {
  OpenRuns();
  std::vector<PageRecord> records;
  for (uint32_t i = 0; i < pages_.page_sections.size(); ++i) {
    OpenSection(i);
    for (uint64_t page = 0; page < pages_there_; ++page) ReadPage(page, &records);
    for (const PageJournalRef& journal : journals_) {
      for (size_t at = journal->Begin(meta_.section); at < journal->Begin(meta_.section + 1); ++at) {
        const uint64_t page = PageOfKey(journal->key(at));
        if (page >= pages_there_ && page < meta_.pages) ReadPage(page, &records);
      }
    }
  }
  if (pages_.page_sections.size() != geometry_.sections) {
    Damaged("a section", Status::Corruption("the manifest does not name it"));
  }
  *whole = damages_ == 0;
  return failed_;
}

Status PageSalvage::Mark(const PageRecord& record) {
  if (!options_->pages.key_store) return Status::OK();
  if (keys_ == nullptr) {
    MemTableOptions memory;
    memory.comparator = options_->comparator;
    keys_ = std::make_shared<MemTable>(memory, 0);
  }
  Status s = keys_->Add(record.sequence, kTypeBlobIndex, record.user_key, kKeyMarker, /*concurrent=*/false);
  if (s.ok() && keys_->data_size() >= kKeyBytes) s = calls_.flush_keys(std::move(keys_));
  return s;
}

Status PageSalvage::BuildPage(uint64_t page, uint64_t file_number, std::string* out,
                              OverflowRunWriter* overflow, PageSectionMeta* meta) {
  std::vector<PageRecord> records;
  ReadPage(page, &records);
  std::vector<std::string> rooms;
  const auto [first, last] = by_page_.equal_range(page);
  rooms.reserve(static_cast<size_t>(std::distance(first, last)));
  for (auto it = first; it != last; ++it) {
    const Spilled& spilled = it->second->second;
    OverflowEntry entry;
    Status s = spilled.run->Read(spilled.place, &rooms.emplace_back(), &entry);
    if (!s.ok()) {
      Damaged("an overflow record", s);
      continue;
    }
    const auto same = std::find_if(records.begin(), records.end(), [&](const PageRecord& r) {
      return r.user_key == entry.record.user_key;
    });
    if (same == records.end()) {
      records.push_back(entry.record);
    } else if (same->sequence < entry.record.sequence) {
      *same = entry.record;
    }
  }
  const size_t begin = out->size();
  size_t used = kPageHeaderBytes;
  PageBuilder builder(out);
  for (const PageRecord& record : records) {
    const size_t size = EncodedSize(record);
    ++meta->records;
    meta->bytes += size;
    if (!record.unfolded && used + size <= geometry_.page_bytes) {
      used += size;
      builder.Add(record);
    } else {
      OverflowEntry entry;
      entry.section = meta->section;
      entry.record = record;
      if (Status s = overflow->Add(entry); !s.ok()) return s;
      ++meta->overflow_records;
      meta->overflow_bytes += size;
    }
    if (Status s = Mark(record); !s.ok()) return s;
  }
  builder.Finish(file_number, page, 0);
  out->resize(begin + geometry_.page_bytes);
  return Status::OK();
}

Status PageSalvage::RebuildSection(OverflowRunWriter* overflow, PageSectionMeta* meta) {
  const std::string path = calls_.new_path(meta->file_number);
  uint64_t free = 0;
  if (pages_there_ < meta->pages && context_->fs->GetFreeSpace(ParentOf(path), &free).ok() &&
      meta->pages > free / geometry_.page_bytes) {
    return Status::NoSpace(path, "for " + std::to_string(meta->pages) + " pages; the existing file has " +
                                     std::to_string(pages_there_));
  }
  std::unique_ptr<WritableFile> file;
  Status s = context_->fs->NewWritableFile(path, context_->write_options, &file);
  if (!s.ok()) return s;
  std::string buffer;
  for (uint64_t page = 0; s.ok() && page < meta->pages; ++page) {
    s = BuildPage(page, meta->file_number, &buffer, overflow, meta);
    if (!s.ok() || (buffer.size() < kWriteBytes && page + 1 < meta->pages)) continue;
    s = file->Append(buffer);
    buffer.clear();
  }
  if (s.ok()) s = file->Sync();
  Status closed = file->Close();
  if (s.ok()) s = closed;
  return s.ok() ? context_->fs->SyncDir(ParentOf(path)) : s;
}

Status PageSalvage::Rebuild(VersionEdit* edit) {
  JobFile file(context_, options_, 0, /*flush=*/true, /*observer=*/nullptr);
  CompactionFileWriter* writer = nullptr;
  Status s = file.Writer(&writer);
  if (!s.ok()) return s;
  OverflowRunWriter overflow(writer, context_->hasher, context_->new_number);
  const uint64_t run_id = context_->new_number();
  for (uint32_t i = 0; s.ok() && i < pages_.page_sections.size(); ++i) {
    OpenSection(i);
    PageSectionMeta meta;
    meta.section = i;
    meta.file_number = context_->new_number();
    meta.pages = meta_.pages;
    meta.overflow_from = run_id;
    s = RebuildSection(&overflow, &meta);
    edit->page_sections.push_back(meta);
  }
  if (s.ok() && keys_ != nullptr) s = calls_.flush_keys(std::move(keys_));
  for (const PageRunMeta& meta : pages_.added_page_runs) edit->deleted_page_runs.push_back(meta.run_id);
  if (s.ok() && overflow.count() > 0) {
    s = overflow.Finish(&edit->added_page_runs);
    if (s.ok()) s = file.Finish(edit);
  }
  return s.ok() ? failed_ : s;
}

}  // namespace compassdb
