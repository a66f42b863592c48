// SPDX-License-Identifier: Apache-2.0
// Methods of RocksDB's DB that this database does not have, yet or by design: each
// returns an error with its name.
#include "db/db_impl.h"

namespace compassdb {

Status DBImpl::DeleteFile(std::string) {
  return Status::NotSupported("DeleteFile: files hold pieces of many tables");
}

}  // namespace compassdb
