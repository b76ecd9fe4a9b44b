// SPDX-License-Identifier: Apache-2.0
// Times dense SIFT beside OpenCV's SIFT::compute and VLFeat's dsift on the same images and the
// same keypoints: 16 x 16 patches, one core, contenders in turns. And ours on one and two threads,
// beside a loop that only calculates (what the two processors can give at best).
//
//   milieu_dense_sift_bench FOLDER [EVERY] [REPEAT]     every EVERY-th image of the class folders
//
// Prints one JSON object; seconds are processor time of the calling thread unless called wall.
#include <fmt/format.h>
#include <vl/dsift.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <opencv2/features2d.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "milieu/base/parallel.h"
#include "milieu/feature/descriptor/dense_sift.h"

namespace {

using milieu::DenseSiftOptions;
using milieu::LocalDescriptors;

struct GrayImage {
  cv::Mat bytes;
  milieu::Matrix<float> gray;
};

std::vector<GrayImage> load_images(const std::filesystem::path& folder, int every) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".jpg") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<GrayImage> images;
  for (size_t i = 0; i < files.size(); i += static_cast<size_t>(every)) {
    GrayImage image{cv::imread(files[i].string(), cv::IMREAD_GRAYSCALE), {}};
    image.gray = milieu::Matrix<float>(image.bytes.rows, image.bytes.cols);
    for (int y = 0; y < image.bytes.rows; ++y)
      std::copy_n(image.bytes.ptr<uint8_t>(y), image.bytes.cols, image.gray.row(y));
    images.push_back(std::move(image));
  }
  return images;
}

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double timed(const std::function<void()>& work, clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  const double began = seconds_of(clock);
  work();
  return seconds_of(clock) - began;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double checksum = 0;  // so that no work is left out

void ours(const GrayImage& image, const DenseSiftOptions& options) {
  checksum += milieu::dense_sift(image.gray, options).descriptors(0, 0);
}

std::vector<cv::KeyPoint> keypoints_of(const GrayImage& image, int step) {
  const LocalDescriptors grid = milieu::dense_sift(image.gray, {.step = step});
  std::vector<cv::KeyPoint> keypoints;
  for (int64_t i = 0; i < grid.frames.rows(); ++i)
    keypoints.emplace_back(grid.frames(i, 0), grid.frames(i, 1), 16.0f / 6, 0.0f);
  return keypoints;
}

void opencv(const GrayImage& image, std::vector<cv::KeyPoint> keypoints) {
  cv::Mat descriptors;
  cv::SIFT::create()->compute(image.bytes, keypoints, descriptors);
  checksum += descriptors.at<float>(0, 0);
}

struct DeleteDsift {
  void operator()(VlDsiftFilter* filter) const { vl_dsift_delete(filter); }
};
using Dsift = std::unique_ptr<VlDsiftFilter, DeleteDsift>;

// The same bins: VLFeat's frames are bounded by the centres of the outer bins.
Dsift make_dsift(const GrayImage& image, int step) {
  const int width = image.bytes.cols, height = image.bytes.rows;
  Dsift filter(vl_dsift_new_basic(width, height, step, 4));
  vl_dsift_set_flat_window(filter.get(), VL_TRUE);
  const int left = (width - 16) % step / 2, top = (height - 16) % step / 2;
  const int right = left + (width - 16) / step * step, bottom = top + (height - 16) / step * step;
  vl_dsift_set_bounds(filter.get(), left + 2, top + 2, right + 14, bottom + 14);
  return filter;
}

// One filter for each image size, made before the clock runs.
using DsiftBySize = std::map<std::pair<int, int>, Dsift>;

void vlfeat(const GrayImage& image, const DsiftBySize& filters) {
  VlDsiftFilter* filter = filters.at({image.bytes.cols, image.bytes.rows}).get();
  vl_dsift_process(filter, image.gray.data());
  checksum += static_cast<double>(vl_dsift_get_descriptors(filter)[0]);
}

struct Row {
  int step = 0;
  int64_t descriptors = 0;
  std::map<std::string, std::vector<double>> seconds;
};

Row compare(const std::vector<GrayImage>& images, int step, int repeat) {
  Row row;
  row.step = step;
  std::vector<std::vector<cv::KeyPoint>> keypoints;
  DsiftBySize filters;
  for (const GrayImage& image : images) {
    keypoints.push_back(keypoints_of(image, step));
    row.descriptors += static_cast<int64_t>(keypoints.back().size());
    const std::pair size(image.bytes.cols, image.bytes.rows);
    if (!filters.count(size)) filters[size] = make_dsift(image, step);
    if (vl_dsift_get_keypoint_num(filters[size].get()) != static_cast<int>(keypoints.back().size()))
      throw std::runtime_error("VLFeat has other keypoints");
  }
  const DenseSiftOptions gaussian{.step = step, .window = milieu::SiftWindow::Gaussian};
  const std::vector<std::pair<std::string, std::function<void(size_t)>>> contenders = {
      {"milieu", [&](size_t i) { ours(images[i], {.step = step}); }},
      {"opencv", [&](size_t i) { opencv(images[i], keypoints[i]); }},
      {"milieu_gaussian", [&](size_t i) { ours(images[i], gaussian); }},
      {"vlfeat", [&](size_t i) { vlfeat(images[i], filters); }}};
  for (int r = 0; r < repeat; ++r) {
    std::map<std::string, double> total;
    for (size_t i = 0; i < images.size(); ++i)
      for (size_t k = 0; k < contenders.size(); ++k) {
        // A contender that follows another finds the caches full of the other's data: all take
        // turns.
        const auto& [name, work] = contenders[(i + k) % contenders.size()];
        total[name] += timed([&] { work(i); });
      }
    for (const auto& [name, seconds] : total) row.seconds[name].push_back(seconds);
  }
  return row;
}

// Work that needs no memory: what limits it is the processor alone.
void calculate() {
  double x = 0.3;
  for (int i = 0; i < 400000; ++i) x = 3.7 * x * (1 - x);
  [[maybe_unused]] static thread_local volatile double sink;
  sink = x;
}

struct Scaling {
  double wall_ratio = 0;  // one thread / two threads
  double cpu_ratio = 0;   // processor time of one thread / of two: 1 if they do not disturb
};

// The medians over `repeat` runs, one and two threads in turns.
Scaling scaling_of(int64_t n, int repeat, const std::function<void(int64_t)>& body) {
  std::vector<double> wall, cpu;
  for (int r = 0; r < repeat; ++r) {
    double seconds[2][2];
    for (const int threads : {1, 2}) {
      const auto run = [&] {
        milieu::parallel_for(n, 1, threads, [&](const milieu::Block& b) { body(b.begin); });
      };
      double wall_seconds = 0;
      seconds[1][threads - 1] =
          timed([&] { wall_seconds = timed(run, CLOCK_MONOTONIC); }, CLOCK_PROCESS_CPUTIME_ID);
      seconds[0][threads - 1] = wall_seconds;
    }
    wall.push_back(seconds[0][0] / seconds[0][1]);
    cpu.push_back(seconds[1][0] / seconds[1][1]);
  }
  return {median(wall), median(cpu)};
}

void print_scaling(const char* name, const Scaling& s, bool last = false) {
  fmt::print("  \"{}\": {{\"wall_ratio\": {:.3f}, \"cpu_ratio\": {:.3f}}}{}\n", name, s.wall_ratio,
             s.cpu_ratio, last ? "" : ",");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "../shared/data/scenes15";
  const int every = argc > 2 ? std::stoi(argv[2]) : 20;
  const int repeat = argc > 3 ? std::stoi(argv[3]) : 3;
  cv::setNumThreads(1);
  const std::vector<GrayImage> images = load_images(folder, every);
  fmt::print("{{\"images\": {}, \"repeat\": {},\n \"steps\": [", images.size(), repeat);
  for (const int step : {16, 8, 4}) {
    const Row row = compare(images, step, repeat);
    fmt::print("{}\n  {{\"step\": {}, \"descriptors\": {}", step == 16 ? "" : ",", step,
               row.descriptors);
    for (const auto& [name, seconds] : row.seconds)
      fmt::print(", \"{}\": {:.6f}", name, median(seconds));
    fmt::print("}}");
  }
  fmt::print("\n ],\n \"threads\": {{\n");
  const int64_t n = static_cast<int64_t>(images.size());
  for (const int step : {16, 8, 4}) {
    const Scaling s = scaling_of(n * 4, 3 * repeat, [&](int64_t i) {
      const LocalDescriptors out = milieu::dense_sift(images[i % n].gray, {.step = step});
      [[maybe_unused]] static thread_local volatile float sink;
      sink = out.descriptors(0, 0);
    });
    print_scaling(fmt::format("step_{}", step).c_str(), s);
  }
  print_scaling("calculation", scaling_of(n, 3 * repeat, [](int64_t) { calculate(); }), true);
  fmt::print(" }},\n \"checksum\": {:.6g}}}\n", checksum);
}
