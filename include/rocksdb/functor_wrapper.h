// SPDX-License-Identifier: Apache-2.0
//
// A function together with its arguments, to be called later.

#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

template <typename... Args>
class FunctorWrapper {
 public:
  explicit FunctorWrapper(std::function<void(Args...)> functor, Args&&... args)
      : functor_(std::move(functor)), args_(std::forward<Args>(args)...) {}

  // Calls the function. May be called more than once.
  void invoke() { std::apply(functor_, args_); }

 private:
  std::function<void(Args...)> functor_;
  std::tuple<Args...> args_;
};

}  // namespace ROCKSDB_NAMESPACE
