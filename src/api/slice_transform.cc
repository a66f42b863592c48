// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/slice_transform.h"

#include <algorithm>

#include "api/registered.h"
#include "rocksdb/config_options.h"
#include "rocksdb/slice.h"
#include "util/c_locale.h"
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

// Makes a Derived of "<class name>.N" or "<nickname>:N"; leaves *made alone if it is no such id. N
// may wrap.
template <class Derived>
Status MakeOfLength(const std::string& id, std::shared_ptr<const SliceTransform>* made) {
  for (const std::string& head :
       {std::string(Derived::kClassName()) + ".", std::string(Derived::kNickName()) + ":"}) {
    if (id.compare(0, head.size(), head) != 0) continue;
    Slice rest(id.data() + head.size(), id.size() - head.size());
    const bool negative = rest.starts_with("-");
    if (negative) rest.remove_prefix(1);
    if (rest.empty() ||
        !std::all_of(rest.data(), rest.data() + rest.size(), compassdb::IsAsciiDigit))
      break;
    uint64_t n = 0;
    if (!compassdb::ConsumeDecimal(&rest, &n)) {
      return Status::InvalidArgument("length out of range", id);
    }
    *made = std::make_shared<Derived>(static_cast<size_t>(negative ? 0 - n : n));
  }
  return Status::OK();
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
  const auto built_in = [](const std::string& name, std::shared_ptr<const SliceTransform>* made) {
    if (name == NoopTransform::kClassName()) made->reset(NewNoopTransform());
    Status s = MakeOfLength<FixedPrefixTransform>(name, made);
    return s.ok() ? MakeOfLength<CappedPrefixTransform>(name, made) : s;
  };
  return compassdb::LoadObject<const SliceTransform>(config_options, "SliceTransform", id, built_in,
                                                     result);
}

std::string SliceTransform::AsString() const { return GetId(); }

}  // namespace ROCKSDB_NAMESPACE
