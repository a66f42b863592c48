// SPDX-License-Identifier: Apache-2.0
// Finds the records for markers of the key store (KallaxDB 4.6), and values of memtables that are
// in a log.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "iter/value_resolver.h"
#include "tableless/tableless_view.h"

namespace compassdb {

// The value of a key store's record of type kTypeBlobIndex: the key's value is in its page.
inline constexpr char kKeyMarker[] = "k";

// At the sequence of the read, which must be held as a snapshot if there is one.
class PageResolver final : public ValueResolver {
 public:
  PageResolver(std::shared_ptr<const TablelessView> view, const BlockReadOptions& read)
      : view_(std::move(view)), read_(read) {}

  Status Resolve(const Slice& user_key, const Slice& ref,
                 rocksdb::PinnableSlice* value) const override;
  Status ResolveVersion(const Slice& user_key, const Slice& ref, rocksdb::PinnableSlice* value,
                        Version* version) const override;
  void ReadAhead(std::span<const Upcoming> coming, bool keep) override;

 private:
  struct Found {
    Slice user_key, ref;
    std::string value;
    Version version;
    bool found = false;
  };
  // Null: it was not read ahead.
  const Found* FindAhead(const Slice& user_key, const Slice& ref) const;
  Status ResolveLogged(const Slice& user_key, const Slice& ref,
                       rocksdb::PinnableSlice* value) const;
  void ReadLogged(std::span<const Upcoming> coming);
  const std::shared_ptr<const TablelessView> view_;
  const BlockReadOptions read_;
  std::vector<Found> ahead_;  // in their order; reused with their memory
  size_t coming_ = 0;
  mutable size_t next_ = 0;
};

}  // namespace compassdb
