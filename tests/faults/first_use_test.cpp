// The first use of ambit in new processes: if any request fails, the next attempt works as if it
// were the first.
#include "faults.h"

#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace ambit;

namespace {

enum Result { kDone = 0, kFailedAndRecovered = 1, kUntyped = 2, kWrong = 3 };

void use() {
  const Tensor x = ones({3}).requires_grad_();
  (x * 2 + 1).sum().backward();
  if (!x.grad().equal(full({3}, 2.F))) throw std::string("wrong");
}

Result first_use_without(long nth) {
  Result result = kDone;
  faults::refuse(nth);
  try {
    use();
  } catch (const Error&) {
    result = kFailedAndRecovered;
  } catch (...) {
    result = kUntyped;
  }
  const bool refused = faults::stop();
  if (result == kUntyped) return kUntyped;
  try {
    use();
  } catch (...) {
    return kWrong;
  }
  return refused ? kFailedAndRecovered : kDone;
}

}  // namespace

TEST_CASE("if any request of the first use fails, the second use succeeds") {
  for (long n = 1;; ++n) {
    INFO("request ", n);
    const pid_t child = fork();
    if (child == 0) _exit(first_use_without(n));
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) != kUntyped);
    CHECK(WEXITSTATUS(status) != kWrong);
    if (WEXITSTATUS(status) == kDone) {
      CHECK(n > 20);
      break;
    }
    REQUIRE(n < 5000);
  }
}
