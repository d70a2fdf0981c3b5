// libambit_plan.so, which prepares programs for inputs of fixed sizes.
#pragma once

#include <ambit/detail/late_library.h>
#include <ambit/graph/plan.h>

#include <memory>
#include <string>
#include <vector>

#include "nn/graph/call.h"

namespace ambit::graph {

/// Computes a program; the implementation of Plan.
class Planned {
 public:
  virtual ~Planned() = default;
  virtual std::vector<Tensor> run(TensorList inputs) = 0;
  virtual const Program& program() const = 0;
  virtual size_t memory_bytes() const = 0;
  /// Return the table of Plan::memory().
  virtual std::string memory_text() const = 0;
};

namespace planning {

struct Library {
  /// `state`: the tensors of the graph. The inputs fit the program. Errors: those of plan().
  std::shared_ptr<Planned> (*prepare)(std::shared_ptr<const Program> program,
                                      const std::vector<Tensor>& state, TensorList inputs,
                                      const Mode& mode, const PlanOptions& options);
};

inline const Library& library() { return *static_cast<const Library*>(late_library("plan")); }

}  // namespace planning
}  // namespace ambit::graph
