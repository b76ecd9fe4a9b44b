// SPDX-License-Identifier: Apache-2.0
#include "serve/space/background_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

namespace milieu::serve {
namespace {

TEST(BackgroundJob, SaysHowFarItIsAndEndsOnce) {
  BackgroundJob job;
  EXPECT_EQ(job.to_json()["state"], "none");
  std::promise<void> is_under_way, may_go_on;
  job.start([&](Monitor& monitor) {
    monitor.on_progress("layout", 3, 10);
    is_under_way.set_value();
    may_go_on.get_future().wait();
    return true;
  });
  is_under_way.get_future().wait();
  EXPECT_EQ(job.state(), JobState::Running);
  EXPECT_EQ(job.to_json()["stage"], "layout");
  EXPECT_EQ(job.to_json()["done"], 3);
  EXPECT_EQ(job.to_json()["total"], 10);
  may_go_on.set_value();
  job.wait();
  EXPECT_EQ(job.state(), JobState::Done);
  bool began_again = false;
  job.start([&](Monitor&) { return began_again = true; });
  job.wait();
  EXPECT_FALSE(began_again);
}

TEST(BackgroundJob, CancelEndsItAndItCanBeginAgain) {
  BackgroundJob job;
  job.start([](Monitor& monitor) {
    while (!monitor.should_stop()) std::this_thread::yield();
    return false;
  });
  job.cancel();
  job.wait();
  EXPECT_EQ(job.state(), JobState::Cancelled);
  job.start([](Monitor& monitor) { return !monitor.should_stop(); });
  job.wait();
  EXPECT_EQ(job.state(), JobState::Done);
}

TEST(BackgroundJob, AFailureIsSaid) {
  BackgroundJob job;
  job.start([](Monitor&) -> bool { throw std::runtime_error("no such network"); });
  job.wait();
  EXPECT_EQ(job.state(), JobState::Failed);
  EXPECT_EQ(job.to_json()["error"], "no such network");
}

}  // namespace
}  // namespace milieu::serve
