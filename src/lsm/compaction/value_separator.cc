// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/value_separator.h"

#include "value_store/value_ref.h"

namespace compassdb {

namespace {

ValueWriter::Options WriterOptions(const StoreContext* context, const StoreOptions* options,
                                   uint32_t group_bits, const UpdateCounts* updates, const LsmVersion* version,
                                   JobFile* file) {
  ValueWriter::Options o;
  o.statistics = context->statistics;
  o.updates = updates;
  if (version != nullptr) o.uncommitted_bytes = version->values()->uncommitted_bytes();
  o.group_bits = group_bits;
  o.compression = options->values.compression;
  o.compression_level = options->compression_level;
  o.creation_time = context->clock->NowMicros() / 1000000;
  o.file = [file](CompactionFileWriter** writer) { return file->Writer(writer); };
  o.new_number = context->new_number;
  return o;
}

}  // namespace

ValueSeparator::ValueSeparator(const StoreContext* context, const StoreOptions* options, Options job)
    : context_(context),
      options_(options),
      job_(std::move(job)),
      separates_(options->values.enabled && job_.level >= options->values.starting_level),
      notices_(job_.version != nullptr && !job_.version->values()->empty()),
      notice_worth_(notices_ ? static_cast<int64_t>(job_.version->values()->NoticeWorth()) : 0),
      updates_(separates_ && options->values.hot_cold && job_.version != nullptr
                   ? job_.version->values()->updates()
                   : nullptr),
      writer_(WriterOptions(context, options, job_.group_bits, updates_, job_.version, job_.file)) {
  if (notices_ && updates_ != nullptr) updates_->Reserve(job_.version->values()->Stats().values);
}

Status ValueSeparator::Pass(bool stale, bool made, Slice* key, Slice* value) {
  const ValueType type = ExtractType(*key);
  if (type == kTypeMerge || type == kTypeBlobIndex) return Status::OK();
  const SequenceNumber sequence = ExtractSequence(*key);
  const bool fresh = sequence >= job_.fresh_from;
  bool separate = separates_ && type == kTypeValue && value->size() >= options_->values.min_size &&
                  value->size() > 0;
  if (!separates_ && !((fresh || made) && notices_)) return Status::OK();
  const Slice user_key = ExtractUserKey(*key);
  const bool newest = !above_ || user_key != above_->user_key;
  const SequenceNumber newer_sequence = newest ? 0 : above_->sequence;
  const bool newer_noticed = !newest && above_->noticed;
  if (newest) {
    if (!above_) above_.emplace();
    above_->user_key.assign(user_key.data(), user_key.size());
  }
  above_->sequence = sequence;
  above_->noticed = false;
  if (!separate && !fresh && !made) return Status::OK();
  const KeyHash hash = context_->hasher(user_key);
  if (separate && !fresh) {
    separate = !stale && (job_.newer_outside == nullptr || !job_.newer_outside(user_key, hash));
    if (!separate && !made) return Status::OK();
  }
  bool supersedes = false;
  if (fresh) {
    const bool known = notices_ && job_.version->MayHold(user_key, hash);
    if (known) AddNotice(hash, sequence, separate, newest);
    supersedes = known && newest;
    above_->noticed = known;
  } else if (!separate && notices_) {
    AddNotice(hash, sequence, /*separated=*/false, /*newest=*/false);
    above_->noticed = true;
  }
  if (!separate) return Status::OK();
  above_->noticed = true;
  if (!newest) {
    // A snapshot keeps it, for now.
    writer_.AddPinnedHint(hash.h1, static_cast<int64_t>(value->size()), sequence, newer_sequence - 1);
    if (!newer_noticed) writer_.AddNotice({hash.h1, StoredH2(hash.h2), newer_sequence});
  }
  ref_.clear();
  Status s = writer_.Add(user_key, hash, sequence, *value, supersedes, &ref_);
  if (!s.ok()) return s;
  if (fresh && options_->values.cache_new && job_.version != nullptr) job_.version->values()->Keep(ref_, *value);
  job_.file->Throttle();
  key_.clear();
  AppendInternalKey(&key_, user_key, sequence, kTypeBlobIndex);
  *key = key_;
  *value = ref_;
  return s;
}

void ValueSeparator::AddNotice(const KeyHash& hash, SequenceNumber sequence, bool separated, bool newest) {
  if (separated) {
    if (newest && updates_ != nullptr) updates_->Add(hash.h1);
    return;
  }
  if (newest) writer_.AddDeadHint(hash.h1, notice_worth_);
  writer_.AddNotice({hash.h1, StoredH2(hash.h2), sequence});
}

void ValueSeparator::Dropped(const Slice& user_key, const Slice& stored, bool superseded) {
  ValueRef ref;
  if (!ref.Parse(stored)) return;
  const KeyHash hash = context_->hasher(user_key);
  writer_.AddDeath({hash.h1, ref.number});
  // A newer record was counted when it was flushed.
  if (!superseded) writer_.AddDeadHint(hash.h1, ref.size);
}

Status ValueSeparator::Finish(VersionEdit* edit) {
  if (Status s = writer_.Finish(); !s.ok()) return s;
  writer_.AppendTo(edit);
  return Status::OK();
}

}  // namespace compassdb
