// SPDX-License-Identifier: Apache-2.0
#include "transactions/point_locks.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "transactions/default_mutex.h"
#include "util/hash.h"

namespace compassdb {

namespace {

// At a time, in microseconds: clocks count in nanoseconds, which overflow for the longest timeouts.
constexpr uint64_t kLongestWait = uint64_t{3600} * 1'000'000;

Status UnknownFamily(uint32_t family) {
  return Status::InvalidArgument("Column family id not found: " + std::to_string(family));
}

}  // namespace

PointLocks::PointLocks(Options options)
    : options_([&options] {
        if (options.mutexes == nullptr) options.mutexes = NewDefaultMutexFactory();
        options.stripes = std::max<size_t>(1, options.stripes);
        return std::move(options);
      }()),
      detector_(options_.deadlocks_kept) {}

void PointLocks::AddFamily(uint32_t family) {
  auto locks = std::make_shared<Family>();
  locks->stripes.resize(options_.stripes);
  for (Stripe& stripe : locks->stripes) {
    stripe.mutex = options_.mutexes->AllocateMutex();
    stripe.changed = options_.mutexes->AllocateCondVar();
  }
  std::unique_lock lock(families_mu_);
  families_.emplace(family, std::move(locks));
}

void PointLocks::RemoveFamily(uint32_t family_id) {
  std::shared_ptr<Family> family;
  {
    std::unique_lock lock(families_mu_);
    auto it = families_.find(family_id);
    if (it == families_.end()) return;
    family = std::move(it->second);
    families_.erase(it);
  }
  // Its locks can no longer be found, so they cannot be released.
  family->removed = true;
  for (Stripe& stripe : family->stripes) {
    // Threads that have not seen the flag are waiting by now.
    if (stripe.mutex->Lock().ok()) stripe.mutex->UnLock();
    stripe.changed->NotifyAll();
  }
}

std::shared_ptr<PointLocks::Family> PointLocks::Find(uint32_t family) const {
  std::shared_lock lock(families_mu_);
  auto it = families_.find(family);
  return it == families_.end() ? nullptr : it->second;
}

PointLocks::Stripe* PointLocks::StripeOf(Family* family, const std::string& key) {
  return &family->stripes[Hash64(key) % family->stripes.size()];
}

Status PointLocks::Lock(const LockRequest& request, uint32_t family_id, const std::string& key) {
  if (process_.Inherited()) return InheritedStatus();
  const std::shared_ptr<Family> family = Find(family_id);
  if (family == nullptr) return UnknownFamily(family_id);
  Stripe* const stripe = StripeOf(family.get(), key);
  const int64_t timeout = request.timeout_micros;
  const uint64_t end =
      timeout > 0 ? options_.env->NowMicros() + static_cast<uint64_t>(timeout) : 0;
  Status s = timeout < 0 ? stripe->mutex->Lock() : stripe->mutex->TryLockFor(timeout);
  if (!s.ok()) return s;
  // Released also if there is no memory.
  const auto unlock = [](rocksdb::TransactionDBMutex* mutex) { mutex->UnLock(); };
  const std::unique_ptr<rocksdb::TransactionDBMutex, decltype(unlock)> held(stripe->mutex.get(), unlock);
  Conflict conflict;
  s = TryGrant(request, family.get(), stripe, key, &conflict);
  bool in_time = timeout != 0;
  while (!s.ok() && in_time) {
    if (family->removed) return UnknownFamily(family_id);
    s = AwaitChange(request, family_id, stripe, key, conflict, end);
    // The lock may have expired without a signal: one more attempt after the time.
    in_time = !s.IsTimedOut() || (end > 0 && options_.env->NowMicros() < end) || timeout < 0;
    if (!s.ok() && !s.IsTimedOut()) break;
    s = TryGrant(request, family.get(), stripe, key, &conflict);
  }
  return s;
}

Status PointLocks::AwaitChange(const LockRequest& request, uint32_t family, Stripe* stripe,
                               const std::string& key, const Conflict& conflict,
                               uint64_t end_micros) {
  const bool owned = !conflict.owners.empty();
  const bool detect = owned && request.detect_deadlock;
  if (detect) {
    int64_t now = 0;
    options_.env->GetCurrentTime(&now).PermitUncheckedError();  // for the record only
    if (!detector_.BeginWait(request.owner, {conflict.owners, family, request.exclusive, key},
                             request.max_depth, now)) {
      return Status::Busy(Status::SubCode::kDeadlock);
    }
  }
  if (owned && request.waiter != nullptr) request.waiter->WaitingFor(conflict.owners, family, key);
  uint64_t until = end_micros;
  if (conflict.expires_micros > 0) {
    until = until > 0 ? std::min(until, conflict.expires_micros) : conflict.expires_micros;
  }
  Status s;
  if (until == 0) {
    s = stripe->changed->Wait(stripe->mutex);
  } else {
    const uint64_t now = options_.env->NowMicros();
    s = until > now ? stripe->changed->WaitFor(
                          stripe->mutex, static_cast<int64_t>(std::min(until - now, kLongestWait)))
                    : Status::TimedOut(Status::SubCode::kMutexTimeout);
  }
  if (owned && request.waiter != nullptr) request.waiter->WaitingEnded();
  if (detect) detector_.EndWait(request.owner);
  return s;
}

Status PointLocks::TryGrant(const LockRequest& request, Family* family, Stripe* stripe,
                            const std::string& key, Conflict* conflict) {
  *conflict = Conflict();
  auto it = stripe->held.find(key);
  if (it == stripe->held.end()) {
    it = stripe->held.emplace(key, Held{request.exclusive, {{request.owner, request.expires_micros}}}).first;
    if (options_.max_locks > 0 && family->locks.fetch_add(1) >= options_.max_locks) {
      family->locks.fetch_sub(1);
      stripe->held.erase(it);
      return Status::Busy(Status::SubCode::kLockLimit);
    }
    return Status::OK();
  }
  Held& held = it->second;
  if (!held.exclusive && !request.exclusive) {
    held.owners.push_back({request.owner, request.expires_micros});
    return Status::OK();
  }
  if (!OthersExpired(request, held, conflict)) {
    for (const Owner& owner : held.owners) {
      if (owner.id != request.owner) conflict->owners.push_back(owner.id);
    }
    return Status::TimedOut(Status::SubCode::kLockTimeout);
  }
  held = {request.exclusive, {{request.owner, request.expires_micros}}};
  return Status::OK();
}

// One holder that does not expire keeps the lock for all that share it.
bool PointLocks::OthersExpired(const LockRequest& request, const Held& held, Conflict* conflict) {
  uint64_t last = 0;
  for (const Owner& owner : held.owners) {
    if (owner.id == request.owner) continue;
    if (owner.expires_micros == 0) return false;
    last = std::max(last, owner.expires_micros);
  }
  if (last > 0 && last > options_.env->NowMicros()) {
    conflict->expires_micros = last;
    return false;
  }
  for (const Owner& owner : held.owners) {
    if (owner.id != request.owner && !options_.steal(owner.id)) return false;
  }
  return true;
}

void PointLocks::Unlock(TransactionID owner, uint32_t family_id, const std::string& key) {
  if (process_.Inherited()) return;
  const std::shared_ptr<Family> family = Find(family_id);
  if (family == nullptr) return;  // dropped
  Stripe* const stripe = StripeOf(family.get(), key);
  if (!stripe->mutex->Lock().ok()) return;
  auto it = stripe->held.find(key);
  if (it != stripe->held.end()) {
    std::vector<Owner>* owners = &it->second.owners;
    std::erase_if(*owners, [owner](const Owner& o) { return o.id == owner; });
    if (owners->empty()) {
      stripe->held.erase(it);
      if (options_.max_locks > 0) family->locks.fetch_sub(1);
    }
  }
  stripe->mutex->UnLock();
  stripe->changed->NotifyAll();
}

void PointLocks::Unlock(TransactionID owner, const TrackedKeys& keys) {
  for (const auto& [family, tracked] : keys.families()) {
    for (const auto& [key, info] : tracked) Unlock(owner, family, key);
  }
}

std::unordered_multimap<uint32_t, KeyLockInfo> PointLocks::GetStatus() {
  std::unordered_multimap<uint32_t, KeyLockInfo> status;
  std::shared_lock lock(families_mu_);
  for (const auto& [id, family] : families_) {
    for (Stripe& stripe : family->stripes) {
      if (!stripe.mutex->Lock().ok()) continue;
      for (const auto& [key, held] : stripe.held) {
        std::vector<TransactionID> owners;
        for (const Owner& owner : held.owners) owners.push_back(owner.id);
        status.emplace(id, KeyLockInfo{key, std::move(owners), held.exclusive});
      }
      stripe.mutex->UnLock();
    }
  }
  return status;
}

}  // namespace compassdb
