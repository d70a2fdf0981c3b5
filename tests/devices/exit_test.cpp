// Threads that compute while the process ends: exit() destroys objects of oneDNN and LAPACK, which
// threads and destructors of globals must not use then. Each case runs in a child process.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "tests/child_process.h"

using namespace ambit;

namespace {

// Return work that runs late in exit(): after the destructors of all objects that oneDNN has
// created since main() began.
std::function<void()>& at_end() {
  static auto* const work = new std::function<void()>;
  return *work;
}
struct AtEnd {
  ~AtEnd() {
    if (at_end()) at_end()();
  }
} at_end_of_process;

void linger() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

std::atomic<int64_t> rounds{0};

// An endless thread. Errors end the process by std::terminate().
void start(const std::function<void(int64_t)>& work) {
  std::thread([work] {
    for (int64_t i = 0;; ++i) {
      work(i);
      ++rounds;
    }
  }).detach();
}

[[noreturn]] void exit_after(int64_t n) {
  while (rounds < n) std::this_thread::yield();
  std::exit(0);
}

void check_ends_well(const std::string& child) {
  // exit() is called at a different moment each time.
  for (int i = 0; i < 5; ++i) {
    const ChildResult ran = run_child(child);
    INFO(ran.output);
    CHECK(ran.signal == 0);
    CHECK(ran.exit_code == 0);
  }
}

// Use another shape each time, so that oneDNN creates a primitive.
void convolve(int64_t i, DType dtype = kFloat32) {
  const Tensor x = ones({1, 16, 20 + i % 97, 24}).to(dtype), w = ones({32, 16, 7, 7}).to(dtype);
  const Tensor y = conv2d(x, w);
  const Tensor dx = convolution_input_grad(y, w, x.sizes(), {});
  const Tensor dw = convolution_weight_grad(y, x, w.sizes(), {});
  if (y[0][0][0][0].item<float>() != 16 * 49) std::abort();  // sums of ones, exact also in bfloat16
}

void multiply(int64_t i, DType dtype = kFloat32) {
  const int64_t n = 16 + i % 200;
  const Tensor a = ones({n, n}).to(dtype), b = ones({n}).to(dtype);
  if (a.mm(a)[0][0].item<float>() != static_cast<float>(n)) std::abort();
  if (linear(a, a, b)[0][0].item<float>() != static_cast<float>(n + 1)) std::abort();
}

}  // namespace

TEST_CASE("threads that convolve while the process ends do not cause a signal") {
  check_ends_well("child: exit while others convolve");
}
TEST_CASE("child: exit while others convolve" * doctest::skip()) {
  at_end() = linger;
  for (const DType dtype : {kFloat32, kBFloat16}) {
    start([dtype](int64_t i) { convolve(i, dtype); });
  }
  exit_after(20);
}

TEST_CASE("threads that multiply while the process ends do not cause a signal") {
  check_ends_well("child: exit while others multiply");
}
TEST_CASE("child: exit while others multiply" * doctest::skip()) {
  at_end() = linger;
  for (const DType dtype : {kFloat32, kBFloat16}) {
    start([dtype](int64_t i) { multiply(i, dtype); });
  }
  exit_after(100);
}

TEST_CASE("threads that solve while the process ends do not cause a signal") {
  check_ends_well("child: exit while others solve");
}
TEST_CASE("child: exit while others solve" * doctest::skip()) {
  at_end() = linger;
  for (int t = 0; t < 2; ++t) {
    start([](int64_t i) {
      const Tensor x = eye(20 + i % 50) * 4;
      if (!linalg_cholesky(x).equal(eye(20 + i % 50) * 2)) std::abort();
      (void)linalg_svd(x);
    });
  }
  exit_after(50);
}

TEST_CASE("the destructor of a global computes, and joins a thread that does") {
  const ChildResult ran = run_child("child: compute at the end of the process");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.find("all is computed\n") != std::string::npos);
}
TEST_CASE("child: compute at the end of the process" * doctest::skip()) {
  convolve(0);
  multiply(0);
  at_end() = [] {
    const auto work = [] {
      convolve(1);  // creates a new primitive
      convolve(0, kBFloat16);
      multiply(300);
      (void)linalg_inv(eye(3));
    };
    work();
    std::thread(work).join();
    std::puts("all is computed");
    std::fflush(stdout);
  };
  std::exit(0);
}

TEST_CASE("a child of fork() that computes and exits does not wait") {
  const ChildResult ran = run_child("child: fork while others compute");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
}
TEST_CASE("child: fork while others compute" * doctest::skip()) {
  start([](int64_t i) { multiply(i); });
  while (rounds < 10) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) std::exit(7);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
    // exit() waits for threads for up to 10 s; without a wait it needs milliseconds.
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(9));
  }
  std::exit(0);
}
