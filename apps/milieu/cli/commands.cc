// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <fmt/format.h>

#include "cli/cluster_command.h"
#include "method.h"

namespace milieu::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      cac_command(),      kmeans_command(),    kmodes_command(),        gmm_command(),
      ncut_command(),     meanshift_command(), agglomerative_command(), dcp_command(),
      topics_command(),   bags_command(),      multinomials_command(),  jsom_command(),
      dlgmm_command(),    exemplar_command(),  kmedoids_command(),      icc_command(),
      features_command(), predict_command(),   score_command(),         info_command(),
      explore_command(),  demo_command(),      reproduce_command(),     completion_command(),
  };
  return table;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return &command;
  return nullptr;
}

CommandWords match_command(const std::vector<std::string>& words) {
  const Command* command = words.empty() ? nullptr : find_command(words[0]);
  if (!command) return {};
  if (words.size() > 1)
    for (const Command& sub : command->subcommands)
      if (sub.name == fmt::format("{} {}", words[0], words[1])) return {&sub, 2};
  return {command, 1};
}

Run declare_command(const Command& command, Flags& flags) {
  return command.make_method ? declare_clustering(command, flags) : command.declare(flags);
}

std::string call_of(const Command& command) { return fmt::format("milieu {}", command.name); }

}  // namespace milieu::cli
