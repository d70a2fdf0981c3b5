// `ambit conformance` compares kernels one by one (conformance/); here that none is left out.
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

using namespace ambit;

TEST_CASE("the cpu and the reference have a kernel for every op") {
  for (const OpBase* op : all_ops()) {
    INFO(op->name());
    CHECK(op->has_kernel(kCPU.kind()));
    CHECK(op->has_kernel(Device("reference").kind()));
  }
}
