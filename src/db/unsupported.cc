// SPDX-License-Identifier: Apache-2.0
// What RocksDB's DB can and this one cannot do, yet or by design: every method
// says so by its name.
#include "db/db_impl.h"

namespace compassdb {

Status DBImpl::IncreaseFullHistoryTsLow(ColumnFamilyHandle*, std::string) {
  return Status::NotSupported("IncreaseFullHistoryTsLow: user-defined timestamps");
}

Status DBImpl::GetFullHistoryTsLow(ColumnFamilyHandle*, std::string*) {
  return Status::NotSupported("GetFullHistoryTsLow: user-defined timestamps");
}

Status DBImpl::DeleteFile(std::string) {
  return Status::NotSupported("DeleteFile: files hold pieces of many tables");
}

}  // namespace compassdb
