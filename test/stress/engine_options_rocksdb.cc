// SPDX-License-Identifier: Apache-2.0
#include "stress/engine_options.h"

namespace compassdb_test {

OptionChanges RandomEngineOptions(Random* random) {
  return {{"max_successive_merges", std::to_string(random->Uniform(4))}};
}

const EngineLimits& Limits() {
  static const EngineLimits kLimits = {.atomic_flush = false, .single_delete_in_locked_batch = false, .two_phase_unasked = false,
          .multi_get_of_many = false, .separated_values = false, .secondaries = false,
          .ingests_at_once = false, .imports = false, .times_kept = false, .optimistic_always_knows = false, .flavours = {Flavour::kUsual}};
  return kLimits;
}

}  // namespace compassdb_test
