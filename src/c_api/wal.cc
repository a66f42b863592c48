// SPDX-License-Identifier: Apache-2.0
// Following the log.
#include <utility>

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::MustSucceed;
using compassdb::Succeeds;

extern "C" {

rocksdb_wal_iterator_t* rocksdb_get_updates_since(rocksdb_t* db, uint64_t seq_number,
                                                  const rocksdb_wal_readoptions_t* options, char** errptr) {
  std::unique_ptr<rocksdb::TransactionLogIterator> iter;
  if (!Succeeds(errptr, [&] {
        return db->rep->GetUpdatesSince(
            seq_number, &iter,
            options == nullptr ? rocksdb::TransactionLogIterator::ReadOptions() : options->rep);
      })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_wal_iterator_t{std::move(iter)}; });
}

unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t* iter) { return iter->rep->Valid() ? 1 : 0; }

void rocksdb_wal_iter_next(rocksdb_wal_iterator_t* iter) {
  MustSucceed([&] { iter->rep->Next(); });
}

void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t* iter, char** errptr) {
  Succeeds(errptr, [&] { return iter->rep->status(); });
}

rocksdb_writebatch_t* rocksdb_wal_iter_get_batch(const rocksdb_wal_iterator_t* iter, uint64_t* seq) {
  return MustSucceed([&] {
    rocksdb::BatchResult batch = iter->rep->GetBatch();
    if (seq != nullptr) *seq = batch.sequence;
    return new rocksdb_writebatch_t{std::move(*batch.writeBatchPtr)};
  });
}

void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t* iter) {
  MustSucceed([&] { delete iter; });
}

}  // extern "C"
