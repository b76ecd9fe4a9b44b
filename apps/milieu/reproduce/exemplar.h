// SPDX-License-Identifier: Apache-2.0
// The experiments of [Komodakis11, section 6].
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/reproduce.h"

namespace milieu::cli {

void reproduce_exemplar_synthetic(ReproduceRun& run);
void reproduce_exemplar_raw(ReproduceRun& run);
void reproduce_exemplar_sizes(ReproduceRun& run);
void reproduce_exemplar_brodatz(ReproduceRun& run);
void reproduce_exemplar_uiuc(ReproduceRun& run);
void reproduce_exemplar_scenes(ReproduceRun& run);
void reproduce_exemplar_pyramids(ReproduceRun& run);

// Figures of finished runs, kept in --out as NAME.progress: an interrupted experiment resumes
// where it was. Without --out nothing is kept.
class DoneRuns {
 public:
  DoneRuns(ReproduceRun& run, const std::string& name);
  const std::vector<double>* find(const std::string& key) const;
  void add(const std::string& key, const std::vector<double>& figures);

 private:
  ReproduceRun& run_;
  std::string name_;
  std::map<std::string, std::vector<double>> done_;
};

}  // namespace milieu::cli
