// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/ranks/team.h"

#include <stop_token>

namespace milieu {
namespace {

struct StopSource {
  std::stop_source source;
};

}  // namespace

// Stops when it is told to, between two passes, and reports to the caller's monitor.
class Team::AgreedMonitor : private StopSource, public Monitor {
 public:
  explicit AgreedMonitor(Monitor& outer) : Monitor(source.get_token()), outer_(outer) {}

  void stop(StopReason reason) {
    if (reason == StopReason::Cancelled) source.request_stop();
    if (reason == StopReason::TimeLimit) set_time_limit(0);
  }

  void on_iteration(const IterationReport& report) override { outer_.on_iteration(report); }
  void on_progress(std::string_view stage, int64_t done, int64_t total) override {
    outer_.on_progress(stage, done, total);
  }
  void on_stage(RunStage stage, std::string_view what) override { outer_.on_stage(stage, what); }
  void on_note(std::string_view sentence) override { outer_.on_note(sentence); }

 private:
  Monitor& outer_;
};

Team::Team(Communicator& ranks, Monitor& monitor)
    : ranks_(ranks), given_(monitor), shown_(&monitor) {
  if (!is_shared()) return;
  agreed_ = std::make_unique<AgreedMonitor>(monitor);
  shown_ = agreed_.get();
}

Team::~Team() = default;

const Team& Team::alone() {
  static const Team team(single_rank(), silent_monitor());
  return team;
}

void Team::parallel_for(int64_t n, int64_t block_size, int num_threads,
                        const std::function<void(const Block&)>& body) const {
  const Rows own = rows(n, block_size);
  const int64_t first = own.begin() / block_size;
  milieu::parallel_for(own.own_size(), block_size, num_threads, [&](const Block& block) {
    body(Block{first + block.index, own.begin() + block.begin, own.begin() + block.end});
  });
}

std::vector<int64_t> Team::borders_of(int64_t count) const {
  std::vector<int64_t> borders = {0};
  for (const Message& message : ranks_.gather(pack(count))) {
    int64_t other = 0;
    unpack(message, other);
    borders.push_back(borders.back() + other);
  }
  return borders;
}

void Team::add_up(std::span<int32_t> counts) const {
  if (!is_shared()) return;
  std::vector<int32_t> part(counts.size());
  for (int step = 1; step < ranks_.size(); step *= 2) {
    if ((rank() & step) != 0) {
      ranks_.send(rank() - step, pack_span<int32_t>(counts));
      break;
    }
    if (rank() + step >= ranks_.size()) continue;
    unpack_span<int32_t>(ranks_.receive(rank() + step), part);
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += part[i];
  }
  Message total = rank() == 0 ? pack_span<int32_t>(counts) : Message();
  ranks_.broadcast(0, total);
  unpack_span<int32_t>(total, counts);
  agree();
}

void Team::agree() const {
  if (agreed_)
    agreed_->stop(static_cast<StopReason>(ranks_.largest(static_cast<int>(given_.stop_reason()))));
}

}  // namespace milieu
