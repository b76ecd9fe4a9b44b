// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/markup_check.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>

namespace milieu {
namespace {

const std::set<std::string, std::less<>> kVoidTags = {"meta", "img", "br", "hr", "link", "input"};

struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
  bool is_closing = false;
  bool is_childless = false;
};

class Checker {
 public:
  explicit Checker(std::string_view page) : rest_(page) {}

  std::vector<std::string> run() {
    if (rest_.starts_with("<!DOCTYPE html>")) rest_.remove_prefix(15);
    while (!rest_.empty() && faults_.size() < 20) step();
    for (const std::string& tag : open_) fault("<{}> is never closed", tag);
    for (const std::string& id : references_)
      if (!ids_.contains(id)) fault("id '{}' is referred to but missing", id);
    return faults_;
  }

 private:
  template <class... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  std::string_view take_until(std::string_view end) {
    const size_t at = std::min(rest_.find(end), rest_.size());
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at);
    return taken;
  }

  void step() {
    check_text(take_until("<"));
    if (rest_.empty()) return;
    const Tag tag = read_tag();
    if (tag.is_closing) {
      if (open_.empty() || open_.back() != tag.name)
        fault("</{}> closes <{}>", tag.name, open_.empty() ? "nothing" : open_.back());
      if (!open_.empty()) open_.pop_back();
      return;
    }
    check_tag(tag);
    if (!tag.is_childless && !kVoidTags.contains(tag.name)) open_.push_back(tag.name);
    if (tag.name == "style") take_until("</style>");
  }

  void check_text(std::string_view text) {
    if (text.find('>') != std::string_view::npos) fault("bare > in text '{}'", text);
    for (size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
      const std::string_view entity = text.substr(at, text.find(';', at) - at + 1);
      static const std::set<std::string_view> known = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      if (!known.contains(entity)) fault("unknown entity '{}'", entity);
    }
  }

  Tag read_tag() {
    Tag tag;
    rest_.remove_prefix(1);
    if (rest_.starts_with('/')) tag.is_closing = true, rest_.remove_prefix(1);
    while (!rest_.empty() && (std::isalnum(static_cast<unsigned char>(rest_[0]))))
      tag.name += rest_[0], rest_.remove_prefix(1);
    if (tag.name.empty()) fault("a tag without a name");
    while (rest_.starts_with(' ')) read_attribute(tag);
    if (rest_.starts_with('/')) tag.is_childless = true, rest_.remove_prefix(1);
    if (!rest_.starts_with('>')) fault("<{}> does not end", tag.name);
    if (!rest_.empty()) rest_.remove_prefix(1);
    return tag;
  }

  void read_attribute(Tag& tag) {
    rest_.remove_prefix(1);
    const std::string name(take_until("=\""));
    if (name.empty() || name.find_first_of(" <>\"'/&") != std::string::npos || rest_.empty()) {
      fault("<{}> has a broken attribute '{}'", tag.name, name.substr(0, 40));
      rest_ = {};
      return;
    }
    rest_.remove_prefix(2);
    const std::string value(take_until("\""));
    check_text(value);
    if (value.find('<') != std::string::npos) fault("bare < in attribute {}", name);
    if (!tag.attributes.emplace(name, value).second) fault("<{}> has {} twice", tag.name, name);
    if (!rest_.empty()) rest_.remove_prefix(1);
  }

  void check_tag(const Tag& tag) {
    if (tag.name == "script") fault("a script");
    if (tag.name == "img" && !tag.attributes.contains("alt")) fault("<img> without alt");
    if (tag.name == "th" && !tag.attributes.contains("scope")) fault("<th> without scope");
    for (const auto& [name, value] : tag.attributes) {
      if (name == "id" && !ids_.insert(value).second) fault("id '{}' is used twice", value);
      if (name == "aria-labelledby") refer_to(value);
      if ((name == "src" || name == "href") && !value.starts_with("data:") &&
          value.find(':') != std::string::npos)
        fault("<{}> fetches {}", tag.name, value);
      if (name.starts_with("on")) fault("<{}> has a handler {}", tag.name, name);
      const bool is_geometry = name == "d" || name == "x" || name == "y" || name == "cx" ||
                               name == "cy" || name == "width" || name == "height";
      if (is_geometry && value.find_first_of("naif") != std::string::npos)
        fault("<{}> has {}=\"{}\"", tag.name, name, value.substr(0, 60));
    }
  }

  void refer_to(std::string_view ids) {
    while (!ids.empty()) {
      const size_t end = std::min(ids.find(' '), ids.size());
      references_.emplace(ids.substr(0, end));
      ids.remove_prefix(std::min(end + 1, ids.size()));
    }
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  std::vector<std::string> faults_;
  std::set<std::string> ids_;
  std::set<std::string> references_;
};

}  // namespace

std::vector<std::string> find_markup_faults(std::string_view page) { return Checker(page).run(); }

}  // namespace milieu
