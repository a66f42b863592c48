// SPDX-License-Identifier: Apache-2.0
#include "client.h"

#include <algorithm>
#include <memory>
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

// Different for every thread of every workload: a workload that drew the same
// records in the same order as the fill before it would find them laid out so.
uint64_t SeedOf(const Flags& flags, const WorkloadSpec& spec, int index) {
  uint64_t seed = Mix64(flags.seed);
  for (const char c : spec.name) seed = Mix64(seed + static_cast<unsigned char>(c) + 1);
  return Mix64(seed + static_cast<uint64_t>(index) + 1);
}

std::string Printable(const std::string& key) { return Slice(key).ToString(true); }

}  // namespace

const char* OpName(Op op) {
  static const char* const kNames[kOps] = {"read", "update", "insert", "scan", "rmw"};
  return kNames[static_cast<int>(op)];
}

Client::Client(const Flags& flags, const WorkloadSpec& spec, Engine* engine, KeySet* keys,
               int index, uint64_t operations)
    : flags_(flags),
      spec_(spec),
      engine_(engine),
      keys_(keys),
      operations_(operations),
      key_maker_(keys->key_size(), keys->order()),
      random_(SeedOf(flags, spec, index)),
      values_(keys->value_size(), random_.Next()),
      chooser_(spec.distribution, std::max<uint64_t>(1, keys->limit()),
               ExpectedInserts(spec, flags.Operations())) {}

void Client::Run() {
  for (uint64_t i = 0; i < operations_ && !stop_.load(std::memory_order_relaxed); ++i) {
    const Op op = ChooseOp();
    const auto start = Clock::now();
    result_.status = Perform(op);
    const auto nanos =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    if (!result_.status.ok()) return;
    result_.latency[static_cast<int>(op)].Add(static_cast<uint64_t>(nanos));
    done_.store(i + 1, std::memory_order_relaxed);
  }
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
    const auto nanos =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    result_.latency[static_cast<int>(Op::kUpdate)].Add(static_cast<uint64_t>(nanos));
  }
}

Op Client::ChooseOp() {
  int draw = static_cast<int>(random_.Uniform(100));
  if ((draw -= spec_.read) < 0) return Op::kRead;
  if ((draw -= spec_.update) < 0) return Op::kUpdate;
  if ((draw -= spec_.insert) < 0) return Op::kInsert;
  if ((draw -= spec_.scan) < 0) return Op::kScan;
  return Op::kRmw;
}

uint64_t Client::ChooseExisting() { return chooser_.Next(&random_, keys_->limit()); }

Status Client::Perform(Op op) {
  switch (op) {
    case Op::kRead:
      return spec_.kind == WorkloadKind::kReadMissing ? ReadMissing() : Read(ChooseExisting());
    case Op::kUpdate:
      return Put(ChooseExisting());
    case Op::kInsert:
      return Insert();
    case Op::kScan:
      return Scan();
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
  Status s = engine_->db()->Get(engine_->read_options(), engine_->db()->DefaultColumnFamily(), key_,
                                &value_);
  if (s.IsNotFound()) {
    if (expected) return Status::Corruption("a key that was written is not found", Printable(key_));
    ++result_.not_found;
    return Status::OK();
  }
  if (!s.ok()) return s;
  if (!values_.Matches(number, {value_.data(), value_.size()})) {
    return Status::Corruption("a key has the value of another", Printable(key_));
  }
  result_.user_bytes_read += key_.size() + value_.size();
  return s;
}

Status Client::ReadMissing() {
  key_maker_.MakeMissing(ChooseExisting(), &key_);
  value_.Reset();
  Status s = engine_->db()->Get(engine_->read_options(), engine_->db()->DefaultColumnFamily(), key_,
                                &value_);
  if (s.ok()) return Status::Corruption("a key that was never written is found", Printable(key_));
  if (!s.IsNotFound()) return s;
  ++result_.not_found;
  return Status::OK();
}

Status Client::Put(uint64_t number) {
  key_maker_.Make(number, &key_);
  const std::string_view value = values_.Make(number);
  Status s = engine_->db()->Put(engine_->write_options(), key_, Slice(value.data(), value.size()));
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
  std::unique_ptr<rocksdb::Iterator> it(engine_->db()->NewIterator(engine_->read_options()));
  uint64_t seen = 0;
  for (it->Seek(key_); it->Valid() && seen < length; it->Next()) {
    if (it->value().size() != keys_->value_size()) {
      return Status::Corruption("a scanned value has a wrong size", it->key().ToString(true));
    }
    result_.user_bytes_read += it->key().size() + it->value().size();
    if (++seen == length) break;
  }
  result_.scanned_records += seen;
  return it->status();
}

}  // namespace kvbench
