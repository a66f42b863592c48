// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/perfect_hash.h"

#include <memory>

#include "perfect_hash/cp_builder.h"
#include "perfect_hash/pilot_builder.h"
#include "perfect_hash/threads.h"

#if defined(COMPASSDB_INVARIANTS)
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#endif

namespace compassdb::perfect_hash {

#if defined(COMPASSDB_INVARIANTS)
namespace {

void CheckPerfect(std::span<const uint64_t> hashes, uint64_t distinct, const std::string& bytes) {
  Function f;
  bool good = Function::Open({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, &f) &&
              f.keys() == distinct;
  std::unordered_map<uint64_t, uint64_t> owner;
  for (const uint64_t hash : hashes) {
    const uint64_t slot = f(hash);
    good = good && slot < f.slots() && owner.emplace(slot, hash).first->second == hash;
  }
  if (!good || owner.size() != distinct) {
    std::fprintf(stderr, "perfect_hash: the function built is not perfect\n");
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
#if defined(COMPASSDB_INVARIANTS)
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
