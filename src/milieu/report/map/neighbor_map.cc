// SPDX-License-Identifier: Apache-2.0
// Problem: places y_i in the plane whose similarities 1 / (1 + a |y_i - y_j|^2b) are like the
// memberships w_ij of the rows' nearest neighbours: least cross entropy [McInnes18, Def. 10].
// Given: n rows; their k nearest neighbours; places to begin with.
// Find: by stochastic gradient descent [McInnes18, Alg. 5]: a pair is drawn in a share w_ij / max w
// of all epochs and pulls together; for each, some rows drawn at random push apart.
// Conventions: every row moves itself only, against the places of the epoch before, with random
// numbers of its own: the same bits for any number of threads. A pair stands in the graph twice, so
// the row pulls twice per draw, as head and as tail.
// See: [McInnes18], docs/explorer.md.
#include "milieu/report/map/neighbor_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "milieu/base/parallel.h"

namespace milieu {

namespace {

constexpr int64_t kManyRows = 10'000;
constexpr int64_t kBlock = 128;
constexpr float kStartSide = 10;      // the places to begin with, at most
constexpr float kStartNoise = 1e-3F;  // equal rows must not stand on one another
constexpr float kMostMove = 4;        // of one pull or push, times the step

// Cheap random bits: one number per call, a stream per row and epoch.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t row, uint64_t epoch)
      : state_(mixed(seed ^ mixed(row * 0x9e3779b97f4a7c15U + epoch))) {}
  uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15U); }
  int64_t index(int64_t n) {
    return static_cast<int64_t>((next() >> 32) * static_cast<uint64_t>(n) >> 32);
  }
  float noise() { return static_cast<float>(next() >> 40) / static_cast<float>(1 << 24) - 0.5F; }

 private:
  static uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

struct Place {
  float x = 0, y = 0;
};

float limited(float move) { return std::clamp(move, -kMostMove, kMostMove); }

void pull(Place& own, const Place& other, float step) {
  const float dx = own.x - other.x, dy = own.y - other.y;
  const float squared = dx * dx + dy * dy;
  if (squared <= 0) return;
  constexpr auto a = static_cast<float>(internal::kMapA), b = static_cast<float>(internal::kMapB);
  const float power = std::pow(squared, b);
  const float factor = -2 * a * b * power / (squared * (a * power + 1));
  own.x += step * limited(factor * dx);
  own.y += step * limited(factor * dy);
}

void push(Place& own, const Place& other, float step) {
  const float dx = own.x - other.x, dy = own.y - other.y;
  const float squared = dx * dx + dy * dy;
  constexpr auto a = static_cast<float>(internal::kMapA), b = static_cast<float>(internal::kMapB);
  const float factor = 2 * b / ((0.001F + squared) * (a * std::pow(squared, b) + 1));
  own.x += step * limited(factor * dx);
  own.y += step * limited(factor * dy);
}

// The layout of [McInnes18, Alg. 5] after the graph is known.
class Layout {
 public:
  Layout(const internal::NeighborGraph& graph, std::span<const float> start,
         const NeighborMapOptions& options)
      : graph_(graph), options_(options), places_(start.size() / 2), next_(start.size() / 2) {
    num_epochs_ = options.num_epochs > 0 ? options.num_epochs : rows() > kManyRows ? 200 : 500;
    for (const float weight : graph.weights) strongest_ = std::max(strongest_, weight);
    for (int64_t i = 0; i < rows(); ++i) {
      Draws draws(options.seed, static_cast<uint64_t>(i), 0);
      place(i) = {kStartSide * start[static_cast<size_t>(2 * i)] + kStartNoise * draws.noise(),
                  kStartSide * start[static_cast<size_t>(2 * i + 1)] + kStartNoise * draws.noise()};
    }
  }

  // False when the monitor stopped it.
  bool run(Monitor& monitor) {
    for (int epoch = 1; epoch <= num_epochs_; ++epoch) {
      if (monitor.should_stop()) return false;
      monitor.on_progress("layout", epoch - 1, num_epochs_);
      const float step = 1 - static_cast<float>(epoch - 1) / static_cast<float>(num_epochs_);
      parallel_for(rows(), kBlock, options_.num_threads, [&](const Block& block) {
        for (int64_t i = block.begin; i < block.end; ++i)
          next_[static_cast<size_t>(i)] = moved(i, epoch, step);
      });
      places_.swap(next_);
    }
    return true;
  }

  std::vector<float> places() const {
    std::vector<float> places;
    places.reserve(2 * places_.size());
    for (const Place& p : places_) places.insert(places.end(), {p.x, p.y});
    return places;
  }

 private:
  int64_t rows() const { return static_cast<int64_t>(places_.size()); }
  Place& place(int64_t row) { return places_[static_cast<size_t>(row)]; }
  const Place& place(int64_t row) const { return places_[static_cast<size_t>(row)]; }

  // Whether a pair of this weight is drawn in this epoch: evenly, floor(epoch * share) times so
  // far.
  bool is_drawn(float weight, int epoch) const {
    const double share = double{weight} / strongest_;
    return std::floor(epoch * share) > std::floor((epoch - 1) * share);
  }

  Place moved(int64_t row, int epoch, float step) const {
    Place own = place(row);
    Draws draws(options_.seed, static_cast<uint64_t>(row), static_cast<uint64_t>(epoch));
    const auto begin = static_cast<size_t>(graph_.offsets[static_cast<size_t>(row)]);
    const auto end = static_cast<size_t>(graph_.offsets[static_cast<size_t>(row) + 1]);
    for (size_t e = begin; e < end; ++e) {
      if (!is_drawn(graph_.weights[e], epoch)) continue;
      const Place& other = place(graph_.rows[e]);
      pull(own, other, step);
      pull(own, other, step);
      for (int k = 0; k < options_.num_repulsions; ++k) {
        const int64_t any = draws.index(rows());
        if (any != row) push(own, place(any), step);
      }
    }
    return own;
  }

  const internal::NeighborGraph& graph_;
  const NeighborMapOptions& options_;
  std::vector<Place> places_, next_;
  int num_epochs_ = 0;
  float strongest_ = 0;
};

// Moves and scales the places, both axes alike, so that they fill [-1, 1].
void fill_plane(std::vector<float>& places) {
  std::array<float, 2> low = {places[0], places[1]}, high = low;
  for (size_t i = 0; i < places.size(); ++i) {
    low[i % 2] = std::min(low[i % 2], places[i]);
    high[i % 2] = std::max(high[i % 2], places[i]);
  }
  const float half = std::max({high[0] - low[0], high[1] - low[1], 1e-20F}) / 2;
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = (places[i] - (low[i % 2] + high[i % 2]) / 2) / half;
}

}  // namespace

std::vector<float> neighbor_map(FloatView points, std::span<const float> start,
                                const NeighborMapOptions& options, Monitor& monitor) {
  if (points.rows() <= 3) return {start.begin(), start.end()};
  const NeighborLists nearest =
      nearest_neighbors(points, points, std::max(2, options.num_neighbors - 1),
                        {.exclude_self = true, .num_threads = options.num_threads}, monitor);
  if (!nearest.is_complete) return {};
  const internal::NeighborGraph graph = internal::neighbor_graph(nearest);
  Layout layout(graph, start, options);
  if (!layout.run(monitor)) return {};
  std::vector<float> places = layout.places();
  internal::pack_groups(graph, places);
  fill_plane(places);
  return places;
}

}  // namespace milieu
