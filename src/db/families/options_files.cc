// SPDX-License-Identifier: Apache-2.0
// The OPTIONS file: written anew whenever options or families change.
#include "options/options_file.h"

#include "db/db_impl.h"

namespace compassdb {

Status DBImpl::PersistOptions() {
  MutexLock lock(&options_file_mu_);
  std::vector<NamedFamilyOptions> families;
  for (const auto& family : families_.All()) families.push_back({family->name(), family->options()});
  const uint64_t number = commits_.NewNumber();
  Status s = WriteOptionsFile(config_.fs, config_.name, number, GetDBOptions(), families,
                              !ledger_->deletions_enabled(),
                              ownership_ == nullptr ? 0 : ownership_->places().first_number);
  if (s.ok()) {
    options_number_ = number;
    return s;
  }
  LogInfo(config_.info_log.get(), "OPTIONS file: " + s.ToString());
  if (!config_.options.fail_if_options_file_error) return Status::OK();
  return Status::IOError("the OPTIONS file cannot be written (fail_if_options_file_error)",
                         s.ToString());
}

}  // namespace compassdb
