// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include "compassdb/tableless_plan.h"
#include "manifest/page_store_meta.h"
#include "tableless/flush/record_spill.h"
#include "tableless/overflow/overflow_index.h"
#include "tableless/page/page_load.h"
#include "tableless/sizing/page_sizing.h"
#include "util/c_locale.h"

namespace compassdb {

namespace {

using rocksdb::Status;

constexpr uint64_t kMaxPairs = 1'000'000'000'000'000;
constexpr uint64_t kMaxPairBytes = uint64_t{1} << 32;
constexpr double kMaxFill = 4;

constexpr double kOverflowIndexBytes = sizeof(OverflowIndex::Entry);  // memory per record
// Sorted tables of keys without values, measured with keys of 16 random bytes. The bytes of a key
// are in addition to its own; the memory per block is separator, place, and share of the table's
// objects.
constexpr double kKeyStoreOverhead = 5;
constexpr double kKeyStoreBlock = 4096;
constexpr double kKeyStoreMemoryPerBlock = 9;
// A page and its copy in the page journal.
constexpr double kWritesPerUpdate = 2;

std::string Number(double x) {
  char text[32];
  CLocaleSnprintf(text, sizeof(text), "%g", x);
  return text;
}

Status Bad(const std::string& what) { return Status::InvalidArgument("PlanTableless", what); }

// Law of sizes: one of four.
Status CheckSizes(const TablelessWorkload& w) {
  const bool uniform = w.value_high > 0 || w.value_low > 0;
  const bool normal = w.value_sigma != 0;
  if (!w.sample.empty()) {
    if (w.key_size > 0 || w.value_size > 0 || uniform || normal) {
      return Bad("sample: it already gives the sizes of keys and values");
    }
    uint64_t count = 0;
    for (const TablelessWorkload::Sizes& sizes : w.sample) {
      if (sizes.key > kMaxPairBytes || sizes.value > kMaxPairBytes) return Bad("sample: a pair above 4 GiB");
      if (!w.headers && sizes.key + sizes.value == 0) return Bad("sample: a pair of 0 bytes, without headers");
      count += sizes.count;
    }
    return count > 0 ? Status::OK() : Bad("sample: no pairs in it");
  }
  if (uniform && (w.value_size > 0 || normal)) {
    return Bad("value_low and value_high: value_size or value_sigma is set too");
  }
  if (w.value_low > w.value_high) {
    return Bad("value_low: " + std::to_string(w.value_low) + " is above value_high, " +
               std::to_string(w.value_high));
  }
  if (std::max({w.key_size, w.value_size, w.value_high}) > kMaxPairBytes) {
    return Bad("key_size, value_size or value_high: above 4 GiB");
  }
  if (!w.headers && w.key_size == 0 && (uniform ? w.value_low : w.value_size) == 0) {
    return Bad(std::string(uniform ? "value_low" : "value_size") + ": 0, with neither keys nor headers");
  }
  if (!(w.value_sigma >= 0 && w.value_sigma * 3 <= static_cast<double>(w.value_size))) {
    return Bad("value_sigma: " + Number(w.value_sigma) + " is not between 0 and a third of value_size, " +
               std::to_string(w.value_size));
  }
  return Status::OK();
}

Status CheckPages(const TablelessWorkload& w) {
  if (w.page_size < kMinPageBytes || w.page_size % kMinPageBytes != 0 || w.page_size > kMaxPageBytes) {
    return Bad("page_size: " + std::to_string(w.page_size) + " is no multiple of 4096 up to 1 MiB");
  }
  if ((w.pages > 0) + (w.fill != 0) + (w.max_overflow_probability != 0) + (w.max_overflow_ratio != 0) > 1) {
    return Bad("pages, fill, max_overflow_probability, max_overflow_ratio: more than one is set");
  }
  if (!(w.fill >= 0 && w.fill <= 1)) return Bad("fill: " + Number(w.fill) + " is not in (0, 1]");
  if (!(w.max_overflow_probability >= 0 && w.max_overflow_probability < 1)) {
    return Bad("max_overflow_probability: " + Number(w.max_overflow_probability) + " is not in (0, 1)");
  }
  if (!(w.max_overflow_ratio >= 0 && w.max_overflow_ratio < 1)) {
    return Bad("max_overflow_ratio: " + Number(w.max_overflow_ratio) + " is not in (0, 1)");
  }
  return Status::OK();
}

Status Check(const TablelessWorkload& w) {
  if (w.pairs == 0 || w.pairs > kMaxPairs) {
    return Bad("pairs: " + std::to_string(w.pairs) + " is not in 1..10^15");
  }
  if (!(w.compression_ratio >= 1 && w.compression_ratio <= 1e6)) {
    return Bad("compression_ratio: " + Number(w.compression_ratio) + " is below 1 or above a million");
  }
  const Status s = CheckSizes(w);
  return s.ok() ? CheckPages(w) : s;
}

// Headers of a record and of a page.
uint64_t RecordOverhead(const TablelessWorkload& w) { return w.headers ? kRecordOverhead : 0; }
uint64_t PageOverhead(const TablelessWorkload& w) { return w.headers ? kPageOverhead : 0; }

SizeDistribution EncodedSizes(const TablelessWorkload& w) {
  const uint64_t fixed = w.key_size + RecordOverhead(w);
  if (!w.sample.empty()) {
    std::vector<SizeDistribution::Share> shares;
    for (const TablelessWorkload::Sizes& sizes : w.sample) {
      shares.push_back({sizes.key + sizes.value + RecordOverhead(w), static_cast<double>(sizes.count)});
    }
    return SizeDistribution::Histogram(std::move(shares));
  }
  if (w.value_high > 0) return SizeDistribution::Uniform(fixed + w.value_low, fixed + w.value_high);
  if (w.value_sigma > 0) {
    return SizeDistribution::Normal(static_cast<double>(fixed + w.value_size), w.value_sigma);
  }
  return SizeDistribution::Constant(fixed + w.value_size);
}

double MeanKey(const TablelessWorkload& w) {
  if (w.sample.empty()) return static_cast<double>(w.key_size);
  double bytes = 0;
  double count = 0;
  for (const TablelessWorkload::Sizes& sizes : w.sample) {
    bytes += static_cast<double>(sizes.key) * static_cast<double>(sizes.count);
    count += static_cast<double>(sizes.count);
  }
  return bytes / count;
}

// Pairs that a page can hold, and those that are in the overflow store with any number of pages.
struct Held {
  uint64_t pairs = 0;
  double share = 0;  // of all
  SizeDistribution sizes = SizeDistribution::Constant(1);
};

Held HeldByPages(const SizeDistribution& sizes, uint64_t pairs, uint64_t usable) {
  constexpr double kAll = 1 - 1e-9;
  std::vector<SizeDistribution::Share> shares = sizes.Shares(usable);
  Held held;
  for (const SizeDistribution::Share& share : shares) held.share += share.weight;
  if (held.share >= kAll) return {pairs, 1, sizes};
  held.pairs = static_cast<uint64_t>(std::llround(held.share * static_cast<double>(pairs)));
  if (held.pairs > 0) held.sizes = SizeDistribution::Histogram(std::move(shares));
  return held;
}

// Like a store with the default options: each section by itself.
void ChooseAsStore(const Held& held, uint64_t usable, TablelessPlan* plan) {
  const PageOptions options;
  const SizingRule rule(options);
  const auto bytes = static_cast<uint64_t>(static_cast<double>(held.pairs) * held.sizes.mean() / options.sections);
  plan->pages = options.sections * SizedPages(rule, held.sizes, bytes, usable);
  plan->pages_before_growth = options.sections * PagesBeforeGrowth(rule, held.sizes, bytes, usable);
}

Status ChoosePages(const TablelessWorkload& w, const Held& held, uint64_t usable, TablelessPlan* plan) {
  PageOverflow overflow(held.sizes, usable);
  if (w.pages > 0) {
    const uint64_t least = overflow.PagesForFill(held.pairs, kMaxFill);
    if (w.pages < least) {
      return Bad("pages: " + std::to_string(w.pages) + " would be filled more than four times; at least " +
                 std::to_string(least));
    }
    plan->pages = w.pages;
  } else if (w.fill > 0) {
    plan->pages = overflow.PagesForFill(held.pairs, w.fill);
    if (plan->pages > kMaxPairs) return Bad("fill: " + Number(w.fill) + " asks for more than 10^15 pages");
  } else if (w.max_overflow_probability > 0 || w.max_overflow_ratio > 0) {
    const bool by_ratio = w.max_overflow_ratio > 0;
    std::optional<uint64_t> found;
    if (held.pairs > 0 && by_ratio) {
      found = RecordSpill(held.sizes, usable).PagesForRatio(held.pairs, w.max_overflow_ratio);
    } else if (held.pairs > 0) {
      found = overflow.PagesForProbability(held.pairs, w.max_overflow_probability);
    }
    if (!found) {
      return Bad(std::string(by_ratio ? "max_overflow_ratio" : "max_overflow_probability") +
                 ": not kept even with 64 pages per pair; pairs are large for page_size");
    }
    plan->pages = *found;
  } else {
    ChooseAsStore(held, usable, plan);
    return Status::OK();
  }
  plan->pages_before_growth = plan->pages;
  return Status::OK();
}

// Applies the formulas to the pairs that pages can hold.
void AddLoad(const Held& held, uint64_t page_header, uint64_t usable, TablelessPlan* plan) {
  plan->used_bytes_per_update = kWritesPerUpdate * static_cast<double>(page_header);
  if (held.pairs == 0) {
    plan->page_fill.assign(kFillParts + 1, 0);
    plan->page_fill[0] = 1;
    plan->pages_by_pairs = {{0, 1, 0}};
    return;
  }
  const PairsPerPage pairs_per_page(held.pairs, plan->pages);
  PageOverflow page_overflow(held.sizes, usable);
  const PageLoad load = page_overflow.Load(pairs_per_page);
  plan->page_fill = page_overflow.Fill(pairs_per_page);
  for (uint64_t m = pairs_per_page.first(); m < pairs_per_page.end(); ++m) {
    const double share = pairs_per_page.Probability(m);
    plan->pages_by_pairs.push_back({m, share, page_overflow.At(m).probability});
  }
  RecordSpill record_spill(held.sizes, usable);
  const RecordSpill::Spill spill = record_spill.Load(pairs_per_page);
  const auto pages = static_cast<double>(plan->pages);
  plan->fill_factor = load.fill_factor;
  plan->overflow_probability = load.overflow_probability;
  plan->cut_overflow_ratio = load.overflow_ratio;
  plan->overflow_ratio = record_spill.Ratio(pairs_per_page);
  plan->overflow_records = spill.records * pages;
  plan->overflow_bytes = spill.bytes * pages;
  // The page of a key is fuller than the average page: the more pairs a page has, the more keys lead to it.
  const double met = pairs_per_page.Average([&](uint64_t m) {
    const double count = static_cast<double>(m);
    return count * (count * held.sizes.mean() - record_spill.At(m).bytes);
  });
  plan->used_bytes_per_update += kWritesPerUpdate * met / pairs_per_page.mean();
}

}  // namespace

Status PlanTableless(const TablelessWorkload& workload, TablelessPlan* plan) {
  Status s = Check(workload);
  if (!s.ok()) return s;
  const uint64_t usable = workload.page_size - PageOverhead(workload);
  const SizeDistribution sizes = EncodedSizes(workload);
  const Held held = HeldByPages(sizes, workload.pairs, usable);
  TablelessPlan result;
  s = ChoosePages(workload, held, usable, &result);
  if (!s.ok()) return s;

  AddLoad(held, PageOverhead(workload), usable, &result);
  const double pairs = static_cast<double>(workload.pairs);
  const double pages = static_cast<double>(result.pages);
  result.page_size = workload.page_size;
  const double page_size = static_cast<double>(workload.page_size);
  result.record_bytes = pairs * sizes.mean();
  result.user_bytes = result.record_bytes - pairs * static_cast<double>(RecordOverhead(workload));
  const double large = pairs * (1 - held.share);
  result.overflow_records += large;
  if (held.share < 1) result.overflow_bytes += result.record_bytes - pairs * held.share * held.sizes.mean();
  result.overflow_index_memory = result.overflow_records * kOverflowIndexBytes;
  if (workload.key_store) result.key_store_bytes = pairs * (MeanKey(workload) + kKeyStoreOverhead);
  result.key_store_memory = result.key_store_bytes / kKeyStoreBlock * kKeyStoreMemoryPerBlock;

  result.logical_bytes = pages * page_size + result.overflow_bytes + result.key_store_bytes;
  const double headers = pages * static_cast<double>(PageOverhead(workload));
  result.used_bytes = headers + result.record_bytes + result.key_store_bytes;
  result.physical_bytes = result.used_bytes / workload.compression_ratio;
  result.bytes_per_update = kWritesPerUpdate * page_size;
  *plan = result;
  return Status::OK();
}

}  // namespace compassdb
