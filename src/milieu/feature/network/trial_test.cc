// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/trial_internal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

namespace milieu::internal {
namespace {

using Kind = TrialResult::Kind;

TrialResult attempt(const std::function<std::string()>& work, double seconds = 60) {
  return try_in_child(work, {.memory = int64_t{1} << 28, .seconds = seconds}, silent_monitor());
}

TEST(Trial, ReturnsWhatTheWorkReturned) {
  const TrialResult result = attempt([] { return std::string(100000, 'x'); });
  EXPECT_EQ(result.kind, Kind::Done);
  EXPECT_EQ(result.text, std::string(100000, 'x'));
}

TEST(Trial, ChangesNothingHere) {
  int value = 1;
  attempt([&] { return std::to_string(value = 2); });
  EXPECT_EQ(value, 1);
}

TEST(Trial, AnExceptionIsItsText) {
  const TrialResult result =
      attempt([]() -> std::string { throw std::runtime_error("no such operator"); });
  EXPECT_EQ(result.kind, Kind::Failed);
  EXPECT_EQ(result.text, "no such operator");
}

TEST(Trial, ACrashEndsOnlyTheChild) {
  const TrialResult result = attempt([]() -> std::string {
    ::raise(SIGKILL);
    return "";
  });
  EXPECT_EQ(result.kind, Kind::Crashed);
  EXPECT_NE(result.text, "");
  EXPECT_EQ(attempt([]() -> std::string { ::_exit(3); }).kind, Kind::Crashed);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Trial, MemoryIsLimited) {
  const TrialResult result = attempt([] {
    const std::vector<char> much(size_t{1} << 30, 'x');
    return std::to_string(much[much.size() / 2]);
  });
  EXPECT_EQ(result.kind, Kind::Failed);
  EXPECT_EQ(result.text, "std::bad_alloc");
}
#endif

TEST(Trial, TimeIsLimited) {
  const TrialResult result = attempt(
      [] {
        std::this_thread::sleep_for(std::chrono::seconds(100));
        return std::string();
      },
      0.2);
  EXPECT_EQ(result.kind, Kind::TooSlow);
}

TEST(Trial, TheMonitorStopsIt) {
  std::stop_source source;
  source.request_stop();
  const Monitor monitor(source.get_token());
  const TrialResult result = try_in_child(
      [] {
        std::this_thread::sleep_for(std::chrono::seconds(100));
        return std::string();
      },
      {}, monitor);
  EXPECT_EQ(result.kind, Kind::Stopped);
}

}  // namespace
}  // namespace milieu::internal
