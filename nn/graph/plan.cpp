// graph::plan(): the rest is in libambit_plan.so.
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/graph/plan.h>

#include "nn/graph/plan/library.h"

namespace ambit::graph {

std::vector<Tensor> Plan::run(TensorList inputs) const { return planned_->run(inputs); }

Tensor Plan::run(const Tensor& input) const {
  const Program& p = planned_->program();
  if (p.inputs.size() != 1 || p.outputs.size() != 1) {
    throw Error(
        "plan: expected a graph of one input and one output, got another: call run() with a list "
        "of inputs");
  }
  return run(TensorList(input))[0];
}

size_t Plan::memory_bytes() const { return planned_->memory_bytes(); }
std::string Plan::memory() const { return planned_->memory_text(); }
std::string Plan::text() const { return graph::text(planned_->program()); }

Plan plan(const GraphImpl& net, TensorList inputs, const PlanOptions& options) {
  const Mode mode = net.check(inputs);
  return Plan(typed_memory_errors("plan", [&] {
    return planning::library().prepare(net.program_, net.state_, inputs, mode, options);
  }));
}

}  // namespace ambit::graph
