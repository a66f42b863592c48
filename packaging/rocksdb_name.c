// SPDX-License-Identifier: Apache-2.0
// Nothing: librocksdb.so.7 and librocksdb.so.7.8 only have a name, and need libcompassdb.so.
typedef int compassdb_rocksdb_name;
