// SPDX-License-Identifier: Apache-2.0
#include "support/sealed_env.h"

namespace compassdb_test {

std::unique_ptr<rocksdb::Env> SealedEnvOver(rocksdb::Env*) { return nullptr; }

}  // namespace compassdb_test
