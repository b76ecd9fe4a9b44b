// SPDX-License-Identifier: Apache-2.0
// milieu explore: the explorer (apps/serve) on one INPUT, until Ctrl-C.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stop_token>

#include "cli/commands.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/data/groups.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/render/report.h"
#include "picture_input.h"
#include "rows.h"
#include "cli/run_options.h"

#ifdef MILIEU_HAS_EXPLORER
#include "serve/child_process.h"
#include "serve/explorer.h"
#include "serve/http_server.h"
#endif

namespace milieu::cli {

namespace {

constexpr const char* kInput = "Input";
constexpr const char* kMethods = "Of single methods";
constexpr const char* kServer = "Server";
constexpr const char* kDefaultFeature = "gist";

struct ServerOptions {
  int port = 0;
  int num_threads = 0;
};

template <class Visitor>
void visit_fields(ServerOptions& o, Visitor&& v) {
  v("port", o.port, between(0, 65535), "port on 127.0.0.1; 0 means any free one");
  v("num_threads", o.num_threads, at_least(0).alias("threads"),
    "threads for reading and describing INPUT; 0 means all cores");
}

// Files beside INPUT that single methods take.
struct MethodFiles {
  std::string positions, images, groups, view;
  std::string model;

  bool has_company() const { return !(positions + groups + view).empty(); }
};

template <class Visitor>
void visit_fields(MethodFiles& o, Visitor&& v) {
  v("positions", o.positions, anything(),
    "for cac: file with the place of every row; the map shows rows there too");
  v("images", o.images, anything(),
    "for cac: file with the image of every row: neighbours are looked for within one image");
  v("groups", o.groups, anything(),
    "for cac: file with the groups: row numbers of samples, one group a line, or a .mtx matrix");
  v("view", o.view, anything().repeated(),
    "for cac: another view of the rows beside INPUT; give the flag once for each");
  v("model", o.model, anything(),
    "for exemplar: run folder of milieu exemplar learn, whose distance its runs take");
}

struct ExploreOptions {
  InputOptions input;
  MethodFiles files;
  ServerOptions server;
  std::string runs;
  bool no_browser = false;
};

// The fields of INPUT that make sense for a whole collection.
std::vector<Field> collection_fields(InputOptions& input) {
  std::vector<Field> fields = fields_of(input);
  std::erase_if(fields,
                [](const Field& field) { return field.name == "select" || field.name == "rows"; });
  return fields;
}

#ifdef MILIEU_HAS_EXPLORER

bool has_field(const std::vector<Field>& fields, std::string_view name) {
  for (const Field& field : fields)
    if (field.name == name) return true;
  return false;
}

// How a child reads the same INPUT.
std::vector<std::string> input_arguments(InputOptions& input) {
  std::vector<std::string> arguments = {input.path};
  for (const Field& field : collection_fields(input)) {
    const std::string value = to_text(field.get());
    if (field.name == "path" || value.empty()) continue;
    arguments.push_back(field.flag());
    arguments.push_back(value);
  }
  return arguments;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// INPUT as cac reads it: the views in its place, or pictures by their keypoints unless other
// company is given.
std::vector<std::string> cac_arguments(InputOptions& input, const MethodFiles& files) {
  std::vector<std::string> arguments;
  for (const std::string& argument : input_arguments(input)) arguments.push_back(argument);
  if (!files.view.empty()) {
    arguments.insert(arguments.begin(), "--view");
    for (const std::string& path : lines_of(files.view))
      arguments.insert(arguments.end(), {"--view", path});
  }
  const auto drop = [&](std::string_view flag) {
    const auto found = std::find(arguments.begin(), arguments.end(), flag);
    if (found != arguments.end()) arguments.erase(found, found + 2);
  };
  if (!files.has_company())
    for (const char* flag : {"--feature", "--max-side", "--codebook"}) drop(flag);
  for (const auto& [flag, path] :
       {std::pair("--positions", files.positions), std::pair("--images", files.images),
        std::pair("--groups", files.groups)})
    if (!path.empty()) arguments.insert(arguments.end(), {flag, path});
  return arguments;
}

std::vector<std::string> exemplar_arguments(InputOptions& input, const MethodFiles& files) {
  std::vector<std::string> arguments = input_arguments(input);
  if (!files.model.empty()) arguments.insert(arguments.end(), {"--model", files.model});
  return arguments;
}

serve::MethodInfo method_info(const Command& command, ExploreOptions& options) {
  const std::vector<Field> files = command.make_method()->file_fields();
  serve::MethodInfo info;
  info.name = command.name;
  info.title = method_title(info.name);
  info.summary = command.summary;
  info.takes_context = has_field(files, "context_select");
  info.takes_constraints = has_field(files, "memberships");
  if (info.name == "icc") info.needs = {"classes"};
  if (info.name == "dlgmm" || info.name == "topics") info.needs = {"pictures"};
  if (info.name == "cac") {
    if (!options.files.has_company()) info.needs = {"pictures"};
    info.input_arguments = cac_arguments(options.input, options.files);
  }
  if (info.name == "exemplar")
    info.input_arguments = exemplar_arguments(options.input, options.files);
  info.make_fields = [make = command.make_method] {
    std::shared_ptr<Method> method = make();
    std::vector<Field> fields = method->option_fields();
    return serve::OptionFields{method, std::move(fields)};
  };
  return info;
}

// A folder of the cache for everything about one collection.
std::string collection_place(InputOptions& input, const MethodFiles& files) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path path = fs::canonical(input.path, error);
  if (error) path = input.path;
  uint64_t hash = 14695981039346656037U;
  std::string key = path.string();
  for (const Field& field : collection_fields(input))
    if (field.name != "path") key += "\n" + to_text(field.get());
  for (const std::string& file : {files.positions, files.images, files.groups, files.view})
    if (!file.empty()) key += "\n" + file;
  for (const unsigned char c : key) hash = (hash ^ c) * 1099511628211U;
  return fmt::format("{}/explore/{}-{:016x}", cache_folder(), path.filename().string(), hash);
}

serve::CollectionOptions load_collection(ExploreOptions& options, Session& session) {
  ProgressMonitor monitor(session, "explore");
  monitor.announce("reading " + options.input.path);
  LoadOptions load;
  load.labels_path = options.input.labels;
  load.label_column = options.input.label_column;
  load.num_threads = options.server.num_threads;
  const PictureOptions pictures{.feature = options.input.feature,
                                .max_side = options.input.max_side,
                                .codebook = options.input.codebook,
                                .vocabulary_folder = {}};
  PictureInput loaded = load_input(options.input.path, pictures, load, monitor, session);
  const ImageSize size = image_size_of(loaded.data, options.input.image_size);
  serve::CollectionOptions collection;
  collection.data = std::move(loaded.data);
  collection.root = loaded.root;
  collection.feature = loaded.feature;
  collection.image_width = size.width;
  collection.image_height = size.height;
  return collection;
}

// What cac is told beside the rows, for the page.
void add_company(const ExploreOptions& options, serve::CollectionOptions& collection) {
  const MethodFiles& files = options.files;
  RowFiles rows(options.input.path, collection.data);
  if (!files.positions.empty()) {
    const Points places = rows.matrix(files.positions);
    for (int64_t i = 0; i < places.rows(); ++i)
      for (int64_t axis = 0; axis < 2; ++axis)
        collection.positions.push_back(axis < places.cols() ? places.view()(i, axis) : 0);
  }
  if (!files.groups.empty() && files.view.empty())
    collection.groups = load_groups(files.groups, collection.data.points.rows());
  if (is_feature_folder(options.input.path))
    collection.keypoint_side = open_feature_folder(options.input.path).max_side;
}

bool is_folder_of_pictures(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && !is_feature_folder(path) &&
         !std::filesystem::is_directory(path + "/.milieu", error);
}

// Does its best; the address is printed in any case.
void open_browser(const std::string& address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  for (const char* program : {"/usr/bin/xdg-open", "/usr/local/bin/xdg-open"})
    if (std::filesystem::exists(program)) {
      serve::ChildProcess(std::vector<std::string>{program, address}).wait([](const auto&) {});
      return;
    }
}

// A run folder holds no rows to explore: says what to open instead.
void refuse_run_folder(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path + "/summary.json", error) &&
      std::filesystem::is_regular_file(path + "/report.html", error))
    throw InvalidArgument(fmt::format(
        "{0} is a run folder: open {0}/report.html in a browser, or explore what it was made from",
        path));
}

int run_explore(ExploreOptions& options, Session& session) {
  refuse_run_folder(options.input.path);
  if (is_folder_of_pictures(options.input.path) && options.input.feature.empty())
    options.input.feature = kDefaultFeature;
  serve::ExplorerOptions explorer_options;
  explorer_options.collection = load_collection(options, session);
  add_company(options, explorer_options.collection);
  const std::string place = collection_place(options.input, options.files);
  explorer_options.collection.cache_folder = place;
  explorer_options.input_arguments = input_arguments(options.input);
  explorer_options.runs.folder = options.runs.empty() ? place + "/runs" : options.runs;
  explorer_options.runs.program = "/proc/self/exe";
  for (const Command& command : commands())
    if (command.make_method) explorer_options.methods.push_back(method_info(command, options));

  const Interrupt::Keeping keeping(session.interrupt);
  session.interrupt.set_quiet(true);
  serve::Explorer explorer(std::move(explorer_options));
  serve::HttpServer server(
      {.port = options.server.port, .connections = {}},
      [&explorer](const serve::Request& request) { return explorer.handle(request); });
  const std::stop_callback on_interrupt(session.interrupt.token(), [&] {
    explorer.stop();
    server.stop();
  });
  session.console.print(server.address() + "\n");
  session.console.flush();
  session.console.note("open this address in a browser; Ctrl-C ends the explorer");
  std::thread browser;
  if (!options.no_browser)
    browser = std::thread([address = server.address()] { open_browser(address); });
  server.run();
  if (browser.joinable()) browser.join();
  return kDone;
}

#else

int run_explore(ExploreOptions&, Session&) {
  throw InvalidArgument(
      "this program was built without the explorer: build it with -DMILIEU_BUILD_SERVER=ON");
}

#endif

RunCommand declare_explore(Flags& flags) {
  auto options = std::make_shared<ExploreOptions>();
  const std::vector<Field> inputs = collection_fields(options->input);
  flags.field_argument("INPUT", inputs[0],
                       "what to explore: a folder of pictures (sub-folders are classes) or of "
                       "features, or a file of numbers, samples as rows");
  for (size_t i = 1; i < inputs.size(); ++i)
    flags.field(inputs[i], input_value_name(inputs[i]), kInput);
  for (const Field& field : fields_of(options->files))
    flags.field(field, field.name == "model" ? "DIR" : "FILE", kMethods);
  for (const Field& field : fields_of(options->server)) flags.field(field, "N", kServer);
  flags.text("--runs", options->runs, "DIR",
             "where runs are kept (default: in the cache, a folder for each collection)", kServer);
  flags.boolean("--no-browser", options->no_browser, "only print the address", kServer);
  return [options, &flags](Session& session) {
    flags.apply_given();
    validate_fields(fields_of(options->server));
    if (options->input.path.empty()) throw UsageError("INPUT is missing: name what to explore");
    return run_explore(*options, session);
  };
}

constexpr const char* kExample =
    "  milieu explore photos\n"
    "    opens a page on this machine: choose a class, choose what it is told apart from, and "
    "look\n"
    "    at the split. Pictures are described by gist unless --feature names something else.\n"
    "  milieu explore digits.npy --labels digits_labels.npy --image-size 16x16 --no-browser\n"
    "    only prints the address. Runs stay in a folder of their own: the next start has them.\n";

}  // namespace

Command explore_command() {
  return {.name = "explore",
          .summary = "see a set fall apart, in a browser",
          .example = kExample,
          .declare = declare_explore};
}

}  // namespace milieu::cli
