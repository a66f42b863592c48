// SPDX-License-Identifier: Apache-2.0
//
// Computes the cost of a data set in the table-less store in advance (docs/design/sizing.md has the formulas;
// `compassdb plan-tableless` prints the result).
//
//   compassdb::TablelessWorkload workload;
//   workload.pairs = 1000000000;
//   workload.key_size = 16;
//   workload.value_size = 400;
//   compassdb::TablelessPlan plan;
//   rocksdb::Status s = compassdb::PlanTableless(workload, &plan);

#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/status.h"

namespace compassdb {

struct TablelessWorkload {
  uint64_t pairs = 0;  // at most 10^15

  // Sizes of keys and values, by one of four distributions.
  uint64_t key_size = 0;
  uint64_t value_size = 0;   // of all values; with value_sigma > 0 their mean, normally distributed
  double value_sigma = 0;    // at most a third of value_size
  uint64_t value_low = 0;    // with value_high > 0: uniform from value_low to value_high
  uint64_t value_high = 0;
  struct Sizes {
    uint64_t key = 0;
    uint64_t value = 0;
    uint64_t count = 0;
  };
  std::vector<Sizes> sample;  // not empty: counted pairs; key and value sizes above are 0

  uint64_t page_size = 4096;  // a multiple of 4096, at most 1 MiB

  // False: neither records nor pages have headers, as in the paper's formulas (which count no keys, either:
  // key_size 0). Values then have at least 1 byte.
  bool headers = true;

  // The option tableless_key_store: false leaves out the cost of the key store.
  bool key_store = true;

  // The number of pages: at most one of these. None: as many as a store with the defaults of tableless_sections,
  // tableless_fill_percent, tableless_max_overflow_percent and tableless_min_fill_percent has.
  uint64_t pages = 0;
  double fill = 0;                      // pages filled to at most this, in (0, 1]
  double max_overflow_probability = 0;  // at most this share of pages overflows, in (0, 1)
  double max_overflow_ratio = 0;        // overflow_ratio below is at most this, in (0, 1)

  // The device's compression ratio without zeros: bytes before by bytes after.
  double compression_ratio = 1;
};

// Bytes and records are expectations.
struct TablelessPlan {
  // After the sections' last growth. A store that is being filled has fewer, but not less than
  // pages_before_growth (the same number if the workload chose it): below that its sections grow.
  uint64_t pages = 0;
  uint64_t pages_before_growth = 0;
  uint64_t page_size = 0;
  double user_bytes = 0;     // keys and values
  double record_bytes = 0;   // the same with the headers of records

  // For the pairs that fit a page. Larger ones are always in the overflow store.
  double fill_factor = 0;           // their bytes, spilled ones included, by usable bytes of all pages
  double overflow_probability = 0;  // that a page overflows
  double overflow_ratio = 0;        // the share of their bytes in the overflow store, which makes a section grow
  double cut_overflow_ratio = 0;    // the same if pairs could be cut at the end of a page: the paper's figure

  // The shares of pages by their fill, spilled pairs included (the paper's equation 6). [i]: filled
  // to more than i percent and to at most i + 1; [0]: empty pages, too; [100]: pages that overflow.
  std::vector<double> page_fill;
  // By the number of pairs that are hashed to a page, ascending, without nearly impossible numbers.
  struct PagesByPairs {
    uint64_t pairs = 0;
    double share = 0;                 // of all pages
    double overflow_probability = 0;  // of one of them
  };
  std::vector<PagesByPairs> pages_by_pairs;

  double overflow_records = 0;  // records in the overflow store
  double overflow_bytes = 0;    // and their bytes
  double overflow_index_memory = 0;

  double key_store_bytes = 0;  // 0 without one
  double key_store_memory = 0;

  double logical_bytes = 0;   // pages, overflow store and key store, zeros included
  double used_bytes = 0;      // without zeros
  double physical_bytes = 0;  // used_bytes after compression

  // Bytes written for the update of one key if no other key of its page is updated with it: the page
  // and its copy in the page journal. (The write-ahead log is the same as in other stores.)
  double bytes_per_update = 0;
  double used_bytes_per_update = 0;  // without zeros
};

// InvalidArgument, naming the field, if the workload makes no sense, or no number of pages keeps the bound.
rocksdb::Status PlanTableless(const TablelessWorkload& workload, TablelessPlan* plan);

}  // namespace compassdb
