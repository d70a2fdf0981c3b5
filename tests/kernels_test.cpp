// All kernels of the CPU agree with the reference's; here that none is left out.
#include <ambit/registry.h>

#include <set>

#include "kernel_cases.h"

using namespace ambit;

TEST_CASE("the cpu has a kernel for every op, and each is compared with the reference") {
  std::set<std::string> compared;
  for (const auto& cases : {elementwise_cases(), reduction_cases(), index_cases(), layer_cases()}) {
    for (const KernelCase& c : cases) compared.insert(c.op);
  }
  for (const OpBase* op : all_ops()) {
    INFO(op->name());
    CHECK(op->has_kernel(kCPU.kind()));
    CHECK(op->has_kernel(reference_device().kind()));
    CHECK(compared.count(op->name()) == 1);
  }
}
