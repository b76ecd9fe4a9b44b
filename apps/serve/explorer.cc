// SPDX-License-Identifier: Apache-2.0
// The router. A path is split into segments; every call that is not listed is a 404, every
// method that a path does not take a 405.
#include "serve/explorer.h"

#include <fmt/format.h>

#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "milieu/data/file/read_below.h"
#include "milieu/data/text_file.h"
#include "milieu/report/page_assets.h"
#include "serve/replies.h"
#include "serve/run_edits.h"
#include "serve/run_files.h"

namespace milieu::serve {

namespace {

constexpr double kHeartBeat = 5;  // seconds
constexpr size_t kMaxPartNames = 10'000;

// regl compiles its shaders' callers with Function, hence 'unsafe-eval'; nothing comes from
// outside.
constexpr const char* kPolicy =
    "default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::vector<std::string> path_words(const std::string& path) {
  std::vector<std::string> words;
  size_t begin = 1;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    words.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string event_text(const char* name, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name,
                     data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json progress_json(const RunRecord& run) {
  Json progress{{"state", state_word(run.state)},
                {"stage", ""},
                {"restart", 0},
                {"iteration", 0},
                {"objective", nullptr},
                {"change", nullptr},
                {"done", 0},
                {"total", 0},
                {"seconds", 0}};
  if (run.progress.is_object())
    for (const auto& [key, value] : run.progress.items()) progress[key] = value;
  return progress;
}

// Counts a stream as long as it lives.
struct StreamPlace {
  explicit StreamPlace(std::atomic<size_t>& count) : count_(count) { ++count_; }
  ~StreamPlace() { --count_; }
  StreamPlace(const StreamPlace&) = delete;
  StreamPlace& operator=(const StreamPlace&) = delete;
  std::atomic<size_t>& count_;
};

}  // namespace

Explorer::Explorer(ExplorerOptions options)
    : options_(std::move(options)),
      spaces_(std::move(options_.spaces)),
      collection_(spaces_.first().collection()),
      thumbnails_(collection_),
      runs_(options_.runs),
      results_(spaces_) {}

void Explorer::stop() { runs_.stop(); }

Reply Explorer::handle(const Request& request) {
  const std::vector<std::string> words = path_words(request.path);
  if (words[0] == "api") return handle_api(request, words);
  require_method(request, "GET");
  const PageAssets page = page_assets();
  if (request.path == "/") {
    Reply reply = text_reply("text/html; charset=utf-8", page.html);
    reply.headers.emplace_back("Content-Security-Policy", kPolicy);
    return reply;
  }
  if (request.path == "/assets/app.js") return text_reply("text/javascript", page.script);
  if (request.path == "/assets/app.css") return text_reply("text/css", page.style);
  fail_unknown(request.path);
}

Reply Explorer::handle_api(const Request& request, const std::vector<std::string>& words) {
  const std::string& first = words.size() > 1 ? words[1] : "";
  if (first == "collection") return handle_collection(request, words);
  if (first == "runs") return handle_runs(request, words);
  if (first == "thumb" && words.size() == 3) {
    require_method(request, "GET");
    return thumb(request, words[2]);
  }
  if ((first == "image" || first == "like") && words.size() == 3) {
    require_method(request, "GET");
    return first == "image" ? original(words[2]) : like(request, words[2]);
  }
  if (first == "features" && words.size() == 2) return features(request);
  if (first == "methods" && words.size() == 2) {
    require_method(request, "GET");
    Json list = Json::array();
    for (const MethodInfo& method : options_.methods) list.push_back(method_to_json(method));
    return json_reply(list);
  }
  if (first == "compare" && words.size() == 2) {
    require_method(request, "GET");
    return compare(request);
  }
  fail_unknown(request.path);
}

Reply Explorer::handle_runs(const Request& request, const std::vector<std::string>& words) {
  if (words.size() > 2) return handle_run(request, words);
  if (request.method == "GET") {
    Json list = Json::array();
    for (const RunRecord& run : runs_.list()) list.push_back(run.brief());
    return json_reply(list);
  }
  require_method(request, "POST");
  const RunPlan plan = plan_run(parse_body(request), collection_, options_.methods);
  if (!spaces_.has(plan.feature))
    throw RequestError{
        400, fmt::format("feature is '{}', which was not added to the collection", plan.feature)};
  return json_reply(runs_.add(plan).brief(), 202);
}

Reply Explorer::handle_run(const Request& request, const std::vector<std::string>& words) {
  const RunRecord run = runs_.find(words[2]);
  if (words.size() == 3) return change_run(request, run);
  const std::string& what = words[3];
  if (what == "export" && words.size() == 5) return handle_export(request, run, words[4]);
  if (what == "cancel" && words.size() == 4) {
    require_method(request, "POST");
    runs_.cancel(run.id);
    return json_reply(runs_.find(run.id).brief(), 202);
  }
  const bool is_known =
      (what == "events" && words.size() == 4) ||
      ((what == "column" || what == "file" || what == "words" || what == "near") &&
       words.size() == 5);
  if (!is_known) fail_unknown(request.path);
  require_method(request, "GET");
  if (what == "events") return events(run.id);
  if (what == "words") return this->words(run, words[4]);
  if (what == "near") return near(request, run, words[4]);
  return what == "column" ? column(run, words[4]) : file(run, words[4]);
}

Reply Explorer::change_run(const Request& request, const RunRecord& run) {
  if (request.method == "GET") return detail(run);
  if (request.method == "DELETE") {
    runs_.remove(run.id);
    results_.forget(run.id);
    Reply reply;
    reply.status = 204;
    return reply;
  }
  require_method(request, "PATCH");
  const Json body = parse_body(request);
  if (!body.is_object()) throw RequestError{400, "the body must be an object"};
  const std::lock_guard lock(edits_mutex_);
  Json names = body;
  names.erase("edits");
  const RunRecord renamed = rename_run(names, run);
  if (body.contains("edits")) change_edits(body["edits"], renamed);
  return json_reply(renamed.brief());
}

RunRecord Explorer::rename_run(const Json& body, const RunRecord& run) {
  std::optional<std::string> name;
  std::optional<std::vector<std::string>> part_names;
  for (const auto& [key, value] : body.items()) {
    if (key == "name" && value.is_string() && value.get<std::string>().size() <= 200) {
      name = value.get<std::string>();
    } else if (key == "part_names" && value.is_array() && value.size() <= kMaxPartNames) {
      part_names.emplace();
      for (const Json& one : value) {
        if (!one.is_string() || one.get<std::string>().size() > 200)
          throw RequestError{400, "part_names must hold texts of at most 200 bytes"};
        part_names->push_back(one.get<std::string>());
      }
    } else {
      throw RequestError{400, fmt::format("'{}' must be name (a text of at most 200 bytes), "
                                          "part_names (a list of such) or edits",
                                          key)};
    }
  }
  RunRecord renamed = runs_.rename(run.id, name, part_names);
  if (part_names && !renamed.summary.is_null()) keep_part_names(renamed);
  return renamed;
}

// Edits that cannot be read are not overwritten: read_edits throws.
void Explorer::change_edits(const Json& page, const RunRecord& run) {
  const auto result = results_.get(run);
  read_edits(run.run_folder(), static_cast<int64_t>(result->columns.rows.size()));
  write_edits(run.run_folder(), edits_from_page(page, result->columns, run.part_names));
}

RunView Explorer::view_as_left(const RunRecord& run, const RunView& result, Edits& edits) const {
  const auto n = static_cast<int64_t>(result.columns.rows.size());
  edits = read_edits(run.run_folder(), n).value_or(Edits{});
  return edited_view(result, edits, collection_);
}

Reply Explorer::detail(const RunRecord& run) {
  if (run.summary.is_null()) {
    Json json = run.brief();
    json["command"] = run.command;
    json["summary"] = Json::object();
    for (const char* key : {"trace", "parts", "columns", "files"}) json[key] = Json::array();
    if (run.ranks_contexts)
      json["extras"] = Json{{"contexts", internal::contexts_json(unfinished_contexts(run))}};
    return json_reply(json);
  }
  const auto result = results_.get(run);
  Json json = internal::detail_json(run.page(), *result);
  json["files"] = files_of(run);
  try {
    const auto n = static_cast<int64_t>(result->columns.rows.size());
    if (const std::optional<Edits> edits = read_edits(run.run_folder(), n))
      json["edits"] = edits_to_page(*edits, result->columns);
  } catch (const Error& error) {
    json["edits_problem"] = error.what();
  }
  return json_reply(json);
}

Reply Explorer::column(const RunRecord& run, const std::string& name) {
  std::optional<std::string> bytes = results_.get(run)->columns.bytes(name);
  if (!bytes) throw RequestError{404, fmt::format("the run has no column '{}'", name)};
  return text_reply("application/octet-stream", *bytes);
}

// The words of one image, for a run of cac on its keypoints.
Reply Explorer::words(const RunRecord& run, const std::string& row) {
  const int64_t place = number_in(row, "the row", 0, collection_.size() - 1);
  try {
    const Json json = internal::image_words_json(results_.get(run)->words, collection_, place);
    if (json.is_null()) throw RequestError{404, "the run has no words of this image"};
    return json_reply(json);
  } catch (const Error& error) {
    throw RequestError{404, error.what()};
  }
}

Reply Explorer::file(const RunRecord& run, const std::string& name) const {
  const Json files = files_of(run);
  const bool is_listed =
      std::any_of(files.begin(), files.end(), [&](const Json& one) { return one["name"] == name; });
  if (!is_listed) throw RequestError{404, fmt::format("the run has no file '{}'", name)};
  const std::vector<uint8_t> bytes = read_below(run.run_folder(), name);
  const std::string ending = name.substr(name.rfind('.') + 1);
  Reply reply;
  reply.type = ending == "png"    ? "image/png"
               : ending == "svg"  ? "image/svg+xml"
               : ending == "csv"  ? "text/csv; charset=utf-8"
               : ending == "json" ? "application/json"
                                  : "text/html; charset=utf-8";
  reply.body.assign(bytes.begin(), bytes.end());
  // A report is an independent page: it may run its inline script, but request nothing from this
  // server.
  reply.headers.emplace_back(
      "Content-Security-Policy",
      "sandbox allow-scripts allow-downloads; default-src 'none'; script-src "
      "'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src "
      "data: blob:; worker-src blob:");
  return reply;
}

Reply Explorer::events(const std::string& id) {
  if (num_streams_ >= options_.max_streams)
    throw RequestError{503, "too many progress streams are open: close some tabs"};
  Reply reply;
  reply.type = "text/event-stream";
  auto place = std::make_shared<StreamPlace>(num_streams_);
  reply.stream = [this, id, place](const WriteBody& write) {
    uint64_t seen = 0;
    std::optional<RunRecord> run = runs_.find(id);
    while (run) {
      const bool has_changed = run->changes > seen || seen == 0;
      seen = std::max<uint64_t>(run->changes, 1);
      if (is_over(run->state)) {
        write(event_text("end", run->brief()));
        return;
      }
      if (!write(has_changed ? event_text("progress", progress_json(*run)) : ": still here\n\n"))
        return;
      run = runs_.wait_for_change(id, seen, kHeartBeat);
    }
  };
  return reply;
}

Reply Explorer::compare(const Request& request) {
  const auto of = [&](const char* key) {
    const auto found = request.query.find(key);
    if (found == request.query.end())
      throw RequestError{400, fmt::format("{} is missing: choose a run", key)};
    return results_.get(runs_.find(found->second));
  };
  return json_reply(compare_runs(of("a")->columns, of("b")->columns));
}

Reply Explorer::handle_export(const Request& request, const RunRecord& run,
                              const std::string& what) {
  const bool is_known = what == "labels.csv" || what == "labels.json" || what == "coco.json" ||
                        what == "report.html" || what == "folders";
  if (!is_known) fail_unknown(request.path);
  require_method(request, what == "folders" ? "POST" : "GET");
  const auto method_result = results_.get(run);
  Edits edits;
  const RunView result = request.query.contains("original")
                             ? *method_result
                             : view_as_left(run, *method_result, edits);
  edits.part_names = run.part_names;
  ExportTable table = make_export_table(result, edits, collection_);
  table.name = run.name;
  table.method = run.method;
  table.command = run.command;
  if (what == "folders") {
    const Json body = parse_body(request);
    const std::string how = body.is_object() ? body.value("how", "") : "";
    if (how != "copy" && how != "link" && how != "zip")
      throw RequestError{400, fmt::format("how is '{}', must be copy, link or zip", how)};
    const std::string to = body.contains("to") && body["to"].is_string() ? body["to"] : Json("");
    const ImageExport kind = how == "zip"    ? ImageExport::Zip
                             : how == "link" ? ImageExport::Link
                                             : ImageExport::Copy;
    return json_reply(export_folders(run, table, kind, to));
  }
  if (what == "labels.csv") return download("text/csv; charset=utf-8", export_csv(table), what);
  if (what == "labels.json") return download("application/json", export_json(table), what);
  if (what == "coco.json") return download("application/json", export_coco(table), what);
  return download("text/html; charset=utf-8", report_again(run, result, collection_), what);
}

}  // namespace milieu::serve
