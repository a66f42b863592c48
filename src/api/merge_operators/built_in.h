// SPDX-License-Identifier: Apache-2.0
// The merge operators that MergeOperator::CreateFromString() makes by name or nickname.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/merge_operator.h"

namespace compassdb {

using MergeOperatorPtr = std::shared_ptr<rocksdb::MergeOperator>;

// "PutOperator", "put": the newest operand is the value.
MergeOperatorPtr NewPutOperator();
// "UInt64AddOperator", "uint64add": sum of 8-byte little-endian numbers, modulo 2^64. What has another
// length counts as 0.
MergeOperatorPtr NewUInt64AddOperator();
// "MaxOperator", "max": the largest, bytewise.
MergeOperatorPtr NewMaxOperator();
// "BytesXOR", "bytesxor": exclusive or; the shorter is filled up with zeros.
MergeOperatorPtr NewBytesXorOperator();
// "MergeSortOperator", "sortlist": sorted lists of decimal integers, separated by ','. What does not
// parse fails the merge.
MergeOperatorPtr NewSortListOperator();
// "StringAppendOperator", "stringappend": joins with a delimiter (option "delimiter", ","), all at once
// when read.
MergeOperatorPtr NewStringAppendOperator(const std::string& delimiter = ",");
// "StringAppendTESTOperator", "stringappendtest": the same result by folding pairs.
MergeOperatorPtr NewStringAppendPairsOperator(const std::string& delimiter = ",");

}  // namespace compassdb
