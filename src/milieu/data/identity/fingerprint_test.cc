// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/identity/fingerprint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

Matrix<float> random_rows(int64_t rows, int64_t cols) {
  Matrix<float> points(rows, cols);
  Random random(1);
  for (float& x : std::span(points.data(), points.size())) x = static_cast<float>(random.normal());
  return points;
}

std::string print_of(FloatView rows, int num_threads = 0) {
  return Fingerprint("test").rows(rows, num_threads).hex();
}

TEST(Fingerprint, KnowsEveryValueAndNoThreadsOrStrides) {
  Matrix<float> points = random_rows(3000, 257);  // some blocks
  const std::string whole = print_of(points.view(), 1);
  EXPECT_EQ(print_of(points.view(), 2), whole);
  Matrix<float> wider(3000, 300);  // the same rows, with a gap between them
  for (int64_t i = 0; i < 3000; ++i) std::copy_n(points.row(i), 257, wider.row(i));
  EXPECT_EQ(print_of(FloatView(wider.data(), 3000, 257, 300)), whole);
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    float& x = points.data()[trial == 0 ? points.size() - 1 : random.uniform_index(points.size())];
    const float before = x;
    x = std::nextafter(x, 10.0F);
    EXPECT_NE(print_of(points.view()), whole);
    x = before;
  }
  for (int64_t i = 0; i < 257; ++i) std::swap(points(7, i), points(2999, i));
  EXPECT_NE(print_of(points.view()), whole) << "two rows were swapped";
}

TEST(Fingerprint, KnowsShapesAndBorders) {
  const Matrix<float> zeros(6, 6);
  std::set<std::string> prints;
  for (const auto& [rows, cols] : {std::pair(1, 6), {6, 1}, {2, 3}, {3, 2}, {0, 6}, {6, 0}})
    prints.insert(print_of(FloatView(zeros.data(), rows, cols)));
  EXPECT_EQ(prints.size(), 6u);
  EXPECT_NE(Fingerprint("x").text("ab").text("c").hex(),
            Fingerprint("x").text("a").text("bc").hex());
  EXPECT_NE(Fingerprint("x").text("").hex(), Fingerprint("x").hex());
  EXPECT_NE(Fingerprint("x").hex(), Fingerprint("y").hex());
  EXPECT_NE(Fingerprint("x").version().hex(), Fingerprint("x").hex());
}

TEST(Fingerprint, LabelsAreNamesAndClasses) {
  const Labels labels{{0, 1, 1}, {"a", "b"}};
  const std::string print = Fingerprint("x").labels(labels).hex();
  EXPECT_NE(Fingerprint("x").labels({{0, 1, 0}, {"a", "b"}}).hex(), print);
  EXPECT_NE(Fingerprint("x").labels({{0, 1, 1}, {"a", "c"}}).hex(), print);
  EXPECT_EQ(Fingerprint("x").labels(Labels(labels)).hex(), print);
}

TEST(Fingerprint, PathIsContentAndNames) {
  const TempDir folder;
  folder.write("a.txt", "one");
  std::filesystem::create_directories(folder.file("set/b"));
  folder.write("set/b/1.txt", "one");
  folder.write("set/.hidden", "left out");
  const auto print = [&](const char* name) {
    return Fingerprint("x").path(folder.file(name)).hex();
  };
  const std::string file = print("a.txt"), set = print("set");
  folder.write("a.txt", "two");
  folder.write("set/.hidden", "still left out");
  EXPECT_NE(print("a.txt"), file);
  EXPECT_EQ(print("set"), set);
  folder.write("set/b/1.txt", "two");
  EXPECT_NE(print("set"), set) << "content";
  folder.write("set/b/1.txt", "one");
  std::filesystem::rename(folder.file("set/b/1.txt"), folder.file("set/b/2.txt"));
  EXPECT_NE(print("set"), set) << "name";
  EXPECT_THROW(print("missing"), IoError);
}

// Files of users hold fingerprints: a change of the arithmetic would turn them all away.
TEST(Fingerprint, StaysTheSame) {
  Matrix<float> points(6, 2);
  for (int i = 0; i < 12; ++i) points.data()[i] = static_cast<float>(i * i);
  EXPECT_EQ(Fingerprint("test").text("a").number(-1).real(0.5).rows(points.view()).hex(),
            "8838a0af903ec493");
}

}  // namespace
}  // namespace milieu
