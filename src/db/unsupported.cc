// SPDX-License-Identifier: Apache-2.0
// What RocksDB's DB can and this one cannot do, yet or by design: every method
// says so by its name.
#include "db/db_impl.h"

namespace compassdb {

Status DBImpl::DeleteFile(std::string) {
  return Status::NotSupported("DeleteFile: files hold pieces of many tables");
}

}  // namespace compassdb
