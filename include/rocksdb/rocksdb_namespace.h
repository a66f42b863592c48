// SPDX-License-Identifier: Apache-2.0
//
// The namespace of the whole public interface. Define ROCKSDB_NAMESPACE to link two engines into
// one program; library and application must be compiled with the same value.

#pragma once

#if ROCKSDB_NAMESPACE == 42
#undef ROCKSDB_NAMESPACE
#endif

#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE rocksdb
#endif
