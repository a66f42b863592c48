// SPDX-License-Identifier: Apache-2.0
#include "db/report/stats_report.h"

#include <cstdarg>
#include <cstdio>

#include "options/option_info.h"
#include "options/store_choices.h"
#include "store/pages.h"
#include "util/c_locale.h"
#include "util/string_util.h"
#include "wal/log_values.h"

namespace compassdb {
namespace {

__attribute__((format(printf, 2, 3))) void Print(std::string* out, const char* format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int n = CLocaleVsnprintf(nullptr, 0, format, args);
  va_end(args);
  if (n > 0) {
    const size_t at = out->size();
    out->resize(at + static_cast<size_t>(n) + 1);  // vsnprintf writes a zero behind the text
    CLocaleVsnprintf(out->data() + at, static_cast<size_t>(n) + 1, format, again);
    out->pop_back();
  }
  va_end(again);
}

using Ull = unsigned long long;

// Of the memtables of a family that are an index of the log.
struct InLog {
  explicit InLog(const FamilyState& f) {
    Pages* const pages = f.family->store()->pages();
    values = pages == nullptr ? nullptr : pages->log_values();
    for (const auto& memtable : f.memtables) {
      count += memtable->num_in_log();
      bytes += memtable->size_in_log();
    }
  }
  LogValues* values;  // of all families; null: they are none
  uint64_t count = 0, bytes = 0;
};

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double BitsPerKey(uint64_t bytes, uint64_t keys) { return 8 * Ratio(bytes, keys); }

struct Amplification {
  double write = 0, space = 0;
};

// Bytes written by flushes and compactions per byte that flushes wrote, since open; bytes on disk per
// byte of live data. Logs do not count.
Amplification Amplify(const FamilyState& f) {
  Amplification amplification;
  const ColumnFamily::Counters& c = f.family->counters;
  amplification.write = Ratio(c.flush_bytes + c.compact_write_bytes, c.flush_bytes);
  const LevelStats totals = f.Sum();
  const ValueStats values = f.view->Values();
  const PageStats pages = f.view->Pages();
  amplification.space =
      Ratio(totals.total_bytes + values.total_bytes + pages.stored_bytes,
            totals.live_data_bytes + values.total_bytes - values.dead_bytes + pages.bytes);
  return amplification;
}

}  // namespace

std::string CompassStats(const FamilyState& f) {
  std::string out;
  Print(&out, "** CompassDB statistics [%s] **\n", f.family->name().c_str());
  out += "Options: " + JoinOptions(StoreChoices(f.family->options()), ";") + "\n";
  Print(&out, "%-6s %8s %8s %10s %10s %7s %12s %12s %10s %10s %8s\n", "Level", "Tables", "Pieces",
        "Size", "Live", "Live%", "Records", "Keys", "Read", "Written", "Jobs");
  for (size_t i = 0; i < f.levels.size(); ++i) {
    const LevelStats& l = f.levels[i];
    if (l.tables == 0 && l.jobs == 0) continue;
    Print(&out, "L%-5zu %8llu %8llu %10s %10s %6.1f%% %12llu %12llu %10s %10s %8llu\n", i,
          Ull{l.tables}, Ull{l.pieces}, HumanBytes(l.total_bytes).c_str(),
          HumanBytes(l.live_data_bytes).c_str(), 100 * Ratio(l.live_data_bytes, l.data_bytes),
          Ull{l.records}, Ull{l.keys}, HumanBytes(l.bytes_read).c_str(),
          HumanBytes(l.bytes_written).c_str(), Ull{l.jobs});
  }
  const LevelStats t = f.Sum();
  Print(&out, "%-6s %8llu %8llu %10s %10s %6.1f%% %12llu %12llu %10s %10s\n", "Sum", Ull{t.tables},
        Ull{t.pieces}, HumanBytes(t.total_bytes).c_str(), HumanBytes(t.live_data_bytes).c_str(),
        100 * Ratio(t.live_data_bytes, t.data_bytes), Ull{t.records}, Ull{t.keys},
        HumanBytes(t.bytes_read).c_str(), HumanBytes(t.bytes_written).c_str());
  const IndexMemory index = f.view->Index();
  Print(&out,
        "Index memory: %s for %llu keys, %.2f bits per key (perfect hash %.2f, fingerprints %.2f, "
        "pieces %.2f, separators %.2f, block offsets %.2f, filters %.2f, separated values %.2f, overflow records %.2f, other %.2f)\n",
        HumanBytes(index.total()).c_str(), Ull{t.keys}, BitsPerKey(index.total(), t.keys),
        BitsPerKey(index.perfect_hash, t.keys), BitsPerKey(index.fingerprints, t.keys),
        BitsPerKey(index.pieces, t.keys), BitsPerKey(index.separators, t.keys),
        BitsPerKey(index.block_offsets, t.keys), BitsPerKey(index.filters, t.keys),
        BitsPerKey(index.values, t.keys), BitsPerKey(index.overflow, t.keys),
        BitsPerKey(index.other, t.keys));
  const ValueStats values = f.view->Values();
  if (values.runs > 0) {
    Print(&out,
          "Separated values: %llu in %llu segments of %llu files, %s, of it garbage about %s; places in memory %s; "
          "of what was read and written, values: %s and %s\n",
          Ull{values.values}, Ull{values.runs}, Ull{values.files},
          HumanBytes(values.total_bytes).c_str(), HumanBytes(values.dead_bytes).c_str(),
          HumanBytes(index.values).c_str(), HumanBytes(t.value_bytes_read).c_str(),
          HumanBytes(t.value_bytes_written).c_str());
  }
  const PageStats pages = f.view->Pages();
  if (pages.pages > 0) {
    Print(&out,
          "Pages: %llu of %s, %.1f%% full with %llu records, %s; overflow: %llu records, %s, index %s; %llu pages to "
          "be written in place; %llu sections to be rehashed; on disk %s (levels above: the key store)\n",
          Ull{pages.pages}, HumanBytes(pages.page_bytes).c_str(),
          100 * Ratio(pages.bytes - pages.overflow_bytes, pages.pages * pages.page_bytes), Ull{pages.records},
          HumanBytes(pages.bytes).c_str(), Ull{pages.overflow_records}, HumanBytes(pages.overflow_bytes).c_str(),
          HumanBytes(pages.overflow_index_bytes).c_str(), Ull{pages.pending_pages}, Ull{f.rehashing},
          HumanBytes(pages.stored_bytes).c_str());
    Print(&out,
          "Pages since open: %llu written in place, of them %llu without a journal; %llu records written to the overflow "
          "store; %llu rehashes of sections\n",
          Ull{pages.pages_in_place}, Ull{pages.unjournaled_pages}, Ull{pages.overflow_written}, Ull{pages.rehashes});
  }
  if (const InLog in_log(f); in_log.values != nullptr) {
    Print(&out,
          "Values that wait in the log: %llu, %s; read since open, by all families: %llu, of them %llu "
          "from the %s that are not synced\n",
          Ull{in_log.count}, HumanBytes(in_log.bytes).c_str(), Ull{in_log.values->reads()},
          Ull{in_log.values->reads_in_memory()}, HumanBytes(in_log.values->unsynced()).c_str());
  }
  const Amplification a = Amplify(f);
  const ColumnFamily::Counters& c = f.family->counters;
  if (c.flushes == 0) {
    Print(&out, "Amplification: space %.2f; write unknown (counted since open, nothing was flushed)\n",
          a.space);
  } else {
    Print(&out, "Amplification: space %.2f; write %.2f (since open)\n", a.space, a.write);
  }
  Print(&out, "Flushes: %llu, %s; compactions: %llu, read %s, wrote %s; stalls: %llu slow, %llu stop\n",
        Ull{c.flushes}, HumanBytes(c.flush_bytes).c_str(), Ull{c.compactions},
        HumanBytes(c.compact_read_bytes).c_str(), HumanBytes(c.compact_write_bytes).c_str(),
        Ull{c.Sum(c.slowdowns)}, Ull{c.Sum(c.stops)});
  Print(&out, "Of the compactions, paid for by scans: %llu, wrote %s\n", Ull{t.consolidations},
        HumanBytes(t.consolidated_bytes).c_str());
  return out;
}

std::string CompassStatsJson(const FamilyState& f) {
  std::string out = "{\"column_family\":" + JsonString(f.family->name()) + ",\"options\":{";
  for (const auto& [name, value] : StoreChoices(f.family->options())) {
    if (out.back() != '{') out += ',';
    out += JsonString(name) + ":" + JsonString(value);
  }
  out += "},\"levels\":[";
  for (size_t i = 0; i < f.levels.size(); ++i) {
    const LevelStats& l = f.levels[i];
    Print(&out, "%s{\"level\":%zu", i == 0 ? "" : ",", i);
    for (const LevelField& field : kLevelFields) {
      Print(&out, ",\"%s\":%llu", field.name, Ull{l.*field.value});
    }
    out += "}";
  }
  const uint64_t keys = f.Sum().keys;
  const IndexMemory index = f.view->Index();
  Print(&out,
        "],\"index_memory\":{\"bytes\":%llu,\"keys\":%llu,\"bits_per_key\":%.4f,"
        "\"perfect_hash\":%llu,\"fingerprints\":%llu,\"pieces\":%llu,\"separators\":%llu,"
        "\"block_offsets\":%llu,\"filters\":%llu,\"values\":%llu,\"overflow\":%llu,\"other\":%llu},",
        Ull{index.total()}, Ull{keys}, BitsPerKey(index.total(), keys),
        Ull{index.perfect_hash}, Ull{index.fingerprints}, Ull{index.pieces}, Ull{index.separators},
        Ull{index.block_offsets}, Ull{index.filters}, Ull{index.values}, Ull{index.overflow},
        Ull{index.other});
  const ValueStats values = f.view->Values();
  Print(&out,
        "\"values\":{\"count\":%llu,\"segments\":%llu,\"files\":%llu,\"bytes\":%llu,"
        "\"garbage_bytes\":%llu,\"pinned_bytes\":%llu,\"bound_bytes\":%llu,\"groups\":%llu},",
        Ull{values.values}, Ull{values.runs}, Ull{values.files}, Ull{values.total_bytes},
        Ull{values.dead_bytes}, Ull{values.pinned_bytes}, Ull{f.value_bound}, Ull{values.groups});
  const PageStats pages = f.view->Pages();
  if (pages.pages > 0) {
    Print(&out,
          "\"pages\":{\"count\":%llu,\"page_bytes\":%llu,\"records\":%llu,\"bytes\":%llu,\"stored_bytes\":%llu,"
          "\"overflow_records\":%llu,\"overflow_bytes\":%llu,\"overflow_index_bytes\":%llu,\"pending\":%llu,"
          "\"sections_rehashing\":%llu,\"in_place\":%llu,\"unjournaled\":%llu,\"overflow_written\":%llu,"
          "\"rehashes\":%llu},",
          Ull{pages.pages}, Ull{pages.page_bytes}, Ull{pages.records}, Ull{pages.bytes}, Ull{pages.stored_bytes},
          Ull{pages.overflow_records}, Ull{pages.overflow_bytes}, Ull{pages.overflow_index_bytes},
          Ull{pages.pending_pages}, Ull{f.rehashing}, Ull{pages.pages_in_place}, Ull{pages.unjournaled_pages},
          Ull{pages.overflow_written}, Ull{pages.rehashes});
  }
  if (const InLog in_log(f); in_log.values != nullptr) {
    Print(&out,
          "\"log_values\":{\"count\":%llu,\"bytes\":%llu,\"reads\":%llu,\"reads_in_memory\":%llu,"
          "\"unsynced_bytes\":%llu},",
          Ull{in_log.count}, Ull{in_log.bytes}, Ull{in_log.values->reads()},
          Ull{in_log.values->reads_in_memory()}, Ull{in_log.values->unsynced()});
  }
  const Amplification a = Amplify(f);
  const ColumnFamily::Counters& c = f.family->counters;
  Print(&out,
        "\"write_amplification\":%.4f,\"space_amplification\":%.4f,\"flushes\":%llu,"
        "\"flush_bytes\":%llu,\"compactions\":%llu,\"compaction_bytes_read\":%llu,"
        "\"compaction_bytes_written\":%llu,\"memtable_bytes\":%llu,\"user_bytes\":%llu,"
        "\"stall_slowdowns\":%llu,\"stall_stops\":%llu,\"pending_compaction_bytes\":%llu}",
        a.write, a.space, Ull{c.flushes}, Ull{c.flush_bytes}, Ull{c.compactions},
        Ull{c.compact_read_bytes}, Ull{c.compact_write_bytes},
        Ull{f.memtables[0]->ApproximateMemoryUsage()}, Ull{f.sources.written.bytes}, Ull{c.Sum(c.slowdowns)},
        Ull{c.Sum(c.stops)}, Ull{f.pending_bytes});
  return out;
}

bool PageFillJson(const FamilyState& f, std::string* json) {
  const Pages* const pages = f.family->store()->pages();
  PageContents contents;
  if (pages == nullptr || !pages->CountContents(&contents).ok()) return false;
  *json = "{\"page_fill\":[";
  for (size_t i = 0; i < contents.by_fill.size(); ++i) {
    Print(json, "%s%llu", i == 0 ? "" : ",", Ull{contents.by_fill[i]});
  }
  *json += "],\"pages_by_pairs\":[";
  const char* separator = "";
  for (const auto& [pairs, alike] : contents.by_pairs) {
    Print(json, "%s{\"pairs\":%llu,\"pages\":%llu,\"overflowing\":%llu}", separator, Ull{pairs},
          Ull{alike.pages}, Ull{alike.overflowing});
    separator = ",";
  }
  *json += "]}";
  return true;
}

std::string LevelStatsText(const FamilyState& f) {
  std::string out = "Level Files Size(MB)\n--------------------\n";
  const auto n = static_cast<size_t>(f.family->store()->options().num_levels);
  for (size_t i = 0; i < n; ++i) {
    const LevelStats l = i < f.levels.size() ? f.levels[i] : LevelStats();
    Print(&out, "%3zu %8llu %8.0f\n", i, Ull{l.tables},
          static_cast<double>(l.total_bytes) / 1048576.0);
  }
  return out;
}

std::string CFStats(const FamilyState& f) {
  std::string out;
  Print(&out, "\n** Compaction Stats [%s] **\n", f.family->name().c_str());
  out += CompassStats(f);
  return out;
}

namespace {

double Gigabytes(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

// Seconds since the open or ResetStats().
double Uptime(const ReportSources& sources) {
  return static_cast<double>(sources.config.clock->NowNanos() - sources.written.began_nanos) / 1e9;
}

// "9999", "10K", "12M", "3G"
std::string HumanCount(uint64_t count) {
  const char* const units[] = {"", "K", "M", "G"};
  int unit = 0;
  for (; count >= 10000 && unit < 3; count /= 1000) ++unit;
  return std::to_string(count) + units[unit];
}

// The lines of RocksDB that programs look for.
void PrintWrites(const ReportSources& sources, std::string* out) {
  const WriteCounters& written = sources.written;
  const double seconds = std::max(Uptime(sources), 0.001);
  const uint64_t groups = written.by_self;
  const uint64_t writes = groups + written.by_other;
  const auto per = [](uint64_t n, uint64_t of) {
    return static_cast<double>(n) / static_cast<double>(std::max<uint64_t>(of, 1));
  };
  Print(out, "Uptime(secs): %.1f total\n", Uptime(sources));
  Print(out,
        "Cumulative writes: %s writes, %s keys, %s commit groups, %.1f writes per commit group, "
        "ingest: %.2f GB, %.2f MB/s\n",
        HumanCount(writes).c_str(), HumanCount(written.keys).c_str(), HumanCount(groups).c_str(), per(writes, groups),
        Gigabytes(written.bytes), Gigabytes(written.bytes) * 1024 / seconds);
  const uint64_t syncs = sources.wals.Syncs();
  const uint64_t logged = sources.wals.BytesAppended();
  Print(out, "Cumulative WAL: %s writes, %s syncs, %.2f writes per sync, written: %.2f GB, %.2f MB/s\n",
        HumanCount(written.with_wal).c_str(), HumanCount(syncs).c_str(), per(written.with_wal, syncs),
        Gigabytes(logged), Gigabytes(logged) * 1024 / seconds);
  const uint64_t stalled = written.stall_micros;
  Print(out, "Cumulative stall: %02llu:%02llu:%06.3f H:M:S, %.1f percent\n", Ull{stalled / 3600000000},
        Ull{stalled / 60000000 % 60}, static_cast<double>(stalled % 60000000) / 1e6,
        static_cast<double>(stalled) / 1e4 / seconds);
}

}  // namespace

std::string DBStats(const ReportSources& sources) {
  std::string out = "\n** DB Stats **\n";
  PrintWrites(sources, &out);
  Print(&out, "User bytes written: %s\n", HumanBytes(sources.written.bytes).c_str());
  Print(&out, "Write-ahead log bytes alive: %s in %zu logs\n",
        HumanBytes(sources.wals.TotalBytes()).c_str(), sources.wals.Logs().size());
  Print(&out, "Files: %s, of which in use %s\n", HumanBytes(sources.ledger.TotalBytes()).c_str(),
        HumanBytes(sources.ledger.LiveBytes()).c_str());
  Print(&out, "Last sequence: %llu, snapshots: %zu\n", Ull{sources.last_sequence},
        sources.snapshots.count());
  return out;
}

std::string TablesText(const FamilyState& f) {
  std::string out;
  int last = -1;
  f.view->ForEachTable([&](int level, const TphMeta& tph) {
    if (level != last) Print(&out, "--- level %d ---\n", level);
    last = level;
    Print(&out, " %llu:%llu[%llu .. %llu]['", Ull{tph.tph_id}, Ull{tph.TotalBytes()},
          Ull{tph.smallest_seq}, Ull{tph.largest_seq});
    out += EscapeString(tph.smallest) + "' .. '" + EscapeString(tph.largest) + "']";
    Print(&out, " %zu pieces\n", tph.pieces.size());
  });
  return out;
}

namespace {

// With RocksDB's names, without values that are not known of a level (docs/compatibility.md).
void AddLevel(const std::string& level, const LevelStats& l, uint64_t brought_in,
              std::map<std::string, std::string>* value) {
  const double seconds = static_cast<double>(l.micros) / 1e6;
  const auto add = [&](const char* name, double number) {
    (*value)["compaction." + level + "." + name] = CLocaleToString(number);
  };
  const auto per_second = [&](uint64_t bytes) { return seconds == 0 ? 0 : Gigabytes(bytes) * 1024 / seconds; };
  const uint64_t of_tables = l.bytes_read - l.value_bytes_read;
  const uint64_t lower = of_tables - std::min(of_tables, l.bytes_in_upper);
  add("NumFiles", static_cast<double>(l.tables));
  add("SizeBytes", static_cast<double>(l.total_bytes));
  add("ReadGB", Gigabytes(l.bytes_read));
  add("RnGB", Gigabytes(of_tables - lower));
  add("Rnp1GB", Gigabytes(lower));
  add("WriteGB", Gigabytes(l.bytes_written - l.value_bytes_written));
  add("RblobGB", Gigabytes(l.value_bytes_read));
  add("WblobGB", Gigabytes(l.value_bytes_written));
  add("WriteAmp", Ratio(l.bytes_written, brought_in));
  add("ReadMBps", per_second(l.bytes_read));
  add("WriteMBps", per_second(l.bytes_written));
  add("CompSec", seconds);
  add("CompCount", static_cast<double>(l.jobs));
  add("AvgSec", l.jobs == 0 ? 0 : seconds / static_cast<double>(l.jobs));
}

}  // namespace

void AddCFStats(const FamilyState& f, std::map<std::string, std::string>* value) {
  const ColumnFamily::Counters& c = f.family->counters;
  for (size_t i = 0; i < f.levels.size(); ++i) {
    const LevelStats& l = f.levels[i];
    if (l.tables == 0 && l.jobs == 0) continue;
    AddLevel("L" + std::to_string(i), l, i == 0 ? c.flush_bytes.load() : l.bytes_in_upper, value);
  }
  AddLevel("Sum", f.Sum(), c.flush_bytes, value);
  const auto add = [&](const char* name, uint64_t number) {
    (*value)[std::string("io_stalls.") + name] = std::to_string(number);
  };
  const auto of = [](const auto& by_reason, StallReason reason) {
    return by_reason[static_cast<size_t>(reason)].load();
  };
  add("level0_slowdown", of(c.slowdowns, StallReason::kL0Files));
  add("level0_numfiles", of(c.stops, StallReason::kL0Files));
  add("memtable_slowdown", of(c.slowdowns, StallReason::kMemtableLimit));
  add("memtable_compaction", of(c.stops, StallReason::kMemtableLimit));
  add("slowdown_for_pending_compaction_bytes", of(c.slowdowns, StallReason::kPendingCompactionBytes));
  add("stop_for_pending_compaction_bytes", of(c.stops, StallReason::kPendingCompactionBytes));
  add("total_slowdown", c.Sum(c.slowdowns));
  add("total_stop", c.Sum(c.stops));
}

std::map<std::string, std::string> DBStatsMap(const ReportSources& sources) {
  const WriteCounters& written = sources.written;
  return {{"db.uptime", CLocaleToString(Uptime(sources))},
            {"db.user_bytes_written", std::to_string(written.bytes)},
            {"db.user_keys_written", std::to_string(written.keys)},
            {"db.user_write_stall_micros", std::to_string(written.stall_micros)},
            {"db.user_writes_by_self", std::to_string(written.by_self)},
            {"db.user_writes_by_other", std::to_string(written.by_other)},
            {"db.user_writes_with_wal", std::to_string(written.with_wal)},
            {"db.wal_bytes_written", std::to_string(sources.wals.BytesAppended())},
            {"db.wal_syncs", std::to_string(sources.wals.Syncs())}};
}

}  // namespace compassdb
