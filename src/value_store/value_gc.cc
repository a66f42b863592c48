// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_gc.h"

#include <algorithm>
#include <unordered_set>

#include "value_store/value_format.h"

namespace compassdb {

namespace {

// Values are read and written in rounds of this size, in memory.
constexpr uint64_t kRoundBytes = 32 << 20;
// If hot and cold values are separated, a collection takes the runs with the most garbage per byte to copy.
// Its other costs, as a share of the group: the higher, the more runs it takes at once.
constexpr double kOverheadShare = 0.1;
// The most runs of a group that may stay as they are: each is one more place to search.
constexpr size_t kMaxStaying = 24;

// A value or a notice of the group.
struct Version {
  uint64_t h1 = 0;
  uint32_t h2 = 0;
  uint32_t run = 0;   // index of the input
  uint32_t slot = 0;  // index in its key table
  bool notice = false;
  SequenceNumber sequence = 0;
};

// A value that only snapshots see.
struct Pinned {
  uint32_t run;  // index of the input
  uint64_t h1;
  uint64_t bytes;
  SequenceNumber first, last;  // of the snapshots
};

bool SameKey(const Version& a, const Version& b) { return a.h1 == b.h1 && a.h2 == b.h2; }

// By key; of a key newest first.
struct Before {
  bool operator()(const Version& a, const Version& b) const {
    if (a.h1 != b.h1) return a.h1 < b.h1;
    if (a.h2 != b.h2) return a.h2 < b.h2;
    return a.sequence > b.sequence;
  }
};

struct Input {
  std::vector<ValueEntry> values;
  std::vector<bool> dead;  // by value: no table names it
  std::vector<bool> keep;  // by value: a reader may need it
  std::vector<bool> cold;  // by value, decided once: counts change all the time
  bool stays = false;      // the run is not rewritten
  uint64_t live_bytes = 0, dead_bytes = 0;
  uint64_t freed_bytes = 0;  // of the dead ones, those dropped independently of other runs
};

class Collection {
 public:
  Collection(const ValueGcJob& job, VersionEdit* edit, ValueGcReport* report)
      : job_(job), edit_(edit), report_(report) {}

  Status Run() {
    Status s = Load();
    if (!s.ok()) return s;
    Judge();
    Assess();
    if (report_->counted) return s;
    ChooseStaying();
    ValueWriter hot(Options(false)), cold(Options(true));
    CarryNotices(&hot);
    s = Copy(false, &hot);
    if (s.ok()) s = Copy(true, &cold);
    if (s.ok()) s = hot.Finish();
    if (s.ok()) s = cold.Finish();
    if (s.ok() && report_->values_moved != to_move_) {
      // Fail rather than lose values.
      s = Status::Corruption("collection of values",
                             "moved " + std::to_string(report_->values_moved) + " of " +
                                 std::to_string(to_move_) + " values");
    }
    if (!s.ok()) return s;
    for (size_t i = 0; i < job_.inputs.size(); ++i) {
      if (!inputs_[i].stays) edit_->deleted_values.push_back(job_.inputs[i]->meta().run_id);
    }
    for (const ValueWriter* writer : {&hot, &cold}) writer->AppendTo(edit_);
    return s;
  }

  Status FindSuperseded(std::vector<uint64_t>* numbers) {
    if (Status s = Load(); !s.ok()) return s;
    Judge();
    for (const Input& input : inputs_) {
      for (size_t slot = 0; slot < input.values.size(); ++slot) {
        if (!input.keep[slot]) numbers->push_back(input.values[slot].number);
      }
    }
    return Status::OK();
  }

 private:
  ValueWriter::Options Options(bool cold) const {
    ValueWriter::Options options;
    options.group_bits = job_.group_bits;
    options.statistics = job_.statistics;
    options.cold = cold;
    options.counted = true;
    options.round_bytes = kRoundBytes;
    options.file = cold && job_.cold_file ? job_.cold_file : job_.file;
    options.new_number = job_.new_number;
    options.creation_time = oldest_;
    options.uncommitted_bytes = job_.uncommitted_bytes;
    return options;
  }

  Status Load() {
    inputs_.resize(job_.inputs.size());
    for (uint32_t i = 0; i < inputs_.size(); ++i) {
      const ValueRun& run = *job_.inputs[i];
      oldest_ = std::min(oldest_, run.meta().creation_time);
      Input& input = inputs_[i];
      std::vector<ValueNotice> notices;
      Status s = run.ReadKeys(&input.values, &notices, &deaths_);
      if (!s.ok()) return s;
      death_runs_.resize(deaths_.size(), i);
      report_->bytes_read += run.meta().keys_bytes;
      report_->values_in += input.values.size();
      input.keep.resize(input.values.size());
      input.dead.resize(input.values.size());
      input.cold.resize(input.values.size());
      for (uint32_t slot = 0; slot < input.values.size(); ++slot) {
        const ValueEntry& e = input.values[slot];
        input.cold[slot] = job_.updates != nullptr ? !job_.updates->Hot(e.h1) : job_.keep_cold && run.meta().cold;
        versions_.push_back({e.h1, e.h2, i, slot, false, e.sequence});
      }
      for (const ValueNotice& n : notices) {
        versions_.push_back({n.h1, n.h2, i, 0, true, n.sequence});
      }
      s = job_.pause();
      if (!s.ok()) return s;
    }
    if (oldest_ == UINT64_MAX) oldest_ = 0;
    MarkDead();
    std::sort(versions_.begin(), versions_.end(), Before());
    return Status::OK();
  }

  // Numbers ascend in each run.
  void MarkDead() {
    std::vector<uint64_t> dead;
    dead.reserve(deaths_.size());
    for (const ValueDeath& d : deaths_) dead.push_back(d.number);
    std::sort(dead.begin(), dead.end());
    for (Input& input : inputs_) {
      if (input.values.empty()) continue;
      auto next = std::lower_bound(dead.begin(), dead.end(), input.values.front().number);
      for (size_t slot = 0; slot < input.values.size(); ++slot) {
        const uint64_t number = input.values[slot].number;
        while (next != dead.end() && *next < number) ++next;
        input.dead[slot] = next != dead.end() && *next == number;
      }
    }
  }

  // A value is live while a reader, at a snapshot or at the end, sees it and nothing newer.
  void Judge() {
    for (size_t begin = 0; begin < versions_.size();) {
      size_t end = begin + 1;
      while (end < versions_.size() && SameKey(versions_[begin], versions_[end])) ++end;
      SequenceNumber newer = kMaxSequenceNumber;  // of what supersedes the version
      for (size_t i = begin; i < end; ++i) {
        const Version& v = versions_[i];
        if (i > begin && v.sequence < versions_[i - 1].sequence) newer = versions_[i - 1].sequence;
        if (v.notice) continue;
        Input& input = inputs_[v.run];
        if (input.dead[v.slot]) continue;
        if (newer == kMaxSequenceNumber) {
          input.keep[v.slot] = true;
        } else if (const auto [first, last] = SnapshotsIn(v.sequence, newer); first <= last) {
          input.keep[v.slot] = true;
          pinned_.push_back({v.run, v.h1, input.values[v.slot].size, first, last});
        }
      }
      begin = end;
    }
  }

  // The first and the last snapshot that see `sequence` and not `newer`; in descending order if none does.
  std::pair<SequenceNumber, SequenceNumber> SnapshotsIn(SequenceNumber sequence,
                                                        SequenceNumber newer) const {
    const auto& all = job_.snapshots;
    const auto first = std::lower_bound(all.begin(), all.end(), sequence);
    const auto end = std::lower_bound(first, all.end(), newer);
    if (first == end) return {1, 0};
    return {*first, *std::prev(end)};
  }

  // What a collection would gain, by runs, and whether it is worth it.
  void Assess() {
    std::vector<ValueHints>& hints = report_->hints;
    hints.resize(inputs_.size());
    std::vector<bool> used(inputs_.size());  // something in the run matters
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (size_t slot = 0; slot < inputs_[i].values.size(); ++slot) {
        if (inputs_[i].keep[slot]) {
          used[i] = true;
        } else {
          hints[i].dead += inputs_[i].values[slot].size + kValueTableBytes;
          inputs_[i].freed_bytes += inputs_[i].values[slot].size + kValueTableBytes;
        }
      }
    }
    for (size_t begin = 0; begin < versions_.size();) {
      size_t end = begin + 1;
      while (end < versions_.size() && SameKey(versions_[begin], versions_[end])) ++end;
      bool older_value = false;
      bool older_read = false;  // a reader needs an older value of the key, without a notice yet
      for (size_t i = end; i-- > begin;) {
        const Version& v = versions_[i];
        const bool fresh = !job_.inputs[v.run]->counted();
        if (!v.notice) {
          older_value = true;
          older_read = older_read || inputs_[v.run].keep[v.slot];
          continue;
        }
        if (fresh) ++report_->notices;
        if (fresh && i + 1 < end && !versions_[i + 1].notice) {
          report_->ended_bytes += inputs_[versions_[i + 1].run].values[versions_[i + 1].slot].size;
        }
        if (older_read || v.sequence > job_.retain_above) {
          used[v.run] = true;
          older_read = false;
        } else {
          hints[v.run].dead += kNoticeBytes;
          if (!older_value) inputs_[v.run].freed_bytes += kNoticeBytes;
        }
      }
      begin = end;
    }
    int64_t dead = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto length = static_cast<int64_t>(job_.inputs[i]->meta().extent.length);
      hints[i].dead = used[i] ? std::min(hints[i].dead, length) : length;
      if (!Young(i)) dead += hints[i].dead;
    }
    for (const Pinned& p : pinned_) {
      ValueHints& h = hints[p.run];
      h.pinned += static_cast<int64_t>(p.bytes);
      h.pinned_from = std::min(h.pinned_from, p.first);
      h.pinned_to = std::max(h.pinned_to, p.last);
    }
    report_->counted =
        job_.count || (job_.vacated.empty() && dead < static_cast<int64_t>(job_.believed_dead / 2));
  }

  bool Young(size_t i) const { return job_.inputs[i]->meta().run_id > job_.old_until; }

  // Runs that are too young stay, and runs without garbage, unless they are a log's tail. If hot and cold values are
  // separated, so do runs that cost more to copy than they free. If files are vacated, runs in other files
  // stay, however many they are: the job has room for no more. If runs are merged, large ones stay.
  void ChooseStaying() {
    uint64_t bytes = 0;
    std::vector<size_t> order;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Input& input = inputs_[i];
      for (size_t slot = 0; slot < input.values.size(); ++slot) {
        if (input.keep[slot]) input.live_bytes += input.values[slot].size;
      }
      input.dead_bytes = static_cast<uint64_t>(report_->hints[i].dead);
      bytes += input.live_bytes + input.dead_bytes;
      // Runs of wider groups are divided. The parts have separate ranges, so one part cannot correct what another
      // says of snapshots: it would not be known which of the two still counts.
      const ValueRunMeta& meta = job_.inputs[i]->meta();
      bool may = Young(i);
      if (job_.merge) {
        may = !IsSmallRun(meta);
      } else if (!may) {
        may = !job_.tail && (job_.updates != nullptr || !job_.vacated.empty() || input.dead_bytes == 0) &&
              meta.group.bits == job_.group_bits && job_.vacated.count(meta.extent.file_number) == 0;
      }
      input.stays = may && !NeverStays(meta);
      if (input.stays) order.push_back(i);
    }
    if (job_.merge || job_.old_until != UINT64_MAX || !job_.vacated.empty()) return;
    // A notice is dropped only with the value that it ended. If it counted here, a job might take its run and not the
    // value's. Then the notice would be rewritten again and again.
    const auto worth = [this](size_t i) {
      return static_cast<double>(inputs_[i].freed_bytes) / static_cast<double>(inputs_[i].live_bytes + 1);
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return worth(a) > worth(b); });
    const double overhead = kOverheadShare * static_cast<double>(bytes);
    double freed = 0, live = 0, best = 0;
    size_t taken = 0;
    for (size_t n = 0; n < order.size(); ++n) {
      freed += static_cast<double>(inputs_[order[n]].freed_bytes);
      live += static_cast<double>(inputs_[order[n]].live_bytes);
      if (freed > best * (live + overhead)) {
        best = freed / (live + overhead);
        taken = n + 1;
      }
    }
    for (size_t n = 0; n < taken; ++n) inputs_[order[n]].stays = false;
    order.erase(order.begin(), order.begin() + static_cast<ptrdiff_t>(taken));
    if (order.size() <= kMaxStaying) return;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return inputs_[a].live_bytes < inputs_[b].live_bytes;
    });
    for (size_t n = 0; n < order.size() - kMaxStaying / 2; ++n) inputs_[order[n]].stays = false;
  }

  // Notices that the group still needs, because their dead values still exist or may come.
  void CarryNotices(ValueWriter* out) {
    for (size_t begin = 0; begin < versions_.size();) {
      size_t end = begin + 1;
      while (end < versions_.size() && SameKey(versions_[begin], versions_[end])) ++end;
      // Oldest first: whether something older remains is known by then.
      bool older_remains = false;
      for (size_t i = end; i-- > begin;) {
        const Version& v = versions_[i];
        const bool stays = inputs_[v.run].stays;
        if (!v.notice && (stays || inputs_[v.run].keep[v.slot])) {
          older_remains = true;
        } else if (stays) {
          older_remains = false;  // the notice is for all of them
        } else if (older_remains || v.sequence > job_.retain_above) {
          out->AddNotice({v.h1, v.h2, v.sequence});
          older_remains = false;
        }
      }
      begin = end;
    }
    std::unordered_set<uint64_t> known_dead;
    for (size_t i = 0; i < deaths_.size(); ++i) {
      if (inputs_[death_runs_[i]].stays) known_dead.insert(deaths_[i].number);
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      const ValueRunMeta& meta = job_.inputs[i]->meta();
      if (input.stays) {
        const uint64_t h1 = meta.group.bits == 0 ? 0 : uint64_t{meta.group.prefix} << (64 - meta.group.bits);
        if (meta.dead_hint != 0) out->AddDeadHint(h1, -meta.dead_hint);
      }
      for (size_t slot = 0; slot < input.values.size(); ++slot) {
        if (input.keep[slot]) {
          to_move_ += input.stays ? 0 : 1;
          continue;
        }
        const ValueEntry& e = input.values[slot];
        if (!input.stays) continue;
        // With its part of what the run has in addition to records.
        out->AddDeadHint(e.h1, static_cast<int64_t>(e.size * meta.extent.length / meta.records_bytes));
        if (input.dead[slot] && known_dead.count(e.number) == 0) {
          out->AddDeath({e.h1, e.number});
        }
      }
    }
    for (const Pinned& p : pinned_) out->AddPinnedHint(p.h1, p.bytes, p.first, p.last);
  }

  Status Copy(bool cold, ValueWriter* out) {
    struct Item {
      ValueEntry entry;
      uint32_t run;
    };
    std::vector<Item> items;
    for (uint32_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      if (input.stays) continue;
      for (size_t slot = 0; slot < input.values.size(); ++slot) {
        if (!input.keep[slot]) continue;
        if (input.cold[slot] == cold) items.push_back({input.values[slot], i});
      }
    }
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.entry.number < b.entry.number; });
    Status s;
    for (size_t begin = 0; s.ok() && begin < items.size();) {
      size_t end = begin;
      uint64_t bytes = 0;
      while (end < items.size() && (end == begin || bytes + items[end].entry.size <= kRoundBytes)) {
        bytes += items[end++].entry.size;
      }
      // Each run is read front to back; the records are put in the order of their numbers.
      std::vector<ValueEntry> round;
      std::vector<std::vector<ValueEntry>> by_run(inputs_.size());
      std::vector<std::vector<size_t>> indices(inputs_.size());  // in the round
      round.reserve(end - begin);
      for (size_t i = begin; i < end; ++i) {
        by_run[items[i].run].push_back(items[i].entry);
        indices[items[i].run].push_back(round.size());
        round.push_back(items[i].entry);
      }
      s = out->Move(round, [&](const std::vector<char*>& places) {
        Status read;
        for (size_t run = 0; read.ok() && run < by_run.size(); ++run) {
          if (by_run[run].empty()) continue;
          size_t next = 0;
          const auto take = [&](const ValueEntry&, const Slice& record) {
            memcpy(places[indices[run][next++]], record.data(), record.size());
            report_->bytes_read += record.size();
            ++report_->values_moved;
            return Status::OK();
          };
          read = job_.inputs[run]->ReadRecords(by_run[run], std::min(job_.read_span, kRoundBytes), take);
          if (read.ok()) read = job_.pause();
        }
        return read;
      });
      report_->bytes_moved += bytes;
      begin = end;
    }
    return s;
  }

  const ValueGcJob& job_;
  VersionEdit* const edit_;
  ValueGcReport* const report_;
  std::vector<Input> inputs_;
  std::vector<Version> versions_;
  std::vector<Pinned> pinned_;
  std::vector<ValueDeath> deaths_;
  std::vector<uint32_t> death_runs_;  // for each, the input with the death
  uint64_t oldest_ = UINT64_MAX;
  uint64_t to_move_ = 0;  // live values in runs that are deleted
};

}  // namespace

Status FindSuperseded(const ValueGroup& group, const std::vector<ValueRunRef>& runs, std::vector<uint64_t>* numbers) {
  ValueGcJob job;
  job.group = group;
  job.inputs = runs;
  job.pause = [] { return Status::OK(); };
  VersionEdit none;
  ValueGcReport report;
  return Collection(job, &none, &report).FindSuperseded(numbers);
}

Status CollectValueGroup(const ValueGcJob& job, VersionEdit* edit, ValueGcReport* report) {
  return Collection(job, edit, report).Run();
}

}  // namespace compassdb
