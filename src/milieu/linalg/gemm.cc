// SPDX-License-Identifier: Apache-2.0
// The product is oneDNN's dnnl_sgemm: of Debian's libraries the fastest measured on every CPU tried
// (bench/speed/gemm.cc prints the table), and it picks its kernels at run time.
#include "milieu/linalg/gemm.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "milieu/base/error.h"
#include "milieu/linalg/isa.h"

// libgomp's; declared here because <omp.h> belongs to whichever OpenMP the compiler carries.
extern "C" {
void omp_set_num_threads(int);
int omp_get_max_threads(void);
}

namespace milieu {
namespace {

// Debian's oneDNN runs on OpenMP. The number of OpenMP threads is kept per calling thread, so this
// makes one call single-threaded without touching what other threads of the program do.
class SingleOpenMpThread {
 public:
  SingleOpenMpThread() : previous_(omp_get_max_threads()) {
    if (previous_ != 1) omp_set_num_threads(1);
  }
  ~SingleOpenMpThread() {
    if (previous_ != 1) omp_set_num_threads(previous_);
  }
  SingleOpenMpThread(const SingleOpenMpThread&) = delete;
  SingleOpenMpThread& operator=(const SingleOpenMpThread&) = delete;

 private:
  int previous_;
};

// oneDNN's kernels keep data below the stack pointer, further down than the 128 bytes that a signal
// handler leaves alone: a handler that runs on this thread in the middle of a product corrupts it,
// or the heap. So signals wait until the product is done, or go to another thread.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&held, fault);
    pthread_sigmask(SIG_BLOCK, &held, &previous_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t previous_;
};

// oneDNN crashes when there is no room for the code that it writes on first use. Throws
// std::bad_alloc in its place.
bool make_sure_of_room() {
  constexpr size_t kRoom = size_t{48} << 20;
  void* room = mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, kRoom);
  return true;
}

void scale(MatrixView<float> out, float factor) {
  for (int64_t i = 0; i < out.rows(); ++i)
    for (float& value : out.row_span(i)) value = factor == 0 ? 0.0f : factor * value;
}

// BLAS requires a leading dimension of at least 1 and of at least the number of columns.
int64_t leading_dimension(int64_t stride) { return std::max<int64_t>(1, stride); }

void multiply(char transpose_b, int64_t inner, float alpha, FloatView a, FloatView b, float beta,
              MatrixView<float> out) {
  if (out.empty()) return;
  if (inner == 0) return scale(out, beta);
  [[maybe_unused]] static const bool has_room = make_sure_of_room();
  const SingleOpenMpThread single_thread;
  const SignalsHeld signals_held;
  const dnnl_status_t status =
      dnnl_sgemm('N', transpose_b, out.rows(), out.cols(), inner, alpha, a.data(),
                 leading_dimension(a.stride()), b.data(), leading_dimension(b.stride()), beta,
                 out.data(), leading_dimension(out.stride()));
  if (status != dnnl_success)
    throw Error(
        fmt::format("gemm: oneDNN failed with status {} on a product of {} x {} x {}; is "
                    "there enough memory?",
                    static_cast<int>(status), out.rows(), inner, out.cols()));
}

std::string shape(FloatView m) { return fmt::format("{} x {}", m.rows(), m.cols()); }

}  // namespace

void gemm(float alpha, FloatView a, FloatView b, float beta, MatrixView<float> out) {
  require(a.cols() == b.rows() && a.rows() == out.rows() && b.cols() == out.cols(), [&] {
    return fmt::format("gemm: {} times {} does not give {}", shape(a), shape(b), shape(out));
  });
  multiply('N', a.cols(), alpha, a, b, beta, out);
}

void gemm_nt(float alpha, FloatView a, FloatView b, float beta, MatrixView<float> out) {
  require(a.cols() == b.cols() && a.rows() == out.rows() && b.rows() == out.cols(), [&] {
    return fmt::format("gemm_nt: {} times the transpose of {} does not give {}", shape(a), shape(b),
                       shape(out));
  });
  multiply('T', a.cols(), alpha, a, b, beta, out);
}

std::string describe_gemm() {
  const dnnl_version_t* v = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}, kernels {}", v->major, v->minor, v->patch,
                     to_string(active_isa()));
}

}  // namespace milieu
