// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_version.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "table/io_limits.h"
#include "table/read_stats.h"
#include "table/stat_timer.h"
#include "util/checked.h"
#include "util/compression.h"
#include "util/epoch.h"
#include "util/heap_bytes.h"
#include "value_store/value_cache.h"

namespace compassdb {

ValueVersion::ValueVersion(std::shared_ptr<const ValueContext> context,
                           std::vector<ValueRunRef> runs)
    : context_(std::move(context)), runs_(std::move(runs)) {
  for (const ValueRunRef& run : runs_) {
    bits_ = std::max(bits_, run->meta().group.bits);
    total_bytes_ += run->meta().extent.length;
    total_values_ += run->meta().num_values;
    raw_bytes_ += run->meta().raw_bytes;
  }
  if (runs_.empty()) return;
  by_group_.resize(size_t{1} << bits_);
  for (const ValueRunRef& run : runs_) {
    if (run->meta().num_values == 0) continue;
    const ValueGroup& group = run->meta().group;
    const uint32_t shift = bits_ - group.bits;
    for (uint32_t i = group.prefix << shift; i < (group.prefix + 1) << shift; ++i) {
      by_group_[i].push_back({run->meta().min_number, run->meta().max_number, run.get()});
    }
  }
  for (auto& group : by_group_) {
    std::sort(group.begin(), group.end(),
              [](const Holder& a, const Holder& b) { return a.min_number < b.min_number; });
  }
  for (const Group& group : Groups()) {
    superseded_bytes_ += group.dead_bytes + group.pinned_bytes;
    most_small_runs_ = std::max(most_small_runs_, group.small_runs);
  }
  if (context_->charge != nullptr) context_->charge->Add(OwnMemoryBytes());
}

void ValueVersion::CheckInvariants() const {
  if constexpr (!kChecked) return;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const char* const broken = runs_[i]->meta().BrokenInvariant();
    COMPASSDB_INVARIANT(broken == nullptr, broken);
    COMPASSDB_INVARIANT(i == 0 || runs_[i - 1]->meta().run_id < runs_[i]->meta().run_id, "runs are sorted by id, each once");
    COMPASSDB_INVARIANT(!runs_[i]->obsolete(), "a run of the newest version is in the manifest");
  }
  for (const auto& holders : by_group_) {
    const bool sorted = std::is_sorted(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
      return a.min_number < b.min_number;
    });
    COMPASSDB_INVARIANT(sorted, "the runs of a group are sorted by their smallest number");
  }
  uint64_t bytes = 0, values = 0;
  const std::vector<Group> groups = Groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    bytes += groups[i].bytes;
    values += groups[i].values;
    COMPASSDB_INVARIANT(groups[i].dead_bytes + groups[i].pinned_bytes <= groups[i].bytes, "no more is dead than there is");
    COMPASSDB_INVARIANT(i == 0 || !groups[i - 1].group.Overlaps(groups[i].group), "groups share no key");
  }
  COMPASSDB_INVARIANT(bytes == total_bytes_ && values == total_values_, "each run is in one group");
}

ValueVersion::~ValueVersion() {
  if (context_->charge != nullptr && !runs_.empty()) context_->charge->Subtract(OwnMemoryBytes());
}

Status ValueVersion::Find(const KeyHash& hash, uint64_t number, bool cache_only, const ValueRun** run,
                          ValuePlace* place) const {
  if (!by_group_.empty()) {
    const auto& group = by_group_[bits_ == 0 ? 0 : hash.h1 >> (64 - bits_)];
    auto at = std::upper_bound(
        group.begin(), group.end(), number,
        [](uint64_t wanted, const Holder& h) { return wanted < h.min_number; });
    while (at != group.begin()) {
      --at;
      if (number > at->max_number) continue;
      bool found = false;
      Status s = at->run->Find(number, cache_only, &found, place);
      if (s.ok() && !found) continue;
      *run = at->run;
      return s;
    }
  }
  return Status::NotFound("separated value " + std::to_string(number));
}

Status ValueVersion::Locate(const BlockReadOptions& read, const KeyHash& hash, uint64_t number,
                            const ValueRun** run, ValuePlace* place) const {
  Status s = Find(hash, number, read.cache_only, run, place);
  if (s.ok() && read.cache_only) return Status::Incomplete("value is not in memory, and no file may be read");
  return s;
}

Status ValueVersion::Has(const KeyHash& hash, uint64_t number, bool* found) const {
  const ValueRun* run = nullptr;
  ValuePlace place;
  Status s = Locate({}, hash, number, &run, &place);
  *found = s.ok();
  return s.IsNotFound() ? Status::OK() : s;
}

namespace {

Status ParseRef(const Slice& bytes, const Slice& user_key, ValueRef* ref) {
  if (ref->Parse(bytes)) return Status::OK();
  return Status::Corruption("malformed reference to a separated value",
                            user_key.ToString(/*hex=*/true));
}

}  // namespace

Status ValueVersion::Read(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                          const Slice& ref, rocksdb::PinnableSlice* value) const {
  EpochGuard::AssertNone();
  ValueRef parsed;
  Status s = ParseRef(ref, user_key, &parsed);
  if (!s.ok()) return s;
  if (context_->cache != nullptr && FindCachedValue(*context_, parsed.number, value)) return s;
  const ValueRun* run = nullptr;
  ValuePlace place;
  s = Locate(read, hash, parsed.number, &run, &place);
  if (!s.ok()) return s;
  IoTimer timer(read.limits);
  s = timer.Begin();
  if (!s.ok()) return s;
  // Read into the result itself: uncompressed, its value is then a part of that.
  Slice record;
  s = run->ReadRecord(place, read.verify_checksums, value->GetSelf(), &record);
  if (s.ok()) s = timer.End();
  return s.ok() ? Accept(read.fill_cache, *run, place, user_key, parsed, record, nullptr, value) : s;
}

void ValueVersion::ReadMany(const BlockReadOptions& read, std::span<ValueRequest> requests) const {
  ValueReads reads;
  reads.Start(*this, read, read.fill_cache, /*share=*/false, requests);
  reads.Finish();
}

void ValueReads::Start(const ValueVersion& version, const BlockReadOptions& read, bool fill_cache, bool share,
                       std::span<ValueRequest> requests) {
  Drop();
  version_ = &version;
  read_ = &read;
  fill_cache_ = fill_cache;
  share_ = share;
  const ValueContext& context = *version.context_;
  for (ValueRequest& r : requests) {
    Wanted w{&r, {}, nullptr, {}, nullptr};
    r.status = ParseRef(r.ref, r.user_key, &w.ref);
    if (!r.status.ok()) continue;
    if (context.cache != nullptr && FindCachedValue(context, w.ref.number, r.value)) continue;
    wanted_.push_back(w);
  }
  LocateAll();
  OpenFiles();
  AddReads();
}

// Places that are not in memory are loaded together. For each value the places of the run that is searched first, then
// those of the next, in the order in which single reads would load them.
void ValueReads::LocateAll() {
  constexpr int kRounds = 4;  // then each value loads its own
  for (int round = 0; round <= kRounds && !read_->cache_only; ++round) {
    std::vector<const ValueRun*> unloaded;
    for (Wanted& w : wanted_) {
      Status& s = w.request->status;
      if (round > 0 && !s.IsIncomplete()) continue;
      s = version_->Find(w.request->hash, w.ref.number, /*cache_only=*/round < kRounds, &w.run, &w.place);
      if (s.IsIncomplete()) unloaded.push_back(w.run);
    }
    if (unloaded.empty()) break;
    ValueRun::LoadTogether(std::move(unloaded));
  }
  std::erase_if(wanted_, [&](Wanted& w) {
    Status& s = w.request->status;
    if (read_->cache_only) s = version_->Locate(*read_, w.request->hash, w.ref.number, &w.run, &w.place);
    return !s.ok();
  });
}

void ValueReads::OpenFiles() {
  std::erase_if(wanted_, [&](Wanted& w) {
    std::shared_ptr<CompactionFile> opened;
    w.request->status = w.run->File(&opened, &w.file);
    if (opened != nullptr) files_.push_back(std::move(opened));
    return !w.request->status.ok();
  });
}

void ValueReads::AddReads() {
  places_.clear();
  for (const Wanted& w : wanted_) {
    const Extent& extent = w.run->meta().extent;
    places_.push_back({extent.file_number, extent.offset + w.place.offset, w.place.size,
                       static_cast<uint32_t>(&w - wanted_.data())});
  }
  JoinPlaces(&places_, &spans_);
  size_t bytes = 0;
  for (const ReadSpan& span : spans_) bytes += ReadsIntoValue(span) ? 0 : span.length;
  char* next = bytes == 0 ? nullptr : room_.Reserve(bytes);
  reads_.assign(spans_.size(), ReadRequest());
  for (size_t i = 0; i < spans_.size(); ++i) {
    const ReadSpan& span = spans_[i];
    reads_[i].offset = span.offset;
    reads_[i].length = span.length;
    if (ReadsIntoValue(span)) {
      std::string* const room = FirstOf(span).request->value->GetSelf();
      room->resize(span.length);
      reads_[i].scratch = room->data();
    } else {
      reads_[i].scratch = next;
      next += span.length;
    }
  }
  for (size_t begin = 0, end = 0; begin < spans_.size(); begin = end) {
    const CompactionFile* const file = FirstOf(spans_[begin]).file;
    for (end = begin + 1; end < spans_.size() && FirstOf(spans_[end]).file == file;) ++end;
    file->file()->AddReads(&reads_[begin], end - begin, &batch_);
  }
}

void ValueReads::Finish() {
  if (wanted_.empty()) return;
  IoTimer timer(read_->limits);
  const Status late = timer.Begin();
  if (late.ok()) {
    const PerfTimer perf(&rocksdb::PerfContext::blob_read_time);
    const StatTimer watch(version_->context_->tables->options.statistics,
                          rocksdb::BLOB_DB_BLOB_FILE_READ_MICROS);
    batch_.Wait();
  } else {
    batch_.Abandon();
  }
  const Status too_long = timer.End();
  for (size_t i = 0; i < spans_.size(); ++i) {
    const ReadSpan& span = spans_[i];
    const ReadRequest& read = reads_[i];
    if (late.ok() && read.status.ok() && read.result.data() != read.scratch) {
      memcpy(read.scratch, read.result.data(), read.result.size());
    }
    for (uint32_t at = span.first; at < span.first + span.count; ++at) {
      const FilePlace& place = places_[at];
      const Wanted& w = wanted_[place.index];
      Status& s = w.request->status;
      const size_t before = std::min<size_t>(place.offset - span.offset, read.result.size());
      const Slice record(read.scratch + before, std::min<size_t>(place.size, read.result.size() - before));
      if (!late.ok()) {
        s = late;
      } else if (!read.status.ok()) {
        s = span.count == 1 ? read.status : ReadAlone(w);
      } else {
        s = w.run->CheckRead(w.place, read_->verify_checksums, record);
        if (s.ok()) s = too_long.ok() ? Take(w, record) : too_long;
      }
    }
  }
  wanted_.clear();
}

Status ValueReads::Take(const Wanted& w, const Slice& record) {
  return version_->Accept(fill_cache_, *w.run, w.place, w.request->user_key, w.ref, record,
                          share_ ? &room_ : nullptr, w.request->value);
}

// What a read of several could not read may be damage of one.
Status ValueReads::ReadAlone(const Wanted& w) {
  Slice record;
  Status s = w.run->ReadRecord(w.place, read_->verify_checksums, w.request->value->GetSelf(), &record);
  if (!s.ok()) return s;
  return version_->Accept(fill_cache_, *w.run, w.place, w.request->user_key, w.ref, record, nullptr,
                          w.request->value);
}

void ValueReads::Drop() {
  batch_.Abandon();
  wanted_.clear();
  files_.clear();
}

Status ValueVersion::Accept(bool fill_cache, const ValueRun& run, const ValuePlace& place, const Slice& user_key,
                            const ValueRef& ref, const Slice& record, SharedRoom* room,
                            rocksdb::PinnableSlice* value) const {
  Tick(context_->tables->options.statistics, rocksdb::BLOB_DB_BLOB_FILE_BYTES_READ, place.size);
  if (rocksdb::PerfContext* perf = PerfCounters()) {
    ++perf->blob_read_count;
    perf->blob_read_byte += place.size;
  }
  const auto bad = [&](const std::string& what) {
    return Status::Corruption(context_->tables->files->PathOf(run.meta().extent.file_number),
                              "value run " + std::to_string(run.meta().run_id) + ": record at " +
                                  std::to_string(place.offset) + " " + what);
  };
  ParsedValueRecord parsed;
  if (!ParseValueRecord(record, &parsed) || parsed.number != ref.number ||
      parsed.user_key != user_key) {
    return bad("is of another value or key");
  }
  std::string* const self = value->GetSelf();
  Slice plain = parsed.stored;
  std::string decompressed;
  if (parsed.compression != rocksdb::kNoCompression) {
    Status s;
    {
      const PerfTimer timer(&rocksdb::PerfContext::blob_decompress_time);
      const StatTimer watch(context_->tables->options.statistics, rocksdb::BLOB_DB_DECOMPRESSION_MICROS);
      s = Decompress(parsed.compression, parsed.stored, ref.size, &decompressed);
    }
    if (!s.ok()) return s.IsMemoryLimit() ? s : bad(s.ToString());
    plain = decompressed;
  }
  if (plain.size() != ref.size) return bad("has a value of another size than its table says");
  if (parsed.compression != rocksdb::kNoCompression) {
    self->swap(decompressed);
  } else if (room != nullptr) {
    room->Pin(plain, value);
  } else if (record.data() == self->data()) {
    self->erase(0, static_cast<size_t>(plain.data() - self->data()));
  } else {
    self->assign(plain.data(), plain.size());
  }
  if (!value->IsPinned()) value->PinSelf();
  if (context_->cache != nullptr && fill_cache) KeepValue(*context_, ref.number, *value);
  return Status::OK();
}

void ValueVersion::Keep(const Slice& ref, const Slice& value) const {
  ValueRef parsed;
  if (context_->cache != nullptr && parsed.Parse(ref)) KeepValue(*context_, parsed.number, value);
}

std::vector<ValueVersion::Group> ValueVersion::Groups() const {
  std::vector<Group> groups;
  if (runs_.empty()) return groups;
  std::vector<SequenceNumber> snapshots;
  if (context_->snapshots) snapshots = context_->snapshots();
  const auto held = [&](const ValueHints& known) {
    const auto it = std::lower_bound(snapshots.begin(), snapshots.end(), known.pinned_from);
    return it != snapshots.end() && *it <= known.pinned_to;
  };
  // For each of the finest groups, the widest run over it: its keys may be in all groups of that run.
  std::vector<ValueGroup> widest(size_t{1} << bits_);
  for (uint32_t i = 0; i < widest.size(); ++i) widest[i] = {i, bits_};
  for (const ValueRunRef& run : runs_) {
    const ValueGroup& group = run->meta().group;
    const uint32_t shift = bits_ - group.bits;
    for (uint32_t i = group.prefix << shift; i < (group.prefix + 1) << shift; ++i) {
      if (group.bits < widest[i].bits) widest[i] = group;
    }
  }
  std::vector<uint32_t> index(widest.size());
  for (uint32_t i = 0; i < widest.size(); ++i) {
    if (groups.empty() || !(groups.back().group == widest[i])) groups.push_back({widest[i]});
    index[i] = static_cast<uint32_t>(groups.size() - 1);
  }
  struct Hints {
    int64_t dead = 0, pinned = 0;
  };
  std::vector<Hints> hints(groups.size());
  for (const ValueRunRef& run : runs_) {
    const ValueRunMeta& meta = run->meta();
    Group& group = groups[index[meta.group.prefix << (bits_ - meta.group.bits)]];
    Hints& hint = hints[static_cast<size_t>(&group - groups.data())];
    group.bytes += meta.extent.length;
    group.values += meta.num_values;
    const ValueHints known = run->hints();
    hint.dead += known.dead;
    if (known.pinned != 0) (held(known) ? hint.pinned : hint.dead) += known.pinned;
    group.events += run->events();
    if (IsSmallRun(meta)) ++group.small_runs;
    if (IsSmallRun(meta) || NeverStays(meta)) group.small_bytes += meta.extent.length;
    group.newest = std::max(group.newest, meta.creation_time);
    group.oldest_run = std::min(group.oldest_run, meta.run_id);
  }
  const auto within = [](int64_t hint, uint64_t limit) {
    return std::min(limit, static_cast<uint64_t>(std::max<int64_t>(hint, 0)));
  };
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].dead_bytes = within(hints[i].dead, groups[i].bytes);
    groups[i].pinned_bytes = within(hints[i].pinned, groups[i].bytes - groups[i].dead_bytes);
  }
  std::erase_if(groups, [](const Group& g) { return g.bytes == 0; });
  return groups;
}

std::vector<ValueRunRef> ValueVersion::RunsOf(const ValueGroup& group) const {
  std::vector<ValueRunRef> result;
  for (const ValueRunRef& run : runs_) {
    if (group.Overlaps(run->meta().group)) result.push_back(run);
  }
  return result;
}

std::vector<uint64_t> ValueVersion::DeadBytes() const {
  std::vector<uint64_t> dead;
  std::vector<Group> groups = Groups();  // by their prefixes, disjoint; each run is in one of them
  const auto first_of = [this](const ValueGroup& group) { return group.prefix << (bits_ - group.bits); };
  for (const ValueRunRef& run : runs_) {
    const uint64_t bytes = run->meta().extent.length;
    if (bytes == 0) {  // then its group may have been left out
      dead.push_back(0);
      continue;
    }
    const uint32_t first = first_of(run->meta().group);
    Group& group = *std::prev(std::upper_bound(
        groups.begin(), groups.end(), first, [&](uint32_t at, const Group& g) { return at < first_of(g.group); }));
    // The rest of it is divided over the rest of the runs, so that rounding loses nothing.
    const auto share = static_cast<uint64_t>(static_cast<double>(group.dead_bytes) * static_cast<double>(bytes) /
                                             static_cast<double>(group.bytes));
    dead.push_back(bytes == group.bytes ? group.dead_bytes : std::min({share, bytes, group.dead_bytes}));
    group.bytes -= bytes;
    group.dead_bytes -= dead.back();
  }
  return dead;
}

// Runs of one job are of one age, so whole files count.
uint64_t ValueVersion::OldUntil(double share) const {
  if (share >= 1) return UINT64_MAX;
  struct File {
    uint64_t first = 0, last = 0;  // run ids
    uint64_t bytes = 0;
  };
  std::unordered_map<uint64_t, size_t> places;
  std::vector<File> files;  // in the order of their first runs, as runs_ are
  for (const ValueRunRef& run : runs_) {
    const ValueRunMeta& meta = run->meta();
    const auto [at, added] = places.emplace(meta.extent.file_number, files.size());
    if (added) files.push_back({meta.run_id});
    files[at->second].last = meta.run_id;
    files[at->second].bytes += meta.extent.length;
  }
  uint64_t until = 0, before = 0;
  for (const File& file : files) {
    if (static_cast<double>(before) >= share * static_cast<double>(total_bytes_)) break;
    until = std::max(until, file.last);
    before += file.bytes;
  }
  return until;
}

uint64_t ValueVersion::TailUntil(const ValueGroup& group, uint64_t bytes) const {
  uint64_t until = 0, taken = 0;
  for (const ValueRunRef& run : runs_) {
    const ValueRunMeta& meta = run->meta();
    if (!group.Overlaps(meta.group)) continue;
    taken += meta.extent.length;
    if (until != 0 && taken > bytes) break;
    until = meta.run_id;
  }
  return until;
}

ValueStats ValueVersion::Stats() const {
  ValueStats stats;
  std::unordered_set<uint64_t> files;
  for (const ValueRunRef& run : runs_) {
    const ValueRunMeta& meta = run->meta();
    ++stats.runs;
    files.insert(meta.extent.file_number);
    stats.values += meta.num_values;
    stats.raw_bytes += meta.raw_bytes;
  }
  stats.files = files.size();
  stats.total_bytes = total_bytes_;
  stats.held_bytes = context_->held_bytes;
  stats.uncommitted_bytes = *context_->uncommitted_bytes;
  for (const Group& group : Groups()) {
    stats.dead_bytes += group.dead_bytes;
    stats.pinned_bytes += group.pinned_bytes;
    const uint32_t parts = bits_ - group.group.bits;  // log 2
    const uint64_t values = group.values >> parts;
    stats.least_in_group = stats.groups == 0 ? values : std::min(stats.least_in_group, values);
    stats.most_in_group = std::max(stats.most_in_group, values);
    stats.groups += uint64_t{1} << parts;
  }
  return stats;
}

uint64_t ValueVersion::Stored(uint64_t value_bytes) const {
  constexpr double kMost = 2;  // as many notices may take any share
  if (raw_bytes_ == 0) return value_bytes + value_bytes / 10;
  const double ratio = static_cast<double>(total_bytes_) / static_cast<double>(raw_bytes_);
  return static_cast<uint64_t>(static_cast<double>(value_bytes) * std::clamp(ratio, 1.0, kMost));
}

uint64_t ValueVersion::NoticeWorth() const {
  const uint64_t worth = context_->notice_worth.load(std::memory_order_relaxed);
  if (worth != ValueContext::kUnknown) return worth;
  return total_values_ == 0 ? 0 : total_bytes_ / total_values_;
}

void ValueVersion::LearnNoticeWorth(uint64_t notices, uint64_t ended_bytes) const {
  // The old average counts like this number of notices.
  constexpr uint64_t kMemory = 64;
  if (notices == 0) return;
  context_->notice_worth.store((NoticeWorth() * kMemory + ended_bytes) / (kMemory + notices),
                               std::memory_order_relaxed);
}

size_t ValueVersion::OwnMemoryBytes() const {
  size_t bytes = HeapBytes(sizeof(*this) + kSharedControlBytes) + HeapBytes(runs_) + HeapBytes(by_group_);
  for (const auto& group : by_group_) bytes += HeapBytes(group);
  return bytes;
}

size_t ValueVersion::MemoryBytes() const {
  size_t bytes = OwnMemoryBytes();
  for (const ValueRunRef& run : runs_) bytes += run->MemoryBytes();
  if (updates() != nullptr) bytes += updates()->MemoryBytes();
  return bytes;
}

}  // namespace compassdb
