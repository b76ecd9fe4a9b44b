// SPDX-License-Identifier: Apache-2.0
// The calls about the collection itself: its rows, maps and features.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "milieu/base/error.h"
#include "serve/explorer.h"
#include "serve/replies.h"

namespace milieu::serve {

namespace {

constexpr int64_t kMaxNames = 5000;  // in one answer

}  // namespace

Reply Explorer::handle_collection(const Request& request, const std::vector<std::string>& words) {
  if (words.size() > 3) fail_unknown(request.path);
  const std::string what = words.size() == 3 ? words[2] : "";
  if (what == "neighbor-map") return neighbor_map(request);
  const bool is_known = words.size() == 2 || what == "classes" || what == "map" ||
                        what == "names" || what == "nearest" || what == "files";
  if (!is_known) fail_unknown(request.path);
  require_method(request, "GET");
  if (what == "names") return names(request);
  if (what == "files") return binary_reply(file_facts(collection_));
  if (what.empty()) return json_reply(internal::collection_json(collection_));
  if (what == "classes") return classes();
  const std::shared_ptr<Space> space = spaces_.find(query_text(request, "feature"));
  return binary_reply(what == "map" ? space->collection().map() : space->nearest());
}

Reply Explorer::classes() const {
  std::vector<int32_t> classes(static_cast<size_t>(collection_.size()), -1);
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i] = collection_.class_of(static_cast<int64_t>(i));
  return binary_reply(classes);
}

// 200 and the places, or 202 and how far it is: asking begins it.
Reply Explorer::neighbor_map(const Request& request) {
  const std::shared_ptr<Space> space = spaces_.find(query_text(request, "feature"));
  if (request.method == "DELETE") {
    space->cancel_map();
    return json_reply(space->map_progress(), 202);
  }
  require_method(request, "GET");
  if (const std::vector<float>* map = space->neighbor_map()) return binary_reply(*map);
  return json_reply(space->map_progress(), 202);
}

// GET: those that are known and kept; POST {"feature"}: adds one; DELETE ?feature=F: forgets it.
Reply Explorer::features(const Request& request) {
  if (request.method == "POST") {
    const Json body = parse_body(request);
    if (!body.is_object() || !body.contains("feature") || !body["feature"].is_string())
      throw RequestError{400, "the body must be {\"feature\": text}"};
    spaces_.add(body["feature"].get<std::string>());
    return json_reply(spaces_.to_json(), 202);
  }
  if (request.method == "DELETE")
    spaces_.remove(query_text(request, "feature"));
  else
    require_method(request, "GET");
  return json_reply(spaces_.to_json());
}

Reply Explorer::names(const Request& request) const {
  const int64_t n = collection_.size();
  const int64_t from = query_number(request, "from", 0, 0, n);
  const int64_t count = query_number(request, "count", 1000, 0, kMaxNames);
  Json list = Json::array();
  for (int64_t row = from; row < std::min(n, from + count); ++row)
    list.push_back(collection_.row_name(row));
  return json_reply(list);
}

Reply Explorer::thumb(const Request& request, const std::string& row) const {
  const int64_t place = number_in(row, "the row", 0, collection_.size() - 1);
  const auto side =
      static_cast<int>(query_number(request, "side", 96, kMinThumbSide, kMaxThumbSide));
  try {
    Thumbnail made = thumbnails_.make(place, side);
    Reply reply = text_reply(made.type, made.bytes);
    reply.headers.emplace_back("Cache-Control", "private, max-age=3600");
    return reply;
  } catch (const Error& error) {
    throw RequestError{404, error.what()};
  }
}

Reply Explorer::original(const std::string& row) const {
  const int64_t place = number_in(row, "the row", 0, collection_.size() - 1);
  try {
    Thumbnail made = original_image(collection_, thumbnails_, place);
    Reply reply = text_reply(made.type, made.bytes);
    reply.headers.emplace_back("Cache-Control", "private, max-age=3600");
    return reply;
  } catch (const Error& error) {
    throw RequestError{404, error.what()};
  }
}

Reply Explorer::like(const Request& request, const std::string& row) {
  const int64_t place = number_in(row, "the row", 0, collection_.size() - 1);
  const std::shared_ptr<Space> space = spaces_.find(query_text(request, "feature"));
  return json_reply(
      rows_like(space->collection(), place, query_number(request, "count", 24, 1, 1000)));
}

// Why a row is in its part: what the run knows that is most like it, by the run's feature.
Reply Explorer::near(const Request& request, const RunRecord& run, const std::string& row) {
  const int64_t place = number_in(row, "the row", 0, collection_.size() - 1);
  const int64_t count = query_number(request, "count", 6, 1, 100);
  const auto result = results_.get(run);
  const std::shared_ptr<Space> space = results_.space_of(run);
  const auto nearest = [&](std::span<const int32_t> rows) {
    return rows_like(space->collection(), place, rows, count);
  };
  return json_reply(
      Json{{"context", nearest(result->columns.context_rows)},
           {"exemplars", nearest(internal::exemplar_rows(run.summary, result->columns))}});
}

}  // namespace milieu::serve
