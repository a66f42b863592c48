// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/unfolded.h"

#include "util/coding.h"

namespace compassdb {

void EncodeUnfolded(const std::vector<NewVersion>& versions, std::string* value) {
  for (const NewVersion& v : versions) {
    value->push_back(static_cast<char>(v.type));
    PutVarint64(value, v.sequence);
    PutLengthPrefixedSlice(value, v.value);
  }
}

Status DecodeUnfolded(const Slice& value, std::vector<NewVersion>* versions) {
  versions->clear();
  for (Slice rest = value; !rest.empty();) {
    NewVersion& v = versions->emplace_back();
    v.type = static_cast<ValueType>(rest[0]);
    rest.remove_prefix(1);
    const bool known = v.type == kTypeValue || v.type == kTypeWideColumnEntity || v.type == kTypeMerge ||
                       v.type == kTypeDeletion || v.type == kTypeSingleDeletion;
    if (!known || !GetVarint64(&rest, &v.sequence) || !GetLengthPrefixedSlice(&rest, &v.value)) {
      return Status::Corruption("operands that cannot be read");
    }
  }
  return versions->empty() ? Status::Corruption("a record of no operands") : Status::OK();
}

}  // namespace compassdb
