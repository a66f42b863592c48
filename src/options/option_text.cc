// SPDX-License-Identifier: Apache-2.0
#include "options/option_text.h"

#include "rocksdb/convenience.h"

namespace compassdb {

Status SplitOptionList(const std::string& text, std::vector<std::string>* elements) {
  elements->clear();
  for (size_t pos = 0; pos < text.size();) {
    std::string element;
    const Status s = TakeToken(text, ':', &pos, &element);
    if (!s.ok()) return s;
    // One element in braces that spans the text is a list in braces.
    if (elements->empty() && pos >= text.size() && text[0] == '{' &&
        element.find_first_of(":{") != std::string::npos) {
      return SplitOptionList(element, elements);
    }
    elements->push_back(std::move(element));
  }
  return Status::OK();
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

Status StringToMap(const std::string& opts_str,
                   std::unordered_map<std::string, std::string>* opts_map) {
  return compassdb::ParseOptionString(opts_str, opts_map);
}

}  // namespace ROCKSDB_NAMESPACE
