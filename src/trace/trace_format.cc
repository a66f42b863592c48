// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_format.h"

#include <algorithm>

#include "rocksdb/version.h"
#include "util/coding.h"

namespace compassdb {
namespace {

constexpr size_t kHeaderBytes = 8 + 1 + 4;
constexpr char kMagic[] = "feedcafedeadbeef";
constexpr char kVersion[] = "Trace Version: 0.2";

// Bits of the fields of a payload; on disk, never renumbered.
enum Field : uint32_t {
  kBatch = 1,
  kGetFamily = 2,
  kGetKey = 3,
  kSeekFamily = 4,
  kSeekKey = 5,
  kSeekLower = 6,
  kSeekUpper = 7,
  kMultiGetSize = 8,
  kMultiGetFamilies = 9,
  kMultiGetKeys = 10,
};

constexpr uint64_t Bit(Field field) { return uint64_t{1} << field; }

Status Damaged(const char* what) { return Status::Corruption("trace record", what); }

// The rest of the payload, and which fields it has.
struct Fields {
  Slice rest;
  uint64_t present = 0;

  explicit Fields(const std::string& payload) : rest(payload) {
    if (!GetFixed64(&rest, &present)) present = 0;
  }
  bool Number(Field field, uint32_t* value) {
    return (present & Bit(field)) == 0 || GetFixed32(&rest, value);
  }
  bool Text(Field field, Slice* value) {
    return (present & Bit(field)) == 0 || GetLengthPrefixedSlice(&rest, value);
  }
};

Status DecodeSeek(const RawTraceRecord& raw, std::unique_ptr<rocksdb::TraceRecord>* out) {
  Fields fields(raw.payload);
  uint32_t family = 0;
  Slice key, lower, upper;
  if (!fields.Number(kSeekFamily, &family) || !fields.Text(kSeekKey, &key) ||
      !fields.Text(kSeekLower, &lower) || !fields.Text(kSeekUpper, &upper)) {
    return Damaged("seek");
  }
  *out = std::make_unique<rocksdb::IteratorSeekQueryTraceRecord>(
      static_cast<rocksdb::IteratorSeekQueryTraceRecord::SeekType>(raw.type), family,
      key.ToString(), lower.ToString(), upper.ToString(), raw.micros);
  return Status::OK();
}

Status DecodeMultiGet(const RawTraceRecord& raw, std::unique_ptr<rocksdb::TraceRecord>* out) {
  Fields fields(raw.payload);
  uint32_t n = 0;
  Slice family_list, key_list;
  if (!fields.Number(kMultiGetSize, &n) || !fields.Text(kMultiGetFamilies, &family_list) ||
      !fields.Text(kMultiGetKeys, &key_list)) {
    return Damaged("MultiGet");
  }
  std::vector<uint32_t> families;
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t family = 0;
    Slice key;
    if (!GetFixed32(&family_list, &family) || !GetLengthPrefixedSlice(&key_list, &key)) {
      return Damaged("MultiGet");
    }
    families.push_back(family);
    keys.push_back(key.ToString());
  }
  *out = std::make_unique<rocksdb::MultiGetQueryTraceRecord>(std::move(families), keys, raw.micros);
  return Status::OK();
}

}  // namespace

void EncodeTraceRecord(uint64_t micros, rocksdb::TraceType type, const Slice& payload,
                       std::string* out) {
  PutFixed64(out, micros);
  out->push_back(static_cast<char>(type));
  PutFixed32(out, static_cast<uint32_t>(payload.size()));
  out->append(payload.data(), payload.size());
}

Status DecodeRawTraceRecord(const Slice& source, RawTraceRecord* out) {
  if (source.size() < kHeaderBytes ||
      DecodeFixed32(source.data() + 9) != source.size() - kHeaderBytes) {
    return Damaged("length");
  }
  const char type = source[8];
  if (type <= rocksdb::kTraceNone || type >= rocksdb::kTraceMax) return Damaged("type");
  out->micros = DecodeFixed64(source.data());
  out->type = static_cast<rocksdb::TraceType>(type);
  out->payload.assign(source.data() + kHeaderBytes, source.size() - kHeaderBytes);
  return Status::OK();
}

std::string TraceHeader() {
  return std::string(kMagic) + "\t" + kVersion + "\tRocksDB Version: " +
         std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) +
         "\tFormat: Timestamp OpType Payload\n";
}

Status CheckTraceHeader(const RawTraceRecord& header) {
  if (header.type != rocksdb::kTraceBegin) {
    return Status::Corruption("Corrupted trace file. Incorrect header.");
  }
  if (header.payload.rfind(kMagic, 0) != 0) {
    return Status::Corruption("Corrupted trace file. Incorrect magic.");
  }
  const size_t from = sizeof(kMagic);  // behind the tab
  const std::string version = header.payload.substr(
      std::min(from, header.payload.size()), sizeof(kVersion) - 1);
  if (version != kVersion) return Status::NotSupported("trace", version + " is not known");
  return Status::OK();
}

void EncodeTracedWrite(const Slice& batch, std::string* payload) {
  PutFixed64(payload, Bit(kBatch));
  PutLengthPrefixedSlice(payload, batch);
}

void EncodeTracedGet(uint32_t family, const Slice& key, std::string* payload) {
  PutFixed64(payload, Bit(kGetFamily) | Bit(kGetKey));
  PutFixed32(payload, family);
  PutLengthPrefixedSlice(payload, key);
}

void EncodeTracedSeek(uint32_t family, const Slice& target, const Slice& lower, const Slice& upper,
                      std::string* payload) {
  uint64_t present = Bit(kSeekFamily) | Bit(kSeekKey);
  if (!lower.empty()) present |= Bit(kSeekLower);
  if (!upper.empty()) present |= Bit(kSeekUpper);
  PutFixed64(payload, present);
  PutFixed32(payload, family);
  PutLengthPrefixedSlice(payload, target);
  if (!lower.empty()) PutLengthPrefixedSlice(payload, lower);
  if (!upper.empty()) PutLengthPrefixedSlice(payload, upper);
}

void EncodeTracedMultiGet(const std::vector<uint32_t>& families, size_t n, const Slice* keys,
                          std::string* payload) {
  std::string family_list, key_list;
  for (size_t i = 0; i < n; ++i) {
    PutFixed32(&family_list, families[i]);
    PutLengthPrefixedSlice(&key_list, keys[i]);
  }
  PutFixed64(payload, Bit(kMultiGetSize) | Bit(kMultiGetFamilies) | Bit(kMultiGetKeys));
  PutFixed32(payload, static_cast<uint32_t>(n));
  PutLengthPrefixedSlice(payload, family_list);
  PutLengthPrefixedSlice(payload, key_list);
}

Status DecodeTraceRecord(const RawTraceRecord& raw, std::unique_ptr<rocksdb::TraceRecord>* out) {
  out->reset();
  switch (raw.type) {
    case rocksdb::kTraceWrite: {
      Fields fields(raw.payload);
      Slice batch;
      if (!fields.Text(kBatch, &batch)) return Damaged("write");
      *out = std::make_unique<rocksdb::WriteQueryTraceRecord>(batch.ToString(), raw.micros);
      return Status::OK();
    }
    case rocksdb::kTraceGet: {
      Fields fields(raw.payload);
      uint32_t family = 0;
      Slice key;
      if (!fields.Number(kGetFamily, &family) || !fields.Text(kGetKey, &key)) return Damaged("Get");
      *out = std::make_unique<rocksdb::GetQueryTraceRecord>(family, key.ToString(), raw.micros);
      return Status::OK();
    }
    case rocksdb::kTraceIteratorSeek:
    case rocksdb::kTraceIteratorSeekForPrev:
      return DecodeSeek(raw, out);
    case rocksdb::kTraceMultiGet:
      return DecodeMultiGet(raw, out);
    default:
      return Status::NotSupported("Unsupported trace type.");
  }
}

}  // namespace compassdb
