// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/run_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "milieu/base/error.h"
#include "milieu/base/shell.h"
#include "milieu/base/summary.h"
#include "milieu/data/text_file.h"
#include "milieu/store/json.h"

namespace milieu {

namespace {

using Json = nlohmann::ordered_json;

// Options that came later, with what runs did before them. A file that records `beside` but not the
// option is from that time.
struct LaterOption {
  const char* method;
  const char* option;
  const char* beside;
  Json before;
};

void complete_older_options(const std::string& method, Json& options) {
  static const std::vector<LaterOption> later = {{"dcp", "whiten", "cost", "none"},
                                                 {"dcp", "cost_per", "cost", "sample"},
                                                 {"dcp", "min_share", "cost", 0},
                                                 {"cac", "phrase_model", "phrase_init", "counts"},
                                                 {"dlgmm", "image_feature", "fix", "none"}};
  for (const LaterOption& one : later)
    if (method == one.method && options.contains(one.beside) && !options.contains(one.option))
      options[one.option] = one.before;
}

Json parse_run_options(const std::string& path) {
  const std::string text = read_text_file(path);
  if (const std::string problem = json_problem(text); !problem.empty())
    throw DataError(
        fmt::format("{} {}: it must be the options.json of a run folder", path, problem));
  Json json = Json::parse(text);
  for (const char* key : {"method", "input", "options"})
    if (!json.is_object() || !json.contains(key))
      throw DataError(
          fmt::format("{} has no \"{}\": it must be the options.json of a run folder", path, key));
  if (!json["method"].is_string() || !json["input"].is_object() || !json["options"].is_object())
    throw DataError(fmt::format(
        "{} has a method, input or options of the wrong type: it must be the options.json of a run "
        "folder",
        path));
  // dlgmm used to record the step of its default feature beside a feature that did not use it.
  if (json["input"].contains("feature") && json["options"].contains("step"))
    json["options"].erase("step");
  complete_older_options(json["method"].get<std::string>(), json["options"]);
  return json;
}

// Texts that are not empty, switches that are on.
std::vector<Field> given_fields(const std::vector<Field>& fields) {
  std::vector<Field> given;
  for (const Field& field : fields)
    if (field.kind == FieldKind::Flag ? std::get<bool>(field.get()) : !to_text(field.get()).empty())
      given.push_back(field);
  return given;
}

// " --view a.npy --view b.npy": a flag with its value, or once for each of its lines.
std::string flag_text(const Field& field) {
  if (field.kind == FieldKind::Flag) return " " + field.flag();
  std::string text;
  std::istringstream lines(to_text(field.get()));
  for (std::string line; std::getline(lines, line);)
    text += fmt::format(" {} {}", field.flag(), shell_quoted(line));
  return text;
}

}  // namespace

std::string run_options_to_json(const std::string& method, const std::vector<Field>& input_fields,
                                const std::vector<Field>& option_fields) {
  Json json;
  json["method"] = method;
  json["version"] = version();
  json["input"] = Json::parse(options_to_json(given_fields(input_fields)));
  json["options"] = Json::parse(options_to_json(option_fields));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void read_run_options(const std::string& path, const std::string& method,
                      const std::vector<Field>& input_fields,
                      const std::vector<Field>& option_fields) {
  const std::string file = std::filesystem::is_directory(path)
                               ? (std::filesystem::path(path) / "options.json").string()
                               : path;
  const Json json = parse_run_options(file);
  const auto named = json["method"].get<std::string>();
  if (named != method)
    throw InvalidArgument(fmt::format("{} is of method {}, not {}: run `milieu {} --options {}`",
                                      file, named, method, named, path));
  options_from_json(json["input"].dump(), input_fields, file);
  options_from_json(json["options"].dump(), option_fields, file);
}

std::string command_text(const std::string& method, const std::vector<Field>& input_fields,
                         const std::vector<Field>& option_fields,
                         const std::vector<Field>& default_option_fields) {
  std::string text = "milieu " + method;
  for (const Field& field : given_fields(input_fields)) {
    text += field.name == "path" ? " " + shell_quoted(to_text(field.get())) : flag_text(field);
  }
  for (size_t i = 0; i < option_fields.size(); ++i) {
    const Field& field = option_fields[i];
    if (field.name == "num_threads" || field.get() == default_option_fields[i].get()) continue;
    text += fmt::format(" {} {}", field.flag(), shell_quoted(to_text(field.get())));
  }
  return text;
}

}  // namespace milieu
