// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/perfect_hash.h"

#include <memory>

#include "perfect_hash/cp_builder.h"
#include "perfect_hash/pilot_builder.h"
#include "perfect_hash/threads.h"

#if !defined(NDEBUG)
#include <cstdio>
#include <cstdlib>
#include <vector>
#endif

namespace compassdb::perfect_hash {

#if !defined(NDEBUG)
namespace {

void CheckPerfect(std::span<const uint64_t> hashes, uint64_t distinct, const std::string& bytes) {
  Function f;
  bool good = Function::Open({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, &f) &&
              f.keys() == distinct;
  std::vector<uint64_t> owner(good ? f.slots() : 0);
  std::vector<bool> taken(owner.size());
  uint64_t owners = 0;
  for (size_t i = 0; good && i < hashes.size(); ++i) {
    const uint64_t slot = f(hashes[i]);
    good = slot < owner.size() && (!taken[slot] || owner[slot] == hashes[i]);
    if (!good || taken[slot]) continue;
    taken[slot] = true;
    owner[slot] = hashes[i];
    ++owners;
  }
  if (!good || owners != distinct) {
    std::fprintf(stderr, "perfect_hash: invariant broken: each hash has a slot of its own\n");
    std::abort();
  }
}

}  // namespace
#endif

BuildResult Build(std::span<const uint64_t> hashes, const BuildOptions& options,
                  std::string* serialized) {
  serialized->clear();
  BuildResult result;
  if (hashes.size() > kMaxKeys) return result;
  ParallelFor parallel = options.parallel;
  if (!parallel && options.threads > 1) parallel = RunOnThreads(options.threads);
  switch (options.kind) {
    case Kind::kPilot:
      result.distinct = BuildPilotFunction(hashes, options.seed, options.sorted, PilotTuning(),
                                           parallel, serialized);
      break;
    case Kind::kCpHash:
      result.distinct = BuildCpFunction(hashes, options.seed, options.sorted, CpTuning(),
                                        parallel, serialized);
      break;
    default:
      return result;
  }
  result.ok = true;
#if !defined(NDEBUG)
  CheckPerfect(hashes, result.distinct, *serialized);
#endif
  return result;
}

bool Function::Open(std::span<const uint8_t> bytes, Function* out) {
  *out = Function();
  if (bytes.empty() || bytes[0] != kCpKind) return PilotView::Open(bytes, &out->pilot_);
  CpView view;
  if (!CpView::Open(bytes, &view)) return false;
  std::construct_at(&out->cp_, view);
  out->kind_ = Kind::kCpHash;
  return true;
}

}  // namespace compassdb::perfect_hash
