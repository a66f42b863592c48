// SPDX-License-Identifier: Apache-2.0
// The constructor of ConfigOptions belongs to a higher layer, together with the default Env. The tests
// of this folder need neither, so they link this one.
#include "rocksdb/config_options.h"

namespace ROCKSDB_NAMESPACE {

ConfigOptions::ConfigOptions() : env(nullptr) {}

}  // namespace ROCKSDB_NAMESPACE
