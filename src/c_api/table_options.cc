// SPDX-License-Identifier: Apache-2.0
// Memtables, tables and filter policies.
#include <memory>
#include <utility>

#include "c_api/errors.h"
#include "c_api/filter_policies.h"
#include "c_api/handles.h"
#include "rocksdb/memtablerep.h"

using compassdb::MustSucceed;
using compassdb::OrNull;

extern "C" {

void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t* opt) {
  MustSucceed([&] { opt->rep.memtable_factory.reset(new rocksdb::VectorRepFactory); });
}

void rocksdb_options_set_hash_skip_list_rep(rocksdb_options_t* opt, size_t bucket_count,
                                            int32_t skiplist_height, int32_t skiplist_branching_factor) {
  MustSucceed([&] {
    opt->rep.memtable_factory.reset(
        rocksdb::NewHashSkipListRepFactory(bucket_count, skiplist_height, skiplist_branching_factor));
  });
}

void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* opt, size_t bucket_count) {
  MustSucceed([&] { opt->rep.memtable_factory.reset(rocksdb::NewHashLinkListRepFactory(bucket_count)); });
}

void rocksdb_options_set_block_based_table_factory(rocksdb_options_t* opt,
                                                   rocksdb_block_based_table_options_t* table_options) {
  if (table_options == nullptr) return;
  MustSucceed([&] { opt->rep.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options->rep)); });
}

void rocksdb_options_set_cuckoo_table_factory(rocksdb_options_t* opt,
                                              rocksdb_cuckoo_table_options_t* table_options) {
  if (table_options == nullptr) return;
  MustSucceed([&] { opt->rep.table_factory.reset(rocksdb::NewCuckooTableFactory(table_options->rep)); });
}

void rocksdb_options_set_plain_table_factory(rocksdb_options_t* opt, uint32_t user_key_len,
                                             int bloom_bits_per_key, double hash_table_ratio,
                                             size_t index_sparseness) {
  rocksdb::PlainTableOptions options;
  options.user_key_len = user_key_len;
  options.bloom_bits_per_key = bloom_bits_per_key;
  options.hash_table_ratio = hash_table_ratio;
  options.index_sparseness = index_sparseness;
  MustSucceed([&] { opt->rep.table_factory.reset(rocksdb::NewPlainTableFactory(options)); });
}

void rocksdb_block_based_options_set_filter_policy(rocksdb_block_based_table_options_t* options,
                                                   rocksdb_filterpolicy_t* filter_policy) {
  options->rep.filter_policy = filter_policy == nullptr ? nullptr : filter_policy->rep;
  rocksdb_filterpolicy_destroy(filter_policy);
}

void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t* options,
                                                 rocksdb_cache_t* block_cache) {
  if (block_cache != nullptr) options->rep.block_cache = block_cache->rep;
}

void rocksdb_block_based_options_set_block_cache_compressed(rocksdb_block_based_table_options_t* options,
                                                            rocksdb_cache_t* block_cache_compressed) {
  if (block_cache_compressed != nullptr) options->rep.block_cache_compressed = block_cache_compressed->rep;
}

void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* filter) { delete filter; }

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_format(double bits_per_key, bool original_format) {
  return OrNull([&] {
    std::shared_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewBloomFilterPolicy(bits_per_key, original_format));
    return new rocksdb_filterpolicy_t{std::move(policy)};
  });
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_format(double bits_per_key, int bloom_before_level) {
  return OrNull([&] {
    std::shared_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewRibbonFilterPolicy(bits_per_key, bloom_before_level));
    return new rocksdb_filterpolicy_t{std::move(policy)};
  });
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key) {
  return rocksdb_filterpolicy_create_bloom_format(bits_per_key, true);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key) {
  return rocksdb_filterpolicy_create_bloom_format(bits_per_key, false);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(double bloom_equivalent_bits_per_key) {
  return rocksdb_filterpolicy_create_ribbon_format(bloom_equivalent_bits_per_key, -1);
}

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(double bloom_equivalent_bits_per_key,
                                                                  int bloom_before_level) {
  return rocksdb_filterpolicy_create_ribbon_format(bloom_equivalent_bits_per_key, bloom_before_level);
}

}  // extern "C"
