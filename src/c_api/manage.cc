// SPDX-License-Identifier: Apache-2.0
// Properties, sizes, compactions and other functions of a whole database.
#include <string>
#include <unordered_map>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"
#include "rocksdb/convenience.h"
#include "rocksdb/experimental.h"

using compassdb::MustSucceed;
using compassdb::OptionalSlice;
using compassdb::OrNull;
using compassdb::Succeeds;
using rocksdb::ColumnFamilyHandle;

namespace {

struct Ranges {
  int count;
  const char* const* start;
  const size_t* start_size;
  const char* const* limit;
  const size_t* limit_size;
};

void ApproximateSizes(rocksdb_t* db, ColumnFamilyHandle* family, const Ranges& ranges, uint64_t* sizes,
                      char** errptr) noexcept {
  Succeeds(errptr, [&] {
    std::vector<rocksdb::Range> list;
    for (int i = 0; i < ranges.count; ++i) {
      list.emplace_back(rocksdb::Slice(ranges.start[i], ranges.start_size[i]),
                        rocksdb::Slice(ranges.limit[i], ranges.limit_size[i]));
    }
    return db->rep->GetApproximateSizes(family, list.data(), ranges.count, sizes);
  });
}

// The C function cannot return the Status.
void Compact(rocksdb_t* db, const rocksdb::CompactRangeOptions& options, ColumnFamilyHandle* family,
             const OptionalSlice& begin, const OptionalSlice& end) noexcept {
  db->rep->CompactRange(options, family, begin.get(), end.get()).PermitUncheckedError();
}

std::unordered_map<std::string, std::string> OptionMap(int count, const char* const keys[],
                                                       const char* const values[]) {
  std::unordered_map<std::string, std::string> options;
  for (int i = 0; i < count; ++i) options[keys[i]] = values[i];
  return options;
}

char* Property(rocksdb::DB* db, ColumnFamilyHandle* family, const char* name) noexcept {
  return OrNull([&]() -> char* {
    std::string value;
    return db->GetProperty(family, name, &value) ? compassdb::CopyText(value) : nullptr;
  });
}

int IntProperty(rocksdb::DB* db, ColumnFamilyHandle* family, const char* name, uint64_t* value) noexcept {
  return db->GetIntProperty(family, name, value) ? 0 : -1;
}

}  // namespace

extern "C" {

uint64_t rocksdb_get_latest_sequence_number(rocksdb_t* db) { return db->rep->GetLatestSequenceNumber(); }

char* rocksdb_get_db_identity(rocksdb_t* db, size_t* id_len) {
  *id_len = 0;
  return OrNull([&]() -> char* {
    std::string identity;
    if (!db->rep->GetDbIdentity(identity).ok()) return nullptr;
    char* const copy = compassdb::CopyBytes(identity);
    *id_len = identity.size();
    return copy;
  });
}

char* rocksdb_property_value(rocksdb_t* db, const char* propname) {
  return Property(db->rep, db->rep->DefaultColumnFamily(), propname);
}

char* rocksdb_property_value_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                const char* propname) {
  return Property(db->rep, compassdb::Family(column_family), propname);
}

int rocksdb_property_int(rocksdb_t* db, const char* propname, uint64_t* out_val) {
  return IntProperty(db->rep, db->rep->DefaultColumnFamily(), propname, out_val);
}

int rocksdb_property_int_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                            const char* propname, uint64_t* out_val) {
  return IntProperty(db->rep, compassdb::Family(column_family), propname, out_val);
}

char* rocksdb_transactiondb_property_value(rocksdb_transactiondb_t* db, const char* propname) {
  return Property(db->rep, db->rep->DefaultColumnFamily(), propname);
}

int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t* db, const char* propname, uint64_t* out_val) {
  return IntProperty(db->rep, db->rep->DefaultColumnFamily(), propname, out_val);
}

char* rocksdb_optimistictransactiondb_property_value(rocksdb_optimistictransactiondb_t* db,
                                                     const char* propname) {
  return Property(db->rep, db->rep->DefaultColumnFamily(), propname);
}

int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t* db, const char* propname,
                                                 uint64_t* out_val) {
  return IntProperty(db->rep, db->rep->DefaultColumnFamily(), propname, out_val);
}

void rocksdb_approximate_sizes(rocksdb_t* db, int num_ranges, const char* const* range_start_key,
                               const size_t* range_start_key_len, const char* const* range_limit_key,
                               const size_t* range_limit_key_len, uint64_t* sizes, char** errptr) {
  ApproximateSizes(db, db->rep->DefaultColumnFamily(),
                   {num_ranges, range_start_key, range_start_key_len, range_limit_key, range_limit_key_len},
                   sizes, errptr);
}

void rocksdb_approximate_sizes_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                  int num_ranges, const char* const* range_start_key,
                                  const size_t* range_start_key_len, const char* const* range_limit_key,
                                  const size_t* range_limit_key_len, uint64_t* sizes, char** errptr) {
  ApproximateSizes(db, compassdb::Family(column_family),
                   {num_ranges, range_start_key, range_start_key_len, range_limit_key, range_limit_key_len},
                   sizes, errptr);
}

void rocksdb_compact_range(rocksdb_t* db, const char* start_key, size_t start_key_len, const char* limit_key,
                           size_t limit_key_len) {
  Compact(db, rocksdb::CompactRangeOptions(), db->rep->DefaultColumnFamily(),
          OptionalSlice(start_key, start_key_len), OptionalSlice(limit_key, limit_key_len));
}

void rocksdb_compact_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                              const char* start_key, size_t start_key_len, const char* limit_key,
                              size_t limit_key_len) {
  Compact(db, rocksdb::CompactRangeOptions(), compassdb::Family(column_family), OptionalSlice(start_key, start_key_len),
          OptionalSlice(limit_key, limit_key_len));
}

void rocksdb_compact_range_opt(rocksdb_t* db, rocksdb_compactoptions_t* opt, const char* start_key,
                               size_t start_key_len, const char* limit_key, size_t limit_key_len) {
  Compact(db, opt->rep, db->rep->DefaultColumnFamily(), OptionalSlice(start_key, start_key_len),
          OptionalSlice(limit_key, limit_key_len));
}

void rocksdb_compact_range_cf_opt(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                  rocksdb_compactoptions_t* opt, const char* start_key, size_t start_key_len,
                                  const char* limit_key, size_t limit_key_len) {
  Compact(db, opt->rep, compassdb::Family(column_family), OptionalSlice(start_key, start_key_len),
          OptionalSlice(limit_key, limit_key_len));
}

void rocksdb_suggest_compact_range(rocksdb_t* db, const char* start_key, size_t start_key_len,
                                   const char* limit_key, size_t limit_key_len, char** errptr) {
  Succeeds(errptr, [&] {
    return rocksdb::experimental::SuggestCompactRange(db->rep, OptionalSlice(start_key, start_key_len).get(),
                                                      OptionalSlice(limit_key, limit_key_len).get());
  });
}

void rocksdb_suggest_compact_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                      const char* start_key, size_t start_key_len, const char* limit_key,
                                      size_t limit_key_len, char** errptr) {
  Succeeds(errptr, [&] {
    return rocksdb::experimental::SuggestCompactRange(db->rep, compassdb::Family(column_family),
                                                      OptionalSlice(start_key, start_key_len).get(),
                                                      OptionalSlice(limit_key, limit_key_len).get());
  });
}

void rocksdb_delete_file(rocksdb_t* db, const char* name) {
  MustSucceed([&] { db->rep->DeleteFile(name).PermitUncheckedError(); });
}

void rocksdb_delete_file_in_range(rocksdb_t* db, const char* start_key, size_t start_key_len,
                                  const char* limit_key, size_t limit_key_len, char** errptr) {
  Succeeds(errptr, [&] {
    return rocksdb::DeleteFilesInRange(db->rep, db->rep->DefaultColumnFamily(),
                                       OptionalSlice(start_key, start_key_len).get(),
                                       OptionalSlice(limit_key, limit_key_len).get());
  });
}

void rocksdb_delete_file_in_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                     const char* start_key, size_t start_key_len, const char* limit_key,
                                     size_t limit_key_len, char** errptr) {
  Succeeds(errptr, [&] {
    return rocksdb::DeleteFilesInRange(db->rep, compassdb::Family(column_family),
                                       OptionalSlice(start_key, start_key_len).get(),
                                       OptionalSlice(limit_key, limit_key_len).get());
  });
}

void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Flush(options->rep); });
}

void rocksdb_flush_cf(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                      rocksdb_column_family_handle_t* column_family, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Flush(options->rep, compassdb::Family(column_family)); });
}

void rocksdb_flush_cfs(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                       rocksdb_column_family_handle_t** column_family, int num_column_families, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->Flush(options->rep,
                          compassdb::Families(column_family, static_cast<size_t>(num_column_families)));
  });
}

void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->FlushWAL(sync != 0); });
}

void rocksdb_disable_file_deletions(rocksdb_t* db, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->DisableFileDeletions(); });
}

void rocksdb_enable_file_deletions(rocksdb_t* db, unsigned char force, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->EnableFileDeletions(force != 0); });
}

void rocksdb_set_options(rocksdb_t* db, int count, const char* const keys[], const char* const values[],
                         char** errptr) {
  Succeeds(errptr, [&] { return db->rep->SetOptions(OptionMap(count, keys, values)); });
}

void rocksdb_set_options_cf(rocksdb_t* db, rocksdb_column_family_handle_t* handle, int count,
                            const char* const keys[], const char* const values[], char** errptr) {
  Succeeds(errptr, [&] { return db->rep->SetOptions(handle->rep, OptionMap(count, keys, values)); });
}

void rocksdb_disable_manual_compaction(rocksdb_t* db) {
  MustSucceed([&] { db->rep->DisableManualCompaction(); });
}

void rocksdb_enable_manual_compaction(rocksdb_t* db) {
  MustSucceed([&] { db->rep->EnableManualCompaction(); });
}

void rocksdb_cancel_all_background_work(rocksdb_t* db, unsigned char wait) {
  MustSucceed([&] { rocksdb::CancelAllBackgroundWork(db->rep, wait != 0); });
}

void rocksdb_wait_for_compact(rocksdb_t* db, rocksdb_wait_for_compact_options_t* options, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->WaitForCompact(options->rep); });
}

void rocksdb_increase_full_history_ts_low(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                          const char* ts_low, size_t ts_lowlen, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->IncreaseFullHistoryTsLow(compassdb::Family(column_family), std::string(ts_low, ts_lowlen));
  });
}

char* rocksdb_get_full_history_ts_low(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                      size_t* ts_lowlen, char** errptr) {
  char* result = nullptr;
  *ts_lowlen = 0;
  Succeeds(errptr, [&] {
    std::string timestamp;
    const rocksdb::Status s = db->rep->GetFullHistoryTsLow(compassdb::Family(column_family), &timestamp);
    if (s.ok()) {
      result = compassdb::CopyBytes(timestamp);
      *ts_lowlen = timestamp.size();
    }
    return s;
  });
  return result;
}

}  // extern "C"
