// SPDX-License-Identifier: Apache-2.0
#include "table/directory.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "util/hash.h"

namespace compassdb {

namespace {

Status Damaged(const char* why) { return Status::Corruption("directory", why); }

}  // namespace

Status Directory::Rep::Parse() {
  if (bytes.size() < kDirectoryHeaderBytes) return Damaged("shorter than its header");
  const char* p = bytes.data();
  const char* const limit = p + bytes.size();
  if (DecodeFixed64(p) != kDirectoryMagic) return Damaged("bad magic number");
  const uint32_t version = DecodeFixed32(p + 8);
  if (version != kDirectoryVersion) {
    return Status::NotSupported("directory", "has format version " + std::to_string(version) +
                                                 ", this release reads up to " +
                                                 std::to_string(kDirectoryVersion));
  }
  pieces = DecodeFixed32(p + 12);
  keys = DecodeFixed64(p + 16);
  const uint64_t slot_count = DecodeFixed64(p + 24);
  fingerprints = DecodeFixed64(p + 40);
  slot_bits = DecodeFixed32(p + 48);
  const uint32_t ambiguous_count = DecodeFixed32(p + 52);
  const uint64_t function_bytes = DecodeFixed64(p + 56);
  slot_bytes = DecodeFixed64(p + 64);
  p += kDirectoryHeaderBytes;
  if (pieces > kMaxDirectoryPieces) return Damaged("too many pieces");
  if (slot_bits > kMaxSlotBits || fingerprints != FingerprintsFor(pieces, slot_bits)) {
    return Damaged("slot layout does not fit the number of pieces");
  }
  const uint64_t left = static_cast<uint64_t>(limit - p);
  if (function_bytes > left || slot_bytes > left - function_bytes ||
      left - function_bytes - slot_bytes != uint64_t{ambiguous_count} * 8) {
    return Damaged("parts do not fill it");
  }
  if (!perfect_hash::Function::Open({reinterpret_cast<const uint8_t*>(p), function_bytes},
                                    &function)) {
    return Damaged("perfect hash function is malformed");
  }
  // Dividing first keeps the product below from overflowing.
  if (slot_count != function.slots() || slot_count > slot_bytes * 8 ||
      slot_bytes != SlotArrayBytes(slot_count, slot_bits)) {
    return Damaged("slots do not fit the perfect hash function");
  }
  if (function.keys() > keys || (keys > 0 && fingerprints == 0)) return Damaged("bad key count");
  p += function_bytes;
  slots = p;
  slot_mask = (uint64_t{1} << slot_bits) - 1;
  p += slot_bytes;
  ambiguous.resize(ambiguous_count);
  if (ambiguous_count > 0) memcpy(ambiguous.data(), p, size_t{8} * ambiguous_count);
  if (!std::is_sorted(ambiguous.begin(), ambiguous.end())) return Damaged("side list out of order");
  return Status::OK();
}

Directory::Directory(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Directory::~Directory() = default;

Status Directory::Open(std::string bytes, std::unique_ptr<Directory>* out) {
  out->reset();
  auto rep = std::make_unique<Rep>();
  rep->bytes = std::move(bytes);
  Status s = rep->Parse();
  if (s.ok()) out->reset(new Directory(std::move(rep)));
  return s;
}

bool Directory::has_ambiguous() const { return !rep_->ambiguous.empty(); }

bool Directory::IsAmbiguous(uint64_t h1) const {
  return std::binary_search(rep_->ambiguous.begin(), rep_->ambiguous.end(), h1);
}

uint64_t Directory::num_keys() const { return rep_->keys; }
size_t Directory::num_pieces() const { return rep_->pieces; }
uint64_t Directory::fingerprints() const { return rep_->fingerprints; }

DirectoryMemory Directory::Memory() const {
  const Rep& r = *rep_;
  DirectoryMemory memory;
  memory.perfect_hash = r.function.SizeBytes();
  // A slot's bits, divided as the mixed radix divides them.
  const double piece_bits = r.pieces == 0 ? 0 : std::log2(static_cast<double>(r.pieces));
  const double share = r.slot_bits == 0 ? 0 : piece_bits / r.slot_bits;
  memory.pieces = static_cast<size_t>(static_cast<double>(r.slot_bytes) * share);
  memory.fingerprints = r.slot_bytes - memory.pieces;
  memory.other = r.bytes.capacity() - r.slot_bytes - memory.perfect_hash + sizeof(Rep) +
                 r.ambiguous.capacity() * sizeof(uint64_t);
  return memory;
}

// --- as an extent: the serialised form and a checksum ---

namespace {

uint64_t ExtentContext(uint64_t file_id, uint64_t offset) {
  return MixContext(MixContext(file_id, offset), kDirectoryMagic);
}

}  // namespace

Status WriteDirectory(CompactionFileWriter* file, const std::string& bytes, Extent* extent) {
  extent->file_number = file->file_number();
  extent->offset = file->offset();
  std::string checksum;
  PutFixed32(&checksum, Checksum32(bytes, ExtentContext(file->file_id(), file->offset())));
  Status s = file->Append(bytes);
  if (s.ok()) s = file->Append(checksum);
  extent->length = file->offset() - extent->offset;
  return s;
}

Status ReadDirectory(FileCache* files, const Extent& extent, uint64_t file_id,
                     std::unique_ptr<Directory>* out) {
  out->reset();
  std::shared_ptr<CompactionFile> file;
  Status s = files->Get(extent.file_number, &file);
  if (!s.ok()) return s;
  const std::string what = file->path() + ": directory at offset " + std::to_string(extent.offset);
  if (file->file_id() != file_id) {
    return Status::Corruption(what, "the file is not the one that the manifest names (file id)");
  }
  if (extent.length < 4 || extent.offset > file->size() ||
      extent.length > file->size() - extent.offset) {
    return Status::Corruption(what, "extent of " + std::to_string(extent.length) +
                                        " bytes does not fit the file");
  }
  std::string bytes(extent.length, '\0');
  Slice result;
  s = file->file()->Read(extent.offset, extent.length, &result, bytes.data());
  if (!s.ok()) return s;
  if (result.size() != extent.length) return Status::Corruption(what, "the file ends within it");
  if (result.data() != bytes.data()) memmove(bytes.data(), result.data(), result.size());
  const uint32_t stored = DecodeFixed32(bytes.data() + bytes.size() - 4);
  bytes.resize(bytes.size() - 4);
  if (stored != Checksum32(bytes, ExtentContext(file_id, extent.offset))) {
    return Status::Corruption(what, "checksum mismatch");
  }
  s = Directory::Open(std::move(bytes), out);
  if (!s.ok()) {
    const std::string inner = s.ToString();
    return s.IsNotSupported() ? Status::NotSupported(what, inner) : Status::Corruption(what, inner);
  }
  return s;
}

}  // namespace compassdb
