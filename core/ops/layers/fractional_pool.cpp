// Fractional maximum pooling: the windows, at different positions for each image, are gathered and
// pooled in one dim.
#include <ambit/ops/pool.h>

#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"
#include "pool.h"

namespace ambit {
namespace {

constexpr const char* kNames[] = {"fractional_max_pool2d", "fractional_max_pool3d"};

struct Windows {
  Windows(size_t d, IntArrayRef kernel_size, IntArrayRef output_size)
      : op(kNames[d - 2]), dims(d), kernel(kernel_size), output(output_size) {}

  void check(IntArrayRef in, const Tensor& samples) const {
    if (!kernel.fits(dims) || !output.fits(dims)) {
      throw Error(
          fmt::format("{}: expected a kernel and an output size of one number or {}, got "
                      "{} and {}",
                      op, dims, str(kernel), str(output)));
    }
    for (size_t i = 0; i < dims; ++i) {
      // Ordered so that no sum overflows.
      if (kernel[i] < 1 || output[i] < 1 || kernel[i] > in[2 + i] ||
          output[i] > in[2 + i] - kernel[i] + 1) {
        throw ShapeError(fmt::format(
            "{}: expected 1 to {} windows of 1 to {} elements, got {} of {} along a dim "
            "of input {}",
            op, in[2 + i] - kernel[i] + 1, in[2 + i], output[i], kernel[i], str(in)));
      }
    }
    expect_sizes(op, "random_samples", samples, {in[0], in[1], static_cast<int64_t>(dims)});
  }

  // Return the elements of each image's windows along an axis, [N,C,output,kernel], from u [N,C].
  Tensor places(size_t axis, int64_t size, const Tensor& u) const {
    const int64_t n = output[axis], k = kernel[axis], last = size - k;
    const TensorOptions here = TensorOptions(kInt64).device(u.device());
    Tensor first = full({u.size(0), u.size(1), 1}, last, here);
    if (n > 1) {
      // Compute in the samples' dtype like PyTorch, so that the rounding is the same.
      const double a = u.dtype() == kFloat32
                           ? double{static_cast<float>(last) / static_cast<float>(n - 1)}
                           : static_cast<double>(last) / static_cast<double>(n - 1);
      const Tensor shift = u.unsqueeze(-1);
      const Tensor at = ((arange(n - 1, u.options()) + shift) * a).to(kInt64);
      first = cat({at - (shift * a).to(kInt64), first}, 2);
    }
    return first.unsqueeze(-1) + arange(k, here);
  }

  const char* op;
  size_t dims;
  PerAxis kernel, output;
};

// Reshape t [N,C,n,k] to [N,C,1...,n,1...,1...,k,1...]: `dims` window dims, `dims` element dims.
Tensor spread_out(const Tensor& t, size_t axis, size_t dims) {
  Dims sizes(2 + 2 * dims, 1);
  sizes[0] = t.size(0);
  sizes[1] = t.size(1);
  sizes[2 + axis] = t.size(2);
  sizes[2 + dims + axis] = t.size(3);
  return t.reshape(sizes);
}

std::tuple<Tensor, Tensor> fractional(const Windows& windows, const Tensor& input,
                                      const Tensor& random_samples) {
  const char* op = windows.op;
  const size_t dims = windows.dims;
  check_devices(op, {{"input", input}, {"random_samples", random_samples}});
  const pooling::Images x(op, input, dims);
  expect_dtype(op, "random_samples", random_samples, input.dtype());
  const IntArrayRef in = x.batch.sizes();
  windows.check(in, random_samples);

  const Tensor u = random_samples.detach();
  Tensor at;  // positions in the image, [N,C,output...,kernel...]
  for (size_t i = 0; i < dims; ++i) {
    // PyTorch's order: in 2-D the first sample is for the last dim, in 3-D for the first.
    const auto sample = static_cast<int64_t>(dims == 2 ? 1 - i : i);
    const Tensor places = spread_out(windows.places(i, in[2 + i], u.select(2, sample)), i, dims);
    at = i == 0 ? places : at * in[2 + i] + places;
  }
  Dims out(in);
  int64_t elements = 1, all = 1;
  for (size_t i = 0; i < dims; ++i) {
    out[2 + i] = windows.output[i];
    elements *= windows.kernel[i];
    all *= windows.kernel[i] * windows.output[i];
  }
  const Tensor line = at.reshape({in[0], in[1], all});
  const auto [y, where] =
      max_pool1d_with_indices(gather(flatten(x.batch, 2), 2, line), elements, elements);
  return {x.like_input(y.reshape(out)), x.like_input(gather(line, 2, where).reshape(out))};
}

}  // namespace

std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& input, IntArrayRef kernel,
                                                 IntArrayRef output_size,
                                                 const Tensor& random_samples) {
  return fractional(Windows(2, kernel, output_size), input, random_samples);
}
std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& input, IntArrayRef kernel,
                                                 IntArrayRef output_size,
                                                 const Tensor& random_samples) {
  return fractional(Windows(3, kernel, output_size), input, random_samples);
}

}  // namespace ambit
