// SPDX-License-Identifier: Apache-2.0
// Asks for the compaction of tables in which deletions are close together.
#include "c_api/errors.h"
#include "c_api/handles.h"
#include "rocksdb/utilities/table_properties_collectors.h"

extern "C" void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t* opt,
                                                                          size_t window_size,
                                                                          size_t num_dels_trigger) {
  compassdb::MustSucceed([&] {
    opt->rep.table_properties_collector_factories.push_back(
        rocksdb::NewCompactOnDeletionCollectorFactory(window_size, num_dels_trigger));
  });
}
