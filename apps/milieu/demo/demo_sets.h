// SPDX-License-Identifier: Apache-2.0
// The data of `milieu demo`: built-in families (data/builtin.h), and of the images three
// versions, because not every method takes pixels. Every version becomes a file of the demo's
// folder, so that each of its runs can be repeated by a command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/data/dataset.h"

namespace milieu::cli {

// One version of a family.
struct DemoSet {
  std::string name;         // its file is NAME.npy
  std::string description;  // "pixels": what its columns are
  Dataset data;             // `source` is its name
};

struct DemoFamily {
  std::string name;          // "shapes"
  std::string title;         // a heading
  std::string about;         // a paragraph: what it is and why it is here
  std::string labels_file;   // class names, one per line: the --labels of the runs
  std::string numbers_file;  // the same as numbers, .npy
  int image_side = 0;        // images of this many pixels per side, in sets[0]; 0: not images
  std::vector<DemoSet> sets;

  const Labels& labels() const { return sets[0].data.labels; }
  // Whether `set` holds the images themselves, so that --image-size fits it.
  bool holds_images(const DemoSet& set) const;
};

std::vector<DemoFamily> make_demo_families(uint64_t seed);

// A set by its name, with its family. The name must exist.
struct DemoSetPlace {
  const DemoFamily* family = nullptr;
  const DemoSet* set = nullptr;
};
DemoSetPlace find_demo_set(const std::vector<DemoFamily>& families, const std::string& name);

// Writes NAME.npy of every set and the label files into `folder`, which must exist.
void write_demo_files(const std::vector<DemoFamily>& families, const std::string& folder);

}  // namespace milieu::cli
