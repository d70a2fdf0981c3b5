#include "host_values.h"

#include <ambit/autograd.h>
#include <ambit/backend/registry.h>

namespace ambit {

bool is_host_readable(Device device) {
  return device.is_cpu() || (!device.is_meta() && !usable_backend(device).is_accelerator());
}

Tensor host_values(const Tensor& t) {
  if (t.is_cpu()) return t;
  const NoGradGuard no_grad;
  return is_host_readable(t.device()) ? t.cpu() : Tensor();
}

}  // namespace ambit
