// The work that libtorch runs in each row of the benchmark; each family of rows has one file.
#pragma once

#include <torch/torch.h>

#include <memory>

#include "peer.h"

namespace bench::libtorch {

/// Return a tensor that aliases the operand's memory.
torch::Tensor borrow(const Operand& operand);
/// Set the number of threads of the BLAS that libtorch is linked with. Training is fastest with
/// one: its products are small, and two thread pools would compete.
void set_blas_threads(int threads);

/// Return null for workloads of other families.
std::unique_ptr<Work> make_network(const Specification& s);
std::unique_ptr<Work> make_op(const Specification& s);
std::unique_ptr<Work> make_optimizer(const Specification& s);
std::unique_ptr<Work> make_data(const Specification& s);
std::unique_ptr<Work> make_compilation(const Specification& s);

}  // namespace bench::libtorch
