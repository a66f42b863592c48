// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rocksdb/listener.h"
#include "rocksdb/status.h"

namespace compassdb {

// Where the parts of a database report errors. Without locks, except the front of the write queue.
class BackgroundErrors {
 public:
  // Sets the error, unless a listener clears it.
  virtual void SetBackgroundError(const rocksdb::Status& error, rocksdb::BackgroundErrorReason reason) = 0;
  // The current error refused a write.
  virtual void WriteRefused() = 0;

 protected:
  ~BackgroundErrors() = default;
};

}  // namespace compassdb
