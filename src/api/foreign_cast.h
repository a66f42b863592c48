// SPDX-License-Identifier: Apache-2.0
// dynamic_cast for what a client may have implemented: its classes may be built without type
// information (-fno-rtti), and dynamic_cast would follow the null pointer that stands for it.
#pragma once

namespace compassdb {

// In front of the functions of a virtual table is the type information (Itanium C++ ABI).
template <typename T>
bool HasTypeInformation(const T* object) {
  const auto* const table = *reinterpret_cast<const void* const* const*>(object);
  return table[-1] != nullptr;
}

// Null for an object without type information, too: it is none of ours.
template <typename To, typename From>
To ForeignCast(From* object) {
  return object != nullptr && HasTypeInformation(object) ? dynamic_cast<To>(object) : nullptr;
}

}  // namespace compassdb
