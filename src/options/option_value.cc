// SPDX-License-Identifier: Apache-2.0
#include "options/option_value.h"

#include "util/c_locale.h"

namespace compassdb {

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
ENUM_NAMES(BlockBasedTableOptions::BlockSearchType,
           {{"kBinary", BlockBasedTableOptions::kBinary},
            {"kInterpolation", BlockBasedTableOptions::kInterpolation},
            {"kAuto", BlockBasedTableOptions::kAuto}})
ENUM_NAMES(BlockBasedTableOptions::PrepopulateBlockCache,
           {{"kDisable", BlockBasedTableOptions::PrepopulateBlockCache::kDisable},
            {"kFlushOnly", BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly}})
ENUM_NAMES(ValueGcPolicy, {{"greedy", ValueGcPolicy::kGreedy},
                           {"cost-benefit", ValueGcPolicy::kCostBenefit},
                           {"greedy-random", ValueGcPolicy::kGreedyRandom},
                           {"random", ValueGcPolicy::kRandom},
                           {"oldest-first", ValueGcPolicy::kOldestFirst}})
ENUM_NAMES(PerfectHash, {{"default", PerfectHash::kDefault}, {"cphash", PerfectHash::kCpHash}})
#undef ENUM_NAMES

}  // namespace compassdb
