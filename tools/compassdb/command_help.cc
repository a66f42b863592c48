// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "streams.h"

namespace compassdb_cli {

void AddHelp(CLI::App* app, Globals* globals) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app->add_subcommand("help", "Help on a command, or on exit-codes");
  command->add_option("TOPIC", *topic, "a command, or exit-codes");
  command->callback([=] {
    const auto found =
        app->get_subcommands([&](const CLI::App* c) { return c->get_name() == *topic; });
    if (topic->empty()) {
      WriteOutput(app->help());
    } else if (*topic == "exit-codes") {
      WriteOutput(ExitCodesText());
    } else if (!found.empty()) {
      WriteOutput(found[0]->help());
    } else {
      globals->exit_code = Fail(kUsage, "help: no such topic", *topic);
    }
    globals->exit_code = FinishOutput("help", globals->exit_code);
  });
}

}  // namespace compassdb_cli
