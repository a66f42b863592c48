// SPDX-License-Identifier: Apache-2.0
#include "client.h"

#include <algorithm>
#include <thread>

namespace kvbench {

using rocksdb::Slice;
using rocksdb::Status;

namespace {

constexpr uint64_t kMaxScan = 100;

uint64_t ExpectedInserts(const WorkloadSpec& spec, uint64_t operations) {
  // Twice the mean, as YCSB does, so that the range is not outgrown.
  return spec.kind == WorkloadKind::kYcsbMix ? operations * static_cast<uint64_t>(spec.insert) / 50
                                             : 0;
}

// Different for every thread of every workload. Otherwise a workload could read
// records in the order in which the fill before it wrote them.
uint64_t SeedOf(const Flags& flags, const WorkloadSpec& spec, int index) {
  uint64_t seed = Mix64(flags.seed);
  for (const char c : spec.name) seed = Mix64(seed + static_cast<unsigned char>(c) + 1);
  return Mix64(seed + static_cast<uint64_t>(index) + 1);
}

uint64_t Nanos(std::chrono::steady_clock::duration d) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
}

std::string Printable(const std::string& key) { return Slice(key).ToString(true); }

}  // namespace

const char* OpName(Op op) {
  static const char* const kNames[kOps] = {"read", "update", "insert", "scan", "rmw", "multiread"};
  return kNames[static_cast<int>(op)];
}

Client::Client(const Flags& flags, const WorkloadSpec& spec, Engine* engine, KeySet* keys,
               int index, uint64_t operations)
    : flags_(flags),
      spec_(spec),
      engine_(engine),
      keys_(keys),
      index_(index),
      operations_(operations),
      key_maker_(keys->key_size(), keys->order()),
      random_(SeedOf(flags, spec, index)),
      values_(keys->value_sizes(), random_.Next(), flags.compressible),
      chooser_(spec.distribution, std::max<uint64_t>(1, keys->limit()),
               ExpectedInserts(spec, flags.Operations()), flags.zipf_constant) {}

void Client::Run() {
  RunOperations();
  for (int i = 0; i < kOps; ++i) latest_[i].Flush(&result_.latency[i]);
}

void Client::RunOperations() {
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::seconds(flags_.seconds);
  const bool limited = flags_.seconds > 0 && !spec_.Fills();
  const uint64_t batch = spec_.kind == WorkloadKind::kMultiReadRandom ? flags_.batch_size : 1;
  uint64_t step = 1;
  // Without a rate one operation begins where the one before ended: one look at the clock each.
  auto start = begin;
  for (uint64_t i = 0; i < operations_ && !stop_.load(std::memory_order_relaxed); i += step) {
    step = std::min(batch, operations_ - i);
    const auto due = flags_.rate > 0 ? WaitUntilDue(begin, i) : start;
    if (flags_.rate > 0) start = Clock::now();
    if (limited && start >= end) return;
    const Op op = ChooseOp();
    result_.status = Perform(op, step);
    const auto finish = Clock::now();
    if (!result_.status.ok()) return;
    const auto kind = static_cast<int>(op);
    latest_[kind].Add(Nanos(finish - start), &result_.latency[kind]);
    if (flags_.rate > 0) {
      result_.longest_delay_nanos = std::max(result_.longest_delay_nanos, Nanos(finish - due));
    }
    start = finish;
    done_.store(i + step, std::memory_order_relaxed);
  }
}

Client::Clock::time_point Client::WaitUntilDue(Clock::time_point begin, uint64_t i) const {
  const auto place = i * static_cast<uint64_t>(flags_.threads) + static_cast<uint64_t>(index_);
  const auto due = begin + std::chrono::nanoseconds(static_cast<uint64_t>(
                               static_cast<double>(place) * 1e9 / static_cast<double>(flags_.rate)));
  if (Clock::now() < due) std::this_thread::sleep_until(due);
  return due;
}

Status Client::WarmUp() {
  const uint64_t threads = static_cast<uint64_t>(flags_.threads);
  for (uint64_t number = static_cast<uint64_t>(index_); number < keys_->limit();
       number += threads) {
    Status s = Read(number);
    if (!s.ok()) return s;
  }
  value_.Reset();
  result_ = ClientResult();
  return Status::OK();
}

void Client::RunWriter() {
  const auto begin = Clock::now();
  for (uint64_t i = 0; !stop_.load(std::memory_order_relaxed); ++i) {
    if (flags_.writes_per_second > 0) {
      const auto due =
          begin + std::chrono::nanoseconds(i * 1'000'000'000ULL / flags_.writes_per_second);
      if (Clock::now() < due) {
        std::this_thread::sleep_for(
            std::min<Clock::duration>(due - Clock::now(), std::chrono::milliseconds(50)));
        if (Clock::now() < due) {
          --i;
          continue;
        }
      }
    }
    const auto start = Clock::now();
    result_.status = Put(random_.Uniform(keys_->limit()));
    if (!result_.status.ok()) return;
    result_.latency[static_cast<int>(Op::kUpdate)].Add(Nanos(Clock::now() - start));
  }
}

Op Client::ChooseOp() {
  int draw = static_cast<int>(random_.Uniform(100));
  if (spec_.kind == WorkloadKind::kMultiReadRandom) return Op::kMultiRead;
  if ((draw -= spec_.read) < 0) return Op::kRead;
  if ((draw -= spec_.update) < 0) return Op::kUpdate;
  if ((draw -= spec_.insert) < 0) return Op::kInsert;
  if ((draw -= spec_.scan) < 0) return Op::kScan;
  return Op::kRmw;
}

uint64_t Client::ChooseExisting() { return chooser_.Next(&random_, keys_->limit()); }

Status Client::Perform(Op op, uint64_t n) {
  switch (op) {
    case Op::kRead:
      return spec_.kind == WorkloadKind::kReadMissing ? ReadMissing() : Read(ChooseExisting());
    case Op::kUpdate:
      return Put(ChooseExisting());
    case Op::kInsert:
      return Insert();
    case Op::kScan:
      return Scan();
    case Op::kMultiRead:
      return MultiRead(n);
    case Op::kRmw: {
      const uint64_t number = ChooseExisting();
      Status s = Read(number);
      return s.ok() ? Put(number) : s;
    }
  }
  return Status::OK();
}

Status Client::Read(uint64_t number) {
  key_maker_.Make(number, &key_);
  const bool expected = keys_->Contains(number);
  value_.Reset();
  return CheckRead(number, expected, key_, engine_->Get(key_, &value_), value_);
}

Status Client::CheckRead(uint64_t number, bool expected, const std::string& key, const Status& s,
                         const Slice& value) {
  if (s.IsNotFound()) {
    if (expected) return Status::Corruption("a key that was written is not found", Printable(key));
    ++result_.not_found;
    return Status::OK();
  }
  if (!s.ok()) return s;
  if (!values_.Matches(number, {value.data(), value.size()})) {
    return Status::Corruption("a key has the value of another", Printable(key));
  }
  result_.user_bytes_read += key.size() + value.size();
  return s;
}

Status Client::MultiRead(uint64_t n) {
  numbers_.resize(n);
  batch_keys_.resize(n);
  batch_slices_.resize(n);
  batch_values_.resize(n);
  batch_statuses_.resize(n);
  for (uint64_t i = 0; i < n; ++i) {
    numbers_[i] = ChooseExisting();
    key_maker_.Make(numbers_[i], &batch_keys_[i]);
    batch_slices_[i] = batch_keys_[i];
    batch_values_[i].Reset();
  }
  // Readers only: a record that exists now existed at the read.
  engine_->MultiGet(n, batch_slices_.data(), batch_values_.data(), batch_statuses_.data());
  for (uint64_t i = 0; i < n; ++i) {
    Status s = CheckRead(numbers_[i], keys_->Contains(numbers_[i]), batch_keys_[i],
                         batch_statuses_[i], batch_values_[i]);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status Client::ReadMissing() {
  key_maker_.MakeMissing(ChooseExisting(), &key_);
  value_.Reset();
  Status s = engine_->Get(key_, &value_);
  if (s.ok()) return Status::Corruption("a key that was never written is found", Printable(key_));
  if (!s.IsNotFound()) return s;
  ++result_.not_found;
  return Status::OK();
}

Status Client::Put(uint64_t number) {
  key_maker_.Make(number, &key_);
  const std::string_view value = values_.Make(number);
  Status s = engine_->Put(key_, Slice(value.data(), value.size()));
  if (!s.ok()) return s;
  keys_->Mark(number);
  result_.user_bytes_written += key_.size() + value.size();
  return s;
}

Status Client::Insert() {
  const uint64_t number = keys_->ReserveInsert();
  Status s = Put(number);
  if (s.ok()) keys_->AcknowledgeInsert(number);
  return s;
}

Status Client::Scan() {
  const bool seekrandom = spec_.kind == WorkloadKind::kSeekRandom;
  const uint64_t length =
      seekrandom ? static_cast<uint64_t>(flags_.seek_nexts) + 1 : 1 + random_.Uniform(kMaxScan);
  key_maker_.Make(ChooseExisting(), &key_);
  std::string wrong;
  // It does not map keys to records.
  const uint64_t largest = keys_->value_sizes().largest();
  const bool one_size = keys_->value_sizes().all_alike();
  Status s = engine_->Scan(key_, length, [&](const Slice& key, const Slice& value) {
    if (one_size && value.size() != largest && wrong.empty()) wrong = key.ToString(true);
    result_.user_bytes_read += key.size() + value.size();
    ++result_.scanned_records;
  });
  if (!wrong.empty()) return Status::Corruption("a scanned value has a wrong size", wrong);
  return s;
}

}  // namespace kvbench
