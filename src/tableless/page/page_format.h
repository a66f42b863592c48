// SPDX-License-Identifier: Apache-2.0
// A page: header, records, zeros (docs/formats/tableless.md).
//
//   header := crc:fixed32 used:fixed32 (version << 56 | folded):fixed64
//   record := key_size:varint32 value_size:varint32 (sequence << 1 | entity):varint64 key value
//
// `crc` covers the number of the section's file, the number of the page, the header behind it and the
// records; `used` counts header and records; `folded` is the newest sequence of the flush that wrote the page,
// 0 as long as it is as its file was made. A page of zeros is damage: every page of a section is written
// when its file is made. Records have distinct keys; each is its key's newest version that was folded.
//
// Version 3 is a page that was written without a journal, before the edit that commits its flush. At its end, within
// `used` and the checksum, it has the numbers that the commit adds to the section's counts:
//
//   records:fixed32 bytes:fixed32    the change of the page's numbers, in two's complement
//
// Version 1 has count:fixed32 version:fixed32 instead of the last field. It is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Status;

inline constexpr size_t kPageHeaderBytes = 16;
inline constexpr uint32_t kPageVersion = 2;
inline constexpr uint32_t kPageVersionInPlace = 3;
inline constexpr size_t kPageChangeBytes = 8;

struct PageRecord {
  Slice user_key;
  Slice value;
  SequenceNumber sequence = 0;
  bool entity = false;
  bool unfolded = false;  // value: see unfolded.h. Only in the overflow store
};

size_t EncodedSize(const PageRecord& record);

// The change of a page's contents.
struct PageChange {
  int32_t records = 0;
  int32_t bytes = 0;  // encoded
};

// Collects records into an image of kPageHeaderBytes + their encoded sizes, and kPageChangeBytes in a page of version
// 3. The caller ensures that it fits.
class PageBuilder {
 public:
  // Appends an image to `dst`, which must outlive this.
  explicit PageBuilder(std::string* dst);
  void Add(const PageRecord& record);
  void Finish(uint64_t file_number, uint64_t page, SequenceNumber folded) {
    Finish(kPageVersion, file_number, page, folded);
  }
  // The image is written without a journal.
  void FinishInPlace(uint64_t file_number, uint64_t page, SequenceNumber folded, const PageChange& change);

 private:
  void Finish(uint32_t version, uint64_t file_number, uint64_t page, SequenceNumber folded);

  std::string* const dst_;
  const size_t begin_;
};

// Checks everything but the records' own structure: *records holds them. Corruption without a path.
Status CheckPage(const Slice& image, uint64_t file_number, uint64_t page, Slice* records);
// `folded` of the page with these records, as CheckPage returned them; 0 if it has none.
SequenceNumber FoldedOf(const Slice& records);
// Likewise: true if it was written without a journal; then sets *change.
bool WrittenInPlace(const Slice& records, PageChange* change = nullptr);
// Removes the next record. False at the end, and at damage; then `records` is not empty.
bool NextPageRecord(Slice* records, PageRecord* record);
// False if there is none. *damaged: some record cannot be read.
bool FindPageRecord(Slice records, const Slice& user_key, PageRecord* record, bool* damaged);
// All of them.
Status ListPageRecords(Slice records, std::vector<PageRecord>* list);

}  // namespace compassdb
