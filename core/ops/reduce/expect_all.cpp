#include <ambit/backend/registry.h>
#include <ambit/detail/expect_all.h>
#include <ambit/ops/reduce.h>

#include "core/devices/backend_call.h"

namespace ambit {

void expect_all(const Tensor& facts, const char* otherwise) {
  const Device device = facts.device();
  if (device.is_meta()) return;
  const Tensor fact = all(facts);
  Backend& backend = backend_of(device);
  call_backend(device, "expect_true()",
               [&] { backend.expect_true(device.index(), fact.data_ptr(), otherwise); });
}

}  // namespace ambit
