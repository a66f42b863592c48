// SPDX-License-Identifier: Apache-2.0
#include "support/profile.h"

namespace compassdb_test {

namespace {

FamilySpec Plain() { return {}; }
FamilySpec Reverse() { return {.reverse_order = true}; }
FamilySpec Prefixed() { return {.merge = MergeKind::kAppend, .prefix_extractor = true}; }
FamilySpec Filtered() { return {.filter = true}; }
FamilySpec Merging(MergeKind kind) { return {.merge = kind}; }

Profile Mixed() {
  Profile p;
  p.name = "mixed";
  p.families = {Merging(MergeKind::kAppend), Reverse(), Prefixed(), Filtered(),
                Merging(MergeKind::kAdd)};
  p.family_change = 1;
  p.reopen = 1;
  p.verify_checksum = 1;
  return p;
}

Profile Simple() {
  Profile p;
  p.name = "simple";
  p.families = {Plain()};
  p.keys = 3000;
  p.single_delete_share = 0;
  p.merge_share = 0;
  p.delete_range_share = 0;
  p.snapshot = 4;
  p.reopen = 1;
  return p;
}

Profile Snapshots() {
  Profile p;
  p.name = "snapshots";
  p.families = {Plain(), Merging(MergeKind::kCommands)};
  p.keys = 150;
  p.snapshot = 80;
  p.iterator = 80;
  p.scan = 6;
  p.flush = 5;
  p.compact = 3;
  return p;
}

Profile Merges() {
  Profile p;
  p.name = "merges";
  p.families = {Merging(MergeKind::kAppend), Merging(MergeKind::kAdd),
                Merging(MergeKind::kCommands)};
  p.keys = 300;
  p.merge_share = 60;
  p.flush = 5;
  p.compact = 2;
  p.reopen = 1;
  return p;
}

Profile Ranges() {
  Profile p;
  p.name = "ranges";
  p.families = {Merging(MergeKind::kAppend), Reverse(), Prefixed()};
  p.keys = 1500;
  p.delete_range_share = 8;
  p.flush = 4;
  p.compact = 2;
  p.snapshot = 30;
  p.reopen = 1;
  return p;
}

Profile Iterators() {
  Profile p;
  p.name = "iterators";
  p.families = {Plain(), Reverse(), Prefixed()};
  p.keys = 1500;
  p.iterator = 300;
  p.delete_range_share = 2;
  p.flush = 3;
  return p;
}

Profile Families() {
  Profile p;
  p.name = "families";
  p.families = {Plain(), Reverse(), Prefixed(), Filtered(), Merging(MergeKind::kCommands)};
  p.keys = 200;
  p.batch = 300;
  p.family_change = 8;
  p.flush = 4;
  p.reopen = 3;
  p.read_only = 1;
  return p;
}

Profile Reopens() {
  Profile p;
  p.name = "reopens";
  p.families = {Merging(MergeKind::kAppend), Reverse()};
  p.keys = 800;
  p.reopen = 8;
  p.read_only = 2;
  p.disable_wal = true;
  return p;
}

Profile Filters() {
  Profile p;
  p.name = "filters";
  p.families = {Filtered(), {.reverse_order = true, .filter = true}};
  p.keys = 800;
  p.merge_share = 0;
  p.flush = 4;
  p.compact = 3;
  p.scan = 5;
  return p;
}

// Enough keys for several levels and long runs.
Profile Wide() {
  Profile p;
  p.name = "wide";
  p.families = {Plain(), Merging(MergeKind::kAppend)};
  p.keys = 30000;
  p.max_value_log = 9;
  p.large_values = true;
  p.write = 600;
  p.scan = 0;
  p.delete_share = 15;
  return p;
}

}  // namespace

const std::vector<Profile>& Profiles() {
  static const std::vector<Profile> profiles = {Mixed(),     Simple(),   Snapshots(), Merges(),
                                                Ranges(),    Iterators(), Families(), Reopens(),
                                                Filters(),   Wide()};
  return profiles;
}

const Profile* FindProfile(const std::string& name) {
  for (const Profile& profile : Profiles()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

}  // namespace compassdb_test
