// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/statistics.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <thread>

#include "api/histogram.h"
#include "api/registered.h"
#include "rocksdb/config_options.h"
#include "util/c_locale.h"
#include "util/mutex.h"

namespace ROCKSDB_NAMESPACE {

namespace {

using compassdb::Histogram;
using compassdb::HistogramSummary;

// Tickers and histograms in as many shards as there are cores. Threads are dealt out to the shards in
// turn, so that few of them share cache lines; reading adds the shards up.
//
// Thread safety: everything may be called concurrently. Recording takes no lock; `mutex_` separates
// concurrent sets and resets.
class StatisticsImpl : public Statistics {
 public:
  StatisticsImpl()
      : shard_mask_(std::bit_ceil(std::max(1u, std::thread::hardware_concurrency())) - 1),
        shards_(new Shard[shard_mask_ + 1]) {}

  static const char* kClassName() { return "BasicStatistics"; }
  const char* Name() const override { return kClassName(); }

  uint64_t getTickerCount(uint32_t type) const override {
    if (type >= TICKER_ENUM_MAX) return 0;
    uint64_t sum = 0;
    for (size_t i = 0; i <= shard_mask_; ++i) {
      sum += shards_[i].tickers[type].load(std::memory_order_relaxed);
    }
    return sum;
  }

  void recordTick(uint32_t type, uint64_t count) override {
    if (type >= TICKER_ENUM_MAX || get_stats_level() <= StatsLevel::kExceptTickers) return;
    Local().tickers[type].fetch_add(count, std::memory_order_relaxed);
  }

  void setTickerCount(uint32_t type, uint64_t count) override {
    if (type >= TICKER_ENUM_MAX) return;
    compassdb::MutexLock lock(&mutex_);
    SetTicker(type, count);
  }

  uint64_t getAndResetTickerCount(uint32_t type) override {
    if (type >= TICKER_ENUM_MAX) return 0;
    compassdb::MutexLock lock(&mutex_);
    uint64_t sum = 0;
    for (size_t i = 0; i <= shard_mask_; ++i) {
      sum += shards_[i].tickers[type].exchange(0, std::memory_order_relaxed);
    }
    return sum;
  }

  void measureTime(uint32_t type, uint64_t value) override { recordInHistogram(type, value); }

  void recordInHistogram(uint32_t type, uint64_t value) override {
    if (type >= HISTOGRAM_ENUM_MAX || get_stats_level() <= StatsLevel::kExceptHistogramOrTimers) {
      return;
    }
    Local().histograms[type].Add(value);
  }

  void histogramData(uint32_t type, HistogramData* const data) const override {
    Summarize(type).Fill(data);
  }

  std::string getHistogramString(uint32_t type) const override {
    return Summarize(type).ToString();
  }

  bool getTickerMap(std::map<std::string, uint64_t>* stats_map) const override {
    if (stats_map == nullptr) return false;
    stats_map->clear();
    for (const auto& [type, name] : TickersNameMap) (*stats_map)[name] = getTickerCount(type);
    return true;
  }

  Status Reset() override {
    compassdb::MutexLock lock(&mutex_);
    for (uint32_t type = 0; type < TICKER_ENUM_MAX; ++type) SetTicker(type, 0);
    for (size_t i = 0; i <= shard_mask_; ++i) {
      for (Histogram& histogram : shards_[i].histograms) histogram.Clear();
    }
    return Status::OK();
  }

  using Statistics::ToString;
  std::string ToString() const override {
    std::string text;
    char line[512];
    for (const auto& [type, name] : TickersNameMap) {
      text += name + " COUNT : " + std::to_string(getTickerCount(type)) + "\n";
    }
    for (const auto& [type, name] : HistogramsNameMap) {
      HistogramData data;
      histogramData(type, &data);
      const int n = compassdb::CLocaleSnprintf(
          line, sizeof(line),
          "%s P50 : %f P95 : %f P99 : %f P100 : %f COUNT : %" PRIu64 " SUM : %" PRIu64 "\n",
          name.c_str(), data.median, data.percentile95, data.percentile99, data.max, data.count,
          data.sum);
      text.append(line, std::min(static_cast<size_t>(n), sizeof(line) - 1));
    }
    return text;
  }

  bool HistEnabledForType(uint32_t type) const override { return type < HISTOGRAM_ENUM_MAX; }

 private:
  struct alignas(64) Shard {
    std::array<std::atomic<uint64_t>, TICKER_ENUM_MAX> tickers{};
    std::array<Histogram, HISTOGRAM_ENUM_MAX> histograms;
  };

  Shard& Local() {
    static std::atomic<size_t> threads{0};
    thread_local const size_t number = threads.fetch_add(1, std::memory_order_relaxed);
    return shards_[number & shard_mask_];
  }

  void SetTicker(uint32_t type, uint64_t count) {
    for (size_t i = 0; i <= shard_mask_; ++i) {
      shards_[i].tickers[type].store(i == 0 ? count : 0, std::memory_order_relaxed);
    }
  }

  HistogramSummary Summarize(uint32_t type) const {
    HistogramSummary summary;
    if (type >= HISTOGRAM_ENUM_MAX) return summary;
    for (size_t i = 0; i <= shard_mask_; ++i) shards_[i].histograms[type].MergeInto(&summary);
    return summary;
  }

  const size_t shard_mask_;
  const std::unique_ptr<Shard[]> shards_;
  compassdb::Mutex mutex_;
};

}  // namespace

std::shared_ptr<Statistics> CreateDBStatistics() { return std::make_shared<StatisticsImpl>(); }

Status Statistics::CreateFromString(const ConfigOptions& opts, const std::string& value,
                                    std::shared_ptr<Statistics>* result) {
  const auto built_in = [](const std::string& id, std::shared_ptr<Statistics>* made) {
    if (id == StatisticsImpl::kClassName()) *made = CreateDBStatistics();
    return Status::OK();
  };
  const std::string& text = value.empty() ? StatisticsImpl::kClassName() : value;
  return compassdb::LoadObject<Statistics>(opts, "Statistics", text, built_in, result);
}

}  // namespace ROCKSDB_NAMESPACE
