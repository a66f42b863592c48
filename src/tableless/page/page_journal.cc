// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_journal.h"

#include <algorithm>

#include "tableless/page/page_hash.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/hash.h"

namespace compassdb {

namespace {

//   journal   := image* directory trailer
//   directory := section_file:fixed64 * sections  (key:fixed64 offset:fixed64 size:fixed32) * count
//   trailer   := directory:fixed64 count:fixed64 sections:fixed32 crc:fixed32 magic:fixed64
// `crc` covers the file's id, the directory and the trailer before it.
constexpr uint64_t kMagic = 0x316c6e6a67507343;  // "CsPgjnl1"
constexpr size_t kTrailerBytes = 32;
constexpr size_t kEntryBytes = 20;

uint32_t DirectoryChecksum(uint64_t file_id, const Slice& directory, const char* trailer) {
  char id[8];
  EncodeFixed64(id, file_id);
  const uint32_t crc =
      Crc32cExtend(Crc32c(id, sizeof(id)), directory.data(), directory.size());
  return Crc32cExtend(crc, trailer, 20);
}

}  // namespace

PageJournalWriter::PageJournalWriter(CompactionFileWriter* file,
                                     std::vector<uint64_t> section_files)
    : file_(file), section_files_(std::move(section_files)), begin_(file->offset()) {}

Status PageJournalWriter::Append(uint32_t section, const std::vector<Image>& images,
                                 const Slice& buffer) {
  MutexLock lock(&mu_);
  const uint64_t base = file_->offset() - begin_;
  Status s = file_->Append(buffer);
  if (!s.ok()) return s;
  for (const Image& image : images) {
    entries_.push_back({PageKey(section, image.page), base + image.offset, image.size});
  }
  return s;
}

Status PageJournalWriter::Finish(uint64_t run_id, PageRunMeta* meta) {
  MutexLock lock(&mu_);
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  const uint64_t directory_at = file_->offset() - begin_;
  std::string bytes;
  for (uint64_t number : section_files_) PutFixed64(&bytes, number);
  for (const Entry& e : entries_) {
    PutFixed64(&bytes, e.key);
    PutFixed64(&bytes, e.offset);
    PutFixed32(&bytes, e.size);
  }
  std::string trailer;
  PutFixed64(&trailer, directory_at);
  PutFixed64(&trailer, entries_.size());
  PutFixed32(&trailer, static_cast<uint32_t>(section_files_.size()));
  PutFixed32(&trailer, DirectoryChecksum(file_->file_id(), bytes, trailer.data()));
  PutFixed64(&trailer, kMagic);
  Status s = file_->Append(bytes);
  if (s.ok()) s = file_->Append(trailer);
  meta->run_id = run_id;
  meta->kind = PageRunKind::kJournal;
  meta->extent = {file_->file_number(), begin_, file_->offset() - begin_};
  meta->file_id = file_->file_id();
  meta->count = entries_.size();
  return s;
}

Status PageJournal::Open(FileCache* files, ExtentLedger* ledger, const PageRunMeta& meta, uint32_t page_bytes,
                         std::shared_ptr<PageJournal>* journal) {
  std::shared_ptr<PageJournal> j(new PageJournal(files, ledger, meta));
  Status s = j->Load(page_bytes);
  if (s.ok()) *journal = std::move(j);
  return s;
}

Status PageJournal::CheckPages(const PageSectionMeta& section) const {
  if (section_file(section.section) != section.file_number) return Status::OK();
  const size_t end = Begin(section.section + 1);
  if (end == Begin(section.section) || PageOfKey(keys_[end - 1]) < section.pages) return Status::OK();
  return run_.Corruption(offsets_[end - 1], "an image of page " + std::to_string(PageOfKey(keys_[end - 1])) +
                                                " of section " + std::to_string(section.section) + ", which has " +
                                                std::to_string(section.pages));
}

Status PageJournal::Load(uint32_t page_bytes) {
  const uint64_t length = meta().extent.length;
  if (length < kTrailerBytes) return run_.Corruption(0, "journal is cut short");
  std::string room;
  Slice trailer;
  Status s = run_.Read(length - kTrailerBytes, kTrailerBytes, &room, &trailer);
  if (!s.ok()) return s;
  const uint64_t directory_at = DecodeFixed64(trailer.data());
  const uint64_t count = DecodeFixed64(trailer.data() + 8);
  const uint32_t sections = DecodeFixed32(trailer.data() + 16);
  const uint32_t crc = DecodeFixed32(trailer.data() + 20);
  if (DecodeFixed64(trailer.data() + 24) != kMagic || directory_at > length - kTrailerBytes ||
      sections > kMaxPageSections || count > length / kEntryBytes ||
      length - kTrailerBytes - directory_at != sections * 8 + count * kEntryBytes ||
      count != meta().count) {
    return run_.Corruption(length - kTrailerBytes, "journal without its trailer");
  }
  const std::string head(trailer.data(), 20);
  Slice directory;
  s = run_.Read(directory_at, length - kTrailerBytes - directory_at, &room, &directory);
  if (!s.ok()) return s;
  if (!ChecksumHolds(crc, DirectoryChecksum(meta().file_id, directory, head.data()))) {
    return run_.Corruption(directory_at, "journal directory checksum mismatch");
  }
  const char* p = directory.data();
  for (uint32_t i = 0; i < sections; ++i, p += 8) section_files_.push_back(DecodeFixed64(p));
  keys_.reserve(count);
  offsets_.reserve(count);
  sizes_.reserve(count);
  for (uint64_t i = 0; i < count; ++i, p += kEntryBytes) {
    const uint64_t key = DecodeFixed64(p), offset = DecodeFixed64(p + 8);
    const uint32_t size = DecodeFixed32(p + 16);
    if (SectionOfKey(key) >= sections || (i > 0 && key <= keys_.back()) || offset > directory_at ||
        size > directory_at - offset || size > page_bytes) {
      return run_.Corruption(directory_at, "journal directory with a bad entry");
    }
    keys_.push_back(key);
    offsets_.push_back(offset);
    sizes_.push_back(size);
  }
  return s;
}

bool PageJournal::Find(uint32_t section, uint64_t file_number, uint64_t page, Place* place) const {
  if (section >= section_files_.size() || section_files_[section] != file_number) return false;
  const uint64_t key = PageKey(section, page);
  const auto it = std::lower_bound(keys_.begin(), keys_.end(), key);
  if (it == keys_.end() || *it != key) return false;
  *place = this->place(static_cast<size_t>(it - keys_.begin()));
  return true;
}

}  // namespace compassdb
