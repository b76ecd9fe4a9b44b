// SPDX-License-Identifier: Apache-2.0
// A run folder of which one file is arbitrary: the first line names the file, the rest is its
// content.
#include <algorithm>
#include <fstream>
#include <memory>

#include "fuzz_target.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/report/run_view.h"
#include "milieu/report/write_run.h"
#include "milieu/run/run.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using NamedFile = std::pair<std::string, std::string>;  // name, content

// A small run, and the collection that it is a run of.
struct Example {
  Example() {
    std::string table = "x,y\n";
    for (int i = 0; i < 10; ++i) table += i < 5 ? "0,1\n" : "1,0\n";
    RunSpec spec{.method = "dcp"};
    spec.input.path = dir.write("X.csv", table);
    spec.files["context"] = spec.input.path;
    spec.options["num_restarts"] = int64_t{1};
    const RunOutcome outcome = execute(spec);
    write_run(outcome, dir.file("run"));
    CollectionOptions options;
    options.data = outcome.input.source->take();
    collection = std::make_unique<Collection>(std::move(options));
    for (const char* name : {"labels.csv", "summary.json", "options.json", "columns.safetensors"})
      files.emplace_back(name, read_bytes(dir.file("run") + "/" + name));
  }
  TempDir dir;
  std::unique_ptr<Collection> collection;
  std::vector<NamedFile> files;
};

void write(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// Puts the content back at the end.
struct Restored {
  ~Restored() { write(path, content); }
  std::string path;
  std::string_view content;
};

const RegisterFuzzTarget kRegistered("run_folder", [](std::span<const std::byte> input) {
  static const Example example;
  std::string_view rest = as_text(input);
  const std::string_view chosen = internal::take_line(rest);
  const std::string folder = example.dir.file("run");
  const auto file = std::ranges::find(example.files, chosen, &NamedFile::first);
  if (file == example.files.end()) return;
  const Restored restored{folder + "/" + file->first, file->second};
  write(restored.path, with_right_checksum(std::as_bytes(std::span(rest))));
  const RunView view =
      read_run_view({folder, "dcp", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {}}, *example.collection);
  const ViewColumns& columns = view.columns;
  check_promise(columns.labels.empty() || columns.labels.size() == 10, "a label for every row");
  for (const int32_t label : columns.labels) check_promise(label >= -1, "labels from -1");
  check_promise(columns.margins.empty() || columns.margins.size() == 10, "a margin for every row");
  check_promise(columns.decisions.size() % 10 == 0, "decisions of every row");
});

}  // namespace
}  // namespace milieu
