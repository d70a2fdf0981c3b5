// libtorch's side of the rows, each family in a file of its own.
#pragma once

#include <torch/torch.h>

#include <memory>

#include "peer.h"

namespace bench::libtorch {

/// Return a tensor on the operand's own memory.
torch::Tensor borrow(const Operand& operand);
/// Set how many threads the BLAS uses that libtorch was linked with. Training is fastest with one:
/// its products are small, and two sets of threads are in each other's way.
void set_blas_threads(int threads);

/// Null for works of other families.
std::unique_ptr<Work> make_network(const Specification& s);
std::unique_ptr<Work> make_op(const Specification& s);
std::unique_ptr<Work> make_optimizer(const Specification& s);
std::unique_ptr<Work> make_data(const Specification& s);
std::unique_ptr<Work> make_compilation(const Specification& s);

}  // namespace bench::libtorch
