// SPDX-License-Identifier: Apache-2.0
// Pictures of ICC: the difference of density of a class, its gradient, its basins; and samples as
// several projections show them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct IccPictureInput {
  const IccModel* model = nullptr;
  DoubleView places;             // n x p: the samples in the space of the densities
  std::span<const int> labels;   // n: their sub-classes
  std::span<const int> classes;  // n or empty: without classes all are of class 0
  std::span<const std::string> class_names = {};  // as they are called in the picture
};

// A PNG with three panels: the map (red above 0, blue below), its gradient as arrows, the basins
// with borders, the samples of the class in the colours of their sub-classes, those of other
// classes in grey, and a cross at each maximum. The first axis runs to the right, the second up; of
// a third the highest cell is shown. Off the grid only the last panel has something to show.
std::string render_icc_class(const IccPictureInput& input, int own_class);

struct ScatterPanel {
  std::string title;
  Matrix<double> places;  // n x q; the first two columns are shown
};

// A PNG with one panel each, side by side, samples coloured by class.
std::string render_scatter_panels(const std::vector<ScatterPanel>& panels,
                                  std::span<const int> classes);

// Samples as PCA, LDA, LDA on the parts of mixtures and LDA on sub-classes show them [Yu13, Figures
// 4 and 5]; incomplete when the monitor stops it.
std::vector<ScatterPanel> icc_projections(FloatView points, std::span<const int> classes,
                                          const IccClassifierOptions& options, Monitor& monitor);

}  // namespace milieu
