// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/csv_text.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <iterator>

namespace milieu {

namespace {

bool is_control(char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; }

// Whether `text` begins with x and two hexadecimal digits.
bool is_escape(std::string_view text) {
  return text.size() >= 3 && text[0] == 'x' && std::isxdigit(static_cast<unsigned char>(text[1])) &&
         std::isxdigit(static_cast<unsigned char>(text[2]));
}

bool begins_formula(char c) { return c == '=' || c == '+' || c == '@'; }

}  // namespace

std::string csv_unescaped(const std::string& cell) {
  if (cell.find("\\x") == std::string::npos) return cell;
  std::string text;
  for (size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == '\\' && is_escape(std::string_view(cell).substr(i + 1))) {
      text += static_cast<char>(std::stoi(cell.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else {
      text += cell[i];
    }
  }
  return text;
}

std::string csv_cell(std::string_view text) {
  const bool needs_quotes = text.empty() || text.find_first_of(",\"") != std::string_view::npos ||
                            std::strchr(" \t#", text.front()) || std::strchr(" \t", text.back());
  std::string cell;
  if (needs_quotes) cell += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_control(c) || (i == 0 && begins_formula(c)) ||
        (c == '\\' && is_escape(text.substr(i + 1)))) {
      fmt::format_to(std::back_inserter(cell), "\\x{:02x}", static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"') cell += '"';
    cell += c;
  }
  if (needs_quotes) cell += '"';
  return cell;
}

CsvWriter& CsvWriter::raw(std::string_view text) {
  if (has_cell_) text_ += ',';
  text_ += text;
  has_cell_ = true;
  return *this;
}

CsvWriter& CsvWriter::cell(std::string_view text) { return raw(csv_cell(text)); }
CsvWriter& CsvWriter::cell(double number) { return raw(fmt::format("{}", number)); }
CsvWriter& CsvWriter::cell(float number) { return raw(fmt::format("{}", number)); }
CsvWriter& CsvWriter::cell(int64_t number) { return raw(fmt::format("{}", number)); }

void CsvWriter::end_row() {
  text_ += '\n';
  has_cell_ = false;
}

std::vector<std::vector<std::string>> read_csv_records(std::string_view text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record(1);
  bool is_quoted = false;
  const auto end_record = [&] {
    for (std::string& cell : record) cell = csv_unescaped(cell);
    records.push_back(std::move(record));
    record.assign(1, "");
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      record.back() += text[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted || (c != ',' && c != '\n')) {
      record.back() += c;
    } else if (c == ',') {
      record.emplace_back();
    } else {
      end_record();
    }
  }
  if (record.size() > 1 || !record[0].empty()) end_record();
  if (!records.empty()) records.erase(records.begin());
  return records;
}

}  // namespace milieu
