// SPDX-License-Identifier: Apache-2.0
// Tickers and histograms by the numbers that programs of C give them: those of RocksDB 11.8.
#pragma once

#include <cstdint>

namespace compassdb {

// TICKER_ENUM_MAX, or HISTOGRAM_ENUM_MAX, for one that is not kept here.
uint32_t TickerOf(uint32_t number);
uint32_t HistogramOf(uint32_t number);

// The number of a ticker that has `number` in RocksDB 10.4. Histograms of 10.4 have the same numbers.
uint32_t NumberOfTicker1004(uint32_t number);

}  // namespace compassdb
