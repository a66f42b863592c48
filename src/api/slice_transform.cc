// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/slice_transform.h"

#include <algorithm>
#include <optional>

#include "api/option_string.h"
#include "api/registered.h"
#include "rocksdb/config_options.h"
#include "rocksdb/slice.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {

namespace {

// "<class name>.<length>"
template <class Derived>
class PrefixTransform : public SliceTransform {
 public:
  explicit PrefixTransform(size_t length)
      : length_(length), id_(Derived::kClassName() + ("." + std::to_string(length))) {}

  const char* Name() const override { return Derived::kClassName(); }
  const char* NickName() const override { return Derived::kNickName(); }
  std::string GetId() const override { return id_; }
  bool IsInstanceOf(const std::string& name) const override {
    return name == id_ || SliceTransform::IsInstanceOf(name);
  }
  bool FullLengthEnabled(size_t* len) const override {
    *len = length_;
    return true;
  }

 protected:
  const size_t length_;

 private:
  const std::string id_;
};

class FixedPrefixTransform final : public PrefixTransform<FixedPrefixTransform> {
 public:
  using PrefixTransform::PrefixTransform;
  static const char* kClassName() { return "rocksdb.FixedPrefix"; }
  static const char* kNickName() { return "fixed"; }

  Slice Transform(const Slice& key) const override {
    assert(InDomain(key));
    return Slice(key.data(), length_);
  }
  bool InDomain(const Slice& key) const override { return key.size() >= length_; }
  bool InRange(const Slice& dst) const override { return dst.size() == length_; }
  bool SameResultWhenAppended(const Slice& prefix) const override { return InDomain(prefix); }
};

class CappedPrefixTransform final : public PrefixTransform<CappedPrefixTransform> {
 public:
  using PrefixTransform::PrefixTransform;
  static const char* kClassName() { return "rocksdb.CappedPrefix"; }
  static const char* kNickName() { return "capped"; }

  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), std::min(length_, key.size()));
  }
  bool InDomain(const Slice& /*key*/) const override { return true; }
  bool InRange(const Slice& dst) const override { return dst.size() <= length_; }
  bool SameResultWhenAppended(const Slice& prefix) const override { return prefix.size() >= length_; }
};

class NoopTransform : public SliceTransform {
 public:
  static const char* kClassName() { return "rocksdb.Noop"; }
  const char* Name() const override { return kClassName(); }
  Slice Transform(const Slice& key) const override { return key; }
  bool InDomain(const Slice& /*key*/) const override { return true; }
  bool InRange(const Slice& /*dst*/) const override { return true; }
  bool SameResultWhenAppended(const Slice& /*prefix*/) const override { return false; }
};

// The N of "<long_name>.N" or "<short_name>:N".
std::optional<size_t> Parameter(const std::string& id, const std::string& long_name,
                                const std::string& short_name) {
  Slice rest(id);
  for (const std::string& head : {long_name + ".", short_name + ":"}) {
    if (!rest.starts_with(head)) continue;
    rest.remove_prefix(head.size());
    uint64_t n = 0;
    if (compassdb::ConsumeDecimal(&rest, &n) && rest.empty()) return static_cast<size_t>(n);
    break;
  }
  return std::nullopt;
}

}  // namespace

const SliceTransform* NewFixedPrefixTransform(size_t prefix_len) {
  return new FixedPrefixTransform(prefix_len);
}

const SliceTransform* NewCappedPrefixTransform(size_t cap_len) {
  return new CappedPrefixTransform(cap_len);
}

const SliceTransform* NewNoopTransform() { return new NoopTransform(); }

Status SliceTransform::CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                        std::shared_ptr<const SliceTransform>* result) {
  std::string name;
  Status s = compassdb::IdOfPlainObject(id, &name);
  if (!s.ok()) return s;
  if (name.empty() || name == "nullptr") {
    result->reset();
    return Status::OK();
  }
  if (compassdb::NewRegistered<const SliceTransform>(config_options, name, result, &s)) return s;
  if (name == NoopTransform::kClassName()) {
    result->reset(NewNoopTransform());
    return Status::OK();
  }
  using Fixed = FixedPrefixTransform;
  using Capped = CappedPrefixTransform;
  if (auto length = Parameter(name, Fixed::kClassName(), Fixed::kNickName())) {
    result->reset(NewFixedPrefixTransform(*length));
    return Status::OK();
  }
  if (auto cap = Parameter(name, Capped::kClassName(), Capped::kNickName())) {
    result->reset(NewCappedPrefixTransform(*cap));
    return Status::OK();
  }
  return compassdb::UnknownObject(config_options, "SliceTransform", id);
}

std::string SliceTransform::AsString() const { return GetId(); }

}  // namespace ROCKSDB_NAMESPACE
