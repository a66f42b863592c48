// SPDX-License-Identifier: Apache-2.0
// Reads of many keys of a database.
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "c_api/handles.h"
#include "c_api/values.h"

using compassdb::Families;
using compassdb::ReadValues;
using compassdb::Slices;
using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

// keys_of() returns the keys, and may throw.
template <class Keys>
void BatchedMultiGet(rocksdb_t* db, const rocksdb_readoptions_t* options, rocksdb::ColumnFamilyHandle* family,
                     size_t num_keys, Keys keys_of, rocksdb_pinnableslice_t** values, char** errs,
                     bool sorted_input) noexcept {
  for (size_t i = 0; i < num_keys; ++i) {
    values[i] = nullptr;
    errs[i] = nullptr;
  }
  // There is one error per key. An error of the whole call becomes that of every key.
  char* error = nullptr;
  compassdb::Succeeds(&error, [&] {
    const std::vector<Slice> keys = keys_of();
    std::vector<PinnableSlice> found(num_keys);
    std::vector<Status> statuses(num_keys);
    db->rep->MultiGet(options->rep, family, num_keys, keys.data(), found.data(),
                      statuses.data(), sorted_input);
    for (size_t i = 0; i < num_keys; ++i) {
      if (statuses[i].ok()) {
        values[i] = new rocksdb_pinnableslice_t{std::move(found[i])};
      } else if (!statuses[i].IsNotFound()) {
        compassdb::Report(&errs[i], statuses[i]);
      }
    }
    return Status::OK();
  });
  if (error == nullptr) return;
  for (size_t i = 0; i < num_keys; ++i) {
    if (values[i] == nullptr && errs[i] == nullptr) errs[i] = strdup(error);
  }
  std::free(error);
}

}  // namespace

extern "C" {

void rocksdb_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t num_keys,
                       const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
                       size_t* values_list_sizes, char** errs) {
  ReadValues({num_keys, values_list, values_list_sizes, errs}, [&](auto* values, auto*) {
    return db->rep->MultiGet(options->rep, Slices(keys_list, keys_list_sizes, num_keys), values);
  });
}

void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                          const rocksdb_column_family_handle_t* const* column_families, size_t num_keys,
                          const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
                          size_t* values_list_sizes, char** errs) {
  ReadValues({num_keys, values_list, values_list_sizes, errs}, [&](auto* values, auto*) {
    return db->rep->MultiGet(options->rep, Families(column_families, num_keys),
                             Slices(keys_list, keys_list_sizes, num_keys), values);
  });
}

void rocksdb_multi_get_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t num_keys,
                               const char* const* keys_list, const size_t* keys_list_sizes,
                               char** values_list, size_t* values_list_sizes, char** timestamp_list,
                               size_t* timestamp_list_sizes, char** errs) {
  ReadValues({num_keys, values_list, values_list_sizes, errs, timestamp_list, timestamp_list_sizes},
             [&](auto* values, auto* timestamps) {
               return db->rep->MultiGet(options->rep, Slices(keys_list, keys_list_sizes, num_keys), values,
                                        timestamps);
             });
}

void rocksdb_multi_get_cf_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  const rocksdb_column_family_handle_t* const* column_families,
                                  size_t num_keys, const char* const* keys_list,
                                  const size_t* keys_list_sizes, char** values_list,
                                  size_t* values_list_sizes, char** timestamps_list,
                                  size_t* timestamps_list_sizes, char** errs) {
  ReadValues({num_keys, values_list, values_list_sizes, errs, timestamps_list, timestamps_list_sizes},
             [&](auto* values, auto* timestamps) {
               return db->rep->MultiGet(options->rep, Families(column_families, num_keys),
                                        Slices(keys_list, keys_list_sizes, num_keys), values, timestamps);
             });
}

void rocksdb_batched_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  rocksdb_column_family_handle_t* column_family, size_t num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes,
                                  rocksdb_pinnableslice_t** values, char** errs, const bool sorted_input) {
  BatchedMultiGet(
      db, options, compassdb::Family(column_family), num_keys, [&] { return Slices(keys_list, keys_list_sizes, num_keys); },
      values, errs, sorted_input);
}

void rocksdb_batched_multi_get_cf_slice(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                        rocksdb_column_family_handle_t* column_family, size_t num_keys,
                                        const rocksdb_slice_t* keys_list, rocksdb_pinnableslice_t** values,
                                        char** errs, const bool sorted_input) {
  const auto keys_of = [&] {
    std::vector<Slice> keys;
    keys.reserve(num_keys);
    for (size_t i = 0; i < num_keys; ++i) keys.emplace_back(keys_list[i].data, keys_list[i].size);
    return keys;
  };
  BatchedMultiGet(db, options, compassdb::Family(column_family), num_keys, keys_of, values, errs, sorted_input);
}

}  // extern "C"
