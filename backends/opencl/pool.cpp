// Maximum pooling and its gradient.
#include <fmt/format.h>

#include "kernels.h"
#include "launch.h"
#include "program.h"

namespace ambit::opencl {
namespace {

// The same struct as Pool in pool.cl.
struct Pool {
  cl_long planes;
  cl_long in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, window[3] = {1, 1, 1};
  cl_long stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
  cl_int adaptive;
  cl_int unused = 0;

  Pool(const Tensor& y, const Tensor& x, const PoolParams& p)
      : planes(x.size(0) * x.size(1)), adaptive(p.adaptive) {
    const auto dims = static_cast<size_t>(x.dim()) - 2;
    for (size_t d = 0; d < dims; ++d) {
      const size_t at = 3 - dims + d;
      in[at] = x.sizes()[2 + d];
      out[at] = y.sizes()[2 + d];
      window[at] = p.kernel[d];
      stride[at] = p.stride[d];
      padding[at] = p.padding[d];
      dilation[at] = p.dilation[d];
    }
  }
};

cl_kernel kernel_of(OpenClDevice& device, DType dtype, const char* part) {
  return device.kernel(part, fmt::format("pool/{}", name(dtype)), part, [&] {
    return begin_program(device.features(), dtype) + std::string(device_source("pool"));
  });
}

}  // namespace

void max_pool(Tensor& y, Tensor& index, const Tensor& x, const PoolParams& p) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  Launch("max_pool", device, kernel_of(device, x.dtype(), "max_pool"))
      .add(cl_long{y.numel()})
      .add(Pool(y, x, p))
      .add(x)
      .add(y)
      .add(index)
      .run(y.numel());
}

void max_pool_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams&) {
  if (dx.numel() == 0) return;
  OpenClDevice& device = device_of(dx);
  const int64_t planes = dx.size(0) * dx.size(1);
  Launch("max_pool_grad", device, kernel_of(device, dx.dtype(), "max_pool_grad"))
      .add(cl_long{planes})
      .add(cl_long{dy.numel() / planes})
      .add(cl_long{dx.numel() / planes})
      .add_fault()
      .add(dy)
      .add(index)
      .add(dx)
      .run(planes);
}

}  // namespace ambit::opencl
