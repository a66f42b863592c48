// SPDX-License-Identifier: Apache-2.0
// The cost of a data set in the table-less store, from a description of it or a sample.
#include <compassdb/tableless_plan.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands.h"
#include "record_reader.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

struct PlanFlags {
  compassdb::TablelessWorkload workload;
  std::string uniform;
  std::vector<std::string> samples;
  bool json = false;
  bool values_only = false;
};

// "LO:HI"
bool ParseRange(const std::string& text, uint64_t* low, uint64_t* high) {
  const char* const end = text.data() + text.size();
  const auto colon = std::from_chars(text.data(), end, *low);
  if (colon.ec != std::errc() || colon.ptr == end || *colon.ptr != ':') return false;
  const auto rest = std::from_chars(colon.ptr + 1, end, *high);
  return rest.ec == std::errc() && rest.ptr == end;
}

// Counts the sizes of the records in the files.
int ReadSamples(const std::vector<std::string>& names, compassdb::TablelessWorkload* workload) {
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> counts;
  for (const std::string& name : names) {
    RecordReader reader(name, Format::kAuto, false);
    Record record;
    while (reader.Next(&record)) ++counts[{record.key.size(), record.value.size()}];
    if (!reader.error().empty()) return Fail(reader.error_code(), "plan-tableless", reader.error());
  }
  if (counts.empty()) return Fail(kBadInput, "plan-tableless", "--sample: no records");
  uint64_t records = 0;
  for (const auto& [sizes, count] : counts) {
    workload->sample.push_back({sizes.first, sizes.second, count});
    records += count;
  }
  if (workload->pairs == 0) workload->pairs = records;
  return kOk;
}

std::string Bytes(double bytes) {
  const char* const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string Percent(double share) { return fmt::format("{:.3g} %", share * 100); }

void Print(const compassdb::TablelessWorkload& workload, const compassdb::TablelessPlan& plan) {
  const double pairs = static_cast<double>(workload.pairs);
  const auto line = [](const char* what, const std::string& text) {
    PrintOut("{:<22}{}\n", what, text);
  };
  line("pairs", fmt::format("{}, {} of keys and values, {} with the headers of records", workload.pairs,
                            Bytes(plan.user_bytes), Bytes(plan.record_bytes)));
  line("pages", fmt::format("{} of {} B, {:.3g} pairs each", plan.pages, plan.page_size,
                            pairs / static_cast<double>(plan.pages)));
  if (plan.pages_before_growth < plan.pages) {
    line("before they grow", fmt::format("{} pages: a store that is being filled is in between", plan.pages_before_growth));
  }
  line("fill factor", Percent(plan.fill_factor));
  for (size_t tenth = 0; tenth < 10; ++tenth) {
    const auto first = plan.page_fill.begin() + static_cast<std::ptrdiff_t>(10 * tenth);
    const double share = std::accumulate(first, first + 10, 0.0);
    line(tenth == 0 ? "pages by fill" : "",
         fmt::format("to {} %: {}", 10 * (tenth + 1), Percent(share)));
  }
  line("pages that overflow", Percent(plan.overflow_probability));
  line("overflow ratio", fmt::format("{} of the bytes, {} if records could be cut", Percent(plan.overflow_ratio),
                                     Percent(plan.cut_overflow_ratio)));
  line("overflow store", fmt::format("{:.0f} records ({}), {}", plan.overflow_records,
                                     Percent(plan.overflow_records / pairs), Bytes(plan.overflow_bytes)));
  line("key store", workload.key_store ? Bytes(plan.key_store_bytes)
                    : workload.headers ? "none: no iterators"
                                       : "not counted");
  line("index memory", fmt::format("{}, {:.3g} B per pair: overflow store {}, key store {}",
                                   Bytes(plan.overflow_index_memory + plan.key_store_memory),
                                   (plan.overflow_index_memory + plan.key_store_memory) / pairs,
                                   Bytes(plan.overflow_index_memory), Bytes(plan.key_store_memory)));
  line("logical space", Bytes(plan.logical_bytes));
  line("used space", Bytes(plan.used_bytes) + " without zeros");
  line("physical space", fmt::format("{} at a compression ratio of {:.3g}", Bytes(plan.physical_bytes),
                                     workload.compression_ratio));
  line("written per update", fmt::format("{:.0f} B, {:.0f} B without zeros: a page and its copy in the journal",
                                         plan.bytes_per_update, plan.used_bytes_per_update));
}

constexpr double kRarestPages = 1e-9;  // of all, that JSON lists

void PrintJson(const compassdb::TablelessWorkload& workload, const compassdb::TablelessPlan& plan) {
  nlohmann::ordered_json out;
  out["pairs"] = workload.pairs;
  out["user_bytes"] = plan.user_bytes;
  out["record_bytes"] = plan.record_bytes;
  out["pages"] = plan.pages;
  out["pages_before_growth"] = plan.pages_before_growth;
  out["page_size"] = plan.page_size;
  out["fill_factor"] = plan.fill_factor;
  out["overflow_probability"] = plan.overflow_probability;
  out["overflow_ratio"] = plan.overflow_ratio;
  out["cut_overflow_ratio"] = plan.cut_overflow_ratio;
  out["page_fill"] = plan.page_fill;
  for (const auto& pages : plan.pages_by_pairs) {
    if (pages.share < kRarestPages) continue;
    out["pages_by_pairs"].push_back({{"pairs", pages.pairs},
                                     {"share", pages.share},
                                     {"overflow_probability", pages.overflow_probability}});
  }
  out["overflow_records"] = plan.overflow_records;
  out["overflow_bytes"] = plan.overflow_bytes;
  out["overflow_index_memory"] = plan.overflow_index_memory;
  out["key_store"] = workload.key_store;
  out["key_store_bytes"] = plan.key_store_bytes;
  out["key_store_memory"] = plan.key_store_memory;
  out["logical_bytes"] = plan.logical_bytes;
  out["used_bytes"] = plan.used_bytes;
  out["compression_ratio"] = workload.compression_ratio;
  out["physical_bytes"] = plan.physical_bytes;
  out["bytes_per_update"] = plan.bytes_per_update;
  out["used_bytes_per_update"] = plan.used_bytes_per_update;
  PrintOut("{}\n", out.dump());
}

// The share of the pairs that are larger than a page, with the 8 bytes of a record's header and the page's 16 if there
// are any.
double ShareThatNoPageHolds(const compassdb::TablelessWorkload& workload) {
  const double most = static_cast<double>(workload.page_size) - (workload.headers ? 16 + 8 : 0);
  if (!workload.sample.empty()) {
    double all = 0, large = 0;
    for (const auto& sizes : workload.sample) {
      const auto count = static_cast<double>(sizes.count);
      all += count;
      if (static_cast<double>(sizes.key) + static_cast<double>(sizes.value) > most) large += count;
    }
    return large / all;
  }
  const double value = most - static_cast<double>(workload.key_size);
  if (workload.value_high > 0) {
    const auto low = static_cast<double>(workload.value_low), high = static_cast<double>(workload.value_high);
    return std::clamp((high - value) / (high - low + 1), 0.0, 1.0);
  }
  const auto mean = static_cast<double>(workload.value_size);
  if (workload.value_sigma > 0) return std::erfc((value - mean) / workload.value_sigma / std::sqrt(2.0)) / 2;
  return mean > value ? 1 : 0;
}

int Plan(const PlanFlags& flags) {
  compassdb::TablelessWorkload workload = flags.workload;
  if (flags.values_only) workload.headers = workload.key_store = false;
  if (!flags.uniform.empty() && !ParseRange(flags.uniform, &workload.value_low, &workload.value_high)) {
    return Fail(kUsage, "plan-tableless",
                "--value-uniform: '" + Shortened(flags.uniform) + "' is not LO:HI");
  }
  if (!flags.samples.empty()) {
    const int code = ReadSamples(flags.samples, &workload);
    if (code != kOk) return code;
  }
  compassdb::TablelessPlan plan;
  const rocksdb::Status s = compassdb::PlanTableless(workload, &plan);
  if (!s.ok()) return Fail(kUsage, "plan-tableless", s.ToString());
  // Below that the tail of a normal distribution is not precise.
  if (const double share = ShareThatNoPageHolds(workload); share > 1e-6) {
    PrintError("plan-tableless: warning: {} of the pairs are larger than a page of {} B and go to the overflow "
                       "store with any number of pages\n", Percent(share), plan.page_size);
  }
  if (flags.json) {
    PrintJson(workload, plan);
  } else {
    Print(workload, plan);
  }
  return FinishOutput("plan-tableless", kOk);
}

// Checks which flags are needed and which exclude each other.
int CheckAndPlan(const CLI::App& command, const PlanFlags& flags) {
  const auto given = [&](const char* flag) { return command.count(flag) > 0; };
  const auto refuse = [](const std::string& what) { return Fail(kUsage, "plan-tableless", what); };
  if (!given("--sample")) {
    if (!given("--pairs") || (!given("--key-size") && !flags.values_only)) {
      return refuse("--pairs and --key-size are required without --sample");
    }
    if (!given("--value-size") && !given("--value-uniform")) {
      return refuse("one of --value-size, --value-uniform and --sample is required");
    }
  }
  if (given("--value-sigma") && !given("--value-size")) return refuse("--value-sigma needs --value-size");
  return Plan(flags);
}

}  // namespace

void AddPlanTableless(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<PlanFlags>();
  compassdb::TablelessWorkload* const workload = &flags->workload;
  CLI::App* command = app->add_subcommand(
      "plan-tableless", "Print what a data set would cost in the table-less store; opens no database");
  command->fallthrough();
  command->callback([=] { globals->exit_code = CheckAndPlan(*command, *flags); });
  const auto size = CLI::Range(uint64_t{0}, uint64_t{1} << 32);
  const CLI::Validator positive(  // CLI::PositiveNumber names the largest double, in 309 digits
      [](const std::string& text) {
        double number = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, number);
        const bool is = read.ec == std::errc() && read.ptr == end && number > 0;
        return is ? std::string() : fmt::format("{} is not a positive number", text);
      },
      "POSITIVE");
  command->add_option("--pairs", workload->pairs, "how many (default with --sample: as many as it has)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000'000'000}));
  auto* key_size = command->add_option("--key-size", workload->key_size, "bytes of a key");
  auto* value_size = command->add_option("--value-size", workload->value_size, "bytes of a value");
  key_size->check(size);
  value_size->check(size);
  auto* sigma = command->add_option("--value-sigma", workload->value_sigma,
                                    "values are normally distributed about --value-size");
  auto* uniform = command->add_option("--value-uniform", flags->uniform, "LO:HI, all sizes as likely");
  auto* sample = command->add_option("--sample", flags->samples,
                                     "files of records whose sizes count (TSV, JSON lines or hex, as `load` "
                                     "reads them; -: standard input)");
  uniform->excludes(value_size)->excludes(sigma);
  sample->excludes(key_size)->excludes(value_size)->excludes(sigma)->excludes(uniform);
  command->add_option("--page-size", workload->page_size, "bytes, a multiple of 4096 up to 1 MiB")->capture_default_str();
  auto* pages = command->add_option("--pages", workload->pages, "number of pages")
                    ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000'000'000}));
  auto* fill = command->add_option("--fill", workload->fill, "pages filled to at most this")
                   ->check(positive);
  auto* probability = command->add_option("--max-overflow", workload->max_overflow_probability,
                                          "at most this share of pages overflows")
                          ->check(positive);
  auto* ratio = command->add_option("--max-overflow-ratio", workload->max_overflow_ratio,
                                    "at most this share of the bytes is in the overflow store")
                    ->check(positive);
  fill->excludes(pages);
  probability->excludes(pages)->excludes(fill);
  ratio->excludes(pages)->excludes(fill)->excludes(probability);
  auto* key_store =
      command->add_option("--key-store", workload->key_store,
                          "keys are kept in sorted tables, too (the option tableless_key_store); false: without");
  key_store->capture_default_str();
  command->add_flag("--values-only", flags->values_only,
                    "count neither keys nor headers of records and pages, as the formulas of the paper")
      ->excludes(key_size)->excludes(sample)->excludes(key_store);
  command->add_option("--compression-ratio", workload->compression_ratio,
                      "what the device makes of the data, zeros left aside")
      ->capture_default_str();
  command->add_flag("--json", flags->json, "the figures as JSON");
}

}  // namespace compassdb_cli
