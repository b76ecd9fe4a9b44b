// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stop_token>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"

extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int);

namespace milieu {
namespace {

Matrix<float> random_matrix(int64_t rows, int64_t cols, uint64_t seed) {
  Random random(seed);
  Matrix<float> m(rows, cols);
  for (int64_t i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.uniform(-1, 1));
  return m;
}

// The product in double; b is read transposed when `transpose_b`.
double entry(FloatView a, FloatView b, bool transpose_b, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t t = 0; t < a.cols(); ++t)
    sum += static_cast<double>(a(i, t)) * (transpose_b ? b(j, t) : b(t, j));
  return sum;
}

TEST(Gemm, EqualsTheTripleLoopForManyShapes) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                {2, 3, 4},
                                {17, 1, 5},
                                {1, 33, 9},
                                {64, 128, 48},
                                {100, 7, 301}}) {
    const Matrix<float> a = random_matrix(m, k, 1), b = random_matrix(k, n, 2);
    const Matrix<float> bt = random_matrix(n, k, 3), before = random_matrix(m, n, 4);
    Matrix<float> out = before, out_nt = before;
    gemm(0.5f, a, b, 2, out);
    gemm_nt(0.5f, a, bt, 2, out_nt);
    const double tolerance = 4e-7 * static_cast<double>(k + 4);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        EXPECT_NEAR(out(i, j), 0.5 * entry(a, b, false, i, j) + 2 * before(i, j), tolerance);
        EXPECT_NEAR(out_nt(i, j), 0.5 * entry(a, bt, true, i, j) + 2 * before(i, j), tolerance);
      }
  }
}

TEST(Gemm, WorksOnWindowsAndLeavesTheRestAlone) {
  const Matrix<float> a = random_matrix(6, 10, 1), b = random_matrix(5, 12, 2);
  Matrix<float> out(8, 9);
  const FloatView a_window(a.row(1) + 2, 4, 3, 10), b_window(b.row(0) + 1, 5, 3, 12);
  gemm_nt(1, a_window, b_window, 0, MatrixView<float>(out.row(2) + 3, 4, 5, 9));
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 9; ++j) {
      const bool inside = i >= 2 && i < 6 && j >= 3 && j < 8;
      EXPECT_NEAR(out(i, j), inside ? entry(a_window, b_window, true, i - 2, j - 3) : 0.0, 1e-6);
    }
}

TEST(Gemm, BetaZeroOverwritesEvenNaN) {
  const Matrix<float> a = random_matrix(3, 4, 1), b = random_matrix(4, 2, 2);
  Matrix<float> out(3, 2);
  for (int64_t i = 0; i < out.size(); ++i) out.data()[i] = std::numeric_limits<float>::quiet_NaN();
  gemm(1, a, b, 0, out);
  for (int64_t i = 0; i < out.size(); ++i) EXPECT_TRUE(std::isfinite(out.data()[i]));
}

TEST(Gemm, EmptyProductsAreDefined) {
  Matrix<float> out = random_matrix(2, 3, 1);
  const Matrix<float> before = out;
  gemm(1, FloatView(nullptr, 2, 0), FloatView(nullptr, 0, 3), 2, out);
  for (int64_t i = 0; i < out.size(); ++i) EXPECT_EQ(out.data()[i], 2 * before.data()[i]);
  gemm(1, FloatView(nullptr, 2, 0), FloatView(nullptr, 0, 3), 0, out);
  for (int64_t i = 0; i < out.size(); ++i) EXPECT_EQ(out.data()[i], 0);
  gemm_nt(1, FloatView(nullptr, 0, 5), random_matrix(3, 5, 1), 0, MatrixView<float>(nullptr, 0, 3));
}

TEST(Gemm, WrongShapesAreRefusedByName) {
  Matrix<float> a(2, 3), b(4, 5), out(2, 5);
  try {
    gemm(1, a, b, 0, out);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("2 x 3 times 4 x 5"));
  }
  EXPECT_THROW(gemm_nt(1, a, b, 0, out), InvalidArgument);
}

TEST(Gemm, SameBitsOnAnyThread) {
  const Matrix<float> a = random_matrix(256, 64, 1), b = random_matrix(96, 64, 2);
  Matrix<float> alone(256, 96), together(256, 96);
  for (int64_t begin = 0; begin < 256; begin += 32)
    gemm_nt(1, a.view().rows_between(begin, begin + 32), b, 0,
            alone.view().rows_between(begin, begin + 32));
  parallel_for(256, 32, 4, [&](const Block& block) {
    gemm_nt(1, a.view().rows_between(block.begin, block.end), b, 0,
            together.view().rows_between(block.begin, block.end));
  });
  EXPECT_EQ(alone, together);
}

TEST(Gemm, LeavesTheCallersOpenMpThreadsAsTheyWere) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  const Matrix<float> a = random_matrix(8, 8, 1);
  Matrix<float> out(8, 8);
  gemm(1, a, a, 0, out);
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

TEST(Gemm, DescriptionNamesTheLibrary) {
  EXPECT_THAT(describe_gemm(), ::testing::StartsWith("oneDNN "));
}

extern "C" void ignore_signal(int) {}

// A handler's frame on the stack of a running product once corrupted the product (and the heap).
TEST(Gemm, SignalsDoNotDisturbIt) {
  struct sigaction action = {}, previous = {};
  action.sa_handler = ignore_signal;
  sigaction(SIGUSR1, &action, &previous);
  const pthread_t worker = pthread_self();
  std::jthread sender([worker](const std::stop_token& over) {
    while (!over.stop_requested()) {
      pthread_kill(worker, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  Matrix<float> a(160, 1985), b(1985, 33), out(160, 33);
  std::fill(a.data(), a.data() + a.size(), 0.5f);
  std::fill(b.data(), b.data() + b.size(), 0.25f);
  for (int round = 0; round < 100; ++round) {
    gemm(1, a, b, 0, out);
    for (int64_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out.data()[i], 0.125 * 1985, 0.1) << i;
  }
  sender.request_stop();
  sender.join();
  sigaction(SIGUSR1, &previous, nullptr);
}

}  // namespace
}  // namespace milieu
