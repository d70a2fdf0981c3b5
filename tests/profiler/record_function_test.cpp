// RECORD_FUNCTION and its like, the scopes of libtorch's programs, in ambit's profiles.
#include <ATen/record_function.h>
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <string>

using namespace ambit;

namespace {

Tensor doubled(const Tensor& x) {
  RECORD_FUNCTION("doubled", std::vector<IValue>({x}));  // what ambit has not is left alone
  {
    RECORD_USER_SCOPE("inner");
    RECORD_USER_SCOPE_WITH_INPUTS(std::string("second"), {x});
    return x * 2;
  }
}

}  // namespace

TEST_CASE("libtorch's scopes are in a profile, inside of each other and around their ops") {
  profiler::Profile profile;
  doubled(ones({3}));
  profile.stop();
  std::string events;  // in the order in which they ended
  for (const profiler::FunctionEvent& e : profile.events()) {
    if (e.kind == profiler::EventKind::scope) {
      events += e.name + std::to_string(e.depth) + " of " + std::to_string(e.kernels) + "; ";
    }
  }
  CHECK(events == "second2 of 1; inner1 of 1; doubled0 of 1; ");
}
