// SPDX-License-Identifier: Apache-2.0
// milieu explore: the explorer (apps/serve) on one INPUT, until Ctrl-C.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>

#include "cli/commands.h"
#include "cli/progress.h"
#include "commands/explore_methods.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/file/read_below.h"
#include "milieu/data/groups.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/cache_folder.h"
#include "milieu/input/default_network.h"
#include "milieu/input/image_rows.h"
#include "milieu/input/input.h"
#include "milieu/input/labels/label_source.h"
#include "milieu/input/row_files.h"

#ifdef MILIEU_HAS_EXPLORER
#include "commands/explore_offers.h"
#include "serve/child_process.h"
#include "serve/explorer.h"
#include "serve/http_server.h"
#endif

namespace milieu::cli {

namespace {

constexpr const char* kInput = "Input";
constexpr const char* kMethods = "For single methods";
constexpr const char* kServer = "Server";

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

struct ExploreOptions {
  InputSpec input;
  DescribeSpec describe;
  SharedFiles files;
  ServerOptions server;
  std::string runs;
  bool no_browser = false;
};

#ifdef MILIEU_HAS_EXPLORER

// A folder of the cache for everything about one collection.
std::string collection_place(InputSpec& input, const SharedFiles& files) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path path = fs::canonical(input.path, error);
  if (error) path = input.path;
  std::string key = path.string();
  for (const Field& field : collection_fields(input))
    if (field.name != "path") key += "\n" + to_text(field.get());
  for (const std::string& given : files.given_inputs()) key += "\n" + given;
  return fmt::format("{}/explore/{}-{}", cache_folder(), path.filename().string(),
                     hex(hash_text(key)));
}

// Images that the page may not read are not shown: it says so.
void warn_of_links(CollectionOptions& collection) {
  if (collection.root.empty()) return;
  const int64_t outside = std::ranges::count_if(
      collection.data.sample_names,
      [&](const std::string& name) { return leads_outside(collection.root, name); });
  if (outside > 0)
    collection.warnings.push_back(
        fmt::format("{} {} to {} outside the folder: clustered like the others, but not shown.",
                    counted(outside, "image"), by_number(outside, "is a link", "are links"),
                    by_number(outside, "a file", "files")));
}

CollectionOptions load_collection(InputSpec spec, int num_threads, Monitor& monitor) {
  monitor.on_stage(RunStage::Reading, spec.path);
  Input input = read_rows(spec, num_threads, "", monitor);
  const ImageSize size = image_size_of(input.data, spec.image_size);
  CollectionOptions collection;
  collection.data = std::move(input.data);
  collection.root = input.images.root;
  collection.feature = input.images.feature;
  collection.warnings = std::move(input.warnings);
  warn_of_links(collection);
  collection.image_width = size.width;
  collection.image_height = size.height;
  return collection;
}

// Finds a wrong --describe before the first run does.
void check_labels(const ExploreOptions& options, const CollectionOptions& collection) {
  if (options.describe.describe.empty() && options.describe.label_names.empty()) return;
  const LabelSource labels(options.describe, options.server.num_threads);
  if (labels.is_classifier())
    labels.require_images(collection.root, options.input.path);
  else
    labels.of_points(collection.data.points.rows_between(0, 0).view(), options.input.path);
}

// Positions and groups of the rows, for the page.
void add_context_files(const ExploreOptions& options, CollectionOptions& collection) {
  const SharedFiles& files = options.files;
  const RowFiles rows(options.input.path, collection.data);
  if (files.has("positions")) {
    const Points places = rows.matrix(files["positions"]);
    for (int64_t i = 0; i < places.rows(); ++i)
      for (int64_t axis = 0; axis < 2; ++axis)
        collection.positions.push_back(axis < places.cols() ? places.view()(i, axis) : 0);
  }
  if (files.has("groups") && !files.has("view"))
    collection.groups = load_groups(files["groups"], collection.data.points.rows());
  if (is_feature_folder(options.input.path))
    collection.keypoint_side = open_feature_folder(options.input.path).max_side;
}

void add_features(const ExploreOptions& options, const std::string& place,
                  serve::SpacesOptions& spaces) {
  spaces.known = offered_features();
  spaces.describe = [input = options.input, place, num_threads = options.server.num_threads](
                        const std::string& feature, Monitor& monitor) {
    CollectionOptions described = load_collection(by_feature(input, feature), num_threads, monitor);
    described.cache_folder = place;
    return described;
  };
}

// A page for the owner's eyes only that leads to the address: every user of the machine can read
// the arguments of a program, but not this file.
class DoorPage {
 public:
  DoorPage(const std::string& folder, const std::string& address)
      : path_(std::filesystem::absolute(folder + "/open.html").string()) {
    write_file_atomically(path_,
                          fmt::format("<!doctype html><meta charset=\"utf-8\"><title>Milieu</title>"
                                      "<meta http-equiv=\"refresh\" content=\"0; url={}\">\n",
                                      address));
    std::filesystem::permissions(path_, std::filesystem::perms::owner_read);
  }
  ~DoorPage() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  DoorPage(const DoorPage&) = delete;
  DoorPage& operator=(const DoorPage&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// May fail silently; the address is printed in any case.
void open_browser(const std::string& path) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  for (const char* program : {"/usr/bin/xdg-open", "/usr/local/bin/xdg-open"})
    if (std::filesystem::exists(program)) {
      serve::ChildProcess(std::vector<std::string>{program, path}).wait([](const auto&) {});
      return;
    }
}

// Thumbnails and runs show what the owner's images show.
void make_private(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
}

// A run folder holds no rows to explore: names what to open instead.
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
  if (is_image_folder(options.input.path) && options.input.feature.empty() &&
      options.input.vectors.empty())
    options.input.feature = default_feature();
  serve::ExplorerOptions explorer_options;
  CollectionOptions& collection = explorer_options.spaces.first;
  ProgressMonitor monitor(session, "explore");
  collection = load_collection(options.input, options.server.num_threads, monitor);
  check_labels(options, collection);
  add_context_files(options, collection);
  ::umask(077);
  const std::string place = collection_place(options.input, options.files);
  make_private(place);
  collection.cache_folder = place;
  if (is_image_folder(options.input.path)) add_features(options, place, explorer_options.spaces);
  explorer_options.runs.folder = options.runs.empty() ? place + "/runs" : options.runs;
  if (options.runs.empty()) make_private(explorer_options.runs.folder);
  explorer_options.runs.program = "/proc/self/exe";
  explorer_options.methods = explorer_offers(options.input, options.describe, options.files);

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
  std::optional<DoorPage> door;
  if (!options.no_browser) {
    door.emplace(place, server.one_time_address());
    browser = std::thread([path = door->path()] { open_browser(path); });
  }
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
  flags.field_argument(
      "INPUT", inputs[0],
      "what to explore: an image folder (sub-folders are classes), a feature folder, "
      "or a file of numbers, samples as rows");
  for (size_t i = 1; i < inputs.size(); ++i)
    flags.field(inputs[i], input_value_name(inputs[i]), kInput);
  for (const Field& field : fields_of(options->describe))
    flags.field(field, input_value_name(field), kInput);
  for (const Field& field : options->files.fields())
    flags.field(field, input_value_name(field), kMethods);
  for (const Field& field : fields_of(options->server)) flags.field(field, "N", kServer);
  flags.text("--runs", options->runs, "DIR",
             "where runs are kept (default: in the cache, one folder per collection)", kServer);
  flags.boolean("--no-browser", options->no_browser, "only print the address", kServer);
  return [options, &flags](Session& session) {
    flags.apply_given();
    validate_fields(fields_of(options->server));
    if (options->input.path.empty())
      throw UsageError("INPUT is missing: give an image folder or a file to explore");
    return run_explore(*options, session);
  };
}

constexpr const char* kExample =
    "  milieu explore photos\n"
    "    opens a page on this machine: choose a class, choose what to compare it with, and look\n"
    "    at the split. Images are described by gist unless --feature names something else.\n"
    "  milieu explore photos --vectors clip.npy\n"
    "    by vectors computed elsewhere, one row per image in the order of the sorted names.\n"
    "  milieu explore photos --describe onnx:classifier.onnx --label-names labels.txt\n"
    "    calls every part by the labels that set it apart, until you give it a name.\n"
    "  milieu explore digits.npy --labels digits_labels.npy --image-size 16x16 --no-browser\n"
    "    only prints the address. Runs are kept: they are there again the next time.\n";

}  // namespace

Command explore_command() {
  return {.name = "explore",
          .summary = "see how a set splits, in a browser",
          .example = kExample,
          .declare = declare_explore};
}

}  // namespace milieu::cli
