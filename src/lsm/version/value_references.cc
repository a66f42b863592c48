// SPDX-License-Identifier: Apache-2.0
#include "lsm/version/value_references.h"

#include "iter/merging_iterator.h"
#include "util/string_util.h"
#include "value_store/value_ref.h"

namespace compassdb {

Status CheckValueReferences(const LsmVersion& version, const Comparator* comparator, const KeyHasher& hasher) {
  BlockReadOptions read;
  read.fill_cache = false;
  read.whole_piece = true;
  std::vector<InternalIteratorPtr> children;
  RangeTombstoneSet tombstones(comparator);
  Status s = version.AddIterators(read, &children, &tombstones);
  if (!s.ok()) return s;
  const InternalKeyComparator order(comparator);
  const InternalIteratorPtr it = NewMergingIterator(&order, std::move(children));
  std::string key;
  bool settled = false;  // older records of the key do not count
  bool first = true;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const Slice user_key = ExtractUserKey(it->key());
    if (first || comparator->Compare(user_key, key) != 0) {
      key.assign(user_key.data(), user_key.size());
      first = settled = false;
    }
    if (settled) continue;
    const ValueType type = ExtractType(it->key());
    settled = type != kTypeMerge;
    if (tombstones.Covers(user_key, ExtractSequence(it->key()), kMaxSequenceNumber)) {
      settled = true;
      continue;
    }
    if (type != kTypeBlobIndex) continue;
    ValueRef ref;
    bool found = false;
    if (ref.Parse(it->value())) {
      s = version.values()->Has(hasher(user_key), ref.number, &found);
      if (!s.ok()) return s;
    }
    if (found) continue;
    return Status::Corruption("the separated value of key " + EscapeKey(user_key) + " is in no file",
                              "number " + std::to_string(ref.number));
  }
  return it->status();
}

}  // namespace compassdb
