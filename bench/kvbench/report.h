// SPDX-License-Identifier: Apache-2.0
// One JSON object and one line of text per result.
#pragma once

#include <string>

#include "engine.h"
#include "flags.h"
#include "runner.h"

namespace kvbench {

// The object on one line; bench/README.md explains each field.
std::string JsonReport(const Flags& flags, const WorkloadSpec& spec, const EngineBuild& build,
                       const WorkloadResult& result);
std::string TextReport(const WorkloadSpec& spec, const WorkloadResult& result);

}  // namespace kvbench
