// SPDX-License-Identifier: Apache-2.0
// Asks for the compaction of tables in which deletions are close together, or many.
#include "c_api/errors.h"
#include "c_api/handles.h"
#include "rocksdb/utilities/table_properties_collectors.h"

extern "C" {

void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t* opt, size_t window_size,
                                                               size_t num_dels_trigger) {
  rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(opt, window_size, num_dels_trigger, 0);
}

void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(rocksdb_options_t* opt, size_t window_size,
                                                                         size_t num_dels_trigger,
                                                                         double deletion_ratio) {
  rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(opt, window_size, num_dels_trigger,
                                                                          deletion_ratio, 0);
}

void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(rocksdb_options_t* opt,
                                                                             size_t window_size,
                                                                             size_t num_dels_trigger,
                                                                             double deletion_ratio,
                                                                             uint64_t min_file_size) {
  compassdb::MustSucceed([&] {
    opt->rep.table_properties_collector_factories.push_back(rocksdb::NewCompactOnDeletionCollectorFactory(
        window_size, num_dels_trigger, deletion_ratio, min_file_size));
  });
}

}  // extern "C"
