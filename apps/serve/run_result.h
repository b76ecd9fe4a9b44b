// SPDX-License-Identifier: Apache-2.0
// What finished runs contain about the rows of the collection, read from their folders and kept for
// a while.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "milieu/report/run_view.h"
#include "serve/runs.h"
#include "serve/space/spaces.h"

namespace milieu::serve {

// Reads a run folder against its collection. Throws DataError when the collection has changed.
RunView read_result(const RunRecord& record, const Collection& collection);

// Keeps the results of the last few runs.
class ResultCache {
 public:
  explicit ResultCache(Spaces& spaces) : spaces_(spaces) {}
  // RequestError 409 when the run has no result.
  std::shared_ptr<const RunView> get(const RunRecord& record);
  void forget(const std::string& id);
  // The collection by the run's feature.
  std::shared_ptr<Space> space_of(const RunRecord& record);

 private:
  Spaces& spaces_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<const RunView>>> kept_;  // newest last
};

}  // namespace milieu::serve
