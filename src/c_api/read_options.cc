// SPDX-License-Identifier: Apache-2.0
// Options of reads that point to something.
#include "c_api/handles.h"

using rocksdb::Slice;

namespace {

// Points *option to the bytes through `slice`; null bytes clear the option.
void Point(const Slice** option, Slice* slice, const char* bytes, size_t size) {
  *slice = Slice(bytes, bytes == nullptr ? 0 : size);
  *option = bytes == nullptr ? nullptr : slice;
}

}  // namespace

extern "C" {

void rocksdb_readoptions_set_snapshot(rocksdb_readoptions_t* opt, const rocksdb_snapshot_t* snap) {
  opt->rep.snapshot = snap == nullptr ? nullptr : snap->rep;
}

void rocksdb_readoptions_set_iterate_upper_bound(rocksdb_readoptions_t* opt, const char* key, size_t keylen) {
  Point(&opt->rep.iterate_upper_bound, &opt->upper_bound, key, keylen);
}

void rocksdb_readoptions_set_iterate_lower_bound(rocksdb_readoptions_t* opt, const char* key, size_t keylen) {
  Point(&opt->rep.iterate_lower_bound, &opt->lower_bound, key, keylen);
}

void rocksdb_readoptions_set_timestamp(rocksdb_readoptions_t* opt, const char* ts, size_t tslen) {
  Point(&opt->rep.timestamp, &opt->timestamp, ts, tslen);
}

void rocksdb_readoptions_set_iter_start_ts(rocksdb_readoptions_t* opt, const char* ts, size_t tslen) {
  Point(&opt->rep.iter_start_ts, &opt->iter_start_ts, ts, tslen);
}

}  // extern "C"
