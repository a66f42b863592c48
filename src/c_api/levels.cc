// SPDX-License-Identifier: Apache-2.0
// The functions that have other parameters, or numbers of tickers, in some versions of RocksDB, under the names that
// c.h gives them at COMPASSDB_ROCKSDB_LEVEL. The others are with their subjects.
#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/statistics_numbers.h"

extern "C" {

ROCKSDB_LIBRARY_API void rocksdb_enable_file_deletions_900(rocksdb_t* db, char** errptr) {
  rocksdb_enable_file_deletions(db, 0, errptr);
}

ROCKSDB_LIBRARY_API void rocksdb_options_set_plain_table_factory_809(
    rocksdb_options_t* opt, uint32_t user_key_len, int bloom_bits_per_key, double hash_table_ratio,
    size_t index_sparseness, size_t huge_page_tlb_size, char encoding_type, unsigned char full_scan_mode,
    unsigned char store_index_in_file) {
  rocksdb::PlainTableOptions options;
  options.user_key_len = user_key_len;
  options.bloom_bits_per_key = bloom_bits_per_key;
  options.hash_table_ratio = hash_table_ratio;
  options.index_sparseness = index_sparseness;
  options.huge_page_tlb_size = huge_page_tlb_size;
  options.encoding_type = static_cast<rocksdb::EncodingType>(encoding_type);
  options.full_scan_mode = full_scan_mode != 0;
  options.store_index_in_file = store_index_in_file != 0;
  compassdb::MustSucceed([&] { opt->rep.table_factory.reset(rocksdb::NewPlainTableFactory(options)); });
}

ROCKSDB_LIBRARY_API uint64_t rocksdb_options_statistics_get_ticker_count_1000(rocksdb_options_t* opt,
                                                                              uint32_t ticker_type) {
  return rocksdb_options_statistics_get_ticker_count(opt, compassdb::NumberOfTicker1004(ticker_type));
}

ROCKSDB_LIBRARY_API rocksdb_slicetransform_t* rocksdb_slicetransform_create_1100(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length), const char* (*name)(void*)) {
  return rocksdb_slicetransform_create(state, destructor, transform, in_domain, nullptr, name);
}

}  // extern "C"
