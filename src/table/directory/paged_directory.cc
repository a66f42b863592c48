// SPDX-License-Identifier: Apache-2.0
#include "table/directory/paged_directory.h"

#include "table/directory/directory_format.h"

namespace compassdb {

class PagedDirectory::Page {
 public:
  Page(std::unique_ptr<char[]> slots, uint32_t bytes, uint32_t piece_bytes)
      : slots_(std::move(slots)), bytes_(bytes), piece_bytes_(piece_bytes) {}
  const char* slots() const { return slots_.get(); }
  IndexMemory Memory() const {
    IndexMemory memory;
    memory.pieces = piece_bytes_;
    memory.fingerprints = bytes_ - piece_bytes_;
    memory.other = HeapBytes(size_t{bytes_} + kSlotPadding) - bytes_ + HeapBytes(sizeof(Page));
    return memory;
  }

 private:
  const std::unique_ptr<char[]> slots_;
  const uint32_t bytes_;
  const uint32_t piece_bytes_;  // of these, those of the piece number
};

IndexMemory MemoryOf(const PagedDirectory::Page& page) { return page.Memory(); }

PagedDirectory::PagedDirectory(const TableContextRef& context, const TphMeta& meta)
    : context_(context),
      meta_(meta),
      head_(context, IndexMode::kPaged, IndexCache::Kind::kFilter),
      pages_key_(IndexCache::NewKey(IndexCache::Kind::kFilter)) {}

PagedDirectory::~PagedDirectory() {
  for (uint64_t i = 0; i < num_pages_.load(std::memory_order_relaxed); ++i) {
    context_->index_cache.Erase(pages_key_.Page(i));
  }
}

Status CheckDirectory(const TphMeta& meta, uint64_t keys, size_t pieces) {
  const std::string table = "table " + std::to_string(meta.tph_id);
  if (keys != meta.num_keys) {
    return Status::Corruption(table, "the directory has " + std::to_string(keys) +
                                         " keys, the manifest says " +
                                         std::to_string(meta.num_keys));
  }
  if (pieces != meta.pieces.size()) {
    return Status::Corruption(table, "the directory is of " + std::to_string(pieces) +
                                         " pieces, the manifest names " +
                                         std::to_string(meta.pieces.size()));
  }
  return Status::OK();
}

Status PagedDirectory::OpenHead(const BlockReadOptions& read, PartRef<DirectoryHead>* head) const {
  return head_.Get(
      read,
      [this](std::unique_ptr<const DirectoryHead>* loaded) {
        Status s = ReadDirectoryHead(context_->files, meta_.directory, meta_.directory_file_id,
                                     meta_.num_keys, loaded);
        if (s.ok()) s = CheckDirectory(meta_, (*loaded)->num_keys(), (*loaded)->num_pieces());
        if (s.ok()) num_pages_.store((*loaded)->num_pages(), std::memory_order_relaxed);
        return s;
      },
      head);
}

Status PagedDirectory::OpenPage(const BlockReadOptions& read, const DirectoryHead& head,
                                uint64_t number, PartRef<Page>* page) const {
  return GetCachedPart<Page>(
      context_, pages_key_.Page(number), read,
      [&](std::unique_ptr<const Page>* loaded) {
        std::unique_ptr<char[]> slots;
        Status s = ReadDirectoryPage(context_->files, meta_.directory, meta_.directory_file_id,
                                     head, number, &slots);
        if (!s.ok()) return s;
        const uint64_t bytes = head.PageBytes(number);  // far below 4 GiB: kMaxPageSlots
        IndexMemory memory;
        head.AddSlots(bytes, &memory);
        *loaded = std::make_unique<const Page>(std::move(slots), static_cast<uint32_t>(bytes),
                                               static_cast<uint32_t>(memory.pieces));
        return s;
      },
      page);
}

Status PagedDirectory::Lookup(const BlockReadOptions& read, const KeyHash& hash,
                              DirectoryHit* hit) const {
  *hit = DirectoryHit();
  PartRef<DirectoryHead> head;
  Status s = OpenHead(read, &head);
  if (!s.ok() || head->Decides(hash, hit)) return s;
  const uint64_t slot = head->SlotOf(hash);
  PartRef<Page> page;
  s = OpenPage(read, *head, slot / head->page_slots(), &page);
  if (s.ok()) *hit = head->Read(head->SlotAt(page->slots(), slot % head->page_slots()), hash);
  return s;
}

Status PagedDirectory::Load(const BlockReadOptions& read) const {
  PartRef<DirectoryHead> head;
  Status s = OpenHead(read, &head);
  for (uint64_t i = 0; s.ok() && i < head->num_pages(); ++i) {
    PartRef<Page> page;
    s = OpenPage(read, *head, i, &page);
  }
  return s;
}

}  // namespace compassdb
