// SPDX-License-Identifier: Apache-2.0
// The one table of methods. The command line, the explorer, predictions, reports, docs and
// completion read it: a method that is not in it is nowhere, one that is in it is everywhere.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/run/method.h"
#include "milieu/run/predictor.h"

namespace MILIEU_API milieu {

enum class MethodGroup { Context, Baseline };

// What a method cannot run without on a collection, beside rows. Images: image files, unless one of
// its shared files is given. Binary: rows of zeros and ones. Context: further rows that are named
// as its context.
enum class MethodNeed { Classes, Images, Binary, Context };

struct MethodEntry {
  std::string name;     // "kmeans": the command
  std::string title;    // "k-means": in reports
  std::string summary;  // one line
  MethodGroup group = MethodGroup::Baseline;
  std::vector<MethodNeed> needs = {};
  // Further inputs and own files of the method, by name, that belong to a whole collection:
  // the explorer is given them once, and all its runs of the method have them.
  std::vector<std::string> shared_files = {};
  bool shares_rows = false;  // whether several ranks can share the rows (milieu-mpi)
  std::string example;       // worked example, last part of the help
  std::function<std::unique_ptr<Method>()> make = {};
  std::vector<Predictor> predictors =
      {};  // one per kind of model it makes; none: it does not predict
};

// Context methods first, then baselines.
const std::vector<MethodEntry>& methods();

// Null when there is no such method.
const MethodEntry* find_method(std::string_view name);

// The title of a method or of one of its sub-commands ("icc classify"); a name that is not in the
// table stays as it is.
std::string method_title(const std::string& name);

}  // namespace milieu
