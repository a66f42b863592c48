// SPDX-License-Identifier: Apache-2.0
// Here, where the default Env is, which they begin with.
#include "rocksdb/config_options.h"

#include "rocksdb/utilities/object_registry.h"

namespace rocksdb {

ConfigOptions::ConfigOptions() : registry(ObjectRegistry::NewInstance()) {}

}  // namespace rocksdb
