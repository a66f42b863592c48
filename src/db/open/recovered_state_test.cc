// SPDX-License-Identifier: Apache-2.0
// The state after edits. The cases are in testdata/edits/: a line of `new` (a new state) or `apply`
// is an edit (manifest/testing/edit_text.h). Edits that contradict earlier ones are refused: such a
// manifest is damaged, even with right checksums. The state is shown if it has changed.
#include "db/open/recovered_state.h"

#include "manifest/testing/edit_text.h"
#include "util/testing/data_driven.h"

namespace compassdb {
namespace {

std::string Describe(const RecoveredState& state) {
  std::string text = "next " + std::to_string(state.next_number) + ", sequence " +
                     std::to_string(state.last_sequence) + ", logs from " +
                     std::to_string(state.min_log_number) + "\n";
  for (const auto& [id, family] : state.families) {
    text += "'" + family.name + "' comparator " + family.comparator + " log " +
            std::to_string(family.log_number) + " history from '" + family.history_low + "', " +
            family.AllTables(id).DebugString() + "\n";
  }
  for (const FileChecksum& checksum : state.LiveChecksums()) {
    text += "checksum of " + std::to_string(checksum.file_number) + ": " + checksum.checksum + "\n";
  }
  return text;
}

class RecoveredStateTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RecoveredStateTest, Cases) {
  RecoveredState state;
  RunDataDriven(GetParam(), [&](DataCase& data) -> std::string {
    if (data.command == "new") state = RecoveredState();
    std::string refused;
    bool changed = false;
    for (const std::string& line : data.input) {
      const EditText text(line);
      if (!text.unknown().empty()) return text.unknown();
      RecoveredState next = state;
      const Status s = next.Apply(text.edit());
      if (s.ok()) {
        state = std::move(next);
        changed = true;
      } else {
        refused += s.ToString() + "\n";
      }
    }
    return changed ? refused + Describe(state) : refused;
  });
}

INSTANTIATE_TEST_SUITE_P(Files, RecoveredStateTest,
                         ::testing::ValuesIn(DataFiles(__FILE__, "testdata/edits")), DataFileName);

}  // namespace
}  // namespace compassdb
