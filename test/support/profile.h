// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/family.h"

namespace compassdb_test {

// The shape of a random run: families, key space, and how often each kind
// of operation comes (weights, relative to each other).
struct Profile {
  std::string name;
  std::vector<FamilySpec> families;
  // All keys begin with it, and iterators keep to them: several generators share families so.
  std::string key_prefix;
  int fixed_families = 1;     // that many exist from the beginning and are never dropped
  uint64_t keys = 600;        // per family
  int max_value_log = 7;      // values mostly below 2^this bytes
  bool large_values = false;  // now and then 2 to 20 KB
  bool disable_wal = false;   // now and then, with clean closes only

  int write = 400;
  int batch = 100;
  int get = 250;
  int multi_get = 20;
  int key_may_exist = 10;
  int snapshot = 20;
  int iterator = 40;
  int scan = 2;
  int flush = 2;
  int compact = 1;
  int family_change = 0;
  int reopen = 0;
  int read_only = 0;
  int verify_checksum = 0;

  // Of written items, per cent; the rest are Puts.
  int delete_share = 20;
  int single_delete_share = 8;
  int delete_range_share = 1;
  int merge_share = 20;
};

// All profiles by name; model tests name one, or "all" runs each in turn.
const std::vector<Profile>& Profiles();
const Profile* FindProfile(const std::string& name);

}  // namespace compassdb_test
