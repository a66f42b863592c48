// SPDX-License-Identifier: Apache-2.0
// The table-less store: pages, journals of page images, overflow runs.
#include "env/sim/memory_file_system.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "manifest/extent_ledger.h"
#include "manifest/version_edit.h"
#include "tableless/overflow/overflow_index.h"
#include "tableless/page/page_format.h"
#include "tableless/page/page_journal.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

constexpr const char* kPagesDir = "/db";

bool Inside(const Slice& part, const Slice& whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

bool UsePage(const Slice& image, uint64_t file_number, uint64_t page) {
  Slice encoded;
  if (!CheckPage(image, file_number, page, &encoded).ok()) return false;
  FUZZ_CHECK(Inside(encoded, image));
  PageRecord record;
  bool damaged = false;
  FindPageRecord(encoded, "key", &record, &damaged);
  std::vector<PageRecord> records;
  if (!ListPageRecords(encoded, &records).ok()) return false;
  size_t size = 0;
  for (const PageRecord& r : records) {
    FUZZ_CHECK(Inside(r.user_key, encoded) && Inside(r.value, encoded));
    size += EncodedSize(r);
    FUZZ_CHECK(FindPageRecord(encoded, r.user_key, &record, &damaged));
  }
  FUZZ_CHECK(size <= encoded.size());
  return true;
}

FUZZ_TARGET(page, 64 << 10) {
  if (UsePage(input, 11, 3)) AcceptFuzzInput();
}

bool UseJournal(FileCache* files, ExtentLedger* ledger, const PageRunMeta& meta) {
  PageJournalRef journal;
  if (!PageJournal::Open(files, ledger, meta, kMaxPageBytes, &journal).ok()) return false;
  bool good = true;
  std::string room;
  for (size_t i = 0; i < journal->size(); ++i) {
    const uint32_t section = SectionOfKey(journal->key(i));
    const uint64_t page = PageOfKey(journal->key(i));
    const uint64_t file_number = journal->section_file(section);
    PageJournal::Place place;
    FUZZ_CHECK(journal->Find(section, file_number, page, &place));
    Slice image;
    good &= journal->Read(place, &room, &image).ok() && UsePage(image, file_number, page);
  }
  return good;
}

bool UseOverflow(FileCache* files, ExtentLedger* ledger, const PageRunMeta& meta) {
  const auto run = std::make_shared<OverflowRun>(files, ledger, meta);
  const KeyHasher hasher(7);
  OverflowIndexBuilder builder(nullptr);
  OverflowList list;
  bool good = run->List(hasher, &list).ok();
  for (const OverflowSlot& slot : list.slots) good = good && builder.Apply(run, slot, list.replaced).ok();
  const auto pass = [](const OverflowPlace&, const OverflowEntry&) { return Status::OK(); };
  good &= run->Scan(pass).ok();
  run->Scan(pass, [](const Status&) {}).PermitUncheckedError();
  const OverflowIndexRef index = builder.Finish();
  std::string room;
  for (const OverflowIndex::Entry& e : index->entries()) {
    OverflowEntry entry;
    index->Read(e, &room, &entry).PermitUncheckedError();  // the list may say anything of it
  }
  PageRecord record;
  index->Find("key", hasher("key"), &room, &record).PermitUncheckedError();
  return good;
}

FUZZ_TARGET(page_runs, 512 << 10) {
  MemoryFileSystem fs;
  VersionEdit edit;
  if (!UnpackEdit(input, &fs, kPagesDir, &edit)) return;
  FileCache files(&fs, kPagesDir, FileOptions(), 0);
  ExtentLedger ledger(&fs, &files, 0);
  bool good = !edit.added_page_runs.empty();
  for (const PageRunMeta& meta : edit.added_page_runs) {
    good &= meta.kind == PageRunKind::kJournal ? UseJournal(&files, &ledger, meta) : UseOverflow(&files, &ledger, meta);
  }
  if (good) AcceptFuzzInput();
}

}  // namespace
}  // namespace compassdb_test
