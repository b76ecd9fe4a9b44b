// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/network_internal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <regex>
#include <sstream>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/printable.h"
#include "milieu/feature/network/trial_internal.h"

namespace milieu::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostText = 2000, kMostWords = 300;  // characters of what the runtime says

// The input of the trial: neither constant nor large, the same every time.
Tensor make_trial_input(const std::vector<int64_t>& shape) {
  Tensor input{shape, {}};
  const int64_t count =
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
  for (int64_t i = 0; i < count; ++i)
    input.values.push_back(static_cast<float>(i * 37 % 101) / 101.0f);
  return input;
}

std::string numbers_text(const std::vector<int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

std::vector<int64_t> parse_numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<int64_t> numbers;
  for (int64_t number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

// What the runtime says, cut down to what helps: the operator, if it is named.
std::string explain(const std::string& all, const std::string& memory) {
  const std::string text = all.substr(0, kMostText);  // names in it come from the file
  std::smatch match;
  if (std::regex_search(text, match, std::regex(R"(No Op registered for (\w+))")))
    return fmt::format("its operator {} is unknown in that opset", match.str(1));
  if (std::regex_search(text, match,
                        std::regex(R"(not find an implementation for (\w+)\((\d+)\))")))
    return fmt::format("its operator {} (version {}) is not implemented", match.str(1),
                       match.str(2));
  if (std::regex_search(text, std::regex("bad_alloc|allocate memory|Failed to allocate")))
    return fmt::format("it needs more than {} of memory", memory);
  // Not where in its own sources it noticed.
  std::string words = std::regex_replace(text, std::regex(R"(\S*onnxruntime\S*/\S+ )"), "");
  words = std::regex_replace(words, std::regex(R"(^[\w: ]*onnxruntime::[^)]*\)\s*)"), "");
  words = words.substr(0, words.find('\n'));
  while (!words.empty() && (words.back() == '.' || words.back() == ' ')) words.pop_back();
  return printable(words, kMostWords);
}

std::string failure_text(const TrialResult& result, const std::string& memory) {
  switch (result.kind) {
    case TrialResult::Kind::Crashed:
      return fmt::format("the runtime crashed on it ({}): the file is damaged or made to do harm",
                         result.text);
    case TrialResult::Kind::TooSlow:
      return fmt::format("one image takes longer than {}", result.text);
    default:
      return explain(result.text, memory);
  }
}

// A large network takes longer for one image than a person waits after Ctrl-C.
void stop_with(const Monitor& monitor, Session& session, const std::stop_token& end) {
  while (!end.stop_requested()) {
    if (monitor.should_stop()) return session.stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

std::string NetworkFile::folder() const {
  const std::string parent = fs::path(path_).parent_path().string();
  return parent.empty() ? "." : parent;
}

int64_t NetworkFile::size() const {
  auto total = static_cast<int64_t>(file_->bytes().size());
  for (const std::string& name : graph_.external_files)
    total += static_cast<int64_t>(fs::file_size(folder() + "/" + name));
  return total;
}

void NetworkFile::read(const std::string& path, const std::string& layer, bool before_pooling) {
  path_ = path;
  file_ = MappedFile::open(path);
  graph_ = read_graph(file_->text(), path);
  for (const std::string& name : graph_.external_files)
    if (!fs::is_regular_file(folder() + "/" + name))
      throw IoError(fmt::format("{} keeps its weights in {}, which is not there: put it beside",
                                path, folder() + "/" + name));
  if (graph_.outputs.empty()) throw DataError(fmt::format("{} has no output", path));
  tensor_ = !layer.empty()   ? find_tensor(graph_, layer, path)
            : before_pooling ? tensor_before_pooling(graph_)
                             : "";
  if (tensor_.empty()) tensor_ = graph_.outputs[0];
  const bool is_output = std::ranges::find(graph_.outputs, tensor_) != graph_.outputs.end();
  edited_ = is_output ? "" : with_output(file_->text(), tensor_);
}

uint64_t NetworkFile::checksum() const {
  uint64_t hash = hash_text(file_->text());
  for (const std::string& name : graph_.external_files)
    hash = hash_text(MappedFile::open(folder() + "/" + name)->text(), hash);
  return hash;
}

std::vector<int64_t> NetworkFile::open(const std::vector<int64_t>& input_shape,
                                       const Monitor& monitor) {
  const std::string runtime = runtime_name();
  TrialLimits limits;
  limits.memory += 4 * size();  // weights as they are read, and as they are arranged for the CPU
  const std::string memory = fmt::format("{:.1f} GB", static_cast<double>(limits.memory) / 1e9);
  const TrialResult result = try_in_child(
      [&] {
        const auto session = open_session(bytes(), folder(), tensor_);
        return numbers_text(session->run(make_trial_input(input_shape)).shape);
      },
      limits, monitor);
  if (result.kind == TrialResult::Kind::Stopped) return {};
  if (result.kind != TrialResult::Kind::Done)
    throw DataError(fmt::format(
        "{} ({}) cannot be run by {} on an input of {}: {}; export it again (docs/embeddings.md), "
        "or compute the vectors elsewhere and give them as --vectors FILE",
        path_, opset_text(graph_), runtime, shape_text(input_shape), failure_text(result, memory)));
  watcher_ = {};
  session_ = open_session(bytes(), folder(), tensor_);
  if (&monitor != &silent_monitor())
    watcher_ = std::jthread([&monitor, session = session_.get()](const std::stop_token& end) {
      stop_with(monitor, *session, end);
    });
  return parse_numbers(result.text);
}

Tensor NetworkFile::run(const Tensor& input) const {
  require(session_ != nullptr, [&] { return path_ + ": open() the feature before describing"; });
  try {
    return session_->run(input);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path_, explain(error.what(), "there is")));
  }
}

}  // namespace milieu::internal
