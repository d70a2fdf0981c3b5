// Convolutions and products in a process whose address space is nearly full: oneDNN, which creates
// primitives for them, does not survive a lack of memory, so it must not be called then.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

using namespace ambit;

namespace {

enum Result { kDone = 0, kRefused = 1, kUntyped = 2, kWrong = 3 };

// "VmSize:  12345 kB", see proc(5).
rlim_t address_space() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmSize:")) return 1024 * std::stoull(line.substr(7));
  }
  return 0;
}

struct Work {
  Tensor x = rand({4, 16, 24, 20}), w = rand({32, 16, 3, 3}), a = rand({300, 200}),
         b = rand({200, 150});
  Tensor run() const {
    const Tensor y = conv2d(x, w);
    const Tensor dx = convolution_input_grad(y, w, x.sizes(), {});
    const Tensor dw = convolution_weight_grad(y, x, w.sizes(), {});
    return y.sum() + dx.sum() + dw.sum() + a.mm(b).sum();
  }
};

Result run_with(rlim_t more) {
  const Work work;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = address_space() + more;
  setrlimit(RLIMIT_AS, &limit);
  Result result = kDone;
  try {
    work.run();
  } catch (const OutOfMemoryError&) {
    result = kRefused;
  } catch (...) {
    result = kUntyped;
  }
  limit.rlim_cur = before;
  setrlimit(RLIMIT_AS, &limit);
  if (result == kUntyped) return result;
  const Tensor got = work.run(), expected = Work(work).run();
  return got.isfinite().all().item<bool>() && got.equal(expected) ? result : kWrong;
}

}  // namespace

TEST_CASE("with little address space, convolutions and products are an error, and work later") {
  manual_seed(1);
  const Tensor started = ones({3}) + 1;
  int refused = 0, done = 0;
  // Use smaller steps from the size on at which oneDNN is called.
  constexpr rlim_t kMiB = 1 << 20;
  for (rlim_t more = 0; more < 160 * kMiB; more += more < 64 * kMiB ? kMiB : kMiB / 4) {
    INFO(more, " bytes more");
    const pid_t child = fork();
    if (child == 0) _exit(run_with(more));
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) <= kRefused);
    ++(WEXITSTATUS(status) == kDone ? done : refused);
  }
  CHECK(refused > 0);
  CHECK(done > 0);
}
