// SPDX-License-Identifier: Apache-2.0
#include "db/families/options_files.h"

#include "db/report/info_log.h"
#include "options/options_file.h"

namespace compassdb {

Status OptionsFiles::Write() {
  MutexLock lock(&mu_);
  std::vector<NamedFamilyOptions> families;
  for (const auto& family : families_.All()) families.push_back({family->name(), family->options()});
  rocksdb::DBOptions options;
  {
    MutexLock guard(db_mu_);
    options = config_.options;
  }
  const uint64_t number = commits_.NewNumber();
  Status s = WriteOptionsFile(config_.fs, config_.name, number, options, families,
                              !ledger_.deletions_enabled(),
                              ownership_ == nullptr ? 0 : ownership_->places().first_number);
  if (s.ok()) {
    number_ = number;
    return s;
  }
  LogInfo(config_.info_log.get(), "OPTIONS file: " + s.ToString());
  if (!config_.options.fail_if_options_file_error) return Status::OK();
  return Status::IOError("the OPTIONS file cannot be written (fail_if_options_file_error)",
                         s.ToString());
}

}  // namespace compassdb
