// SPDX-License-Identifier: Apache-2.0
#include "util/compression.h"

#include <gtest/gtest.h>

#include "util/coding.h"
#include "util/random.h"

namespace compassdb {
namespace {

const CompressionType kSupported[] = {rocksdb::kNoCompression, rocksdb::kSnappyCompression,
                                      rocksdb::kLZ4Compression, rocksdb::kLZ4HCCompression,
                                      rocksdb::kZSTD, rocksdb::kZlibCompression,
                                      rocksdb::kBZip2Compression};

std::string Repetitive(size_t n) {
  std::string s;
  while (s.size() < n) s += "field" + std::to_string(s.size() % 17) + "=value;";
  s.resize(n);
  return s;
}

TEST(Compression, RoundTripOfEverySize) {
  Random random(5);
  for (CompressionType type : kSupported) {
    for (size_t n : {0, 1, 2, 15, 100, 4096, 70000}) {
      for (const std::string& in : {Repetitive(n), random.Bytes(n)}) {
        std::string packed, out = "stale";
        ASSERT_TRUE(Compress(type, kDefaultCompressionLevel, in, &packed)) << type;
        Status s = Decompress(type, packed, n, &out);
        ASSERT_TRUE(s.ok()) << s.ToString();
        ASSERT_EQ(out, in);
        if (type != rocksdb::kNoCompression && n == 70000 && in[0] == 'f') {
          EXPECT_LT(packed.size(), n / 5) << CompressionTypeName(type);
        }
      }
    }
  }
}

TEST(Compression, LevelsAreAccepted) {
  const std::string in = Repetitive(20000);
  for (CompressionType type : kSupported) {
    for (int level : {-5, 0, 1, 9}) {
      std::string packed, out;
      ASSERT_TRUE(Compress(type, level, in, &packed));
      ASSERT_TRUE(Decompress(type, packed, in.size(), &out).ok());
      ASSERT_EQ(out, in);
    }
  }
}

TEST(Compression, HostileSizesAreRefusedBeforeAllocation) {
  for (CompressionType type : {rocksdb::kSnappyCompression, rocksdb::kLZ4Compression,
                               rocksdb::kLZ4HCCompression, rocksdb::kZSTD,
                               rocksdb::kZlibCompression, rocksdb::kBZip2Compression}) {
    std::string payload;
    PutVarint32(&payload, UINT32_MAX);
    payload += "xxxx";
    std::string out;
    EXPECT_TRUE(Decompress(type, payload, 1 << 20, &out).IsCorruption());
    EXPECT_LT(out.capacity(), size_t{1} << 20);
    EXPECT_TRUE(Decompress(type, "", 1 << 20, &out).IsCorruption());
    EXPECT_TRUE(Decompress(type, "\xff\xff\xff\xff\xff\xff", 1 << 20, &out).IsCorruption());
  }
}

TEST(Compression, DamageNeverCrashesNorOverflows) {
  Random random(11);
  for (CompressionType type : kSupported) {
    if (type == rocksdb::kNoCompression) continue;
    const std::string in = Repetitive(3000);
    std::string packed;
    ASSERT_TRUE(Compress(type, kDefaultCompressionLevel, in, &packed));
    for (size_t n = 0; n < packed.size(); ++n) {
      std::string out;
      EXPECT_FALSE(Decompress(type, Slice(packed.data(), n), in.size(), &out).ok());
    }
    for (int i = 0; i < 2000; ++i) {
      std::string bad = packed, out;
      bad[random.Uniform(bad.size())] ^= static_cast<char>(1 << random.Uniform(8));
      Status s = Decompress(type, bad, in.size(), &out);
      if (s.ok()) {
        EXPECT_LE(out.size(), in.size());
      }
    }
  }
}

TEST(Compression, UnsupportedTypesAreNamed) {
  std::string out;
  EXPECT_FALSE(CompressionTypeSupported(rocksdb::kXpressCompression));
  EXPECT_FALSE(Compress(rocksdb::kXpressCompression, 1, "x", &out));
  Status s = Decompress(rocksdb::kXpressCompression, "x", 10, &out);
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("Xpress"), std::string::npos);
}

TEST(CompressionTest, AClaimThatThePayloadCannotHoldCostsNothing) {
  for (const auto type : {rocksdb::kSnappyCompression, rocksdb::kLZ4Compression, rocksdb::kZlibCompression,
                          rocksdb::kBZip2Compression, rocksdb::kZSTD}) {
    std::string payload, out;
    PutVarint32(&payload, UINT32_MAX);
    payload += "few bytes";
    uint64_t size = 0;
    EXPECT_TRUE(UncompressedSize(type, payload, SIZE_MAX, &size).IsCorruption()) << CompressionTypeName(type);
    EXPECT_TRUE(Decompress(type, payload, SIZE_MAX, &out).IsCorruption()) << CompressionTypeName(type);
    ASSERT_TRUE(Compress(type, kDefaultCompressionLevel, std::string(16 << 20, 'x'), &payload));
    ASSERT_TRUE(Decompress(type, payload, SIZE_MAX, &out).ok()) << CompressionTypeName(type);
    EXPECT_EQ(out.size(), size_t{16} << 20);
  }
}

// A payload of 2 MiB that says it is of more, as much as its length makes possible.
TEST(CompressionTest, WhatDoesNotComeOutIsNotAllocated) {
  const std::string in(2 << 20, 'x');
  const std::string filler = Random(5).Bytes(64 << 10);
  const std::pair<CompressionType, uint32_t> claims[] = {
      {rocksdb::kSnappyCompression, 3 << 20}, {rocksdb::kLZ4Compression, 16 << 20},
      {rocksdb::kLZ4HCCompression, 16 << 20}, {rocksdb::kZlibCompression, 64 << 20},
      {rocksdb::kBZip2Compression, 1 << 30},  {rocksdb::kZSTD, 1 << 30}};
  for (const auto& [type, claim] : claims) {
    for (const bool filled : {false, true}) {
      std::string honest, forged, out;
      ASSERT_TRUE(Compress(type, kDefaultCompressionLevel, in, &honest));
      Slice payload = honest;
      uint32_t size = 0;
      ASSERT_TRUE(GetVarint32(&payload, &size));
      PutVarint32(&forged, claim);
      forged += payload.ToString();
      if (filled) forged += filler;
      EXPECT_TRUE(Decompress(type, forged, SIZE_MAX, &out).IsCorruption()) << CompressionTypeName(type);
      EXPECT_LE(out.capacity(), 4 * in.size()) << CompressionTypeName(type);
    }
  }
}

TEST(CompressionTest, LargePayloadsComeBackAtAnyRatio) {
  for (const size_t size : {(1 << 20) + 1, 5000001}) {
    for (const CompressionType type : kSupported) {
      for (const std::string& in : {Repetitive(size), std::string(size, 'x'), Random(7).Bytes(size)}) {
        std::string packed, out;
        ASSERT_TRUE(Compress(type, kDefaultCompressionLevel, in, &packed));
        const Status s = Decompress(type, packed, size, &out);
        ASSERT_TRUE(s.ok()) << CompressionTypeName(type) << " " << s.ToString();
        ASSERT_TRUE(out == in) << CompressionTypeName(type);
        EXPECT_TRUE(Decompress(type, packed, size - 1, &out).IsCorruption());
      }
    }
  }
}

}  // namespace
}  // namespace compassdb
