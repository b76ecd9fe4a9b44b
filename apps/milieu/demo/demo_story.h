// SPDX-License-Identifier: Apache-2.0
// The stories of `milieu demo`, one per context method: a question, data made for it, and the runs
// that answer it with and without the context. Every set becomes a file of the demo's folder, so
// that each run can be repeated by a command.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "milieu/data/labels.h"
#include "milieu/linalg/matrix.h"

namespace milieu::cli {

// One way in which the samples of a set belong together; -1: this question does not concern it.
struct DemoTruth {
  std::string name;  // "direction": its file is SET_direction.csv
  Labels labels;
};

struct DemoSet {
  std::string name;   // its file is NAME.npy, or NAME/ with one folder per class of truths[0]
  std::string about;  // "bars on dark or light ground"
  Matrix<float> rows;
  int image_side = 0;  // rows are grey images of this many pixels per side; 0: not images
  std::vector<DemoTruth> truths;
  bool is_folder = false;  // written as PNG files
};

using DemoOptions = std::vector<std::pair<std::string, std::string>>;  // field, value

struct DemoJob {
  std::string name;             // of its run folder, after the story's: "dcp-diagonal"
  std::string title;            // "k-means", "dcp, seen against diagonal bars"
  bool sees_context = false;    // the method of the story, with its context
  bool is_by_hand = false;      // a plain method that is given the context by hand
  std::string method;           // a name of the table of methods
  std::string set;              // what is clustered
  std::string truth;            // the run's own --truth; for icc see `classes`
  DemoOptions options = {};     // the rest is default
  DemoOptions files = {};       // further input, file of the demo's folder
  std::string feature = {};     // of an image folder
  std::string answers = {};     // the one truth that its parts are compared with; empty: all
  std::string word_truth = {};  // what cac's words are compared with
  std::string vectors = {};     // of an image folder: a file that describes its images
  std::string classes = {};     // truth given as --labels in place of --truth
  std::string learn_from = {};  // TRAIN of `exemplar learn`, whose distance the run takes
  bool is_shown = false;        // draw what became of the images
};

// Images to draw above the figures: all of a set, or by a truth; `strips` is a second truth, some
// of whose classes are shown whole.
struct DemoSheet {
  std::string title;
  std::string set;
  std::string truth = {};
  std::string strips = {};
};

// Points to draw above the figures: a set of two columns, coloured by a truth of another set.
struct DemoMap {
  std::string title;
  std::string set;
  std::string truth_set;
  std::string truth;
};

struct DemoStory {
  std::string name;      // that of the method
  std::string question;  // the heading
  std::string about;     // what the data is
  std::string context;   // what the context is, and what it decides
  std::string limits;    // where it does not
  std::vector<DemoSet> sets;
  std::vector<std::pair<std::string, std::string>> columns;  // truth, heading: accuracy by it
  bool is_asked_all = false;  // the columns are asked of one set: what decides is the worse answer
  std::vector<DemoJob> jobs;
  std::vector<DemoSheet> sheets;
  std::vector<DemoMap> maps;
  std::string next;          // the command to run next; DEMO/ stands for the demo's folder
  std::string next_meaning;  // what it shows

  // The set or truth must exist.
  const DemoSet& set(const std::string& set_name) const;
};

// The truth of that name; null when the set has none.
const DemoTruth* find_truth(const DemoSet& set, const std::string& name);
// "bars_direction.csv".
std::string truth_file(const DemoSet& set, const DemoTruth& truth);

// Garments are those of Debian's dataset-fashion-mnist if `with_garments` and they are installed.
struct DemoStories {
  std::vector<DemoStory> stories;
  bool has_garments = false;
};
DemoStories make_demo_stories(uint64_t seed, bool with_garments);

// Writes the files of all sets into `folder`, which must exist.
void write_demo_files(const std::vector<DemoStory>& stories, const std::string& folder);

}  // namespace milieu::cli
