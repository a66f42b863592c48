// SPDX-License-Identifier: Apache-2.0
// Reports of several lines: tables for people, JSON for programs, maps of figures.
#pragma once

#include <map>
#include <string>

#include "db/report/family_state.h"

namespace compassdb {

std::string CompassStats(const FamilyState& state);
std::string CompassStatsJson(const FamilyState& state);
// Reads all pages of a table-less family. False if that fails or the family has none.
bool PageFillJson(const FamilyState& state, std::string* json);
std::string CFStats(const FamilyState& state);
void AddCFStats(const FamilyState& state, std::map<std::string, std::string>* value);
std::string LevelStatsText(const FamilyState& state);
std::string TablesText(const FamilyState& state);

// The statistics of the whole database.
std::string DBStats(const ReportSources& sources);
std::map<std::string, std::string> DBStatsMap(const ReportSources& sources);

}  // namespace compassdb
