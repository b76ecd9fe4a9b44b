// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/json_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "milieu/data/printable.h"

namespace milieu::internal {

namespace {

// Ends the parser from inside its callback.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The parser's callback: watches depth and repeated keys.
class Guard {
 public:
  bool operator()(int, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      keys_.emplace_back();
      if (keys_.size() > kMaxJsonDepth)
        throw Refusal(fmt::format("is nested deeper than {}", kMaxJsonDepth));
    } else if (event == Event::object_end || event == Event::array_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second)
        throw Refusal(fmt::format("has the key '{}' twice", printable(key)));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;  // of every object that is open; empty for lists
};

std::string place_of(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

void append_lines(std::string& out, const OrderedJson& value, int depth) {
  if (!value.is_object() || value.empty()) {
    out += to_line(value);
    return;
  }
  const char* separator = "{\n";
  for (const auto& [key, entry] : value.items()) {
    out += separator;
    out.append(2 * (depth + 1), ' ');
    out += to_line(key) + ": ";
    append_lines(out, entry, depth + 1);
    separator = ",\n";
  }
  out += '\n';
  out.append(2 * depth, ' ');
  out += '}';
}

}  // namespace

ParsedJson parse_json(std::string_view text) {
  ParsedJson parsed;
  try {
    parsed.value = Json::parse(text.begin(), text.end(), Guard());
  } catch (const Json::parse_error& error) {
    parsed.problem = fmt::format("is not JSON ({})", place_of(text, error.byte));
  } catch (const Json::out_of_range&) {
    parsed.problem = "has a number that is too large";
  } catch (const Refusal& refusal) {
    parsed.problem = refusal.what();
  }
  return parsed;
}

std::string to_line(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string to_lines(const OrderedJson& value) {
  std::string out;
  append_lines(out, value, 0);
  return out;
}

}  // namespace milieu::internal
