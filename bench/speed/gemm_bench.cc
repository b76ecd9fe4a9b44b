// SPDX-License-Identifier: Apache-2.0
// Times one square float product of one library on one thread; bench/speed/gemm.py runs it.
//
//   milieu_gemm_bench LIBRARY SIZE REPETITIONS
//
// LIBRARY is ours, onednn, openblas or blis; the last two are loaded at run time, so that each
// process holds one BLAS only. Prints one JSON object: seconds (the median), all of them, a check
// sum.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/linalg/gemm.h"

namespace {

using milieu::Matrix;
using Product = std::function<void(const Matrix<float>&, const Matrix<float>&, Matrix<float>&)>;

// cblas_sgemm of a shared library.
Product load_blas(const char* library) {
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw milieu::IoError(fmt::format("{} cannot be loaded: {}", library, dlerror()));
  const Sgemm sgemm = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
  if (!sgemm) throw milieu::IoError(fmt::format("{} has no cblas_sgemm", library));
  return [sgemm](const Matrix<float>& a, const Matrix<float>& b, Matrix<float>& out) {
    constexpr int kRowMajor = 101, kNoTranspose = 111;
    const int n = static_cast<int>(a.rows());
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, n, n, n, 1, a.data(), n, b.data(), n, 0,
          out.data(), n);
  };
}

Product product_of(const std::string& library) {
  if (library == "ours")
    return [](const Matrix<float>& a, const Matrix<float>& b, Matrix<float>& out) {
      milieu::gemm(1, a, b, 0, out);
    };
  if (library == "onednn")
    return [](const Matrix<float>& a, const Matrix<float>& b, Matrix<float>& out) {
      const int64_t n = a.rows();
      dnnl_sgemm('N', 'N', n, n, n, 1, a.data(), n, b.data(), n, 0, out.data(), n);
    };
  if (library == "openblas") return load_blas("libopenblas.so.0");
  if (library == "blis") return load_blas("libblis.so.4");
  throw milieu::InvalidArgument(
      fmt::format("library is {}, must be ours, onednn, openblas or blis", library));
}

Matrix<float> random_matrix(int64_t n, uint64_t seed) {
  milieu::Random random(seed);
  Matrix<float> m(n, n);
  for (int64_t i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.uniform(-1, 1));
  return m;
}

void run(const std::string& library, int64_t size, int repetitions) {
  const Product product = product_of(library);
  const Matrix<float> a = random_matrix(size, 1), b = random_matrix(size, 2);
  Matrix<float> out(size, size);
  product(a, b, out);  // warm: kernels are made at the first call
  std::vector<double> seconds;
  for (int r = 0; r < repetitions; ++r) {
    const std::clock_t began = std::clock();
    product(a, b, out);
    seconds.push_back(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC);
  }
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (int64_t i = 0; i < out.size(); ++i) sum += out.data()[i];
  fmt::print("{{\"seconds\": {}, \"all\": [{}], \"sum\": {}, \"description\": \"{}\"}}\n",
             sorted[sorted.size() / 2], fmt::join(seconds, ", "), sum,
             library == "ours" ? milieu::describe_gemm() : library);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    milieu::require(argc == 4, "usage: milieu_gemm_bench LIBRARY SIZE REPETITIONS");
    run(argv[1], std::atoll(argv[2]), std::max(1, std::atoi(argv[3])));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "milieu_gemm_bench: {}\n", error.what());
    return 1;
  }
}
