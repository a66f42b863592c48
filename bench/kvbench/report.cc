// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

// A ratio that has no meaning (nothing written, nothing read) is null.
Json Ratio(double numerator, double denominator) {
  return denominator > 0 ? Json(numerator / denominator) : Json(nullptr);
}

Json Latencies(const ClientResult& clients) {
  Json all = Json::object();
  for (int i = 0; i < kOps; ++i) {
    const Histogram& h = clients.latency[i];
    if (h.Count() == 0) continue;
    all[OpName(static_cast<Op>(i))] = {{"count", h.Count()},
                                       {"avg", h.AverageMicros()},
                                       {"p50", h.PercentileMicros(0.50)},
                                       {"p95", h.PercentileMicros(0.95)},
                                       {"p99", h.PercentileMicros(0.99)},
                                       {"p999", h.PercentileMicros(0.999)},
                                       {"max", h.MaxMicros()}};
  }
  return all;
}

struct Reads {
  Json count;
  const char* source;
};

Reads DeviceReads(const Flags& flags, const WorkloadResult& r) {
  if (flags.direct) {
    const int64_t calls = r.after.read_calls - r.before.read_calls;
    const auto ring =
        static_cast<int64_t>(r.after.syncs.ring_requests - r.before.syncs.ring_requests);
    return {Json(calls + ring), "read calls of the process (O_DIRECT)"};
  }
  if (r.before.disk_reads >= 0)
    return {Json(r.after.disk_reads - r.before.disk_reads), "/proc/diskstats"};
  return {Json(nullptr), "none: the file system has no device of its own"};
}

}  // namespace

std::string JsonReport(const Flags& flags, const WorkloadSpec& spec, const EngineBuild& build,
                       const WorkloadResult& r) {
  const auto written = static_cast<double>(r.after.write_bytes - r.before.write_bytes);
  const auto read = static_cast<double>(r.after.read_bytes - r.before.read_bytes);
  const Reads reads = DeviceReads(flags, r);
  Json j;
  j["engine"] = build.engine;
  j["workload"] = spec.name;
  j["operations"] = r.operations;
  j["seconds"] = r.seconds;
  j["ops_per_second"] = static_cast<double>(r.operations) / r.seconds;
  j["latency_us"] = Latencies(r.clients);
  j["user_bytes_written"] = r.clients.user_bytes_written;
  j["device_bytes_written"] = r.after.write_bytes - r.before.write_bytes;
  j["user_bytes_read"] = r.clients.user_bytes_read;
  j["device_bytes_read"] = r.after.read_bytes - r.before.read_bytes;
  j["device_reads"] = reads.count;
  j["write_amplification"] = Ratio(written, static_cast<double>(r.clients.user_bytes_written));
  j["read_amplification"] = Ratio(read, static_cast<double>(r.clients.user_bytes_read));
  j["space_amplification"] =
      Ratio(static_cast<double>(r.db_bytes), static_cast<double>(r.live_bytes));
  j["fsyncs"] = r.after.syncs.fsyncs - r.before.syncs.fsyncs;
  j["msyncs"] = r.after.syncs.msyncs - r.before.syncs.msyncs;
  j["sync_file_ranges"] = r.after.syncs.sync_file_ranges - r.before.syncs.sync_file_ranges;
  j["index_memory_bytes"] = r.index_memory_bytes < 0 ? Json(nullptr) : Json(r.index_memory_bytes);
  j["index_bytes_per_key"] =
      r.index_memory_bytes < 0
          ? Json(nullptr)
          : Ratio(static_cast<double>(r.index_memory_bytes), static_cast<double>(r.live_keys));
  j["peak_rss_bytes"] = r.peak_rss_bytes;
  j["db_bytes"] = r.db_bytes;
  j["file_bytes"] = r.file_bytes;
  j["peak_db_bytes"] = r.peak_db_bytes;
  // The sources of the figures above.
  j["foreground_seconds"] = r.foreground_seconds;
  j["user_cpu_us_per_op"] =
      Ratio((r.after.user_seconds - r.before.user_seconds) * 1e6, static_cast<double>(r.operations));
  j["system_cpu_us_per_op"] = Ratio((r.after.system_seconds - r.before.system_seconds) * 1e6,
                                    static_cast<double>(r.operations));
  j["dirtied_bytes"] = r.after.dirtied_bytes - r.before.dirtied_bytes;
  const bool counted = r.tables_after.written >= 0;
  j["table_bytes_written"] =
      counted ? Json(r.tables_after.written - r.tables_before.written) : Json(nullptr);
  j["table_bytes_read"] =
      counted ? Json(r.tables_after.read - r.tables_before.read) : Json(nullptr);
  j["compaction_seconds"] =
      counted ? Json(r.tables_after.seconds - r.tables_before.seconds) : Json(nullptr);
  j["longest_delay_ms"] =
      flags.rate > 0 ? Json(static_cast<double>(r.clients.longest_delay_nanos) / 1e6)
                     : Json(nullptr);
  j["open_seconds"] = r.open_seconds;
  j["operations_by_second"] = r.done_by_second;
  j["properties"] = Json::object();
  for (const auto& [name, value] : r.properties) {
    j["properties"][name] = value < 0 ? Json(nullptr) : Json(value);
  }
  j["not_found"] = r.clients.not_found;
  j["scanned_records"] = r.clients.scanned_records;
  j["live_keys"] = r.live_keys;
  j["live_user_bytes"] = r.live_bytes;
  j["device_reads_source"] = reads.source;
  j["engine_version"] = build.version;
  j["engine_library"] = build.library;
  j["engine_assertions"] = build.assertions;
  j["defaults"] = flags.defaults;
  j["records"] = flags.records;
  j["threads"] = flags.threads;
  j["key_size"] = flags.key_size;
  if (flags.value_sizes.all_alike()) {
    j["value_size"] = flags.value_sizes.largest();
  } else {
    j["value_size"] = flags.value_sizes.text();
  }
  j["compressible"] = flags.compressible;
  j["distribution"] = DistributionName(spec.distribution);
  if (spec.distribution != Distribution::kUniform) j["zipf_constant"] = flags.zipf_constant;
  j["batch_size"] = flags.batch_size;
  j["direct"] = flags.direct;
  j["sync"] = flags.sync;
  j["skip_syncs"] = flags.skip_syncs;
  j["cache_mb"] = flags.cache_mb;
  j["data_cache_kb"] = flags.data_cache_kb;
  j["memory_mb"] = flags.memory_mb;
  j["index_in_cache"] = flags.index_in_cache;
  j["disable_wal"] = flags.disable_wal;
  j["rate"] = flags.rate;
  j["warm_up"] = flags.warm_up;
  j["memtable_mb"] = flags.memtable_mb;
  j["table_mb"] = flags.table_mb;
  j["compact"] = flags.compact;
  j["compression"] = flags.compression;
  j["bloom_bits"] = flags.bloom_bits;
  j["background_threads"] = flags.background_threads;
  j["preset"] = flags.preset;
  j["data_order"] = flags.data_order;
  j["options_string"] = flags.options_string;
  j["set_options"] = flags.set_options;
  j["seed"] = flags.seed;
  return j.dump();
}

std::string TextReport(const WorkloadSpec& spec, const WorkloadResult& r) {
  std::string line =
      fmt::format("{} {}: {} operations in {:.2f} s, {:.0f}/s", EngineName(), spec.name,
                  r.operations, r.seconds, static_cast<double>(r.operations) / r.seconds);
  for (int i = 0; i < kOps; ++i) {
    const Histogram& h = r.clients.latency[i];
    if (h.Count() == 0) continue;
    line += fmt::format("; {} p50 {:.1f} p99 {:.1f} us", OpName(static_cast<Op>(i)),
                        h.PercentileMicros(0.5), h.PercentileMicros(0.99));
  }
  const auto written = static_cast<double>(r.after.write_bytes - r.before.write_bytes);
  if (r.clients.user_bytes_written > 0) {
    line += fmt::format(
        "; write amplification {:.2f}, space {:.2f}",
        written / static_cast<double>(r.clients.user_bytes_written),
        static_cast<double>(r.db_bytes) / static_cast<double>(std::max<uint64_t>(1, r.live_bytes)));
  }
  return line;
}

}  // namespace kvbench
