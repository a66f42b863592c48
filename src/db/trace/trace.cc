// SPDX-License-Identifier: Apache-2.0
// Traces of operations: recorded by Tracing, run by a Replayer.
#include "db/db_impl.h"
#include "db/engine.h"
#include "trace/replayer.h"

namespace compassdb {

Status DBImpl::StartTrace(const rocksdb::TraceOptions& options,
                          std::unique_ptr<rocksdb::TraceWriter>&& writer) {
  if (Inherited()) return InheritedStatus();
  return engine_->tracing.Start(engine_->state.config.clock, options, std::move(writer));
}

Status DBImpl::EndTrace() { return Inherited() ? InheritedStatus() : engine_->tracing.End(); }

Status DBImpl::NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                                  std::unique_ptr<rocksdb::TraceReader>&& reader,
                                  std::unique_ptr<rocksdb::Replayer>* replayer) {
  if (Inherited()) return InheritedStatus();
  if (replayer == nullptr || reader == nullptr) {
    return Status::InvalidArgument("NewDefaultReplayer: reader or replayer is null");
  }
  *replayer = NewReplayer(this, handles, std::move(reader));
  return Status::OK();
}

}  // namespace compassdb
