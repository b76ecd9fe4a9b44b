// SPDX-License-Identifier: Apache-2.0
#include "reproduce/reproduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/identity/fingerprint.h"
#include "reproduce/cac/cac.h"
#include "reproduce/dcp/dcp.h"
#include "reproduce/deep/deep.h"
#include "reproduce/dlgmm.h"
#include "reproduce/exemplar.h"
#include "reproduce/icc.h"

namespace milieu::cli {

namespace {

namespace fs = std::filesystem;

void add_row(const std::vector<std::string>& cells, CsvWriter& table) {
  for (const std::string& cell : cells)
    table.cell(cell.empty() ? std::nullopt : std::optional(cell));
  table.end_row();
}

std::string text_line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string line = " ";
  for (size_t i = 0; i < cells.size(); ++i)
    line += i == 0 ? fmt::format(" {:<{}}", cells[i], widths[i])
                   : fmt::format("  {:>{}}", cells[i], widths[i]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string table_text(const ResultTable& table, const Console& console) {
  std::vector<size_t> widths(table.columns.size());
  for (size_t i = 0; i < widths.size(); ++i) {
    widths[i] = table.columns[i].size();
    for (const auto& row : table.rows)
      if (i < row.size()) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = fmt::format("\n{}\n", console.paint(Style::Bold, table.title));
  text += console.paint(Style::Dim, text_line(table.columns, widths));
  for (const auto& row : table.rows) text += text_line(row, widths);
  for (const std::string& note : table.notes) text += fmt::format("  {}\n", note);
  return text;
}

// `place`, and every folder above it, joined with shared/NAME: the first that exists.
std::string search_upwards(fs::path place, const char* name) {
  std::error_code ignored;
  for (; !place.empty(); place = place.parent_path()) {
    if (fs::is_directory(place / "shared" / name, ignored))
      return (place / "shared" / name).string();
    if (place == place.parent_path()) break;
  }
  return "";
}

std::string find_folder(const std::string& given, const char* variable, const char* name) {
  if (!given.empty()) return given;
  if (const char* named = std::getenv(variable); named != nullptr && *named != '\0') return named;
  std::error_code ignored;
  const std::string from_here = search_upwards(fs::current_path(ignored), name);
  if (!from_here.empty()) return from_here;
  return search_upwards(fs::read_symlink("/proc/self/exe", ignored).parent_path(), name);
}

}  // namespace

const std::vector<Reproduction>& reproductions() {
  static const std::vector<Reproduction> table = {
      {"cac", "simulation", "words of the simulation in Sec. 3.1", reproduce_cac_simulation},
      {"cac", "textons", "two textures in one image, Sec. 3.2", reproduce_cac_textons},
      {"cac", "digits", "digits by several features, Table 2", reproduce_cac_digits},
      {"cac", "held-out", "several views beside the strongest baselines (long)",
       reproduce_cac_held_out},
      {"cac", "held-out-mosaics", "mosaics of textures beside the strongest baselines",
       reproduce_cac_mosaics},
      {"dcp", "toy", "the L of Figure 2 and two variants", reproduce_dcp_toy},
      {"dcp", "kmeans", "k-means row of Table 1 on USPS", reproduce_dcp_kmeans},
      {"dcp", "digits", "Table 1 on USPS: digits against digits", reproduce_dcp_digits},
      {"dcp", "slant", "Figures 1, 3 and 4: the slant of MNIST's ones", reproduce_dcp_slant},
      {"dcp", "readings", "Figure 6 on garments: two readings of one class by two contexts",
       reproduce_dcp_readings},
      {"dcp", "pairs", "Figure 5 on USPS: all pairs of digits (long)", reproduce_dcp_pairs},
      {"dcp", "two-factor", "two factors in pixels: the context decides which one is split",
       reproduce_dcp_two_factor},
      {"dcp", "held-out", "pairs of classes that chose no default, beside the baselines",
       reproduce_dcp_held_out},
      {"dcp", "caltech", "Figure 6: brains of Caltech against other classes",
       reproduce_dcp_caltech},
      {"icc", "table1", "Experiment 1: PCA, LDA, EM + LDA, ICC + LDA", reproduce_icc_table1},
      {"icc", "figures", "Figures 1 to 5 as pictures", reproduce_icc_figures},
      {"icc", "figure7", "three and two sub-classes between two bars", reproduce_icc_figure7},
      {"icc", "vowels", "three sets of vowels, also with held-out talkers", reproduce_icc_vowels},
      {"icc", "gas", "gases instead of the paper's colas", reproduce_icc_gas},
      {"icc", "grid", "accuracy and sub-classes against the size of the grid", reproduce_icc_grid},
      {"icc", "time", "seconds against the number of samples", reproduce_icc_time},
      {"icc", "where", "ICC beside mixtures on gases and digits (long)", reproduce_icc_where},
      {"icc", "talkers", "the same on vowels of held-out talkers (long)", reproduce_icc_talkers},
      {"icc", "held-out", "classifiers on sets that chose no default", reproduce_icc_held_out},
      {"icc", "advise", "should a class be split? made classes and merged ones",
       reproduce_icc_advise},
      {"dlgmm", "scenes", "Tables 1 and 3 on 15-Scenes (hours)", reproduce_dlgmm_scenes},
      {"dlgmm", "caltech", "Tables 2 and 4 on a subset of Caltech-101 (hours)",
       reproduce_dlgmm_caltech},
      {"dlgmm", "gamma", "SC-DLGMM on 15-Scenes against gamma", reproduce_dlgmm_gamma},
      {"dlgmm", "dense", "15-Scenes with patches at step 5 (long)", reproduce_dlgmm_dense},
      {"dlgmm", "codebook", "classification with learned and k-means words",
       reproduce_dlgmm_codebook},
      {"dlgmm", "joint", "words learned with the clusters or before them", reproduce_dlgmm_joint},
      {"dlgmm", "held-out", "dlgmm beside its rivals on images that chose nothing (long)",
       reproduce_dlgmm_held_out},
      {"exemplar", "synthetic", "Fig. 2: F against the share of corrupted dimensions",
       reproduce_exemplar_synthetic},
      {"exemplar", "curves", "Fig. 2a: the objective, averaged over runs",
       reproduce_exemplar_curves},
      {"exemplar", "regularizers", "l1, l2 and no price on generated data",
       reproduce_exemplar_regularizers},
      {"exemplar", "raw", "the same without normalised features", reproduce_exemplar_raw},
      {"exemplar", "sizes", "other numbers of dimensions, samples, clusters",
       reproduce_exemplar_sizes},
      {"exemplar", "brodatz", "Fig. 3a and 4: unrotated textures (Brodatz instead of Outex)",
       reproduce_exemplar_brodatz},
      {"exemplar", "figure3a", "Fig. 3a: one distance per feature, Brodatz",
       reproduce_exemplar_outex},
      {"exemplar", "figure3b", "Fig. 3b: one distance per feature, UIUC",
       reproduce_exemplar_figure3},
      {"exemplar", "uiuc", "Fig. 3b and 5: UIUC textures", reproduce_exemplar_uiuc},
      {"exemplar", "scenes", "Fig. 6 and 7: 15 scenes", reproduce_exemplar_scenes},
      {"exemplar", "pyramids", "15 scenes with spatial pyramids", reproduce_exemplar_pyramids},
      {"exemplar", "held-out", "learned distances on sets that chose nothing (long)",
       reproduce_exemplar_held_out},
      {"deep", "baselines", "k-means, spherical k-means, cuts and trees on an embedding",
       reproduce_deep_baselines},
      {"deep", "dlgmm", "dlgmm on patches of a network's last map (long)", reproduce_deep_dlgmm},
      {"deep", "cac", "cac with deep and classical views", reproduce_deep_cac},
      {"deep", "exemplar", "exemplar learn with deep and classical distances (long)",
       reproduce_deep_exemplar},
      {"deep", "dcp", "two-factor sets: the context decides which factor is split",
       reproduce_deep_dcp},
      {"deep", "icc", "merged Caltech classes found again as sub-classes", reproduce_deep_icc},
  };
  return table;
}

std::string find_data_folder(const std::string& given) {
  return find_folder(given, "MILIEU_DATA", "data");
}

std::string find_models_folder(const std::string& given) {
  return find_folder(given, "MILIEU_MODELS", "models");
}

ReproduceRun::ReproduceRun(const ReproduceOptions& options, std::string folder, std::string models,
                           Console& console, Monitor& monitor)
    : options_(options),
      folder_(std::move(folder)),
      models_(std::move(models)),
      console_(console),
      monitor_(monitor),
      key_(fmt::format("version {}, seed {}, restarts {}", version(), options.seed,
                       options.num_restarts)),
      memory_(std::make_unique<ReproduceMemory>(options.resume, key_)) {}

void ReproduceRun::begin() {
  data_.clear();
  if (options_.resume.empty()) memory_ = std::make_unique<ReproduceMemory>("", key_);
}

void ReproduceRun::keep_progress(const std::string& name) {
  if (options_.resume.empty() && !options_.out.empty())
    memory_ = std::make_unique<ReproduceMemory>(
        (fs::path(options_.out) / (name + ".progress")).string(), key_);
}

// Of the content of all data named in this experiment; each is read once.
std::string ReproduceRun::data_print() const {
  const std::scoped_lock lock(mutex_);
  Fingerprint print("reproduce");
  for (const auto& [name, path] : data_) {
    std::string& known = printed_[path];
    if (known.empty()) known = Fingerprint("data").path(path).hex();
    print.text(name).text(known);
  }
  return print.hex();
}

std::vector<double> ReproduceRun::piece(const std::string& name,
                                        const std::function<std::vector<double>()>& compute) const {
  if (!memory_->is_kept()) return compute();
  const std::string data = data_print();
  if (auto kept = memory_->find(name, data)) return *kept;
  std::vector<double> figures = compute();
  MILIEU_ASSERT(data_print() == data);  // data is named before the piece
  if (is_stopped()) return figures;
  try {
    memory_->add(name, data, figures);
  } catch (const IoError& error) {
    say(fmt::format("{}: the run continues and tries again with the next piece", error.what()));
  }
  return figures;
}

std::string ReproduceRun::named_file(const std::string& folder, const std::string& name,
                                     const std::string& what) const {
  const fs::path path = fs::path(folder) / name;
  std::error_code ignored;
  if (folder.empty() || !fs::exists(path, ignored))
    throw MissingData(fmt::format("{} does not exist: give the folder of the {}",
                                  folder.empty() ? name : path.string(), what));
  const std::scoped_lock lock(mutex_);
  data_[name] = path.string();
  return path.string();
}

std::string ReproduceRun::data_file(const std::string& name) const {
  return named_file(folder_, name, "data sets with --data or MILIEU_DATA");
}

std::string ReproduceRun::model_file(const std::string& name) const {
  return named_file(models_, name, "networks with --models or MILIEU_MODELS");
}

void ReproduceRun::show(const ResultTable& table) const {
  console_.print(table_text(table, console_));
  console_.flush();
  CsvWriter csv;
  add_row(table.columns, csv);
  for (const auto& row : table.rows) add_row(row, csv);
  write(table.name + ".csv", csv.text());
}

void ReproduceRun::write(const std::string& name, std::string_view content) const {
  if (options_.out.empty()) return;
  write_file_atomically((fs::path(options_.out) / name).string(), content);
}

std::string percent_text(double share) { return fmt::format("{:.1f}", 100 * share); }

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::string interval_text(const std::vector<double>& shares) {
  const double mean = mean_of(shares);
  if (shares.size() < 2) return percent_text(mean);
  double squared = 0;
  for (const double share : shares) squared += (share - mean) * (share - mean);
  const double n = static_cast<double>(shares.size());
  return fmt::format("{:.1f} +- {:.1f}", 100 * mean,
                     100 * 1.96 * std::sqrt(squared / (n - 1)) / std::sqrt(n));
}

}  // namespace milieu::cli
