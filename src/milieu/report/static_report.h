// SPDX-License-Identifier: Apache-2.0
// The static report: one HTML file with everything inside (no scripts, no fonts, no network), light
// and dark, printable, readable by screen readers. The same input gives the same bytes. The page is
// bounded whatever the number of samples and clusters: long lists and maps are thinned out, and the
// page says so where that happens.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"
#include "milieu/metrics/metrics.h"
#include "milieu/naming/part_names.h"
#include "milieu/render/contact_sheet.h"

namespace MILIEU_API milieu {

struct ReportInput {
  const RunSummary* summary = nullptr;
  std::vector<Field> options;        // shown as a table; the object must outlive the call
  FloatView points;                  // for the map (PCA to two axes); may be empty
  std::span<const int> labels;       // of the points
  const Metrics* metrics = nullptr;  // may be null
  std::string command;               // the exact command line; may be empty
  std::string source;                // what was clustered, for the heading
  // Grey images as rows of points: image_width * image_height == points.cols(); 0: not images.
  // With images the report shows contact sheets: the most typical samples of each cluster.
  int image_width = 0;
  int image_height = 0;
  // Where the points are features of images: the images themselves, row for row. Empty: the points.
  FloatView images;
  // Where the samples are images in files: a small one of each. Overrides `images`.
  MakeImage make_image;
  // How sure the method is of each label; larger is surer. With it the contact sheets show the
  // surest and the least sure samples, else those near to and far from the cluster's mean.
  std::span<const float> margins;
  // The method's own cards, as markup that render/ made; shown after the samples.
  std::string cards;
  // For results whose clusters are not the point: a question as the title, the answer below it, and
  // cards that come first. Objective and iterations are then left out. Empty: the method's title,
  // what happened, no such cards.
  std::string title, answer, first_cards;
  // Classes of the samples, in [-1, class_names.size()), and their names: with them the report
  // shows how clusters and classes meet. Empty: unknown; names may be empty too (then numbers are
  // shown).
  std::span<const int> truth;
  std::vector<std::string> class_names;
  std::span<const PartNames> part_names;  // of every cluster; empty: they have none
};

// The page as text. Throws InvalidArgument when the summary is missing, when points and labels (or
// labels and truth) differ in length, or when the image size does not fit the points.
std::string render_report(const ReportInput& input);

// What happened, in plain English: samples, clusters, termination, objective, time.
std::string describe_run(const RunSummary& summary);

}  // namespace milieu
