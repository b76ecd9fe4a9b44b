// SPDX-License-Identifier: Apache-2.0
// The file of `dcp --rank-contexts --resume`; its first line is the key that is expected.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fuzz_target.h"
#include "milieu/base/hash.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/run/methods/dcp_contexts.h"

namespace milieu {
namespace {

// The checksum of the splits is set right where there are any: no fuzzer guesses it.
std::string with_right_check(std::string_view text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("splits")) return std::string(text);
  const auto text_of = [](const nlohmann::json& part) {
    return part.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  json["check"] = hex(hash_text(text_of(json["splits"])));
  return text_of(json);
}

const RegisterFuzzTarget kRegistered("ranking", [](std::span<const std::byte> input) {
  std::string_view rest = as_text(input);
  const std::string key(internal::take_line(rest));
  const std::string path = std::filesystem::temp_directory_path() /
                           ("milieu-fuzz-" + std::to_string(getpid()) + ".json");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << with_right_check(rest);
  const RankingState state(path, key, {.num_samples = 4, .num_parts = 2});
  if (const DcpContextSplit* split = state.find("a")) {
    check_promise(split->labels.size() == 4, "a label for every row");
    for (const int label : split->labels) check_promise(label >= 0 && label < 2, "labels in range");
  }
});

}  // namespace
}  // namespace milieu
