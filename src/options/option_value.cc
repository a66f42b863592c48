// SPDX-License-Identifier: Apache-2.0
#include "options/option_value.h"

#include <cerrno>
#include <climits>

#include "util/c_locale.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

// The number that text begins with, and the rest behind it. False if there is none, or if it is too large.
bool ParseNumber(const std::string& text, bool* negative, uint64_t* magnitude, Slice* rest) {
  size_t at = 0;
  while (at < text.size() && IsAsciiSpace(text[at])) ++at;
  *negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  *rest = Slice(text.data() + at, text.size() - at);
  return ConsumeDecimal(rest, magnitude);
}

// By how many bits the suffix that `rest` begins with shifts. Anything else counts as no suffix.
int SuffixShift(const Slice& rest, bool tera) {
  if (rest.empty()) return 0;
  switch (rest[0]) {
    case 'k': case 'K': return 10;
    case 'm': case 'M': return 20;
    case 'g': case 'G': return 30;
    case 't': case 'T': return tera ? 40 : 0;
    default: return 0;
  }
}

}  // namespace

bool ParseBool(const std::string& text, bool* value) {
  if (text == "true" || text == "1") {
    *value = true;
  } else if (text == "false" || text == "0") {
    *value = false;
  } else {
    return false;
  }
  return true;
}

// Shifts wrap, as RocksDB's do.
bool ParseSigned(const std::string& text, int64_t* value) {
  bool negative = false;
  uint64_t magnitude = 0;
  Slice rest;
  if (!ParseNumber(text, &negative, &magnitude, &rest)) return false;
  if (magnitude > static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0)) return false;
  *value = static_cast<int64_t>((negative ? 0 - magnitude : magnitude) << SuffixShift(rest, true));
  return true;
}

bool ParseInt(const std::string& text, int* value) {
  bool negative = false;
  uint64_t magnitude = 0;
  Slice rest;
  if (!ParseNumber(text, &negative, &magnitude, &rest)) return false;
  if (magnitude > static_cast<uint64_t>(INT_MAX) + (negative ? 1 : 0)) return false;
  *value = static_cast<int>(static_cast<uint32_t>(negative ? 0 - magnitude : magnitude) << SuffixShift(rest, false));
  return true;
}

bool ParseUnsigned(const std::string& text, uint64_t* value) {
  bool negative = false;
  uint64_t magnitude = 0;
  Slice rest;
  if (!ParseNumber(text, &negative, &magnitude, &rest)) return false;
  *value = (negative ? 0 - magnitude : magnitude) << SuffixShift(rest, true);
  return true;
}

bool ParseDouble(const std::string& text, double* value) {
  char* end = nullptr;
  errno = 0;
  const double parsed = CLocaleStrtod(text.c_str(), &end);
  if (end == text.c_str() || errno == ERANGE) return false;
  *value = parsed;
  return true;
}

std::string FormatDouble(double value) {
  const std::string plain = CLocaleToString(value);
  if (CLocaleStrtod(plain.c_str(), nullptr) == value) return plain;
  char exact[40];
  CLocaleSnprintf(exact, sizeof(exact), "%.17g", value);
  return exact;
}

#define ENUM_NAMES(E, ...)                                          \
  const EnumNames<E>& NamesOf(E) {                                  \
    static const auto* const names = new EnumNames<E>(__VA_ARGS__); \
    return *names;                                                  \
  }

using namespace rocksdb;  // NOLINT: the tables below are lists of its enumerators

ENUM_NAMES(DataOrder,
           {{"key", DataOrder::kKey}, {"slot", DataOrder::kSlot}, {"hash", DataOrder::kHash}})
ENUM_NAMES(PointIndex, {{"perfect_hash", PointIndex::kPerfectHash}, {"filter", PointIndex::kFilter}})
ENUM_NAMES(StoreKind, {{"lsm", StoreKind::kLsm}, {"tableless", StoreKind::kTableless}})
ENUM_NAMES(Partition, {{"kKeyRange", Partition::kKeyRange}, {"kHashRange", Partition::kHashRange}})
ENUM_NAMES(CompressionType, {{"kNoCompression", kNoCompression},
                             {"kSnappyCompression", kSnappyCompression},
                             {"kZlibCompression", kZlibCompression},
                             {"kBZip2Compression", kBZip2Compression},
                             {"kLZ4Compression", kLZ4Compression},
                             {"kLZ4HCCompression", kLZ4HCCompression},
                             {"kXpressCompression", kXpressCompression},
                             {"kZSTD", kZSTD},
                             {"kZSTDNotFinalCompression", kZSTDNotFinalCompression},
                             {"kDisableCompressionOption", kDisableCompressionOption}})
ENUM_NAMES(CompactionStyle, {{"kCompactionStyleLevel", kCompactionStyleLevel},
                             {"kCompactionStyleUniversal", kCompactionStyleUniversal},
                             {"kCompactionStyleFIFO", kCompactionStyleFIFO},
                             {"kCompactionStyleNone", kCompactionStyleNone}})
ENUM_NAMES(CompactionPri, {{"kByCompensatedSize", kByCompensatedSize},
                           {"kOldestLargestSeqFirst", kOldestLargestSeqFirst},
                           {"kOldestSmallestSeqFirst", kOldestSmallestSeqFirst},
                           {"kMinOverlappingRatio", kMinOverlappingRatio},
                           {"kRoundRobin", kRoundRobin}})
ENUM_NAMES(CompactionStopStyle,
           {{"kCompactionStopStyleSimilarSize", kCompactionStopStyleSimilarSize},
            {"kCompactionStopStyleTotalSize", kCompactionStopStyleTotalSize}})
ENUM_NAMES(Temperature, {{"kUnknown", Temperature::kUnknown},
                         {"kHot", Temperature::kHot},
                         {"kWarm", Temperature::kWarm},
                         {"kCold", Temperature::kCold}})
ENUM_NAMES(CacheTier, {{"kVolatileTier", CacheTier::kVolatileTier},
                       {"kNonVolatileBlockTier", CacheTier::kNonVolatileBlockTier}})
ENUM_NAMES(PrepopulateBlobCache, {{"kDisable", PrepopulateBlobCache::kDisable},
                                  {"kFlushOnly", PrepopulateBlobCache::kFlushOnly}})
ENUM_NAMES(WALRecoveryMode,
           {{"kTolerateCorruptedTailRecords", WALRecoveryMode::kTolerateCorruptedTailRecords},
            {"kAbsoluteConsistency", WALRecoveryMode::kAbsoluteConsistency},
            {"kPointInTimeRecovery", WALRecoveryMode::kPointInTimeRecovery},
            {"kSkipAnyCorruptedRecords", WALRecoveryMode::kSkipAnyCorruptedRecords}})
ENUM_NAMES(InfoLogLevel, {{"DEBUG_LEVEL", InfoLogLevel::DEBUG_LEVEL},
                          {"INFO_LEVEL", InfoLogLevel::INFO_LEVEL},
                          {"WARN_LEVEL", InfoLogLevel::WARN_LEVEL},
                          {"ERROR_LEVEL", InfoLogLevel::ERROR_LEVEL},
                          {"FATAL_LEVEL", InfoLogLevel::FATAL_LEVEL},
                          {"HEADER_LEVEL", InfoLogLevel::HEADER_LEVEL}})
ENUM_NAMES(DBOptions::AccessHint, {{"NONE", DBOptions::NONE},
                                   {"NORMAL", DBOptions::NORMAL},
                                   {"SEQUENTIAL", DBOptions::SEQUENTIAL},
                                   {"WILLNEED", DBOptions::WILLNEED}})
ENUM_NAMES(ChecksumType, {{"kNoChecksum", kNoChecksum},
                          {"kCRC32c", kCRC32c},
                          {"kxxHash", kxxHash},
                          {"kxxHash64", kxxHash64},
                          {"kXXH3", kXXH3}})
ENUM_NAMES(EncodingType, {{"kPlain", kPlain}, {"kPrefix", kPrefix}})
ENUM_NAMES(PinningTier, {{"kFallback", PinningTier::kFallback},
                         {"kNone", PinningTier::kNone},
                         {"kFlushedAndSimilar", PinningTier::kFlushedAndSimilar},
                         {"kAll", PinningTier::kAll}})
ENUM_NAMES(BlockBasedTableOptions::IndexType,
           {{"kBinarySearch", BlockBasedTableOptions::kBinarySearch},
            {"kHashSearch", BlockBasedTableOptions::kHashSearch},
            {"kTwoLevelIndexSearch", BlockBasedTableOptions::kTwoLevelIndexSearch},
            {"kBinarySearchWithFirstKey", BlockBasedTableOptions::kBinarySearchWithFirstKey}})
ENUM_NAMES(BlockBasedTableOptions::DataBlockIndexType,
           {{"kDataBlockBinarySearch", BlockBasedTableOptions::kDataBlockBinarySearch},
            {"kDataBlockBinaryAndHash", BlockBasedTableOptions::kDataBlockBinaryAndHash}})
ENUM_NAMES(BlockBasedTableOptions::IndexShorteningMode,
           {{"kNoShortening", BlockBasedTableOptions::IndexShorteningMode::kNoShortening},
            {"kShortenSeparators", BlockBasedTableOptions::IndexShorteningMode::kShortenSeparators},
            {"kShortenSeparatorsAndSuccessor",
             BlockBasedTableOptions::IndexShorteningMode::kShortenSeparatorsAndSuccessor}})
ENUM_NAMES(BlockBasedTableOptions::PrepopulateBlockCache,
           {{"kDisable", BlockBasedTableOptions::PrepopulateBlockCache::kDisable},
            {"kFlushOnly", BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly}})
ENUM_NAMES(ValueGcPolicy, {{"greedy", ValueGcPolicy::kGreedy},
                           {"cost-benefit", ValueGcPolicy::kCostBenefit},
                           {"greedy-random", ValueGcPolicy::kGreedyRandom},
                           {"random", ValueGcPolicy::kRandom}})
ENUM_NAMES(PerfectHash, {{"default", PerfectHash::kDefault}, {"cphash", PerfectHash::kCpHash}})
#undef ENUM_NAMES

}  // namespace compassdb
