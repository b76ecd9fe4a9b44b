// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/ranks/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "milieu/base/assert.h"
#include "milieu/base/ranks/packing.h"

namespace milieu {
namespace {

// Adds the time of its life to `seconds`.
class TalkTimer {
 public:
  explicit TalkTimer(double& seconds) : seconds_(seconds) {}
  ~TalkTimer() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
  TalkTimer(const TalkTimer&) = delete;
  TalkTimer& operator=(const TalkTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point begin_ = Clock::now();
};

class SingleRank : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }

 protected:
  void do_send(int, const Message&) override { MILIEU_ASSERT(!"one rank has nobody to talk to"); }
  Message do_receive(int) override { throw RankLost("one rank has nobody to talk to"); }
};

// The letter boxes of all ranks of one process.
class PostOffice {
 public:
  explicit PostOffice(int num_ranks) : size_(num_ranks), boxes_(num_ranks * num_ranks) {}

  int size() const { return size_; }

  void put(int from, int to, const Message& message) {
    const std::lock_guard lock(mutex_);
    boxes_[from * size_ + to].push_back(message);
    arrived_.notify_all();
  }

  Message take(int from, int to) {
    std::unique_lock lock(mutex_);
    std::deque<Message>& box = boxes_[from * size_ + to];
    arrived_.wait(lock, [&] { return !box.empty() || is_closed_; });
    if (box.empty()) throw RankLost(fmt::format("rank {} has failed", from));
    Message message = std::move(box.front());
    box.pop_front();
    return message;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    arrived_.notify_all();
  }

 private:
  int size_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::deque<Message>> boxes_;  // from * size + to
  bool is_closed_ = false;
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(PostOffice& office, int rank) : office_(office), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return office_.size(); }

 protected:
  void do_send(int to, const Message& message) override { office_.put(rank_, to, message); }
  Message do_receive(int from) override { return office_.take(from, rank_); }

 private:
  PostOffice& office_;
  int rank_;
};

bool is_lost_rank(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const RankLost&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void Communicator::send(int to, const Message& message) {
  const TalkTimer timer(cost_.seconds);
  MILIEU_ASSERT(to >= 0 && to < size() && to != rank());
  cost_.bytes_sent += static_cast<int64_t>(message.size());
  ++cost_.messages_sent;
  do_send(to, message);
}

Message Communicator::receive(int from) {
  const TalkTimer timer(cost_.seconds);
  MILIEU_ASSERT(from >= 0 && from < size() && from != rank());
  return do_receive(from);
}

// Counted from `root`, rank r has it from r without its highest bit and passes it on.
void Communicator::broadcast(int root, Message& message) {
  const int place = (rank() - root + size()) % size();
  const auto rank_at = [&](int p) { return (p + root) % size(); };
  int step = 1;
  for (; step <= place; step *= 2) {
    if (place < 2 * step) message = receive(rank_at(place - step));
  }
  for (; place + step < size(); step *= 2) send(rank_at(place + step), message);
}

std::vector<Message> Communicator::gather(const Message& mine) {
  std::vector<Message> all(size());
  all[rank()] = mine;
  for (int r = 0; r < size(); ++r) broadcast(r, all[r]);
  return all;
}

int Communicator::largest(int mine) {
  const auto to_number = [](const Message& message) {
    int number = 0;
    unpack(message, number);
    return number;
  };
  int result = mine;
  for (int step = 1; step < size(); step *= 2) {
    if (rank() % (2 * step) == step) {
      send(rank() - step, pack(result));
      break;
    }
    if (rank() + step < size()) result = std::max(result, to_number(receive(rank() + step)));
  }
  Message message = pack(result);
  broadcast(0, message);
  return to_number(message);
}

Communicator& single_rank() {
  static SingleRank rank;
  return rank;
}

void run_as_ranks(int num_ranks, const std::function<void(Communicator&)>& body) {
  require(num_ranks >= 1,
          [&] { return fmt::format("num_ranks is {}, must be at least 1", num_ranks); });
  PostOffice office(num_ranks);
  std::vector<std::exception_ptr> errors(num_ranks);
  {
    std::vector<std::jthread> threads;
    for (int r = 0; r < num_ranks; ++r) {
      threads.emplace_back([&, r] {
        ThreadRank rank(office, r);
        try {
          body(rank);
        } catch (...) {
          errors[r] = std::current_exception();
          office.close();
        }
      });
    }
  }
  std::exception_ptr lost;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    if (!is_lost_rank(error)) std::rethrow_exception(error);
    lost = error;
  }
  if (lost) std::rethrow_exception(lost);
}

void check_same_everywhere(Communicator& ranks, const std::string& what, const std::string& fact) {
  const std::vector<Message> all = ranks.gather(pack_span<char>(fact));
  for (int r = 1; r < ranks.size(); ++r) {
    if (all[r] != all[0])
      throw DataError(
          fmt::format("{} is not the same on ranks 0 and {}: give all ranks the same "
                      "files and the same version of the program",
                      what, r));
  }
}

}  // namespace milieu
