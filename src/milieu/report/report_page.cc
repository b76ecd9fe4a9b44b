// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/page_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/render/png.h"
#include "milieu/report/page_assets.h"
#include "milieu/report/thumbnails.h"

namespace milieu::internal {

namespace {

std::string base64(std::string_view bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = (group << 8) | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j)
      text += j > bytes.size() - i ? '=' : kDigits[(group >> (18 - 6 * j)) & 63];
  }
  return text;
}

template <class T>
std::string base64_of(const std::vector<T>& values) {
  return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

// Rows of the collection that the report holds, and their places in it.
struct ShownRows {
  std::vector<int64_t> rows;  // ascending
  std::map<int64_t, int32_t> place;
  int64_t total = 0;  // before thinning
};

ShownRows choose_rows(const ViewColumns& columns, const Collection& collection,
                      const PageLimits& limits) {
  std::set<int64_t> all(columns.rows.begin(), columns.rows.end());
  all.insert(columns.context_rows.begin(), columns.context_rows.end());
  if (all.empty())
    for (int64_t row = 0; row < collection.size(); ++row) all.insert(row);
  const std::vector<int64_t> list(all.begin(), all.end());
  ShownRows shown;
  shown.total = static_cast<int64_t>(list.size());
  const int64_t columns_count = std::max<int64_t>(1, collection.data().points.cols());
  const int64_t limit = std::clamp<int64_t>(limits.max_numbers / columns_count, 1, limits.max_rows);
  for (const int64_t i : thinned(shown.total, limit)) {
    shown.place[list[static_cast<size_t>(i)]] = static_cast<int32_t>(shown.rows.size());
    shown.rows.push_back(list[static_cast<size_t>(i)]);
  }
  return shown;
}

// The entries of a column whose row is shown; `width` numbers per row.
template <class T>
std::vector<T> pick(const std::vector<T>& values, const std::vector<int32_t>& rows,
                    const ShownRows& shown, size_t width) {
  std::vector<T> out;
  if (values.empty()) return out;
  for (size_t i = 0; i < rows.size(); ++i)
    if (shown.place.contains(rows[i]))
      out.insert(out.end(), values.begin() + static_cast<int64_t>(i * width),
                 values.begin() + static_cast<int64_t>((i + 1) * width));
  return out;
}

std::vector<int32_t> places_of(const std::vector<int32_t>& rows, const ShownRows& shown) {
  std::vector<int32_t> places;
  for (const int32_t row : rows)
    if (const auto found = shown.place.find(row); found != shown.place.end())
      places.push_back(found->second);
  return places;
}

Json columns_data(const ViewColumns& columns, const ShownRows& shown) {
  const auto width = static_cast<size_t>(columns.num_parts);
  Json json = Json::object();
  const auto add = [&](const char* name, const auto& values) {
    if (!values.empty()) json[name] = base64_of(values);
  };
  add("rows", places_of(columns.rows, shown));
  add("labels", pick(columns.labels, columns.rows, shown, 1));
  add("margins", pick(columns.margins, columns.rows, shown, 1));
  add("decisions", pick(columns.decisions, columns.rows, shown, width));
  add("context_rows", places_of(columns.context_rows, shown));
  add("context_decisions", pick(columns.context_decisions, columns.context_rows, shown, width));
  add("words", pick(columns.words, columns.rows, shown, 1));
  add("places", pick(columns.places, columns.rows, shown, 2));
  return json;
}

// Rows whose thumbnail is in the sheet: what the parts show first, then evenly from all.
std::vector<int64_t> choose_thumbnails(const RunView& view, const ShownRows& shown, int64_t limit) {
  std::set<int64_t> chosen;
  for (size_t depth = 0; depth < 24; ++depth)
    for (const PartInfo& part : view.parts)
      for (const std::vector<int64_t>* list : {&part.typical, &part.border})
        if (depth < list->size() && static_cast<int64_t>(chosen.size()) < limit &&
            shown.place.contains((*list)[depth]))
          chosen.insert((*list)[depth]);
  std::vector<int64_t> others;
  for (const int64_t row : shown.rows)
    if (!chosen.contains(row)) others.push_back(row);
  const auto left = limit - static_cast<int64_t>(chosen.size());
  for (const int64_t i : thinned(static_cast<int64_t>(others.size()), left))
    chosen.insert(others[static_cast<size_t>(i)]);
  return {chosen.begin(), chosen.end()};
}

// Copies an image into the middle of a cell; grey ones fill all channels.
void draw_cell(const RasterImage& image, int x0, int y0, int side, RasterImage& sheet) {
  const int left = x0 + (side - image.width) / 2, top = y0 + (side - image.height) / 2;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < sheet.channels; ++c)
        sheet.at(left + x, top + y)[c] = image.at(x, y)[std::min(c, image.channels - 1)];
}

Json make_sheet(const std::vector<int64_t>& rows, const ShownRows& shown,
                const Collection& collection, int side) {
  const Thumbnails thumbnails(collection);
  std::vector<RasterImage> images(rows.size());
  parallel_for(static_cast<int64_t>(rows.size()), 1, 0, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) {
      try {
        images[static_cast<size_t>(i)] = thumbnails.draw_square(rows[static_cast<size_t>(i)], side);
      } catch (const Error&) {
        // the report is worth more than this thumbnail
      }
    }
  });
  side = 1;  // cells as large as the largest image: small ones get no frame of black
  std::vector<const RasterImage*> drawn;  // rows whose image cannot be read have no cell
  std::vector<int32_t> places;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (images[i].width == 0) continue;
    side = std::max({side, images[i].width, images[i].height});
    drawn.push_back(&images[i]);
    places.push_back(shown.place.at(rows[i]));
  }
  const int count = static_cast<int>(drawn.size());
  const int columns = std::max(1, static_cast<int>(std::ceil(std::sqrt(count))));
  const int lines = std::max(1, (count + columns - 1) / columns);
  RasterImage sheet(columns * side, lines * side, collection.has_image_files() ? 3 : 1);
  for (int at = 0; at < count; ++at)
    draw_cell(*drawn[static_cast<size_t>(at)], at % columns * side, at / columns * side, side,
              sheet);
  const std::string bytes = collection.has_image_files()
                                ? "data:image/jpeg;base64," + base64(encode_jpeg(sheet, 80))
                                : "data:image/png;base64," + base64(encode_png(sheet));
  return {{"side", side}, {"columns", columns}, {"rows_shown", places}, {"sheet", bytes}};
}

// Words over images: a few images larger than in the sheet, with what was found in them.
void add_words(const WordView& words, const std::vector<int64_t>& images, const ShownRows& shown,
               const Collection& collection, const PageLimits& limits, Json& data) {
  const Thumbnails thumbnails(collection);
  Json listed = Json::array(), held = Json::object();
  for (const int64_t row : images) {
    const auto found = words.images.find(static_cast<int32_t>(row));
    if (found == words.images.end()) continue;
    if (static_cast<int64_t>(listed.size()) == limits.max_word_images) break;
    try {
      Json json = image_words_json(words, collection, row);
      json["image"] = "data:image/jpeg;base64," +
                      base64(encode_jpeg(thumbnails.draw(row, limits.word_image_side), 80));
      const int32_t place = shown.place.at(row);
      held[std::to_string(place)] = std::move(json);
      listed.push_back({{"row", place}, {"words", found->second.size()}});
    } catch (const Error&) {
      // the report is worth more than this thumbnail
    }
  }
  data["runs"][0]["extras"]["images"] = std::move(listed);
  data["words"] = std::move(held);
}

// Rows of a detail as places in the report; those that are not shown are left out.
void renumber(Json& list, const ShownRows& shown) {
  Json out = Json::array();
  for (const Json& row : list)
    if (const auto found = shown.place.find(row.get<int64_t>()); found != shown.place.end())
      out.push_back(found->second);
  list = std::move(out);
}

Json detail_data(const PageRun& run, const RunView& view, const ShownRows& shown) {
  Json detail = detail_json(run, view);
  detail["files"] = Json::array();
  const Json sizes = run.summary.is_object() ? run.summary.value("sizes", Json::array()) : Json();
  for (Json& part : detail["parts"]) {
    renumber(part["typical"], shown);
    renumber(part["border"], shown);
    const auto index = part["index"].get<size_t>();
    if (sizes.is_array() && index < sizes.size()) part["size"] = sizes[index];
  }
  if (!detail.contains("extras")) return detail;
  Json& extras = detail["extras"];
  if (extras.contains("exemplars")) renumber(extras["exemplars"], shown);
  if (extras.contains("groups"))
    for (Json& group : extras["groups"]) renumber(group["rows"], shown);
  extras.erase("images");  // those that the report holds are added with their words
  return detail;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// JSON that can be put between script tags.
std::string script_json(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  return text;
}

// The text between two marks; empty when one is missing.
std::string between(const std::string& text, std::string_view open, std::string_view close) {
  const size_t begin = text.find(open);
  const size_t end = begin == std::string::npos ? begin : text.find(close, begin + open.size());
  if (end == std::string::npos) return {};
  return text.substr(begin + open.size(), end - begin - open.size());
}

// The tag that begins with `begin`, up to `end`, is taken out.
void cut(std::string& text, std::string_view begin, std::string_view end) {
  const size_t from = text.find(begin);
  const size_t to = from == std::string::npos ? from : text.find(end, from);
  if (to != std::string::npos) text.erase(from, to + end.size() - from);
}

}  // namespace

std::vector<int64_t> thinned(int64_t n, int64_t limit) {
  std::vector<int64_t> places;
  const int64_t count = std::clamp<int64_t>(limit, 0, n);
  for (int64_t i = 0; i < count; ++i) places.push_back(i * n / count);
  return places;
}

Json page_data(const PageRun& run, const RunView& view, const Collection& collection,
               const PageLimits& limits) {
  const ShownRows shown = choose_rows(view.columns, collection, limits);
  std::vector<int32_t> classes;
  std::vector<float> map;
  Json names = Json::array();
  const std::vector<float>& whole_map = collection.map();
  for (const int64_t row : shown.rows) {
    classes.push_back(collection.class_of(row));
    map.push_back(whole_map[static_cast<size_t>(2 * row)]);
    map.push_back(whole_map[static_cast<size_t>(2 * row + 1)]);
    names.push_back(collection.row_name(row));
  }
  Json about = collection_json(collection);
  about["n"] = shown.rows.size();
  about["total"] = shown.total;
  Json data{{"collection", std::move(about)},
            {"classes", base64_of(classes)},
            {"map", base64_of(map)},
            {"names", std::move(names)},
            {"methods", Json::array()},
            {"runs", Json::array({detail_data(run, view, shown)})},
            {"columns", {{run.id, columns_data(view.columns, shown)}}}};
  if (collection.has_images()) {
    const int64_t limit =
        collection.has_image_files() ? limits.max_image_files : limits.max_row_images;
    const std::vector<int64_t> images = choose_thumbnails(view, shown, limit);
    data["thumbs"] = make_sheet(images, shown, collection, limits.thumb_side);
    if (!view.words.images.empty()) add_words(view.words, images, shown, collection, limits, data);
  }
  return data;
}

void add_page_files(const PageFiles& files, Json& data, const PageLimits& limits) {
  Json& run = data["runs"][0];
  Json urls = Json::object();
  size_t left = limits.max_file_bytes;
  for (const auto& [name, content] : files) {
    const bool is_png = name.ends_with(".png"), is_svg = name.ends_with(".svg");
    if ((!is_png && !is_svg) || content.size() > left) continue;
    left -= content.size();
    urls[name] =
        fmt::format("data:image/{};base64,{}", is_png ? "png" : "svg+xml", base64(content));
    run["files"].push_back({{"name", name}, {"title", file_title(name)}});
  }
  data["files"] = {{run["id"].get<std::string>(), std::move(urls)}};
}

std::string page_around(const std::string& static_page, const Json& data) {
  const PageAssets assets = page_assets();
  if (assets.html.empty()) return static_page;
  std::string page(assets.html), script(assets.script);
  cut(page, "<script type=\"module\"", "</script>");
  cut(page, "<link rel=\"stylesheet\"", ">");
  const std::string title = between(static_page, "<title>", "</title>");
  const std::string own_title = between(page, "<title>", "</title>");
  if (!title.empty())
    replace_all(page, "<title>" + own_title + "</title>", "<title>" + title + "</title>");
  replace_all(script, "</script", "<\\/script");
  replace_all(script, "<!--", "<\\!--");
  // The style comes by script, so that it does not meet the static report.
  std::string inside;
  if (!static_page.empty())
    inside += fmt::format("<noscript><style>{}</style>{}</noscript>\n",
                          between(static_page, "<style>", "</style>"),
                          between(static_page, "<body>", "</body>"));
  inside += "<script type=\"application/json\" id=\"milieu-report\">" + script_json(data) +
            "</script>\n<script type=\"module\">document.head.append(Object.assign(document."
            "createElement(\"style\"),{textContent:" +
            script_json(std::string(assets.style)) + "}));\n" + script + "</script>\n";
  const size_t end = page.rfind("</body>");
  page.insert(end == std::string::npos ? page.size() : end, inside);
  return page;
}

std::string page_again(const std::string& kept, const PageRun& run, const RunView& view,
                       const Collection& collection, const PageFiles& files) {
  const std::string inside = between(kept, "<noscript>", "</noscript>");
  const std::string static_page = inside.empty()
                                      ? kept
                                      : "<title>" + between(kept, "<title>", "</title>") +
                                            "</title><body>" + inside + "</body><style></style>";
  Json data = page_data(run, view, collection);
  add_page_files(files, data);
  return page_around(static_page, data);
}

}  // namespace milieu::internal
