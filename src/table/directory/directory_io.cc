// SPDX-License-Identifier: Apache-2.0
// Directories as extents: the head and each page of slots have a checksum, so
// that parts can be read alone.
#include <cstring>

#include "table/directory/directory.h"
#include "table/directory/directory_format.h"
#include "table/file/extent_writer.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

namespace {

// More bits per key than any kind of function takes.
constexpr uint64_t kExpectedFunctionBits = 3;

uint64_t PartContext(uint64_t file_id, uint64_t offset) {
  return MixContext(MixContext(file_id, offset), kDirectoryMagic);
}

// An extent that is being read.
class DirectoryFile {
 public:
  DirectoryFile(FileCache* files, const Extent& extent, uint64_t file_id)
      : files_(files), extent_(extent), file_id_(file_id) {}

  Status Open() {
    Status s = files_->GetExtent(extent_, file_id_, &file_);
    if (s.ok() && extent_.length < kDirectoryHeaderBytes + 4) {
      return Corruption("extent of " + std::to_string(extent_.length) + " bytes is too short for its header");
    }
    return s;
  }

  // `offset` from the start of the extent, within it.
  Status Read(uint64_t offset, uint64_t n, char* buffer) const {
    Slice result;
    Status s = file_->file()->Read(extent_.offset + offset, n, &result, buffer);
    if (!s.ok()) return s;
    if (result.size() != n) return Corruption("the file ends within it");
    if (result.data() != buffer) memmove(buffer, result.data(), n);
    return s;
  }

  // Checks `n` bytes and the checksum behind them.
  Status Check(const char* part, uint64_t n, uint64_t offset) const {
    const uint64_t context = PartContext(file_id_, extent_.offset + offset);
    return ChecksumHolds(DecodeFixed32(part + n), Checksum32(Slice(part, n), context))
               ? Status::OK()
               : Corruption("checksum mismatch");
  }

  // Opens the head from the first bytes of the extent; reads the rest if it is longer.
  Status OpenHead(std::string bytes, std::unique_ptr<const DirectoryHead>* head) const {
    uint64_t length = 0;
    if (!DirectoryHead::Length(bytes.data(), bytes.size(), &length) ||
        length > extent_.length - 4) {
      return Corruption("malformed header");
    }
    const uint64_t have = bytes.size();
    bytes.resize(length + 4);
    Status s;
    if (have < length + 4) s = Read(have, length + 4 - have, bytes.data() + have);
    if (s.ok()) s = Check(bytes.data(), length, 0);
    if (!s.ok()) return s;
    bytes.resize(length);
    bytes.shrink_to_fit();
    s = DirectoryHead::Open(std::move(bytes), head);
    if (s.ok() && (*head)->ExtentLength() != extent_.length) s = Corruption("parts do not fill it");
    return s.ok() ? s : Annotate(s);
  }

  Status Corruption(const std::string& why) const { return Status::Corruption(What(), why); }

 private:
  std::string What() const {
    return files_->PathOf(extent_.file_number) + ": directory at offset " +
           std::to_string(extent_.offset);
  }
  Status Annotate(const Status& s) const {
    const std::string inner = s.ToString();
    if (inner.find(What()) != std::string::npos) return s;
    return s.IsNotSupported() ? Status::NotSupported(What(), inner) : Corruption(inner);
  }

  FileCache* const files_;
  const Extent& extent_;
  const uint64_t file_id_;
  std::shared_ptr<CompactionFile> file_;
};

}  // namespace

Status WriteDirectory(CompactionFileWriter* file, const std::string& bytes, Extent* extent) {
  uint64_t head_length = 0;
  if (!DirectoryHead::Length(bytes.data(), bytes.size(), &head_length) ||
      head_length > bytes.size()) {
    return Status::InvalidArgument("not a directory");
  }
  const uint64_t page_bytes =
      std::max<uint64_t>(1, kPageSlots / 8 * DecodeFixed32(bytes.data() + 48));
  ExtentWriter writer(file);
  if (Status s = writer.Start(); !s.ok()) return s;
  Slice rest(bytes);
  uint64_t n = head_length;
  std::string part;
  do {
    part.assign(rest.data(), n);
    part.append(4, '\0');
    if (Status s = writer.Append(&part, n, kDirectoryMagic); !s.ok()) return s;
    rest.remove_prefix(n);
    n = std::min<uint64_t>(page_bytes, rest.size());
  } while (n > 0);
  return writer.Finish(extent);
}

Status ReadDirectory(FileCache* files, const Extent& extent, uint64_t file_id,
                     std::unique_ptr<Directory>* out) {
  out->reset();
  DirectoryFile file(files, extent, file_id);
  Status s = file.Open();
  if (!s.ok()) return s;
  std::string bytes(extent.length, '\0');
  s = file.Read(0, extent.length, bytes.data());
  if (!s.ok()) return s;
  std::unique_ptr<const DirectoryHead> head;
  uint64_t length = 0;
  DirectoryHead::Length(bytes.data(), bytes.size(), &length);
  s = file.OpenHead(bytes.substr(0, std::min<uint64_t>(length, extent.length - 4) + 4), &head);
  if (!s.ok()) return s;
  auto slots = std::make_unique<char[]>(head->slot_bytes() + kSlotPadding);
  char* to = slots.get();
  for (uint64_t page = 0; s.ok() && page < head->num_pages(); ++page) {
    const uint64_t offset = head->PageOffset(page), n = head->PageBytes(page);
    s = file.Check(bytes.data() + offset, n, offset);
    memcpy(to, bytes.data() + offset, n);
    to += n;
  }
  if (s.ok()) *out = std::make_unique<Directory>(std::move(head), std::move(slots));
  return s;
}

Status ReadDirectoryHead(FileCache* files, const Extent& extent, uint64_t file_id, uint64_t keys,
                         std::unique_ptr<const DirectoryHead>* out) {
  out->reset();
  DirectoryFile file(files, extent, file_id);
  Status s = file.Open();
  if (!s.ok()) return s;
  const uint64_t expected = kDirectoryHeaderBytes + 256 + keys / 8 * kExpectedFunctionBits;
  std::string bytes(std::min(extent.length, expected), '\0');
  s = file.Read(0, bytes.size(), bytes.data());
  return s.ok() ? file.OpenHead(std::move(bytes), out) : s;
}

Status ReadDirectoryPage(FileCache* files, const Extent& extent, uint64_t file_id,
                         const DirectoryHead& head, uint64_t page, std::unique_ptr<char[]>* slots) {
  DirectoryFile file(files, extent, file_id);
  Status s = file.Open();
  if (!s.ok()) return s;
  const uint64_t offset = head.PageOffset(page), n = head.PageBytes(page);
  // The checksum is overwritten by padding.
  auto bytes = std::make_unique<char[]>(n + kSlotPadding);
  s = file.Read(offset, n + 4, bytes.get());
  if (s.ok()) s = file.Check(bytes.get(), n, offset);
  if (!s.ok()) return s;
  memset(bytes.get() + n, 0, kSlotPadding);
  *slots = std::move(bytes);
  return s;
}

}  // namespace compassdb
