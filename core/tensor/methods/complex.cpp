// Tensor methods that call the functions of ops/complex.h, and sgn.
#include <ambit/ops/complex.h>
#include <ambit/ops/elementwise.h>

#include "core/tensor/methods/written.h"

namespace ambit {

Tensor Tensor::conj() const { return ambit::conj(*this); }
Tensor Tensor::conj_physical() const { return ambit::conj_physical(*this); }
Tensor& Tensor::conj_physical_() const { return written(ambit::conj_physical_(*this)); }

Tensor Tensor::sgn() const { return ambit::sgn(*this); }
Tensor& Tensor::sgn_() const { return written(ambit::sgn_(*this)); }

}  // namespace ambit
