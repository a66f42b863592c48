// SPDX-License-Identifier: Apache-2.0
#include "generators.h"

#include <cmath>

namespace kvbench {
namespace {

// YCSB scrambles a Zipfian of ten billion items, for any size of the data.
constexpr uint64_t kScrambledItems = 10'000'000'000ULL;

double Zeta(uint64_t from, uint64_t to, double theta, double sum) {
  for (uint64_t i = from; i < to; ++i) sum += 1.0 / std::pow(static_cast<double>(i + 1), theta);
  return sum;
}

// Zeta of many items, where a sum takes too long. After the first ones the integral is used, to within 1e-9, with Euler
// and Maclaurin's first correction.
double LargeZeta(uint64_t items, double theta) {
  constexpr uint64_t kAdded = 100'000;
  if (items <= kAdded) return Zeta(0, items, theta, 0);
  const auto from = static_cast<double>(kAdded), to = static_cast<double>(items);
  const double integral = (std::pow(to, 1 - theta) - std::pow(from, 1 - theta)) / (1 - theta);
  return Zeta(0, kAdded, theta, 0) + integral + (std::pow(to, -theta) - std::pow(from, -theta)) / 2;
}

// FNV-1a of the number's eight bytes, low byte first.
uint64_t Fnv64(uint64_t value) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (int i = 0; i < 8; ++i, value >>= 8) {
    hash ^= value & 0xff;
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace

ZipfianGenerator::ZipfianGenerator(uint64_t items, double theta)
    : theta_(theta),
      alpha_(1.0 / (1.0 - theta)),
      zeta2_(Zeta(0, 2, theta, 0)),
      items_(items),
      zetan_(LargeZeta(items, theta)) {
  Prepare();
}

void ZipfianGenerator::Prepare() {
  eta_ = (1 - std::pow(2.0 / static_cast<double>(items_), 1 - theta_)) / (1 - zeta2_ / zetan_);
}

uint64_t ZipfianGenerator::Next(Random64* random) {
  const double u = random->NextDouble();
  const double uz = u * zetan_;
  if (uz < 1.0 || items_ == 1) return 0;
  if (uz < 1.0 + std::pow(0.5, theta_) || items_ == 2) return 1;
  const double x = static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, alpha_);
  const uint64_t item = static_cast<uint64_t>(x);
  return item < items_ ? item : items_ - 1;
}

uint64_t ZipfianGenerator::Next(Random64* random, uint64_t items) {
  if (items > items_) {
    zetan_ = Zeta(items_, items, theta_, zetan_);
    items_ = items;
    Prepare();
  }
  return Next(random);
}

KeyChooser::KeyChooser(Distribution distribution, uint64_t items, uint64_t expected_inserts, double theta)
    : distribution_(distribution), items_(items + expected_inserts) {
  if (distribution == Distribution::kZipfian) {
    zipfian_ = std::make_unique<ZipfianGenerator>(kScrambledItems, theta);
  } else if (distribution == Distribution::kLatest) {
    zipfian_ = std::make_unique<ZipfianGenerator>(items, theta);
  }
}

uint64_t KeyChooser::Next(Random64* random, uint64_t limit) {
  switch (distribution_) {
    case Distribution::kUniform:
      return random->Uniform(limit);
    case Distribution::kLatest: {
      const uint64_t back = zipfian_->Next(random, limit);
      return back < limit ? limit - 1 - back : 0;
    }
    case Distribution::kZipfian:
      break;
  }
  // The range includes records still to be inserted, so that the popular ones
  // stay the same while it grows; those not there yet are drawn again.
  uint64_t item;
  do {
    item = Fnv64(zipfian_->Next(random)) % items_;
  } while (item >= limit);
  return item;
}

}  // namespace kvbench
