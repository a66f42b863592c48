// SPDX-License-Identifier: Apache-2.0
// Whole tables and runs of values: what a manifest says of them, and the files that it names.
#include "env/sim/memory_file_system.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "iter/merge_helper.h"
#include "manifest/extent_ledger.h"
#include "manifest/table_file.h"
#include "manifest/version_edit.h"
#include "table/tph.h"
#include "value_store/value_run.h"
#include "value_store/value_version.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

constexpr const char* kDir = "/db";
constexpr const char* kKeys[] = {"", "key000000", "key000017", "key000039", "key00003", "zzz"};

std::string Internal(const Slice& key) {
  std::string out;
  AppendInternalKey(&out, key, kMaxSequenceNumber, kValueTypeForSeek);
  return out;
}

void Walk(InternalIterator* iter) {
  constexpr int kSteps = 20000;  // a table may say that it has any number of empty blocks
  int n = 0;
  for (iter->SeekToFirst(); iter->Valid() && n < kSteps; iter->Next()) ++n;
  n = 0;
  for (iter->SeekToLast(); iter->Valid() && n < kSteps; iter->Prev()) ++n;
  for (const char* key : kKeys) {
    iter->Seek(Internal(key));
    if (iter->Valid()) iter->Prev();
    iter->SeekForPrev(Internal(key));
    if (iter->Valid()) iter->Next();
  }
}

bool UseTable(const TableContextRef& context, const TphMeta& meta, uint64_t seed) {
  std::vector<std::shared_ptr<Piece>> pieces;
  for (const TphPiece& piece : meta.pieces) {
    if (piece.meta == nullptr || pieces.size() == 64) return false;
    pieces.push_back(std::make_shared<Piece>(context, *piece.meta, IndexMode::kResident));
  }
  bool good = true;
  for (const IndexMode mode : {IndexMode::kResident, IndexMode::kPaged}) {
    std::shared_ptr<Tph> table;
    if (!Tph::Open(context, meta, pieces, mode, &table).ok()) return false;
    const KeyHasher hasher(seed);
    for (const char* key : kKeys) {
      rocksdb::PinnableSlice value;
      GetContext get(key, kMaxSequenceNumber, nullptr, &value);
      Status s = table->Get({}, key, hasher(key), &get);
      if (s.ok()) get.Finish().PermitUncheckedError();
      (void)table->ApproximateOffset(key);
    }
    Walk(table->NewIterator({}).get());
    good &= table->Verify().ok();
  }
  for (const auto& piece : pieces) {
    PieceHashes hashes;
    piece->ReadHashes(&hashes).PermitUncheckedError();
    std::vector<RangeTombstone> tombstones;
    piece->ReadRangeTombstones(&tombstones).PermitUncheckedError();
    CollectedProperties collected;
    piece->ReadCollected(&collected).PermitUncheckedError();
    good &= piece->Verify().ok();
  }
  return good;
}

bool UseRun(const std::shared_ptr<const ValueContext>& context, const ValueRunMeta& meta) {
  const ValueRun run(context, meta);
  std::vector<ValueEntry> entries;
  std::vector<ValueNotice> notices;
  std::vector<ValueDeath> deaths;
  if (run.ReadKeys(&entries, &notices, &deaths).ok()) {
    run.ReadRecords(entries, 0, [](const ValueEntry&, const Slice&) {
      return Status::OK();
    }).PermitUncheckedError();
  }
  for (uint64_t i = 0; i < 64; ++i) {
    bool found = false;
    ValuePlace place;
    if (!run.Find(meta.min_number + i, false, &found, &place).ok() || !found) continue;
    std::string room;
    Slice record;
    ParsedValueRecord parsed;
    if (run.ReadRecord(place, true, &room, &record).ok()) (void)ParseValueRecord(record, &parsed);
  }
  return run.Verify().ok();
}

FUZZ_TARGET(tables, 512 << 10) {
  MemoryFileSystem fs;
  VersionEdit edit;
  if (!UnpackEdit(input, &fs, kDir, &edit)) return;
  FileCache files(&fs, kDir, FileOptions(), 0);
  TableReaderOptions options;
  const rocksdb::Comparator* const reverse = rocksdb::ReverseBytewiseComparator();
  options.comparator = edit.comparator == reverse->Name() ? reverse : rocksdb::BytewiseComparator();
  options.filters = true;
  const auto context = std::make_shared<const TableContext>(&files, options);
  bool good = !edit.added.empty();
  for (const VersionEdit::Added& added : edit.added) good &= UseTable(context, added.tph, edit.hash_seed.value_or(0));
  ExtentLedger ledger(&fs, &files, 0);
  const auto values = std::make_shared<ValueContext>();
  values->tables = context;
  values->ledger = &ledger;
  for (const ValueRunMeta& run : edit.added_values) good &= UseRun(values, run);
  if (good) AcceptFuzzInput();
}

FUZZ_TARGET(table_file, 512 << 10) {
  MemoryFileSystem fs;
  WriteFile(&fs, "/table.sst", input);
  std::unique_ptr<TableFile> file;
  if (!TableFile::Open(&fs, "/table.sst", rocksdb::BytewiseComparator(), &file).ok()) return;
  Walk(file->piece().NewIterator({}).get());
  for (const char* key : kKeys) {
    FoundRecord found;
    file->piece().Find({}, key, kMaxSequenceNumber, &found).PermitUncheckedError();
  }
  if (file->piece().Verify().ok()) AcceptFuzzInput();
}

}  // namespace
}  // namespace compassdb_test
