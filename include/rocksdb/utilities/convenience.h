// SPDX-License-Identifier: Apache-2.0
//
// The former place of rocksdb/convenience.h.

#pragma once

#include "rocksdb/convenience.h"
