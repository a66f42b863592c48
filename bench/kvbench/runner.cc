// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace kvbench {

using rocksdb::Status;

namespace {

using Clock = std::chrono::steady_clock;
using Clients = std::vector<std::unique_ptr<Client>>;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Shows progress on stderr, keeps the cache at the size that the index leaves, samples the space of the
// database and the operations of each second, and ends the clients by --while-property, until it is
// stopped.
class Monitor {
 public:
  // *result has the peak of the space and the seconds, when this is destroyed.
  Monitor(const Flags& flags, const WorkloadSpec& spec, uint64_t operations, const Clients* clients,
          Engine* engine, WorkloadResult* result)
      : flags_(flags),
        spec_(spec),
        operations_(operations),
        clients_(clients),
        engine_(engine),
        result_(result),
        start_(Clock::now()),
        thread_([this] { Loop(); }) {}
  ~Monitor() {
    end_ = true;
    thread_.join();
    CountSeconds(clients_ran_for_);
    result_->done_by_second.resize(static_cast<size_t>(clients_ran_for_));
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
  }
  // All of them have ended, after this number of seconds.
  void ClientsEnded(double seconds) {
    clients_ran_for_ = seconds;
    clients_ended_ = true;
  }

 private:
  void Loop() {
    const bool terminal = isatty(STDERR_FILENO);
    for (int tick = 1; !end_; ++tick) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      // Waiting for the background is not among them.
      if (!clients_ended_) CountSeconds(SecondsSince(start_));
      if (tick % 5 == 0) engine_->BalanceMemory();
      if (spec_.Writes()) {
        result_->peak_db_bytes = std::max(result_->peak_db_bytes, SpaceOf(flags_.db).allocated);
      }
      if (!flags_.while_property.empty() && !spec_.Fills()) WatchProperty();
      if (tick % (terminal ? 5 : 100) == 0) Show(terminal);
    }
  }
  uint64_t Done() const {
    uint64_t done = 0;
    for (const auto& client : *clients_) done += client->done();
    return done;
  }
  // The whole ones of those that have passed.
  void CountSeconds(double passed) {
    std::vector<uint64_t>& seconds = result_->done_by_second;
    const uint64_t done = Done();
    while (passed >= static_cast<double>(seconds.size() + 1)) {
      seconds.push_back(done - counted_);
      counted_ = done;
    }
  }
  void WatchProperty() {
    const int64_t value = engine_->Property(flags_.while_property);
    if (value == 0 && was_above_zero_) {
      for (const auto& client : *clients_) client->Stop();
    }
    was_above_zero_ = was_above_zero_ || value > 0;
  }
  void Show(bool terminal) {
    const uint64_t done = Done();
    const double seconds = SecondsSince(start_);
    fmt::print(stderr, "{}  {} {}: {:3.0f} %, {:.0f} operations/s{}", terminal ? "\r" : "",
               EngineName(), spec_.name,
               100.0 * static_cast<double>(done) / static_cast<double>(operations_),
               static_cast<double>(done) / seconds,
               done < operations_ ? "" : (spec_.Writes() ? ", waiting for compactions" : ""));
    fmt::print(stderr, "{}", terminal ? "\033[K" : "\n");
    std::fflush(stderr);
  }

  const Flags& flags_;
  const WorkloadSpec& spec_;
  const uint64_t operations_;
  const Clients* const clients_;
  Engine* const engine_;
  WorkloadResult* const result_;
  const Clock::time_point start_;
  uint64_t counted_ = 0;
  bool was_above_zero_ = false;
  double clients_ran_for_ = 0;  // read when the thread has ended
  std::atomic<bool> clients_ended_{false};
  std::atomic<bool> end_{false};
  std::thread thread_;
};

Status WarmUp(const Clients& clients) {
  std::vector<std::thread> threads;
  std::vector<Status> results(clients.size());
  for (size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = clients[i]->WarmUp(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& s : results) {
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status RunClients(const Flags& flags, const WorkloadSpec& spec, const Clients& clients,
                  Client* writer) {
  std::vector<std::thread> threads;
  for (const auto& client : clients) {
    threads.emplace_back([&clients, c = client.get()] {
      c->Run();
      if (c->result().status.ok()) return;
      for (const auto& other : clients) other->Stop();
    });
  }
  std::thread writing;
  if (writer != nullptr) writing = std::thread([writer] { writer->RunWriter(); });
  for (std::thread& thread : threads) thread.join();
  if (writer != nullptr) {
    writer->Stop();
    writing.join();
    if (!writer->result().status.ok()) return writer->result().status;
  }
  for (const auto& client : clients) {
    if (!client->result().status.ok()) return client->result().status;
  }
  return Status::OK();
}

void Add(const Client& client, WorkloadResult* result) {
  const ClientResult& r = client.result();
  result->operations += client.done();
  for (int i = 0; i < kOps; ++i) result->clients.latency[i].Merge(r.latency[i]);
  result->clients.user_bytes_written += r.user_bytes_written;
  result->clients.user_bytes_read += r.user_bytes_read;
  result->clients.not_found += r.not_found;
  result->clients.scanned_records += r.scanned_records;
  result->clients.longest_delay_nanos =
      std::max(result->clients.longest_delay_nanos, r.longest_delay_nanos);
}

Status ReadCounters(const Flags& flags, DeviceCounters* counters) {
  std::string error;
  if (!ReadDeviceCounters(flags.db, counters, &error)) return Status::NotSupported(error);
  return Status::OK();
}

}  // namespace

Status RunWorkload(const Flags& flags, const WorkloadSpec& spec, Engine* engine, KeySet* keys,
                   WorkloadResult* result) {
  // The pending work of an earlier workload does not count for this one.
  Status s = engine->WaitUntilIdle(false);
  if (s.ok() && flags.compact && !spec.Fills()) {
    s = engine->Compact();
    if (s.ok()) s = engine->WaitUntilIdle(false);
  }
  if (!s.ok()) return s;
  engine->BalanceMemory();
  const uint64_t operations = spec.Fills() ? flags.records : flags.Operations();
  if (spec.kind == WorkloadKind::kYcsbLoad || spec.kind == WorkloadKind::kFillSeq)
    keys->StartEmpty();
  keys->ReserveRoom(operations);

  Clients clients;
  const uint64_t threads = static_cast<uint64_t>(flags.threads);
  for (uint64_t i = 0; i < threads; ++i) {
    const uint64_t share = operations / threads + (i < operations % threads ? 1 : 0);
    clients.push_back(
        std::make_unique<Client>(flags, spec, engine, keys, static_cast<int>(i), share));
  }
  std::unique_ptr<Client> writer;
  if (spec.kind == WorkloadKind::kReadWhileWriting) {
    writer = std::make_unique<Client>(flags, spec, engine, keys, flags.threads, 0);
  }
  if (flags.warm_up && !spec.Fills()) {
    if (s = WarmUp(clients); !s.ok()) return s;
  }
  if (!UncountedSyncFs(flags.db.c_str())) return Status::IOError("syncfs", flags.db);
  ResetPeakRss();
  result->tables_before = engine->TableBytesMoved();
  if (s = ReadCounters(flags, &result->before); !s.ok()) return s;
  if (!flags.set_options.empty() && !spec.Fills()) {
    if (s = engine->SetOptions(flags.set_options); !s.ok()) return s;
  }
  {
    Monitor monitor(flags, spec, operations, &clients, engine, result);
    const auto start = Clock::now();
    s = RunClients(flags, spec, clients, writer.get());
    result->foreground_seconds = SecondsSince(start);
    monitor.ClientsEnded(result->foreground_seconds);
    if (s.ok() && spec.Writes()) s = engine->WaitUntilIdle(true);
    result->seconds = SecondsSince(start);
  }
  if (!s.ok()) return s;
  if (!UncountedSyncFs(flags.db.c_str())) return Status::IOError("syncfs", flags.db);
  if (s = ReadCounters(flags, &result->after); !s.ok()) return s;
  result->peak_rss_bytes = PeakRssBytes();
  for (const auto& client : clients) Add(*client, result);
  if (writer != nullptr) Add(*writer, result);
  const FileSpace space = SpaceOf(flags.db);
  result->db_bytes = space.allocated;
  result->file_bytes = space.length;
  for (const std::string& name : flags.properties) {
    result->properties.emplace_back(name, engine->Property(name));
  }
  result->peak_db_bytes = std::max(result->peak_db_bytes, result->db_bytes);
  result->live_keys = keys->live_keys();
  result->live_bytes = keys->live_bytes();
  result->index_memory_bytes = engine->IndexMemoryBytes();
  result->tables_after = engine->TableBytesMoved();
  return s;
}

}  // namespace kvbench
