// SPDX-License-Identifier: Apache-2.0
// Consolidation of tables that are scanned often: the picker's last rule.
//
// The rule is that of renting or buying. While scans have lost less by several
// sorted runs than it costs to merge them, the runs stay. After that they are
// merged. So rewriting for scans costs at most what the scans lost before, and
// they lose at most what it costs. A table of one piece with nothing below
// loses nothing and is not rewritten.
#include <algorithm>

#include "lsm/policy/picker.h"

namespace compassdb {

namespace {

uint64_t RewriteCost(const PickerTable& t) { return t.live_bytes + t.meta->directory.length; }

struct Offer {
  double gain = 0;  // loss per cost; from 1 on it is paid for
  CompactionPlan plan;
};

void Keep(uint64_t loss, uint64_t cost, CompactionPlan plan, Offer* best) {
  const double gain =
      static_cast<double>(loss) / static_cast<double>(cost + kConsolidationFixedCost);
  if (gain < 1 || gain <= best->gain) return;
  plan.reason = kScansReason;
  *best = {gain, std::move(plan)};
}

// The inputs and all that they overlap in the next level become one run. If the
// next level is empty in their range, one table moves down a level, with its sums,
// once the merge further down is paid for. Several tables become one run.
void OfferMerge(const PickerInput& input, const PickerConfig& config, int level,
                std::vector<size_t> inputs, Offer* best) {
  CompactionPlan plan;
  plan.input_level = level;
  plan.output_level = level == 0 && config.one_level ? DataLevel(input) : level + 1;
  uint64_t loss = 0, cost = 0;
  for (size_t i : inputs) {
    const PickerTable& t = input.levels[level][i];
    if (t.busy) return;
    loss += t.scan_loss_run + t.scan_loss_pieces;
    cost += RewriteCost(t);
  }
  if (loss == 0) return;
  plan.inputs = std::move(inputs);
  if (!ChooseBases(input, config, &plan)) return;
  CompactionPlan below = plan;
  const int last = static_cast<int>(input.levels.size()) - 1;
  while (plan.inputs.size() == 1 && below.bases.empty() && below.output_level < last) {
    ++below.output_level;
    if (!ChooseBases(input, config, &below)) return;
  }
  if (plan.inputs.size() == 1 && below.bases.empty()) return;
  const bool same_cut =
      input.levels[level][plan.inputs.front()].meta->hash_range == plan.hash_range;
  plan.trivial_move =
      plan.inputs.size() == 1 && plan.bases.empty() && same_cut &&
      SettlesOn(input, config, input.levels[level][plan.inputs.front()], plan.output_level);
  plan.whole = !plan.trivial_move;
  for (size_t b : below.bases) {
    loss += input.levels[below.output_level][b].scan_loss_pieces;
    cost += RewriteCost(input.levels[below.output_level][b]);
  }
  if (cost > config.max_compaction_bytes) return;
  Keep(loss, cost, std::move(plan), best);
}

}  // namespace

CompactionPlan PickByScans(const PickerInput& input, const PickerConfig& config) {
  Offer best;
  for (size_t l = 0; l < input.levels.size(); ++l) {
    const auto& level = input.levels[l];
    const int n = static_cast<int>(l);
    for (size_t i = 0; i < level.size(); ++i) {
      const PickerTable& t = level[i];
      if (t.busy) continue;
      if (l > 0 && t.meta->pieces.size() > 1 && t.scan_loss_pieces > 0) {
        CompactionPlan plan;
        plan.input_level = plan.output_level = n;
        plan.inputs = {i};
        plan.rewrite = true;
        Keep(t.scan_loss_pieces, RewriteCost(t), std::move(plan), &best);
      }
      if (l > 0 && l + 1 < input.levels.size() && t.scan_loss_run > 0) {
        OfferMerge(input, config, n, {i}, &best);
      }
    }
    if (l == 0 && !level.empty() && input.levels.size() > 1) {
      std::vector<size_t> all(level.size());
      for (size_t i = 0; i < all.size(); ++i) all[i] = i;
      OfferMerge(input, config, 0, std::move(all), &best);
    }
  }
  return best.plan;
}

}  // namespace compassdb
