#include <ambit/error.h>
#include <ambit/ops/linalg.h>
namespace ambit {
std::tuple<Tensor, Tensor> linalg_eig(const Tensor&) { throw Error("stub"); }
Tensor linalg_eigvals(const Tensor&) { throw Error("stub"); }
}  // namespace ambit
