// SPDX-License-Identifier: Apache-2.0
#include "table/piece/piece_collectors.h"

namespace compassdb {
namespace {

rocksdb::EntryType EntryTypeOf(ValueType type) {
  switch (type) {
    case kTypeValue:
      return rocksdb::kEntryPut;
    case kTypeDeletion:
      return rocksdb::kEntryDelete;
    case kTypeSingleDeletion:
      return rocksdb::kEntrySingleDelete;
    case kTypeBlobIndex:
      return rocksdb::kEntryBlobIndex;
    case kTypeMerge:
      return rocksdb::kEntryMerge;
    case kTypeWideColumnEntity:
      return rocksdb::kEntryWideColumnEntity;
    case kTypeRangeDeletion:
      return rocksdb::kEntryRangeDeletion;
    default:
      return rocksdb::kEntryOther;
  }
}

}  // namespace

PieceCollectors::PieceCollectors(const CollectorFactories& factories,
                                 rocksdb::TablePropertiesCollectorFactory::Context context,
                                 std::function<void(const std::string&)> report)
    : report_(std::move(report)) {
  for (const auto& factory : factories) {
    names_ += (names_.empty() ? "[" : ",") + std::string(factory->Name());
    std::unique_ptr<rocksdb::TablePropertiesCollector> collector(
        factory->CreateTablePropertiesCollector(context));
    if (collector != nullptr) collectors_.push_back(std::move(collector));
  }
  if (!names_.empty()) names_ += "]";
}

void PieceCollectors::Note(const rocksdb::TablePropertiesCollector& collector,
                           const rocksdb::Status& s) {
  if (!s.ok() && report_) {
    report_("properties collector " + std::string(collector.Name()) + ": " + s.ToString());
  }
}

void PieceCollectors::Add(const Slice& user_key, const Slice& value, ValueType type,
                          SequenceNumber sequence, uint64_t bytes_written) {
  for (const auto& collector : collectors_) {
    Note(*collector,
         collector->AddUserKey(user_key, value, EntryTypeOf(type), sequence, bytes_written));
  }
}

void PieceCollectors::AddBlock(uint64_t uncompressed_bytes) {
  for (const auto& collector : collectors_) collector->BlockAdd(uncompressed_bytes, 0, 0);
}

bool PieceCollectors::Finish(CollectedProperties* collected) {
  bool compact = false;
  collected->collectors = names_;
  for (const auto& collector : collectors_) {
    rocksdb::UserCollectedProperties mine;
    const rocksdb::Status s = collector->Finish(&mine);
    Note(*collector, s);
    if (s.ok()) collected->properties.merge(mine);
    rocksdb::UserCollectedProperties readable = collector->GetReadableProperties();
    collected->readable.merge(readable);
    compact = compact || collector->NeedCompact();
  }
  return compact;
}

}  // namespace compassdb
