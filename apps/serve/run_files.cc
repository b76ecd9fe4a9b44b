// SPDX-License-Identifier: Apache-2.0
#include "serve/run_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "milieu/data/text_file.h"

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

}  // namespace

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
  const std::optional<std::string> text = try_read_text_file(folder + "/explore.json");
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
  const std::optional<std::string> text = try_read_text_file(record.run_folder() + "/summary.json");
  Json json = text ? Json::parse(*text, nullptr, false) : Json();
  return json.is_object() ? json : Json();
}

RunState state_of_summary(const Json& summary) {
  return text_in(summary, "termination") == "Cancelled" ? RunState::Cancelled : RunState::Done;
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

internal::PageRun RunRecord::page() const {
  internal::PageRun run;
  run.id = id;
  run.name = name;
  run.method = method;
  run.state = state_word(state);
  run.created = created;
  run.command = command;
  run.error = error;
  run.n = n;
  run.ranks_contexts = ranks_contexts;
  run.part_names = part_names;
  run.request = request;
  run.progress = progress;
  run.summary = summary;
  return run;
}

std::vector<RankedContext> unfinished_contexts(const RunRecord& record) {
  const Json state = Json::parse(try_read_text_file(record.folder + "/contexts.json").value_or(""),
                                 nullptr, false);
  std::vector<RankedContext> contexts;
  if (!state.is_object() || !state.contains("splits") || !state["splits"].is_array())
    return contexts;
  for (const Json& split : state["splits"]) {
    if (!split.is_object()) continue;
    RankedContext context;
    context.name = split.value("name", "");
    context.confidence = split.value("confidence", 0.0);
    context.stability = split.value("stability", 0.0);
    context.labels = split.value("labels", std::vector<int>());
    contexts.push_back(std::move(context));
  }
  return contexts;
}

}  // namespace milieu::serve
