// SPDX-License-Identifier: Apache-2.0
// milieu info [FILE]: describes a file, or how this program was built and what it found here.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/suggest.h"
#include "milieu/base/counted.h"
#include "milieu/base/parallel.h"
#include "milieu/base/summary.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/isa.h"
#include "milieu/run/methods.h"
#include "milieu/store/describe.h"

namespace milieu::cli {

namespace {

struct InfoOptions {
  std::string file;
  std::string options_of;
  std::string inputs_of;
  bool json = false;
};

std::string compiler_name() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::vector<std::pair<std::string, std::string>> program_facts() {
  return {{"version", version()},    {"compiler", compiler_name()},
          {"cpu", cpu_name()},       {"instruction_set", to_string(active_isa())},
          {"gemm", describe_gemm()}, {"threads", fmt::format("{}", resolve_num_threads(0))}};
}

void print_program(const InfoOptions& options, Console& console) {
  nlohmann::ordered_json json;
  for (auto [name, value] : program_facts()) {
    json[name] = value;
    std::replace(name.begin(), name.end(), '_', ' ');
    if (!options.json) console.print(fmt::format("{:<16} {}\n", name, value));
  }
  if (options.json) console.print(json.dump(2) + "\n");
}

// As base/fields.h makes it for flags; options of features are written name=value.
std::string feature_options_table(const std::vector<Field>& fields) {
  std::string text = "| option | default | range | meaning |\n| --- | --- | --- | --- |\n";
  for (const Field& field : fields) {
    const std::string value = to_text(field.get());
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.name,
                        value.empty() ? "" : "`" + value + "`", field.range_text(), field.help);
  }
  return text;
}

// The options table of a method's docs page.
void print_options(const std::string& name, Console& console) {
  if (const MethodEntry* method = find_method(name))
    return console.print(options_table(method->make()->option_fields()));
  if (const FeatureEntry* entry = find_feature(name)) {
    const std::unique_ptr<Feature> feature = entry->make("");
    return console.print(feature_options_table(feature->fields()));
  }
  if (name == "words") {
    WordOptions words;
    return console.print(feature_options_table(fields_of(words)));
  }
  if (name == "exemplar_learn") {
    ExemplarLearnOptions learn;
    return console.print(options_table(fields_of(learn)));
  }
  std::vector<std::string> known = {"exemplar_learn"};
  for (const MethodEntry& method : methods()) known.push_back(method.name);
  for (const FeatureEntry& entry : feature_catalog()) known.push_back(entry.name);
  known.emplace_back("words");
  const std::string nearest = nearest_word(name, known);
  throw UsageError(fmt::format("--options is '{}', must be a method or a feature{}", name,
                               nearest.empty() ? "" : ": did you mean " + nearest + "?"));
}

// The inputs table of a method's docs page.
void print_inputs(const std::string& name, Console& console) {
  const MethodEntry* method = find_method(name);
  if (!method) throw UsageError(fmt::format("--inputs is '{}', must be a method", name));
  console.print(inputs_table(method->make()->inputs()));
}

// In the form of store/describe.h.
std::string describe_features(const std::string& path) {
  const FeatureFolder folder = open_feature_folder(path);
  std::string text = fmt::format("{}: feature folder\n  images: {} of {}\n", path,
                                 folder.images.size(), folder.source);
  if (!folder.labels.empty()) text += fmt::format("  classes: {}\n", folder.labels.names.size());
  for (const FeatureFolder::Entry& entry : folder.features)
    text += fmt::format("  {}: {}{}\n", entry.spec, counted(entry.cols, "column"),
                        entry.has_patches ? ", patches kept" : "");
  return text;
}

int run_info(const InfoOptions& options, Session& session) {
  if (!options.options_of.empty()) {
    print_options(options.options_of, session.console);
  } else if (!options.inputs_of.empty()) {
    print_inputs(options.inputs_of, session.console);
  } else if (options.file.empty()) {
    print_program(options, session.console);
  } else {
    session.console.print(is_feature_folder(options.file) ? describe_features(options.file)
                                                          : describe_file(options.file));
  }
  return kDone;
}

RunCommand declare_info(Flags& flags) {
  auto options = std::make_shared<InfoOptions>();
  flags.argument("FILE", options->file, false,
                 "data, labels, a model or a run folder; without it the program describes itself");
  FlagSpec spec;
  spec.names = {"--options"};
  spec.value = "METHOD";
  spec.help = "print the options of a method or a feature as a Markdown table";
  spec.group = "Output";
  for (const MethodEntry& method : methods()) spec.choices.push_back(method.name);
  for (const FeatureEntry& entry : feature_catalog()) spec.choices.push_back(entry.name);
  spec.choices.emplace_back("words");
  flags.add(std::move(spec), [options](const std::string& text) { options->options_of = text; });
  FlagSpec inputs;
  inputs.names = {"--inputs"};
  inputs.value = "METHOD";
  inputs.help = "print the further inputs of a method as a Markdown table";
  inputs.group = "Output";
  for (const MethodEntry& method : methods()) inputs.choices.push_back(method.name);
  flags.add(std::move(inputs), [options](const std::string& text) { options->inputs_of = text; });
  flags.boolean("--json", options->json, "describe the program as JSON", "Output");
  return [options](Session& session) { return run_info(*options, session); };
}

constexpr const char* kExample =
    "  milieu info run/model.safetensors\n"
    "    prints kind, arrays and options of a model.\n"
    "  milieu info\n"
    "    prints version, processor, instruction set and the library behind matrix products.\n";

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "describe a file, or what this program runs on",
          .example = kExample,
          .declare = declare_info};
}

}  // namespace milieu::cli
