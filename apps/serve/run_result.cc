// SPDX-License-Identifier: Apache-2.0
#include "serve/run_result.h"

#include <algorithm>
#include <iterator>

#include "milieu/base/error.h"
#include "serve/message.h"

namespace milieu::serve {

namespace {

constexpr size_t kKeptResults = 6;

}  // namespace

RunView read_result(const RunRecord& record, const Collection& collection) {
  const auto set_of = [&](const char* key, const std::vector<int64_t>& others) {
    return record.request.contains(key) && record.request[key].is_object()
               ? resolve_rows(record.request[key], collection, others, key)
               : std::vector<int64_t>();
  };
  RunFolderView run{record.run_folder(), record.method, set_of("set", {}), {}};
  if (static_cast<int64_t>(run.rows.size()) != record.n) throw DataError(kChangedCollection);
  if (!record.ranks_contexts) {
    const std::vector<int64_t> named = set_of("context", run.rows);
    std::set_difference(named.begin(), named.end(), run.rows.begin(), run.rows.end(),
                        std::back_inserter(run.context));
  }
  return read_run_view(run, collection);
}

// By the run's feature; by the first where that was removed since.
std::shared_ptr<Space> ResultCache::space_of(const RunRecord& record) {
  const std::string feature = record.request.is_object() ? record.request.value("feature", "") : "";
  return spaces_.wait_for(spaces_.has(feature) ? feature : "");
}

std::shared_ptr<const RunView> ResultCache::get(const RunRecord& record) {
  if (record.summary.is_null()) throw RequestError{409, "the run has no result"};
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, result] : kept_)
      if (id == record.id) return result;
  }
  auto result =
      std::make_shared<const RunView>(read_result(record, space_of(record)->collection()));
  const std::lock_guard lock(mutex_);
  kept_.emplace_back(record.id, result);
  if (kept_.size() > kKeptResults) kept_.erase(kept_.begin());
  return result;
}

void ResultCache::forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [&](const auto& entry) { return entry.first == id; });
}

}  // namespace milieu::serve
