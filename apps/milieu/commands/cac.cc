// SPDX-License-Identifier: Apache-2.0
// milieu cac: cac/cac.h on the command line.
#include <memory>

#include "cac_method.h"
#include "cli/commands.h"

namespace milieu::cli {

namespace {

constexpr std::string_view kExample =
    "  milieu cac sift.npy --positions places.npy --words 25 --phrases 2 --out run\n"
    "    clusters descriptors into 25 words, and the groups that each makes with its 10 nearest\n"
    "    neighbours into 2 phrases. Several views of the same samples, without INPUT:\n"
    "  milieu cac --view fou.npy --view kar.npy --view pix.npy --words 10 --phrases 10\n"
    "    gives each view words of its own; the phrases are the clusters of the samples.\n";

}  // namespace

Command cac_command() {
  return {.name = "cac",
          .summary = "context-aware clustering: words of samples, phrases of groups",
          .example = kExample,
          .make_method = std::make_unique<CacMethod>,
          .subcommands = {cac_predict_command()}};
}

}  // namespace milieu::cli
