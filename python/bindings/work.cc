// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <pthread.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace milieu::python {

namespace {

constexpr auto kSignalPeriod = std::chrono::milliseconds(20);
constexpr size_t kMaxWaiting = 64;  // reports beyond these replace the newest: progress, not a log

std::atomic<bool> is_forked_child = false;

const bool watches_forks = [] {
  pthread_atfork(nullptr, nullptr, [] { is_forked_child = true; });
  return true;
}();

// A thread that stays for the next fit: starting one costs more than a small fit.
class Worker {
 public:
  // Runs `job` on the thread; does not wait for it.
  void start(std::function<void()> job) {
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
    given_.notify_one();
  }

  static Worker& take();
  static void give_back(Worker& worker);

 private:
  Worker() {
    std::thread([this] { loop(); }).detach();
  }

  void loop() {
    for (;;) {
      std::unique_lock lock(mutex_);
      given_.wait(lock, [&] { return job_ != nullptr; });
      const std::function<void()> job = std::exchange(job_, nullptr);
      lock.unlock();
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable given_;
  std::function<void()> job_;
};

// Workers without a job; used under the interpreter's lock. Never destroyed: their threads wait
// until the process ends. A forked child has none of the threads, so it begins with none.
std::vector<Worker*>& idle_workers() {
  static auto* idle = new std::vector<Worker*>;
  static pid_t owner = getpid();
  if (owner != getpid()) {
    owner = getpid();
    idle->clear();
  }
  return *idle;
}

Worker& Worker::take() {
  std::vector<Worker*>& idle = idle_workers();
  if (idle.empty()) return *new Worker;
  Worker* worker = idle.back();
  idle.pop_back();
  return *worker;
}

void Worker::give_back(Worker& worker) { idle_workers().push_back(&worker); }

struct Report {
  std::string stage;  // empty: an iteration
  int64_t done = 0, total = 0;
  IterationReport iteration;
};

// Collects reports of the working thread for the waiting one.
class WaitingRoom : public Monitor {
 public:
  WaitingRoom(std::stop_token stop, bool has_listener)
      : Monitor(std::move(stop)), has_listener_(has_listener) {}

  void on_iteration(const IterationReport& report) override {
    add({.stage = {}, .done = 0, .total = 0, .iteration = report});
  }
  void on_progress(std::string_view stage, int64_t done, int64_t total) override {
    add({.stage = std::string(stage), .done = done, .total = total, .iteration = {}});
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    changed_.notify_one();
  }

  // Waits for news, at most one period. True when the work is done.
  bool wait(std::deque<Report>& reports) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kSignalPeriod, [&] { return is_done_ || !reports_.empty(); });
    reports.swap(reports_);
    return is_done_;
  }

 private:
  void add(Report report) {
    if (!has_listener_) return;
    const std::lock_guard lock(mutex_);
    if (reports_.size() >= kMaxWaiting) reports_.pop_back();
    reports_.push_back(std::move(report));
    changed_.notify_one();
  }

  const bool has_listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Report> reports_;
  bool is_done_ = false;
};

py::dict to_python(const Report& report) {
  py::dict entry;
  if (!report.stage.empty()) {
    entry["stage"] = report.stage;
    entry["done"] = report.done;
    entry["total"] = report.total;
    return entry;
  }
  const IterationReport& it = report.iteration;
  entry["stage"] = "fit";
  entry["restart"] = it.restart;
  entry["n_init"] = it.num_restarts;
  entry["iteration"] = it.iteration;
  entry["max_iter"] = it.max_iterations;
  entry["objective"] = it.objective;
  entry["change"] = it.change;
  entry["seconds"] = it.seconds;
  return entry;
}

// Needs the interpreter's lock. Signals first: they must not wait for a slow callback.
void serve_python(const Control& control, const std::deque<Report>& reports) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  for (const Report& report : reports) control.callback(to_python(report));
}

}  // namespace

Control control_from(const py::dict& given) {
  Control control;
  control.callback = given.contains("callback") ? py::object(given["callback"]) : py::none();
  if (given.contains("keep_partial")) control.keep_partial = py::cast<bool>(given["keep_partial"]);
  return control;
}

int usable_threads(int wanted) { return is_forked_child ? 1 : wanted; }

void run_work(const Control& control, const std::function<void(Monitor&)>& work) {
  std::stop_source stop;
  // Shared: the worker may still be leaving finish() when this function returns.
  const auto room = std::make_shared<WaitingRoom>(stop.get_token(), !control.callback.is_none());
  std::exception_ptr failure;
  std::optional<py::error_already_set> raised;
  Worker& worker = Worker::take();
  worker.start([room, &work, &failure] {
    try {
      work(*room);
    } catch (...) {
      failure = std::current_exception();
    }
    room->finish();
  });
  bool is_done = false;
  while (!is_done) {
    std::deque<Report> reports;
    {
      const py::gil_scoped_release release;
      is_done = room->wait(reports);
    }
    if (raised) continue;  // the work is being stopped: only its end matters
    try {
      serve_python(control, reports);
    } catch (py::error_already_set& error) {
      raised.emplace(error);
      stop.request_stop();
    }
  }
  Worker::give_back(worker);
  if (failure) std::rethrow_exception(failure);
  if (raised && !(control.keep_partial && raised->matches(PyExc_KeyboardInterrupt))) throw *raised;
}

}  // namespace milieu::python
