// SPDX-License-Identifier: Apache-2.0
#include "milieu/naming/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/linalg/finite.h"
#include "milieu/linalg/gemm.h"

namespace milieu {

namespace {

constexpr int64_t kBlockRows = 256;

struct Entry {
  int32_t label = 0;
  float value = 0;
};

void require_finite(FloatView values, const char* name, int num_threads) {
  if (const auto place = find_non_finite(values, num_threads))
    throw DataError(
        fmt::format("{} has {} at row {}, column {} (counted from 0): it must be finite", name,
                    values(place->row, place->column), place->row, place->column));
}

// The entries of one sample; `order` is scratch of one place per label.
void add_entries(std::span<const float> scores, std::vector<int32_t>& order,
                 std::vector<Entry>& entries) {
  const auto num_labels = static_cast<int64_t>(scores.size());
  const int64_t kept = std::min<int64_t>(kEvidenceRanks + 1, num_labels);
  for (size_t l = 0; l < order.size(); ++l) order[l] = static_cast<int32_t>(l);
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int32_t a, int32_t b) {
    const float x = scores[static_cast<size_t>(a)], y = scores[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  const int64_t ranks = std::min<int64_t>(kEvidenceRanks, num_labels);
  const auto score_at = [&](int64_t rank) {
    return scores[static_cast<size_t>(order[static_cast<size_t>(rank)])];
  };
  const auto first = static_cast<int64_t>(entries.size());
  for (int64_t begin = 0, end = 0; begin < ranks; begin = end) {
    double sum = 0;
    for (end = begin; end < kept && score_at(end) == score_at(begin); ++end)
      sum += 1.0 / static_cast<double>(end + 1);
    if (end > ranks) break;  // the tie reaches beyond the last rank
    for (int64_t rank = begin; rank < end; ++rank)
      entries.push_back({order[static_cast<size_t>(rank)],
                         static_cast<float>(sum / static_cast<double>(end - begin))});
  }
  std::sort(entries.begin() + first, entries.end(),
            [](const Entry& a, const Entry& b) { return a.label < b.label; });
}

// Entries of a block of samples, with how many each sample has.
struct BlockEvidence {
  std::vector<Entry> entries;
  std::vector<int64_t> counts;
};

LabelEvidence join(std::vector<BlockEvidence> blocks, int64_t num_labels) {
  LabelEvidence all;
  all.num_labels = num_labels;
  for (const BlockEvidence& block : blocks) {
    for (const int64_t count : block.counts) all.offsets.push_back(all.offsets.back() + count);
    for (const Entry& entry : block.entries) {
      all.labels.push_back(entry.label);
      all.values.push_back(entry.value);
    }
  }
  return all;
}

// `scores_of` fills the scores of a block of rows.
template <class ScoresOf>
LabelEvidence evidence_by_blocks(int64_t n, int64_t num_labels, int num_threads,
                                 ScoresOf&& scores_of) {
  std::vector<BlockEvidence> blocks(static_cast<size_t>(num_blocks(n, kBlockRows)));
  parallel_for(n, kBlockRows, num_threads, [&](const Block& block) {
    BlockEvidence& out = blocks[static_cast<size_t>(block.index)];
    std::vector<int32_t> order(static_cast<size_t>(num_labels));
    const Matrix<float> scores = scores_of(block);
    for (int64_t i = 0; i < scores.rows(); ++i) {
      const size_t before = out.entries.size();
      add_entries(scores.view().row_span(i), order, out.entries);
      out.counts.push_back(static_cast<int64_t>(out.entries.size() - before));
    }
  });
  return join(std::move(blocks), num_labels);
}

// Rows divided by their norms; rows of zeros stay.
Matrix<float> unit_rows(FloatView rows) {
  Matrix<float> unit(rows);
  for (int64_t i = 0; i < unit.rows(); ++i) {
    double square = 0;
    for (const float x : unit.view().row_span(i)) square += double{x} * x;
    if (square == 0) continue;
    const double scale = 1 / std::sqrt(square);
    for (int64_t j = 0; j < unit.cols(); ++j) unit(i, j) = static_cast<float>(unit(i, j) * scale);
  }
  return unit;
}

}  // namespace

LabelEvidence evidence_from_scores(FloatView scores, int num_threads) {
  require_finite(scores, "scores", num_threads);
  return evidence_by_blocks(scores.rows(), scores.cols(), num_threads, [&](const Block& block) {
    return Matrix<float>(scores.rows_between(block.begin, block.end));
  });
}

LabelEvidence evidence_from_vectors(FloatView points, FloatView label_vectors, int num_threads) {
  if (points.cols() != label_vectors.cols())
    throw InvalidArgument(fmt::format("the label vectors have {}, the samples {}: they must match",
                                      counted(label_vectors.cols(), "column"), points.cols()));
  require_finite(points, "the samples", num_threads);
  require_finite(label_vectors, "the label vectors", num_threads);
  const Matrix<float> labels = unit_rows(label_vectors);
  return evidence_by_blocks(points.rows(), labels.rows(), num_threads, [&](const Block& block) {
    Matrix<float> cosines(block.size(), labels.rows());
    const Matrix<float> rows = unit_rows(points.rows_between(block.begin, block.end));
    gemm_nt(1, rows, labels, 0, cosines.view());
    return cosines;
  });
}

}  // namespace milieu
