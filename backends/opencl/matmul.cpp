#include <fmt/format.h>

#include <ambit/ops/creation.h>

#include "kernels.h"
#include "product.h"
#include "program.h"

namespace ambit::opencl {
namespace {

std::string product_source(const Features& features, DType dtype) {
  std::string text = begin_program(features, dtype);
  const char* type = type_name(dtype);
  if (is_floating_point(dtype)) {
    text += fmt::format(
        "#define S {0}\n#define S16 {0}16\n#define TO_S(v) (v)\n#define TO_S16(v) (v)\n"
        "#define FROM_S(v) (v)\n#define FROM_S16(v) (v)\n#define MULTIPLY_ADD(a, b, c) fma(a, b, "
        "c)\n",
        type);
  } else {
    const char* sum = dtype == kInt64 ? "ulong" : "uint";
    text += fmt::format(
        "#define S {0}\n#define S16 {0}16\n#define TO_S(v) ((S)(v))\n"
        "#define TO_S16(v) convert_{0}16(v)\n#define FROM_S(v) ((T)(v))\n"
        "#define FROM_S16(v) convert_{1}16(v)\n#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))\n",
        sum, type);
  }
  return text + std::string(device_source("matmul"));
}

}  // namespace

void multiply(const char* op, const Product& p, Tensor& y, const Tensor& a, const Tensor& b,
              const Tensor& bias) {
  OpenClDevice& device = device_of(y);
  const cl_kernel kernel =
      device.kernel(op, fmt::format("matmul/{}", name(y.dtype())), "blocks",
                    [&] { return product_source(device.features(), y.dtype()); });
  constexpr int64_t kRows = 8, kColumns = 16;
  Launch(op, device, kernel)
      .add(p)
      .add(y)
      .add(a)
      .add(b)
      .add(bias)
      .run((p.N + kColumns - 1) / kColumns, p.batches * ((p.M + kRows - 1) / kRows), kRows);
}

void matmul(Tensor& y, const Tensor& a, const Tensor& b) {
  if (y.numel() == 0) return;
  const int64_t M = y.size(1), N = y.size(2), K = a.size(2);
  Tensor right = b;
  if (K > 0 && N > 1 && b.stride(2) != 1) {
    const bool repeated = b.stride(0) == 0;
    const Tensor from = repeated ? b.narrow(0, 0, 1) : b;
    right = empty(from.sizes(), TensorOptions(b.dtype()).device(b.device()));
    copy(right, from);
    if (repeated) right = right.expand(b.sizes());
  }
  const Product p{.M = M,
                  .N = N,
                  .K = K,
                  .batches = y.size(0),
                  .a_batch = a.stride(0),
                  .a_row = a.stride(1),
                  .a_step = a.stride(2),
                  .b_batch = right.stride(0),
                  .b_step = right.stride(1)};
  multiply("matmul", p, y, a, right, Tensor());
}

}  // namespace ambit::opencl
