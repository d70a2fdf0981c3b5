// RECORD_FUNCTION and similar macros of programs for libtorch, in ambit's profiles.
#include <ATen/record_function.h>
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <string>

using namespace ambit;

namespace {

Tensor doubled(const Tensor& x) {
  RECORD_FUNCTION("doubled", std::vector<IValue>({x}));  // ambit ignores the inputs
  {
    RECORD_USER_SCOPE("inner");
    RECORD_USER_SCOPE_WITH_INPUTS(std::string("second"), {x});
    return x * 2;
  }
}

}  // namespace

TEST_CASE("libtorch's scopes are in a profile, nested and around their ops") {
  profiler::Profile profile;
  doubled(ones({3}));
  profile.stop();
  std::string events;  // in the order of their ends
  for (const profiler::FunctionEvent& e : profile.events()) {
    if (e.kind == profiler::EventKind::scope) {
      events += e.name + std::to_string(e.depth) + " of " + std::to_string(e.kernels) + "; ";
    }
  }
  CHECK(events == "second2 of 1; inner1 of 1; doubled0 of 1; ");
}
