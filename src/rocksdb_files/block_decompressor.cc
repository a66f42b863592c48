// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/block_decompressor.h"

#include <bzlib.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "rocksdb/compression_type.h"
#include "util/coding.h"
#include "util/compression.h"

namespace compassdb::rocksdb_files {

namespace {

constexpr uint64_t kMostBytes = UINT32_MAX;  // of a block
constexpr uint64_t kFirstRoom = 1 << 20;
constexpr uint64_t kRoomPerByte = 4;
constexpr uint8_t kZstdNotFinal = 0x40;
constexpr uint8_t kLevelDbZstd = 2;
constexpr uint8_t kLevelDbDeflate = 4;
constexpr unsigned char kZstdMagic[4] = {0x28, 0xb5, 0x2f, 0xfd};
constexpr int kLargestLogWindow = 23;  // of the levels that are used for logs
constexpr int kRawDeflate = -15;
constexpr int kZlibHeader = 15;

Status DoesNotDecompress(const char* how) { return Status::Corruption(std::string("a block of ") + how + " does not decompress"); }

// Memory for output that grows with what has been decompressed, not with what is claimed.
class GrowingOutput {
 public:
  GrowingOutput(std::string* out, size_t in_size, std::optional<uint64_t> claim)
      : out_(out), most_(claim.value_or(kMostBytes)) {
    out_->resize(std::min<uint64_t>(most_, std::max<uint64_t>(kFirstRoom, kRoomPerByte * in_size)));
  }
  char* At(size_t written) { return out_->data() + written; }
  size_t size() const { return out_->size(); }
  bool Grow() {
    if (out_->size() >= most_) return false;
    out_->resize(std::min<uint64_t>(most_, out_->size() * kRoomPerByte));
    return true;
  }
  // True if the claim, if there is one, was right.
  bool Finish(size_t written, bool sized) {
    if (sized && written != most_) return false;
    out_->resize(written);
    return true;
  }

 private:
  std::string* const out_;
  const uint64_t most_;
};

bool InflateAll(z_stream* z, const Slice& in, GrowingOutput* room, size_t* written) {
  z->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z->avail_in = static_cast<uInt>(in.size());
  *written = 0;
  for (;;) {
    Bytef none;
    const size_t free = room->size() - *written;
    z->next_out = free == 0 ? &none : reinterpret_cast<Bytef*>(room->At(*written));
    z->avail_out = static_cast<uInt>(free);
    const int code = inflate(z, Z_NO_FLUSH);
    *written = room->size() - z->avail_out;
    if (code == Z_STREAM_END) return true;
    if (code != Z_OK && code != Z_BUF_ERROR) return false;
    if (z->avail_out != 0 || !room->Grow()) return false;  // the input has ended, or there is more than claimed
  }
}

Status InflateBlock(int window, const Slice& in, const Slice& dictionary, std::optional<uint64_t> claim, std::string* out) {
  z_stream z{};
  if (in.size() > UINT32_MAX || inflateInit2(&z, window) != Z_OK) return DoesNotDecompress("zlib");
  GrowingOutput room(out, in.size(), claim);
  size_t written = 0;
  bool good = dictionary.empty() || inflateSetDictionary(&z, reinterpret_cast<const Bytef*>(dictionary.data()),
                                                         static_cast<uInt>(dictionary.size())) == Z_OK;
  good = good && InflateAll(&z, in, &room, &written);
  inflateEnd(&z);
  return good && room.Finish(written, claim.has_value()) ? Status::OK() : DoesNotDecompress("zlib");
}

Status DecompressBzip2Block(const Slice& in, std::optional<uint64_t> claim, std::string* out) {
  bz_stream bz{};
  if (in.size() > UINT32_MAX || BZ2_bzDecompressInit(&bz, 0, 0) != BZ_OK) return DoesNotDecompress("bzip2");
  GrowingOutput room(out, in.size(), claim);
  bz.next_in = const_cast<char*>(in.data());
  bz.avail_in = static_cast<unsigned>(in.size());
  size_t written = 0;
  bool good = false;
  for (;;) {
    bz.next_out = room.At(written);
    bz.avail_out = static_cast<unsigned>(room.size() - written);
    const int code = BZ2_bzDecompress(&bz);
    written = room.size() - bz.avail_out;
    good = code == BZ_STREAM_END;
    if (code != BZ_OK || bz.avail_out != 0) break;
    if (!room.Grow()) {
      // All is there, perhaps but the end of the stream.
      char none;
      bz.next_out = &none;
      bz.avail_out = 1;
      good = BZ2_bzDecompress(&bz) == BZ_STREAM_END && bz.avail_out == 1;
      break;
    }
  }
  BZ2_bzDecompressEnd(&bz);
  return good && room.Finish(written, claim.has_value()) ? Status::OK() : DoesNotDecompress("bzip2");
}

Status DecompressZstdBlock(const Slice& in, const Slice& dictionary, std::optional<uint64_t> claim, std::string* out) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) return Status::MemoryLimit("ZSTD decompression context");
  if (!dictionary.empty() && ZSTD_isError(ZSTD_DCtx_loadDictionary(context.get(), dictionary.data(), dictionary.size()))) {
    return Status::Corruption("the dictionary of ZSTD blocks is damaged");
  }
  if (!claim) {
    const unsigned long long size = ZSTD_getFrameContentSize(in.data(), in.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size > kMostBytes) return DoesNotDecompress("ZSTD");
    claim = size;
  }
  GrowingOutput room(out, in.size(), claim);
  if (room.size() == *claim) {
    const size_t n = ZSTD_decompressDCtx(context.get(), out->data(), out->size(), in.data(), in.size());
    return !ZSTD_isError(n) && n == *claim ? Status::OK() : DoesNotDecompress("ZSTD");
  }
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  size_t written = 0;
  for (;;) {
    ZSTD_outBuffer to{room.At(0), room.size(), written};
    const size_t left = ZSTD_decompressStream(context.get(), &to, &from);
    if (ZSTD_isError(left)) return DoesNotDecompress("ZSTD");
    written = to.pos;
    if (left == 0) break;
    if (to.pos == to.size) {
      if (!room.Grow()) return DoesNotDecompress("ZSTD");
    } else if (from.pos == from.size) {
      return DoesNotDecompress("ZSTD");
    }
  }
  return from.pos == from.size && room.Finish(written, true) ? Status::OK() : DoesNotDecompress("ZSTD");
}

Status DecompressLz4Block(const Slice& in, const Slice& dictionary, uint64_t claim, std::string* out) {
  constexpr uint64_t kMostOfOne = 256;
  if (in.size() > LZ4_MAX_INPUT_SIZE || claim > LZ4_MAX_INPUT_SIZE || claim / kMostOfOne > in.size()) {
    return DoesNotDecompress("LZ4");
  }
  out->resize(claim);
  const int n = LZ4_decompress_safe_usingDict(in.data(), out->data(), static_cast<int>(in.size()), static_cast<int>(claim),
                                              dictionary.data(), static_cast<int>(std::min<size_t>(dictionary.size(), INT32_MAX)));
  return n >= 0 && static_cast<uint64_t>(n) == claim ? Status::OK() : DoesNotDecompress("LZ4");
}

Status DecompressSnappyBlock(const Slice& in, std::string* out) {
  constexpr uint64_t kMostOfOne = 22;
  size_t size;
  if (snappy_uncompressed_length(in.data(), in.size(), &size) != SNAPPY_OK || size / kMostOfOne > in.size()) {
    return DoesNotDecompress("Snappy");
  }
  out->resize(size);
  if (snappy_uncompress(in.data(), in.size(), out->data(), &size) != SNAPPY_OK) return DoesNotDecompress("Snappy");
  return Status::OK();
}

Status UnknownType(uint8_t type) {
  if (type >= 0x80) {
    return Status::NotSupported("a block that a compression manager of the application compressed, as type " +
                                std::to_string(type));
  }
  return Status::NotSupported("a block of compression type " + std::to_string(type) + " (" +
                              CompressionTypeName(static_cast<rocksdb::CompressionType>(type)) + ")");
}

Status DecompressLevelDbBlock(uint8_t type, const Slice& in, std::string* out) {
  if (type == kLevelDbDeflate) return InflateBlock(kRawDeflate, in, Slice(), std::nullopt, out);
  if (type != kLevelDbZstd) return UnknownType(type);
  if (in.size() >= sizeof(kZstdMagic) && memcmp(in.data(), kZstdMagic, sizeof(kZstdMagic)) == 0) {
    return DecompressZstdBlock(in, Slice(), std::nullopt, out);
  }
  return InflateBlock(kZlibHeader, in, Slice(), std::nullopt, out);
}

}  // namespace

Status DecompressFileBlock(CompressionFormat format, uint8_t type, const Slice& in, const Slice& dictionary,
                           std::string* out) {
  if (type == rocksdb::kNoCompression) {
    out->assign(in.data(), in.size());
    return Status::OK();
  }
  if (type == rocksdb::kSnappyCompression) return DecompressSnappyBlock(in, out);
  if (format == CompressionFormat::kLevelDb) return DecompressLevelDbBlock(type, in, out);
  const bool lz4 = type == rocksdb::kLZ4Compression || type == rocksdb::kLZ4HCCompression;
  const bool zstd = type == rocksdb::kZSTD || type == kZstdNotFinal;
  if (!lz4 && !zstd && type != rocksdb::kZlibCompression && type != rocksdb::kBZip2Compression) return UnknownType(type);
  Slice payload = in;
  std::optional<uint64_t> claim;
  if (format == CompressionFormat::kSized || zstd) {
    claim.emplace();
    if (!GetVarint64(&payload, &*claim)) return Status::Corruption("a compressed block has no size");
  } else if (lz4) {
    claim.emplace();
    if (!GetFixed64(&payload, &*claim)) return Status::Corruption("a compressed block has no size");
  }
  if (claim.value_or(0) > kMostBytes) return Status::Corruption("a compressed block claims more bytes than a block may have");
  if (lz4) return DecompressLz4Block(payload, dictionary, *claim, out);
  if (zstd) return DecompressZstdBlock(payload, dictionary, claim, out);
  if (type == rocksdb::kBZip2Compression) return DecompressBzip2Block(payload, claim, out);
  return InflateBlock(kRawDeflate, payload, dictionary, claim, out);
}

Status DecompressZstdStream(const Slice& in, std::string* out) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) return Status::MemoryLimit("ZSTD decompression context");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kLargestLogWindow);
  out->clear();
  char room[16 << 10];
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  size_t left = 0;
  while (from.pos < from.size || left != 0) {
    ZSTD_outBuffer to{room, sizeof(room), 0};
    const size_t before = from.pos;
    left = ZSTD_decompressStream(context.get(), &to, &from);
    if (ZSTD_isError(left) || (left != 0 && to.pos == 0 && from.pos == before)) return DoesNotDecompress("ZSTD");
    if (to.pos > kMostBytes - out->size()) return DoesNotDecompress("ZSTD");
    out->append(room, to.pos);
  }
  return Status::OK();
}

}  // namespace compassdb::rocksdb_files
