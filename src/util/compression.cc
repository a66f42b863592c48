// SPDX-License-Identifier: Apache-2.0
#include "util/compression.h"

#include <bzlib.h>
#include <lz4.h>
#include <lz4hc.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#include <new>

#include "util/coding.h"

namespace compassdb {

namespace {

// Contexts are large and slow to make: one per thread and direction.
ZSTD_CCtx* ThreadCompressor() {
  struct Free {
    void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  };
  thread_local std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  return context.get();
}
ZSTD_DCtx* ThreadDecompressor() {
  struct Free {
    void operator()(ZSTD_DCtx* c) const { ZSTD_freeDCtx(c); }
  };
  thread_local std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  return context.get();
}

bool CompressSnappy(const Slice& in, std::string* out) {
  if (in.size() > UINT32_MAX) return false;
  size_t length = snappy_max_compressed_length(in.size());
  out->resize(length);
  if (snappy_compress(in.data(), in.size(), out->data(), &length) != SNAPPY_OK) return false;
  out->resize(length);
  return true;
}

bool CompressLz4(bool high, int level, const Slice& in, std::string* out) {
  if (in.size() > LZ4_MAX_INPUT_SIZE) return false;
  out->clear();
  PutVarint32(out, static_cast<uint32_t>(in.size()));
  const size_t head = out->size();
  const int size = static_cast<int>(in.size());
  const int bound = LZ4_compressBound(size);
  out->resize(head + static_cast<size_t>(bound));
  int written;
  if (high) {
    const int hc_level = level == kDefaultCompressionLevel ? LZ4HC_CLEVEL_DEFAULT : level;
    written = LZ4_compress_HC(in.data(), out->data() + head, size, bound, hc_level);
  } else {
    // A negative level is LZ4's acceleration factor.
    const int acceleration = level < 0 ? -level : 1;
    written = LZ4_compress_fast(in.data(), out->data() + head, size, bound, acceleration);
  }
  if (written <= 0) return false;
  out->resize(head + static_cast<size_t>(written));
  return true;
}

bool CompressZstd(int level, const Slice& in, std::string* out) {
  if (in.size() > UINT32_MAX) return false;
  ZSTD_CCtx* context = ThreadCompressor();
  if (context == nullptr) return false;
  out->clear();
  PutVarint32(out, static_cast<uint32_t>(in.size()));
  const size_t head = out->size();
  const size_t bound = ZSTD_compressBound(in.size());
  out->resize(head + bound);
  const int zstd_level = level == kDefaultCompressionLevel ? ZSTD_CLEVEL_DEFAULT : level;
  const size_t written =
      ZSTD_compressCCtx(context, out->data() + head, bound, in.data(), in.size(), zstd_level);
  if (ZSTD_isError(written)) return false;
  out->resize(head + written);
  return true;
}

bool CompressZlib(int level, const Slice& in, std::string* out) {
  if (in.size() > UINT32_MAX) return false;
  out->clear();
  PutVarint32(out, static_cast<uint32_t>(in.size()));
  const size_t head = out->size();
  uLongf written = compressBound(in.size());
  out->resize(head + written);
  const int zlib_level =
      level == kDefaultCompressionLevel ? Z_DEFAULT_COMPRESSION : std::clamp(level, -1, 9);
  if (compress2(reinterpret_cast<Bytef*>(out->data()) + head, &written,
                reinterpret_cast<const Bytef*>(in.data()), in.size(), zlib_level) != Z_OK) {
    return false;
  }
  out->resize(head + written);
  return true;
}

bool CompressBzip2(const Slice& in, std::string* out) {
  if (in.size() > INT32_MAX) return false;
  out->clear();
  PutVarint32(out, static_cast<uint32_t>(in.size()));
  const size_t head = out->size();
  unsigned written = static_cast<unsigned>(in.size() + in.size() / 100 + 600);  // its own bound
  out->resize(head + written);
  if (BZ2_bzBuffToBuffCompress(out->data() + head, &written, const_cast<char*>(in.data()),
                               static_cast<unsigned>(in.size()), 1, 0, 0) != BZ_OK) {
    return false;
  }
  out->resize(head + written);
  return true;
}

bool DecompressZlib(const Slice& payload, char* out, size_t size) {
  // Room for one more byte, as zlib does not accept an empty buffer.
  Bytef none;
  uLongf written = size;
  return uncompress(size == 0 ? &none : reinterpret_cast<Bytef*>(out), &written,
                    reinterpret_cast<const Bytef*>(payload.data()), payload.size()) == Z_OK &&
         written == size;
}

bool DecompressBzip2(const Slice& payload, char* out, size_t size) {
  char none;
  unsigned written = static_cast<unsigned>(size);
  return payload.size() <= INT32_MAX && size <= INT32_MAX &&
         BZ2_bzBuffToBuffDecompress(size == 0 ? &none : out, &written,
                                    const_cast<char*>(payload.data()),
                                    static_cast<unsigned>(payload.size()), 0, 0) == BZ_OK &&
         written == size;
}

// The most bytes that one byte of payload can expand to. A payload that claims more is damaged.
uint64_t MostBytesOfOne(CompressionType type) {
  switch (type) {
    case rocksdb::kSnappyCompression:
      return 22;  // a copy of 64 bytes takes three
    case rocksdb::kLZ4Compression:
    case rocksdb::kLZ4HCCompression:
      return 256;
    case rocksdb::kZlibCompression:
      return 1100;
    case rocksdb::kBZip2Compression:
      return 200 << 10;  // runs of runs, in blocks of 100,000 bytes, as Compress makes them
    default:
      return 40 << 10;  // 128 KiB of one repeated byte take four
  }
}

Status Damaged(CompressionType type, const char* what) {
  return Status::Corruption(std::string(CompressionTypeName(type)) + " block", what);
}

// Smaller claims are not checked: an attacker gains little by forging them.
constexpr uint64_t kBelievedBytes = 1 << 20;
constexpr uint64_t kBelievedRatio = 4;

// Whether the payload has at least `size` bytes (for ZSTD perhaps a block less). Decompresses at most these to `room`.
bool FillsRoom(CompressionType type, const Slice& payload, char* room, size_t size) {
  if (payload.size() > INT32_MAX) return false;
  char* const in = const_cast<char*>(payload.data());
  switch (type) {
    case rocksdb::kZSTD: {
      const size_t n = ZSTD_decompressDCtx(ThreadDecompressor(), room, size, in, payload.size());
      return ZSTD_isError(n) && ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall;
    }
    case rocksdb::kZlibCompression: {
      uLongf written = size;
      return uncompress(reinterpret_cast<Bytef*>(room), &written, reinterpret_cast<Bytef*>(in), payload.size()) ==
                 Z_BUF_ERROR &&
             written == size;
    }
    case rocksdb::kBZip2Compression: {
      auto written = static_cast<unsigned>(size);
      return BZ2_bzBuffToBuffDecompress(room, &written, in, static_cast<unsigned>(payload.size()), 0, 0) ==
             BZ_OUTBUFF_FULL;
    }
    default: {
      const int n = static_cast<int>(size);
      return LZ4_decompress_safe_partial(in, room, static_cast<int>(payload.size()), n, n) == n;
    }
  }
}

// Corruption if `claimed` bytes are implausible for a payload, and it does not hold them. The check takes at most
// four times the memory of what it holds, and a third of the time of decompressing it.
Status CheckClaim(CompressionType type, const Slice& in, uint64_t claimed) {
  if (claimed / MostBytesOfOne(type) > in.size()) return Damaged(type, "claims more bytes than it can hold");
  if (claimed <= kBelievedBytes || claimed / kBelievedRatio <= in.size()) return Status::OK();
  const Status lie = Damaged(type, "claims more bytes than it holds");
  if (type == rocksdb::kSnappyCompression) {
    return snappy_validate_compressed_buffer(in.data(), in.size()) == SNAPPY_OK ? Status::OK() : lie;
  }
  Slice payload = in;
  uint32_t prefix;
  GetVarint32(&payload, &prefix);
  for (uint64_t size = kBelievedBytes; size < claimed; size *= kBelievedRatio) {
    const std::unique_ptr<char[]> room(new (std::nothrow) char[size]);
    if (room == nullptr || ThreadDecompressor() == nullptr) return Status::MemoryLimit("to look into a block");
    if (!FillsRoom(type, payload, room.get(), size)) return lie;
  }
  return Status::OK();
}

// The size by the payload's header.
Status ClaimedSize(CompressionType type, const Slice& in, uint64_t* size) {
  if (!CompressionTypeSupported(type)) {
    return Status::NotSupported("compression type " + std::string(CompressionTypeName(type)) +
                                " (" + std::to_string(static_cast<int>(type)) + ")");
  }
  if (type == rocksdb::kNoCompression) {
    *size = in.size();
    return Status::OK();
  }
  Slice rest = in;  // Snappy's own header is a varint32 as well
  uint32_t claimed;
  if (!GetVarint32(&rest, &claimed)) return Damaged(type, "has no uncompressed size");
  *size = claimed;
  return Status::OK();
}

}  // namespace

bool CompressionTypeSupported(CompressionType type) {
  switch (type) {
    case rocksdb::kNoCompression:
    case rocksdb::kSnappyCompression:
    case rocksdb::kZlibCompression:
    case rocksdb::kBZip2Compression:
    case rocksdb::kLZ4Compression:
    case rocksdb::kLZ4HCCompression:
    case rocksdb::kZSTD:
      return true;
    default:
      return false;
  }
}

const char* CompressionTypeName(CompressionType type) {
  switch (type) {
    case rocksdb::kNoCompression: return "NoCompression";
    case rocksdb::kSnappyCompression: return "Snappy";
    case rocksdb::kZlibCompression: return "Zlib";
    case rocksdb::kBZip2Compression: return "BZip2";
    case rocksdb::kLZ4Compression: return "LZ4";
    case rocksdb::kLZ4HCCompression: return "LZ4HC";
    case rocksdb::kXpressCompression: return "Xpress";
    case rocksdb::kZSTD: return "ZSTD";
    case rocksdb::kZSTDNotFinalCompression: return "ZSTDNotFinal";
    case rocksdb::kDisableCompressionOption: return "DisableOption";
  }
  return "unknown";
}

bool Compress(CompressionType type, int level, const Slice& in, std::string* out) {
  switch (type) {
    case rocksdb::kNoCompression:
      out->assign(in.data(), in.size());
      return true;
    case rocksdb::kSnappyCompression:
      return CompressSnappy(in, out);
    case rocksdb::kZlibCompression:
      return CompressZlib(level, in, out);
    case rocksdb::kBZip2Compression:
      return CompressBzip2(in, out);
    case rocksdb::kLZ4Compression:
    case rocksdb::kLZ4HCCompression:
      return CompressLz4(type == rocksdb::kLZ4HCCompression, level, in, out);
    case rocksdb::kZSTD:
      return CompressZstd(level, in, out);
    default:
      return false;
  }
}

Status UncompressedSize(CompressionType type, const Slice& in, size_t max_output, uint64_t* size) {
  Status s = ClaimedSize(type, in, size);
  if (!s.ok()) return s;
  if (*size > max_output) return Damaged(type, "claims more bytes than it may hold");
  return type == rocksdb::kNoCompression ? s : CheckClaim(type, in, *size);
}

Status Decompress(CompressionType type, const Slice& in, size_t max_output, std::string* out) {
  uint64_t size;
  Status s = UncompressedSize(type, in, max_output, &size);
  if (!s.ok()) return s;
  out->resize(size);
  return DecompressInto(type, in, out->data(), size);
}

Status DecompressInto(CompressionType type, const Slice& in, char* out, size_t size) {
  uint64_t claimed;
  Status s = ClaimedSize(type, in, &claimed);
  if (!s.ok()) return s;
  if (claimed != size) return Damaged(type, "has another size than expected");
  if (type == rocksdb::kNoCompression) {
    if (size != 0) memcpy(out, in.data(), size);
    return Status::OK();
  }
  if (type == rocksdb::kSnappyCompression) {
    size_t length = size;
    if (snappy_uncompress(in.data(), in.size(), out, &length) != SNAPPY_OK || length != size) {
      return Damaged(type, "does not decompress");
    }
    return Status::OK();
  }
  Slice payload = in;
  uint32_t prefix;
  GetVarint32(&payload, &prefix);
  if (type == rocksdb::kZSTD) {
    ZSTD_DCtx* context = ThreadDecompressor();
    if (context == nullptr) return Status::MemoryLimit("ZSTD decompression context");
    const size_t n = ZSTD_decompressDCtx(context, out, size, payload.data(), payload.size());
    if (ZSTD_isError(n) || n != size) return Damaged(type, "does not decompress");
    return Status::OK();
  }
  if (type == rocksdb::kZlibCompression || type == rocksdb::kBZip2Compression) {
    const bool good = type == rocksdb::kZlibCompression ? DecompressZlib(payload, out, size)
                                                        : DecompressBzip2(payload, out, size);
    return good ? Status::OK() : Damaged(type, "does not decompress");
  }
  if (payload.size() > INT32_MAX || size > INT32_MAX) return Damaged(type, "is too large");
  const int n = LZ4_decompress_safe(payload.data(), out, static_cast<int>(payload.size()),
                                    static_cast<int>(size));
  if (n < 0 || static_cast<size_t>(n) != size) return Damaged(type, "does not decompress");
  return Status::OK();
}

}  // namespace compassdb
