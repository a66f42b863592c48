// SPDX-License-Identifier: Apache-2.0
// Statistics of the databases that were opened with some options. Tickers and histograms have the numbers of RocksDB
// 11.8: statistics_numbers.h.
#include "rocksdb/statistics.h"

#include <algorithm>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/statistics_numbers.h"

using compassdb::MustSucceed;

extern "C" {

void rocksdb_options_set_statistics_level(rocksdb_options_t* opt, int level) {
  if (opt->rep.statistics == nullptr) return;
  opt->rep.statistics->set_stats_level(static_cast<rocksdb::StatsLevel>(
      std::clamp<int>(level, rocksdb_statistics_level_disable_all, rocksdb_statistics_level_all)));
}

int rocksdb_options_get_statistics_level(rocksdb_options_t* opt) {
  if (opt->rep.statistics == nullptr) return rocksdb_statistics_level_disable_all;
  return opt->rep.statistics->get_stats_level();
}

uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t* opt, uint32_t ticker_type) {
  const uint32_t ticker = compassdb::TickerOf(ticker_type);
  if (opt->rep.statistics == nullptr || ticker == rocksdb::TICKER_ENUM_MAX) return 0;
  return MustSucceed([&] { return opt->rep.statistics->getTickerCount(ticker); });
}

void rocksdb_options_statistics_get_histogram_data(rocksdb_options_t* opt, uint32_t type,
                                                   rocksdb_statistics_histogram_data_t* const data) {
  data->rep = {};
  const uint32_t histogram = compassdb::HistogramOf(type);
  if (opt->rep.statistics == nullptr || histogram == rocksdb::HISTOGRAM_ENUM_MAX) return;
  MustSucceed([&] { opt->rep.statistics->histogramData(histogram, &data->rep); });
}

rocksdb_statistics_histogram_data_t* rocksdb_statistics_histogram_data_create(void) {
  return compassdb::Create<rocksdb_statistics_histogram_data_t>();
}

void rocksdb_statistics_histogram_data_destroy(rocksdb_statistics_histogram_data_t* data) { delete data; }

double rocksdb_statistics_histogram_data_get_median(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.median;
}

double rocksdb_statistics_histogram_data_get_p95(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.percentile95;
}

double rocksdb_statistics_histogram_data_get_p99(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.percentile99;
}

double rocksdb_statistics_histogram_data_get_average(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.average;
}

double rocksdb_statistics_histogram_data_get_std_dev(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.standard_deviation;
}

double rocksdb_statistics_histogram_data_get_max(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.max;
}

uint64_t rocksdb_statistics_histogram_data_get_count(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.count;
}

uint64_t rocksdb_statistics_histogram_data_get_sum(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.sum;
}

double rocksdb_statistics_histogram_data_get_min(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.min;
}

}  // extern "C"
