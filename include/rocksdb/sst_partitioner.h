// SPDX-License-Identifier: Apache-2.0
//
// Boundaries of tables that the application chooses, so that later compactions overlap less.

#pragma once

#include <memory>
#include <string>

#include "rocksdb/customizable.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

class Slice;

// Whether a new table must be begun.
enum PartitionerResult : char {
  kNotRequired = 0x0,
  kRequired = 0x1
};

// The position of a compaction.
struct PartitionerRequest {
  PartitionerRequest(const Slice& prev_user_key_,
                     const Slice& current_user_key_,
                     uint64_t current_output_file_size_)
      : prev_user_key(&prev_user_key_),
        current_user_key(&current_user_key_),
        current_output_file_size(current_output_file_size_) {}
  const Slice* prev_user_key;
  const Slice* current_user_key;
  uint64_t current_output_file_size;
};

// For one compaction, in one thread.
class SstPartitioner {
 public:
  virtual ~SstPartitioner() {}
  virtual const char* Name() const = 0;

  // Asked before each key but the first of a table.
  virtual PartitionerResult ShouldPartition(
      const PartitionerRequest& request) = 0;

  // Whether a table with these keys is within one partition, so that it can be moved.
  virtual bool CanDoTrivialMove(const Slice& smallest_user_key,
                                const Slice& largest_user_key) = 0;

  // The compaction.
  struct Context {
    bool is_full_compaction;
    bool is_manual_compaction;
    int output_level;
    Slice smallest_user_key;
    Slice largest_user_key;
  };
};

// Called from many threads at once.
class SstPartitionerFactory : public Customizable {
 public:
  ~SstPartitionerFactory() override {}
  static const char* Type() { return "SstPartitionerFactory"; }

  // Makes a built-in or registered factory by name.
  static Status CreateFromString(
      const ConfigOptions& options, const std::string& value,
      std::shared_ptr<SstPartitionerFactory>* result);

  // May be null: no boundaries.
  virtual std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const = 0;
  const char* Name() const override = 0;
};

// A table holds keys of one prefix of len bytes.
class SstPartitionerFixedPrefix : public SstPartitioner {
 public:
  explicit SstPartitionerFixedPrefix(size_t len) : len_(len) {}
  virtual ~SstPartitionerFixedPrefix() override {}
  const char* Name() const override { return "SstPartitionerFixedPrefix"; }
  PartitionerResult ShouldPartition(const PartitionerRequest& request) override;
  bool CanDoTrivialMove(const Slice& smallest_user_key,
                        const Slice& largest_user_key) override;

 private:
  size_t len_;
};

// Makes them.
class SstPartitionerFixedPrefixFactory : public SstPartitionerFactory {
 public:
  explicit SstPartitionerFixedPrefixFactory(size_t len);
  ~SstPartitionerFixedPrefixFactory() override {}
  static const char* kClassName() { return "SstPartitionerFixedPrefixFactory"; }
  const char* Name() const override { return kClassName(); }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& /*context*/) const override;

 private:
  size_t len_;
};

extern std::shared_ptr<SstPartitionerFactory>
NewSstPartitionerFixedPrefixFactory(size_t prefix_len);

}  // namespace ROCKSDB_NAMESPACE
