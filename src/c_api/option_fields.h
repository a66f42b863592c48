// SPDX-License-Identifier: Apache-2.0
// Members of option structs as numbers of C: enumerations by value, durations in their own unit.
#pragma once

namespace compassdb {

template <class Field>
concept Duration = requires(const Field& field) { field.count(); };

// LaterOption of rocksdb/later_option.h.
template <class Field>
concept Later = requires { typename Field::Value; };

template <class Field, class Value>
void StoreOption(Field* field, Value value) {
  if constexpr (Later<Field>) {
    *field = static_cast<typename Field::Value>(value);
  } else {
    *field = static_cast<Field>(value);
  }
}

template <class Value, class Field>
Value LoadOption(const Field& field) {
  if constexpr (Duration<Field>) {
    return static_cast<Value>(field.count());
  } else {
    return static_cast<Value>(field);
  }
}

}  // namespace compassdb
