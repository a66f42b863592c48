// SPDX-License-Identifier: Apache-2.0
#include "copies/backup_meta.h"

#include <algorithm>
#include <charconv>

#include "format/foreign_file.h"
#include "util/crc32c.h"

namespace compassdb {
namespace {

constexpr char kHeader[] = "CompassDB backup ";
constexpr uint32_t kVersion = 1;

std::string ToHex(const std::string& bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::string out;
  for (unsigned char c : bytes) {
    out.push_back(kDigits[c >> 4]);
    out.push_back(kDigits[c & 15]);
  }
  return out;
}

// Consumes text from the front; every method is false if it does not match.
class Scanner {
 public:
  explicit Scanner(const Slice& text) : text_(text) {}
  bool Literal(const char* word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(Slice(word).size());
    return true;
  }
  template <typename Number>
  bool Decimal(Number* value) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), *value);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return true;
  }
  // Up to a space or the end of the line; not empty.
  bool Word(std::string* word) {
    size_t n = 0;
    while (n < text_.size() && text_[n] != ' ' && text_[n] != '\n') ++n;
    word->assign(text_.data(), n);
    text_.remove_prefix(n);
    return n > 0;
  }
  bool Hex(std::string* bytes) {
    bytes->clear();
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    while (text_.size() >= 2 && digit(text_[0]) >= 0 && digit(text_[1]) >= 0) {
      bytes->push_back(static_cast<char>(digit(text_[0]) << 4 | digit(text_[1])));
      text_.remove_prefix(2);
    }
    return true;
  }
  bool AtEnd() const { return text_.empty(); }
  const char* position() const { return text_.data(); }

 private:
  Slice text_;
};

// A path that stays inside of its directory.
bool IsInside(const std::string& path) {
  return path[0] != '/' && path.find("..") == std::string::npos;
}

bool DecodeFile(Scanner* in, BackupFile* file) {
  if (!in->Literal("file ") || !in->Word(&file->name) || !in->Literal(" ") ||
      !in->Word(&file->path) || !in->Literal(" ") || !in->Decimal(&file->size) ||
      !in->Literal(" ") || !in->Decimal(&file->crc32c)) {
    return false;
  }
  uint64_t end = 0;
  while (in->Literal(" ")) {
    std::pair<uint64_t, uint64_t> hole;
    if (!in->Decimal(&hole.first) || !in->Literal("+") || !in->Decimal(&hole.second)) return false;
    if (hole.first < end || hole.first + hole.second < hole.first) return false;
    end = hole.first + hole.second;
    file->holes.push_back(hole);
  }
  return end <= file->size && in->Literal("\n") && IsInside(file->path) &&
         file->name.find('/') == std::string::npos && file->name != "." && file->name != "..";
}

}  // namespace

bool BackupFile::Covers(const std::vector<Extent>& extents) const {
  for (const Extent& extent : extents) {
    if (extent.offset + extent.length > size) return false;
    for (const auto& [offset, length] : holes) {
      if (offset < extent.offset + extent.length && extent.offset < offset + length) return false;
    }
  }
  return true;
}

uint64_t BackupMeta::TotalBytes() const {
  uint64_t sum = 0;
  for (const BackupFile& file : files) sum += file.size;
  return sum;
}

std::vector<std::pair<uint64_t, uint64_t>> HolesOf(
    const std::vector<std::pair<uint64_t, uint64_t>>& zeros, std::vector<Extent> live) {
  std::sort(live.begin(), live.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::vector<std::pair<uint64_t, uint64_t>> holes;
  for (const auto& [offset, length] : zeros) {
    uint64_t begin = offset;
    const uint64_t end = offset + length;
    for (const Extent& extent : live) {
      if (extent.offset + extent.length <= begin) continue;
      if (extent.offset >= end) break;
      if (extent.offset > begin) holes.emplace_back(begin, extent.offset - begin);
      begin = std::min(end, extent.offset + extent.length);
    }
    if (begin < end) holes.emplace_back(begin, end - begin);
  }
  return holes;
}

std::string EncodeBackupMeta(const BackupMeta& meta) {
  std::string text = kHeader + std::to_string(kVersion) + "\ntimestamp " +
                     std::to_string(meta.timestamp) + "\nsequence " +
                     std::to_string(meta.sequence) + "\nmetadata " + ToHex(meta.app_metadata) +
                     "\nfiles " + std::to_string(meta.files.size()) + "\n";
  for (const BackupFile& file : meta.files) {
    text += "file " + file.name + " " + file.path + " " + std::to_string(file.size) + " " +
            std::to_string(file.crc32c);
    for (const auto& [offset, length] : file.holes) {
      text += " " + std::to_string(offset) + "+" + std::to_string(length);
    }
    text += "\n";
  }
  return text + "checksum " + std::to_string(Crc32c(text.data(), text.size())) + "\n";
}

Status DecodeBackupMeta(const std::string& path, const Slice& text, BackupMeta* meta) {
  *meta = BackupMeta();
  if (IsSealed(text)) return Status::InvalidArgument(path, kSealedAdvice);
  const Status damaged = Status::Corruption(path, "is not the description of a backup, or damaged");
  Scanner in(text);
  uint32_t version = 0;
  if (!in.Literal(kHeader) || !in.Decimal(&version) || !in.Literal("\n")) return damaged;
  if (version != kVersion) {
    return Status::NotSupported(path, "backup format version " + std::to_string(version) +
                                          " is not known to this release");
  }
  size_t count = 0;
  if (!in.Literal("timestamp ") || !in.Decimal(&meta->timestamp) || !in.Literal("\nsequence ") ||
      !in.Decimal(&meta->sequence) || !in.Literal("\nmetadata ") || !in.Hex(&meta->app_metadata) ||
      !in.Literal("\nfiles ") || !in.Decimal(&count) || !in.Literal("\n")) {
    return damaged;
  }
  for (size_t i = 0; i < count; ++i) {
    BackupFile file;
    if (!DecodeFile(&in, &file)) return damaged;
    meta->files.push_back(std::move(file));
  }
  const auto checked = static_cast<size_t>(in.position() - text.data());
  uint32_t checksum = 0;
  if (!in.Literal("checksum ") || !in.Decimal(&checksum) || !in.Literal("\n") || !in.AtEnd() ||
      checksum != Crc32c(text.data(), checked)) {
    return damaged;
  }
  return Status::OK();
}

}  // namespace compassdb
