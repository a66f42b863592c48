// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "commands.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

// How many letters must be added, removed or replaced.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

}  // namespace

std::string UnknownCommand(const CLI::App& app, const std::string& word) {
  std::string nearest;
  size_t distance = 3;  // with more letters wrong it is another word
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = command->get_name();
    const bool begins = word.size() > 2 && name.starts_with(word);
    const size_t d = begins ? 1 : Distance(word, name);
    if (d >= distance || d >= name.size()) continue;
    distance = d;
    nearest = name;
  }
  const std::string hint = nearest.empty() ? "" : "; did you mean " + nearest + "?";
  return fmt::format("\"{}\"{}", Shortened(word), hint);
}

void AddHelp(CLI::App* app, Globals* globals) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app->add_subcommand("help", "Help on a command, or on exit-codes");
  command->add_option("TOPIC", *topic, "a command, or exit-codes");
  command->callback([=] {
    const auto found =
        app->get_subcommands([&](const CLI::App* c) { return c->get_name() == *topic; });
    if (topic->empty()) {
      // app->help() is that of this command.
      const auto all = CLI::AppFormatMode::Normal;
      WriteOutput(app->get_formatter()->make_help(app, app->get_name(), all));
    } else if (*topic == "exit-codes") {
      WriteOutput(ExitCodesText());
    } else if (!found.empty()) {
      WriteOutput(found[0]->help(app->get_name()));
    } else {
      globals->exit_code = Fail(kUsage, "help: no such topic", UnknownCommand(*app, *topic));
    }
    globals->exit_code = FinishOutput("help", globals->exit_code);
  });
}

}  // namespace compassdb_cli
