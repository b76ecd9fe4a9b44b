// SPDX-License-Identifier: Apache-2.0
#include "serve/run_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace milieu::serve {

namespace fs = std::filesystem;

namespace {

// Any text that is in place; "" for anything else.
std::string text_in(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

std::vector<std::string> texts_in(const Json& json, const char* key) {
  std::vector<std::string> texts;
  if (json.contains(key) && json[key].is_array())
    for (const Json& text : json[key])
      if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

std::string quoted_for_shell(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=+-@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::optional<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string record_to_text(const RunRecord& record) {
  const Json json{{"id", record.id},
                  {"name", record.name},
                  {"method", record.method},
                  {"created", record.created},
                  {"state", state_word(record.state)},
                  {"error", record.error},
                  {"n", record.n},
                  {"rank_contexts", record.ranks_contexts},
                  {"part_names", record.part_names},
                  {"arguments", record.arguments},
                  {"command", record.command},
                  {"request", record.request}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<RunRecord> read_record(const std::string& folder) {
  const std::optional<std::string> text = read_text_file(folder + "/explore.json");
  if (!text) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  RunRecord record;
  record.id = fs::path(folder).filename().string();
  record.folder = folder;
  if (!json.is_object() || text_in(json, "id") != record.id) return std::nullopt;
  record.name = text_in(json, "name");
  record.method = text_in(json, "method");
  record.created = text_in(json, "created");
  record.command = text_in(json, "command");
  record.error = text_in(json, "error");
  record.part_names = texts_in(json, "part_names");
  record.arguments = texts_in(json, "arguments");
  if (json.contains("n") && json["n"].is_number_integer()) record.n = json["n"].get<int64_t>();
  record.ranks_contexts = json.contains("rank_contexts") && json["rank_contexts"] == true;
  if (json.contains("request")) record.request = json["request"];
  record.summary = read_summary(record);
  if (!record.summary.is_null()) {
    record.state = state_of_summary(record.summary);
    record.error.clear();
  } else if (text_in(json, "state") == "cancelled") {
    record.state = RunState::Cancelled;
  } else {
    record.state = RunState::Failed;
    if (record.error.empty()) record.error = "the explorer ended before the run did";
  }
  return record;
}

Json read_summary(const RunRecord& record) {
  const std::optional<std::string> text = read_text_file(record.run_folder() + "/summary.json");
  Json json = text ? Json::parse(*text, nullptr, false) : Json();
  return json.is_object() ? json : Json();
}

RunState state_of_summary(const Json& summary) {
  return text_in(summary, "termination") == "Cancelled" ? RunState::Cancelled : RunState::Done;
}

std::vector<std::vector<std::string>> read_csv_rows(const std::string& path) {
  return csv_rows(read_text_file(path).value_or(""));
}

std::vector<std::vector<std::string>> csv_rows(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      row.back() += text[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted || (c != ',' && c != '\n')) {
      row.back() += c;
    } else if (c == ',') {
      row.emplace_back();
    } else {
      rows.push_back(std::move(row));
      row.assign(1, "");
    }
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

std::string shell_text(const std::vector<std::string>& arguments) {
  std::string text = "milieu";
  for (const std::string& argument : arguments) text += " " + quoted_for_shell(argument);
  return text;
}

std::string state_word(RunState state) {
  switch (state) {
    case RunState::Queued:
      return "queued";
    case RunState::Running:
      return "running";
    case RunState::Done:
      return "done";
    case RunState::Failed:
      return "failed";
    case RunState::Cancelled:
      break;
  }
  return "cancelled";
}

bool is_over(RunState state) { return state != RunState::Queued && state != RunState::Running; }

Json RunRecord::brief() const {
  const auto from_summary = [&](const char* key) {
    return summary.is_object() && summary.contains(key) ? summary[key] : Json();
  };
  Json json{{"id", id},
            {"name", name},
            {"method", method},
            {"state", state_word(state)},
            {"created", created},
            {"seconds", from_summary("seconds").is_null() ? Json(0) : from_summary("seconds")}};
  if (progress.is_object() && !is_over(state) && progress.contains("seconds"))
    json["seconds"] = progress["seconds"];
  if (!error.empty()) json["error"] = error;
  json["n"] = n;
  json["clusters"] = from_summary("clusters").is_null() ? Json(0) : from_summary("clusters");
  json["objective"] = from_summary("objective");
  if (!from_summary("gain").is_null()) json["gain"] = from_summary("gain");
  json["rank_contexts"] = ranks_contexts;
  json["request"] = request;
  return json;
}

}  // namespace milieu::serve
