// SPDX-License-Identifier: Apache-2.0
// A store's facet for separated values: the bound of their space, and the collections of garbage
// that keep it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "store/compaction_task.h"
#include "store/store_view.h"
#include "store/value_options.h"

namespace compassdb {

// A forced collection of separated values, group by group.
struct ValueCollection {
  double old_share = -1;   // ValueOptions::old_share; negative: as the family has it
  uint64_t from = 0;       // where the next group is looked for, of all groups
  std::optional<uint64_t> old_until;  // the id of the youngest run that is old enough; of the first pick
};

// All methods are [mutex].
class ValueSpace {
 public:
  virtual ~ValueSpace() = default;
  // The view for FlushRequest: holding it keeps no separated value on disk.
  virtual std::shared_ptr<const StoreView> ViewForJob() = 0;
  // Bytes; 0: none.
  virtual uint64_t ValueBound() const = 0;
  // How much each memtable may add, so that the bound is kept.
  virtual ValueRoom FlushRoom() const = 0;
  // A flush of this size (as ValueRoom counts it) would exceed the bound, and collections
  // that run, or that PickCompaction would return, can make room.
  virtual bool AwaitsCollection(uint64_t flush_bytes) = 0;
  // As Store's PickCompaction, collections only; `for_room`: only those that a flush may wait for.
  virtual std::unique_ptr<CompactionTask> PickCollection(bool for_room) = 0;
  virtual bool NeedsCollection(bool for_room) const = 0;
  // The next group that may have garbage; *collection then points behind it. Null: there is none,
  // or with *conflict, it is being collected.
  virtual std::unique_ptr<CompactionTask> PickValues(ValueCollection* collection, bool* conflict) = 0;
  // While they are held, collections are picked only if a flush waits for room (AwaitsCollection).
  virtual void HoldCollections() = 0;
  virtual void UnholdCollections() = 0;
  // PickCollection may find work after an idle time.
  virtual bool WantsIdleLooks() const = 0;
};

}  // namespace compassdb
