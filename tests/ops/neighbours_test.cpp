// Every element of an elementwise op depends only on its operands: not on neighbours, its position
// in a row or the length of the row, although kernels compute vectors of elements.
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// Operands are around the bounds in vectorised code, and special values.
const std::vector<double> kValues{
    0.3,          -0.0, 38123.4, -38999.9, 39000.1, 5e4,  -1e9,  1e30,   0.999, 1.0,  -1.0,
    -0.4,         7.7,  -50.5,   88.5,     103.9,   -104, 700.3, 1e-30,  1e-42, kInf, -kInf,
    std::nan(""), 2.0,  -2.5,    1e-3,     -1e-5,   3.7,  1e4,   -700.1, 12.25};

/// kValues repeated with other neighbours each time: 31 values in steps of 12 (modulo 31).
Tensor row(int64_t length, int64_t step, DType dtype, Device device) {
  std::vector<double> v(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const int64_t round = i / 31;
    v[static_cast<size_t>(i)] = kValues[static_cast<size_t>((i * step + round * round) % 31)];
  }
  return from_blob(v.data(), {length}, kFloat64).clone().to(device, dtype);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(),
                     static_cast<size_t>(x.numel()) * element_size(x.dtype())) == 0;
}

/// Compare y = run(operands) with runs of single elements.
template <class Run>
void check(const char* name, const std::vector<Tensor>& operands, const Run& run) {
  const Tensor whole = run(operands);
  for (int64_t i = 0; i < whole.numel(); ++i) {
    std::vector<Tensor> single;
    for (const Tensor& t : operands) single.push_back(t.narrow(0, i, 1));
    const Tensor alone = run(single), among = whole.narrow(0, i, 1);
    if (same_bits(alone, among)) continue;
    const double x = operands[0].narrow(0, i, 1).item<double>();
    const double got = among.item<double>(), expected = alone.item<double>();
    // Any NaN is accepted.
    if (std::isnan(got) && std::isnan(expected)) continue;
    FAIL_CHECK(std::string(name), " of ", x, " at ", i, " of ", whole.numel(), ": ", got,
               ", alone ", expected);
    return;
  }
}

}  // namespace

TEST_CASE("an element of a unary function does not depend on its neighbours") {
  for_each_device([](Device device) {
    for (const DType dtype : dtypes::kFloating) {
      for (const UnaryOp op : functions<UnaryOp>()) {
        for (const int64_t length : {7, 67, 157}) {
          const auto run = [&](const std::vector<Tensor>& x) {
            Tensor y = empty(x[0].sizes(), x[0].options().dtype(row_of(op).result_dtype(dtype)));
            if (row_of(op).dtypes.contains(dtype)) kernels::unary(y, x[0], op);
            return row_of(op).dtypes.contains(dtype) ? y : x[0];
          };
          check(name(op), {row(length, 12, dtype, device)}, run);
        }
      }
    }
  });
}

TEST_CASE("an element of a binary function does not depend on its neighbours") {
  for_each_device([](Device device) {
    for (const DType dtype : dtypes::kFloating) {
      for (const BinaryOp op : functions<BinaryOp>()) {
        if (!row_of(op).dtypes.contains(dtype)) continue;
        for (const int64_t length : {7, 67, 157}) {
          const auto run = [&](const std::vector<Tensor>& x) {
            Tensor y = empty(x[0].sizes(), x[0].options());
            kernels::binary(y, x[0], x[1], op);
            return y;
          };
          check(name(op), {row(length, 12, dtype, device), row(length, 7, dtype, device)}, run);
        }
      }
    }
  });
}

TEST_CASE("an element of a ternary function does not depend on its neighbours") {
  for_each_device([](Device device) {
    for (const DType dtype : dtypes::kFloating) {
      for (const TernaryOp op : functions<TernaryOp>()) {
        for (const int64_t length : {7, 67, 157}) {
          for (const bool number : {false, true}) {
            const auto run = [&](const std::vector<Tensor>& x) {
              Tensor y = empty(x[0].sizes(), x[0].options());
              kernels::ternary(y, x[0], x[1], number ? Tensor() : x[2], 0.7, op);
              return y;
            };
            check(name(op),
                  {row(length, 12, dtype, device), row(length, 7, dtype, device),
                   row(length, 5, dtype, device)},
                  run);
          }
        }
      }
    }
  });
}

TEST_CASE("equal values in a row have equal results, for any length") {
  for_each_device([](Device device) {
    for (const UnaryOp op : functions<UnaryOp>()) {
      if (!row_of(op).dtypes.contains(kFloat32)) continue;
      for (const double value : kValues) {
        for (const int64_t length : {1, 33, 1025}) {
          const Tensor x = full({length}, value, TensorOptions(device));
          Tensor y = empty({length}, x.options().dtype(row_of(op).result_dtype(kFloat32)));
          kernels::unary(y, x, op);
          const Tensor first = y.narrow(0, 0, 1).expand({length});
          INFO(std::string(name(op)), " of ", value, ", ", length, " times");
          CHECK((same_bits(y, first) || std::isnan(y.narrow(0, 0, 1).item<double>())));
        }
      }
    }
  });
}
