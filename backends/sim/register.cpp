// An accelerator without hardware: memory that the host cannot follow, work that is done later, and
// faults on request. Every test that takes a device meets here what a real accelerator would
// punish. The numbers are those of `reference`, whose loops it runs.
#include <ambit/backend/kernels.h>
#include <ambit/backend/plugin.h>
#include <ambit/backend/reference.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "backend.h"
#include "launch.h"
#include "requests.h"

namespace ambit::sim {
namespace {

void add_kernels(Registry& registry) {
  add<kernels::copy, reference::copy>(registry);
  add<kernels::fill, reference::fill>(registry);
  add<kernels::random, reference::random>(registry);

  add<kernels::unary, reference::unary>(registry);
  add<kernels::binary, reference::binary>(registry);
  add<kernels::compare, reference::compare>(registry);
  add<kernels::where, reference::where>(registry);

  add<kernels::reduce, reference::reduce>(registry);
  add<kernels::arg_reduce, reference::arg_reduce>(registry);
  add<kernels::cumsum, reference::cumsum>(registry);

  add<kernels::gather, reference::gather>(registry);
  add<kernels::scatter, reference::scatter>(registry);
  add<kernels::scatter_add, reference::scatter_add>(registry);
  add<kernels::nonzero, reference::nonzero>(registry);
  add<kernels::index_select, reference::index_select>(registry);
  add<kernels::index_add, reference::index_add>(registry);

  add<kernels::matmul, reference::matmul>(registry);
  add<kernels::linear, reference::linear>(registry);

  add<kernels::conv2d, reference::conv2d>(registry);
  add<kernels::conv2d_input_grad, reference::conv2d_input_grad>(registry);
  add<kernels::conv2d_weight_grad, reference::conv2d_weight_grad>(registry);

  add<kernels::max_pool2d, reference::max_pool2d>(registry);
  add<kernels::max_pool2d_grad, reference::max_pool2d_grad>(registry);
  add<kernels::avg_pool2d, reference::avg_pool2d>(registry);
  add<kernels::avg_pool2d_grad, reference::avg_pool2d_grad>(registry);

  add<kernels::softmax, reference::softmax>(registry);
  add<kernels::softmax_grad, reference::softmax_grad>(registry);
  add<kernels::batch_norm, reference::batch_norm>(registry);
  add<kernels::batch_norm_grad, reference::batch_norm_grad>(registry);

  add<kernels::nll_loss, reference::nll_loss>(registry);
  add<kernels::cross_entropy, reference::cross_entropy>(registry);
  add<kernels::cross_entropy_grad, reference::cross_entropy_grad>(registry);
  add<kernels::sgd_step, reference::sgd_step>(registry);
  add<kernels::adam_step, reference::adam_step>(registry);
}

}  // namespace

void load(Registry& registry) {
  const char* value = std::getenv("AMBIT_SIM");
  const std::string text = value && *value ? value : "sim:1";
  bool added = false;
  for (const Request& request : parse_requests(text)) {
    // Devices that are there need no stand-in; a namesake without devices gives way.
    if (device_count(request.name) > 0) continue;
    registry.add_backend(std::make_unique<SimBackend>(request));
    add_kernels(registry);
    added = true;
  }
  if (!added) {
    throw BackendError(fmt::format(
        "AMBIT_SIM: expected a name without devices, got \"{}\": each of them has some", text));
  }
}

}  // namespace ambit::sim

AMBIT_PLUGIN(sim, ambit::sim::load)
