// SPDX-License-Identifier: Apache-2.0
#include "serve/run_edits.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "serve/message.h"

namespace milieu::serve {

namespace {

int64_t place_of(const Json& row, const std::vector<int32_t>& rows) {
  const int64_t wanted = row.is_number_integer() ? row.get<int64_t>() : -1;
  const auto found = std::lower_bound(rows.begin(), rows.end(), wanted);
  if (found == rows.end() || *found != wanted)
    throw RequestError{400, fmt::format("edits names row {}, which is not in the run", row.dump())};
  return found - rows.begin();
}

// Pairs that begin with a row as pairs that begin with its place.
Json placed(const Json& page, const char* key, const std::vector<int32_t>& rows) {
  Json list = Json::array();
  if (!page.contains(key)) return list;
  if (!page[key].is_array()) throw RequestError{400, fmt::format("edits.{} must be a list", key)};
  for (const Json& pair : page[key]) {
    if (!pair.is_array() || pair.size() != 2)
      throw RequestError{400, fmt::format("edits.{} must hold pairs", key)};
    list.push_back(Json::array({place_of(pair[0], rows), pair[1]}));
  }
  return list;
}

}  // namespace

Edits edits_from_page(const Json& page, const ViewColumns& columns,
                      const std::vector<std::string>& part_names) {
  if (!page.is_object()) throw RequestError{400, "edits must be an object"};
  for (const auto& [key, value] : page.items())
    if (key != "moves" && key != "tags" && key != "num_parts" && key != "history")
      throw RequestError{400, fmt::format("edits has no part '{}'", key)};
  const Json kept{{"version", 1},
                  {"num_parts", page.value("num_parts", Json(columns.num_parts))},
                  {"moves", placed(page, "moves", columns.rows)},
                  {"tags", placed(page, "tags", columns.rows)},
                  {"part_names", part_names},
                  {"history", page.value("history", Json())}};
  try {
    return edits_from_json(kept.dump(-1, ' ', false, Json::error_handler_t::replace),
                           static_cast<int64_t>(columns.rows.size()));
  } catch (const DataError& error) {
    throw RequestError{400, error.what()};
  }
}

Json edits_to_page(const Edits& edits, const ViewColumns& columns) {
  Json moves = Json::array(), tags = Json::array();
  for (const auto& [place, part] : edits.moves)
    moves.push_back(Json::array({columns.rows[static_cast<size_t>(place)], part}));
  for (const auto& [place, tag] : edits.tags)
    tags.push_back(Json::array({columns.rows[static_cast<size_t>(place)], tag}));
  return {{"moves", std::move(moves)},
          {"tags", std::move(tags)},
          {"num_parts", edits.num_parts},
          {"part_names", edits.part_names},
          {"history", edits.history.empty() ? Json() : Json::parse(edits.history, nullptr, false)}};
}

void keep_part_names(const RunRecord& record) {
  Edits edits = read_edits(record.run_folder(), record.n).value_or(Edits{});
  edits.part_names = record.part_names;
  edits.num_parts = std::max(edits.num_parts, record.summary.value("clusters", 0));
  write_edits(record.run_folder(), edits);
}

}  // namespace milieu::serve
