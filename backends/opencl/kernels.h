// The kernels of the backend, with the signatures of <ambit/backend/kernels.h>.
#pragma once

#include <ambit/backend/kernels.h>

#define AMBIT_OPENCL_KERNELS(row)                                                                  \
  row(copy) row(fill) row(random) row(unary) row(binary) row(ternary) row(compare) row(where)      \
      row(reduce) row(arg_reduce) row(scan) row(gather) row(scatter) row(scatter_add) row(nonzero) \
          row(matmul) row(convolution) row(convolution_input_grad) row(convolution_weight_grad)    \
              row(max_pool) row(max_pool_grad)

namespace ambit::opencl {

template <class Op>
struct SignatureOf;
template <class Signature>
struct SignatureOf<Op<Signature>> {
  using Type = Signature;
};

#define AMBIT_DECLARE(name) \
  SignatureOf<std::remove_reference_t<decltype(kernels::name)>>::Type name;
AMBIT_OPENCL_KERNELS(AMBIT_DECLARE)
#undef AMBIT_DECLARE

}  // namespace ambit::opencl
