// SPDX-License-Identifier: Apache-2.0
// Applies an edit, and makes the result the current view. Only the owner of the turn changes sections and
// overflow, so they do not change between the two halves.
#include <algorithm>

#include "tableless/tableless_store_impl.h"
#include "util/no_memory.h"

namespace compassdb {

struct TablelessStore::PreparedPages : Prepared {
  std::unique_ptr<Prepared> keys;
  std::vector<SectionRef> sections;
  std::vector<PageJournalRef> journals;
  std::vector<OverflowRunRef> runs;
  std::vector<uint64_t> touched;  // PageKeys whose overflow records changed
  uint64_t overflow_written = 0;  // records
};

// The index of a section whose `overflow_from` has moved is rebuilt, of all runs from there on. Runs that stay may be
// newer than added ones, because a rewrite adds what existed when it began.
Status TablelessStore::PrepareOverflow(const VersionEdit& edit, const TablelessView::Parts& parts,
                                       std::vector<OverflowIndexBuilder>* indexes, PreparedPages* pages) const {
  if (edit.page_sections.empty()) return Status::OK();
  const uint32_t sections = edit.page_geometry.value_or(parts.geometry).sections;
  std::vector<const PageSectionMeta*> metas(sections);
  for (const PageSectionMeta& meta : edit.page_sections) metas[meta.section] = &meta;
  std::vector<bool> rebuilt(sections);
  uint64_t rebuilt_from = UINT64_MAX;
  for (uint32_t i = 0; i < sections; ++i) {
    const Section* const old = i < parts.sections.size() ? parts.sections[i].get() : nullptr;
    rebuilt[i] = old == nullptr || (metas[i] != nullptr && metas[i]->overflow_from != old->meta.overflow_from);
    indexes->emplace_back(rebuilt[i] ? nullptr : old->overflow);
    if (old != nullptr && rebuilt[i]) rebuilt_from = std::min(rebuilt_from, metas[i]->overflow_from);
  }
  std::map<uint64_t, OverflowRunRef> runs;  // by id
  for (const OverflowRunRef& run : pages->runs) runs[run->meta().run_id] = run;
  const std::set<uint64_t> deleted(edit.deleted_page_runs.begin(), edit.deleted_page_runs.end());
  for (const OverflowRunRef& run : parts.runs) {
    const uint64_t id = run->meta().run_id;
    if (id >= rebuilt_from && deleted.count(id) == 0) runs[id] = run;
  }
  const std::set<OverflowRunRef> added(pages->runs.begin(), pages->runs.end());
  for (const auto& [id, run] : runs) {
    const bool stays = added.count(run) == 0;
    OverflowList list;
    Status s = run->List(context_->hasher, &list);
    for (const OverflowSlot& slot : list.slots) {
      const uint32_t i = slot.section;
      if (s.ok() && (i >= sections || (!stays && metas[i] == nullptr))) {
        s = run->run()->Corruption(slot.place.offset, "an entry of another section");
      }
      if (!s.ok()) return s;
      if ((stays && !rebuilt[i]) || id < metas[i]->overflow_from) continue;
      // A rehash has to know what a flush changes. Other jobs do not change records.
      if (edit.folded_sequence && i < parts.sections.size()) {
        KeyHash hash;
        hash.h1 = slot.hash;
        pages->touched.push_back(PageKey(i, parts.sections[i]->PageOf(MasterHashOf(hash, sections))));
      }
      if (!stays && !slot.removal) ++pages->overflow_written;
      s = (*indexes)[i].Apply(run, slot, list.replaced);
    }
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// Opens the files that the edit names, and makes the new sections from those in `parts`.
Status TablelessStore::PreparePages(const VersionEdit& edit, const TablelessView::Parts& parts,
                                    PreparedPages* pages) const {
  Status s;
  const PageGeometry geometry = edit.page_geometry.value_or(parts.geometry);
  for (const PageRunMeta& meta : edit.added_page_runs) {
    if (meta.kind != PageRunKind::kJournal) {
      pages->runs.push_back(std::make_shared<OverflowRun>(context_->files, context_->ledger, meta));
      continue;
    }
    PageJournalRef journal;
    s = PageJournal::Open(context_->files, context_->ledger, meta, geometry.page_bytes, &journal);
    if (!s.ok()) return s;
    pages->journals.push_back(std::move(journal));
  }
  std::vector<OverflowIndexBuilder> indexes;
  s = PrepareOverflow(edit, parts, &indexes, pages);
  if (!s.ok()) return s;
  for (const PageSectionMeta& meta : edit.page_sections) {
    auto section = std::make_shared<Section>();
    section->meta = meta;
    section->divisor = PageDivisor(meta.pages);
    section->overflow = indexes[meta.section].Finish();
    const Section* const old =
        meta.section < parts.sections.size() ? parts.sections[meta.section].get() : nullptr;
    section->large_bytes = old != nullptr && old->overflow == section->overflow
                               ? old->large_bytes
                               : section->overflow->BytesOfLarger(geometry.page_bytes - kPageHeaderBytes);
    if (old != nullptr && old->meta.file_number == meta.file_number) {
      section->file = old->file;
    } else {
      s = OpenSection(meta, geometry, &section->file);
    }
    if (!s.ok()) return s;
    pages->sections.push_back(std::move(section));
  }
  std::vector<SectionRef> sections = parts.sections;
  sections.resize(geometry.sections);
  for (const SectionRef& section : pages->sections) sections[section->meta.section] = section;
  for (const PageJournalRef& journal : pages->journals) {
    for (const SectionRef& section : sections) {
      if (s.ok() && section != nullptr) s = journal->CheckPages(section->meta);
    }
  }
  return s;
}

std::vector<uint64_t> TablelessStore::NewSections(const VersionEdit& edit) const {
  const auto now = current();
  const auto& sections = now->parts().sections;
  std::vector<uint64_t> files;
  for (const PageSectionMeta& meta : edit.page_sections) {
    const bool there = meta.section < sections.size() && sections[meta.section]->meta.file_number == meta.file_number;
    if (!there) files.push_back(meta.file_number);
  }
  return files;
}

Status TablelessStore::Prepare(const VersionEdit& edit, std::unique_ptr<Prepared>* prepared) {
  auto pages = std::make_unique<PreparedPages>();
  Status s = CatchOutOfMemory("pages", [&] {
    Status prepares = keys_->Prepare(edit, &pages->keys);
    return prepares.ok() ? PreparePages(edit, current()->parts(), pages.get()) : prepares;
  });
  if (!s.ok()) return s;
  *prepared = std::move(pages);
  if (context_->read_only) return s;  // they are the primary's
  const std::vector<uint64_t> files = NewSections(edit);
  MutexLock lock(&turn_mu_);
  new_sections_.insert(files.begin(), files.end());
  return s;
}

void TablelessStore::Unpin(const VersionEdit& edit) {
  MutexLock lock(&turn_mu_);
  for (const PageRunMeta& meta : edit.added_page_runs) {
    if (pinned_files_.erase(meta.extent.file_number) != 0) context_->ledger->UnpinFile(meta.extent.file_number);
  }
}

// The recovered state is an edit of a store without pages.
Status TablelessStore::OpenRecovered(TablelessView::Parts* parts) const {
  PreparedPages pages;
  if (Status s = PreparePages(recovered_, *parts, &pages); !s.ok()) return s;
  parts->sections = std::move(pages.sections);
  parts->journals = std::move(pages.journals);
  parts->runs = std::move(pages.runs);
  std::vector<Extent> extents;
  for (const PageRunMeta& meta : recovered_.added_page_runs) extents.push_back(meta.extent);
  context_->ledger->AddRecovered(std::move(extents));
  return Status::OK();
}

void TablelessStore::Install(const VersionEdit& edit, std::unique_ptr<Prepared> prepared) {
  auto* const pages = static_cast<PreparedPages*>(prepared.get());
  keys_->Install(edit, std::move(pages->keys));
  TablelessView::Parts parts = current()->parts();
  parts.keys = keys_->view();
  if (edit.page_geometry) {
    parts.geometry = *edit.page_geometry;
    parts.sections.resize(parts.geometry.sections);
  }
  if (edit.keys_whole) parts.keys_whole = *edit.keys_whole;
  const std::set<uint64_t> deleted(edit.deleted_page_runs.begin(), edit.deleted_page_runs.end());
  const auto leave = [&](auto* runs) {
    std::erase_if(*runs, [&](const auto& run) {
      if (deleted.count(run->meta().run_id) == 0) return false;
      run->run()->MarkObsolete();
      return true;
    });
  };
  leave(&parts.journals);
  leave(&parts.runs);
  for (const PageJournalRef& journal : pages->journals) {
    context_->ledger->Add(journal->meta().extent);
    parts.journals.push_back(journal);
    if (!context_->ledger->deletions_enabled()) held_journal_ = journal->meta().run_id;
  }
  for (const OverflowRunRef& run : pages->runs) {
    context_->ledger->Add(run->meta().extent);
    parts.runs.push_back(run);
  }
  std::sort(parts.runs.begin(), parts.runs.end(), [](const OverflowRunRef& a, const OverflowRunRef& b) {
    return a->meta().run_id < b->meta().run_id;
  });
  for (const SectionRef& section : pages->sections) {
    SectionRef& place = parts.sections[section->meta.section];
    if (place != nullptr && place->file != section->file) {
      place->file->MarkObsolete();
      state_->CountRehash();
    }
    place = section;
  }
  state_->CountOverflowWritten(pages->overflow_written);
  if (edit.folded_sequence) state_->RaiseCommitted(*edit.folded_sequence);
  const auto view = std::make_shared<TablelessView>(state_, std::move(parts));
  view->CheckInvariants();
  state_->SetCurrent(view);
  Unpin(edit);
  // Afterwards: a rehash that takes a page for changed has to find the change (TakeDirty).
  bool flushed = false;
  {
    MutexLock lock(&turn_mu_);
    for (const PageSectionMeta& meta : edit.page_sections) new_sections_.erase(meta.file_number);
    for (const PageJournalRef& journal : pages->journals) {
      for (size_t i = 0; !dirty_.empty() && i < journal->size(); ++i) MarkDirty(journal->key(i));
    }
    for (uint64_t key : pages->touched) MarkDirty(key);
    flushed = edit.folded_sequence && flush_has_turn_;
    if (flushed) flush_has_turn_ = false;
  }
  if (!flushed) return;
  flush_in_place_.store(false);
  EndTurn();
}

void TablelessStore::Abandon(const VersionEdit& edit) {
  keys_->Abandon(edit);
  Unpin(edit);
  const std::vector<uint64_t> files = NewSections(edit);
  MutexLock lock(&turn_mu_);
  for (const uint64_t file : files) {
    new_sections_.erase(file);
    context_->delete_later(NewSectionPath(file));
  }
}

}  // namespace compassdb
