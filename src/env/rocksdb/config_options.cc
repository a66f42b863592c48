// SPDX-License-Identifier: Apache-2.0
// Here, because they begin with the default Env.
#include "rocksdb/config_options.h"

#include "rocksdb/utilities/object_registry.h"

namespace rocksdb {

ConfigOptions::ConfigOptions() : registry(ObjectRegistry::NewInstance()) {}

}  // namespace rocksdb
