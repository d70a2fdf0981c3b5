// Reductions and scans of the CPU against the reference.
#include "kernel_cases.h"

using namespace ambit;

namespace {

struct Shape {
  Dims x, y;
};
// Rows, columns, middles, all, nothing, no elements; the last ones in blocks and by threads.
const std::vector<Shape> kShapes = {
    {{}, {}},
    {{7}, {1}},
    {{4097}, {1}},
    {{0}, {1}},
    {{3, 0, 5}, {3, 1, 5}},
    {{3, 0, 5}, {1, 0, 5}},
    {{31, 7}, {31, 1}},
    {{31, 7}, {1, 7}},
    {{31, 7}, {31, 7}},
    {{5, 6, 7, 3}, {5, 1, 7, 1}},
    {{5, 6, 7, 3}, {1, 6, 1, 3}},
    {{2, 1023}, {2, 1}},
    {{600, 600}, {1, 600}},
    {{600, 600}, {600, 1}},
    {{300007}, {1}},
    {{9000, 3}, {1, 3}},
    {{120000, 3}, {1, 3}},
};

bool is_empty_extreme(ReduceOp op, const Shape& s) {
  return (op == ReduceOp::max || op == ReduceOp::min) && count("test", s.x) == 0;
}

DType result_dtype(ReduceOp op, DType dtype) {
  if (op == ReduceOp::any || op == ReduceOp::all) return kBool;
  const bool sums = op == ReduceOp::sum || op == ReduceOp::prod;
  return sums && dtype == kBool ? kInt64 : dtype;
}

/// float32 is summed in float64, so only the last rounding counts. In float64 n terms of at most 3
/// have partial sums up to 3 n, and each of n roundings, here and in the reference, may be eps/2 of
/// that. A product of n factors is off by n roundings each.
Bound bound_of(ReduceOp op, const Shape& s, DType dtype) {
  const auto n = static_cast<double>(count("test", s.x) / std::max<int64_t>(1, count("test", s.y)));
  if (dtype == kFloat32) return {1};
  if (dtype == kFloat64 && op == ReduceOp::sum) return {1, 2 * 3 * n * n * 0x1p-53};
  return {dtype == kFloat64 && op == ReduceOp::prod ? 2 * n : 0};
}

void run_reduce(ReduceOp op, const Twin& x, const Shape& s, DType to) {
  Twin y = output_twin(s.y, to);
  kernels::reduce(y.cpu, x.cpu, op);
  kernels::reduce(y.reference, x.reference, op);
  check_close(y, bound_of(op, s, to));
}

/// Factors near 1, so that long products stay finite.
Twin factors(IntArrayRef sizes, Layout layout, DType dtype) {
  if (!is_floating_point(dtype)) return laid_out(sizes, layout, dtype);
  return laid_out(sizes, layout, [&](IntArrayRef base) {
    return visit(dtype, [&]<class T>() {
      return make_twin<T>(base, [](int64_t) {
        return static_cast<T>(1 + 0.003 * static_cast<double>(random_element<float>()));
      });
    });
  });
}

void check_reduce() {
  for (int i = 0; i <= static_cast<int>(ReduceOp::all); ++i) {
    const auto op = static_cast<ReduceOp>(i);
    for (const Shape& s : kShapes) {
      if (is_empty_extreme(op, s)) continue;
      for (Layout layout : kLayouts) {
        // All dtypes where it is cheap, else three.
        for (DType dtype : kAllDTypes) {
          if (count("test", s.x) > 5000 && dtype != kFloat32 && dtype != kInt64) continue;
          INFO(name(op), " ", name(dtype), " ", str(s.x), " to ", str(s.y), " layout ",
               static_cast<int>(layout));
          const Twin x =
              op == ReduceOp::prod ? factors(s.x, layout, dtype) : laid_out(s.x, layout, dtype);
          run_reduce(op, x, s, result_dtype(op, dtype));
          const bool widens = op <= ReduceOp::prod && !is_floating_point(dtype);
          if (widens) run_reduce(op, x, s, kInt64);
        }
      }
    }
  }
}

Twin with_nan() {
  return make_twin<float>({40, 130}, [](int64_t i) {
    return i % 1000 == 77 ? std::numeric_limits<float>::quiet_NaN() : random_element<float>();
  });
}

void check_arg_reduce() {
  const auto run = [](const Twin& x, int64_t dim, bool largest, bool wants_value) {
    Dims sizes = x.cpu.sizes();
    if (!sizes.empty()) sizes[static_cast<size_t>(dim)] = 1;
    Twin value, index = output_twin(sizes, kInt64);
    if (wants_value) value = output_twin(sizes, x.cpu.dtype());
    kernels::arg_reduce(value.cpu, index.cpu, x.cpu, dim, largest);
    kernels::arg_reduce(value.reference, index.reference, x.reference, dim, largest);
    check_close(index);
    if (wants_value) check_close(value);
  };
  for (bool largest : {false, true}) {
    for (DType dtype : kAllDTypes) {
      for (Layout layout : kLayouts) {
        for (int64_t dim : {0, 1, 2})
          run(laid_out({9, 31, 4}, layout, dtype), dim, largest, dim != 1);
      }
      run(random_twin({}, dtype), 0, largest, true);
      run(random_twin({0, 3}, dtype), 1, largest, true);
    }
    for (int64_t dim : {0, 1}) run(with_nan(), dim, largest, true);
    run(random_twin({3000, 40}, kFloat32), 1, largest, false);
  }
}

/// float32 is summed in float64; float64 in the same order as the reference.
void check_cumsum() {
  const auto run = [](const Twin& x, int64_t dim) {
    Twin y = output_twin(x.cpu.sizes(), x.cpu.dtype());
    kernels::cumsum(y.cpu, x.cpu, dim);
    kernels::cumsum(y.reference, x.reference, dim);
    check_close(y, {1});
  };
  for (DType dtype : kAllDTypes) {
    if (dtype == kBool) continue;
    for (Layout layout : kLayouts) {
      for (int64_t dim : {0, 1, 2}) run(laid_out({9, 31, 4}, layout, dtype), dim);
    }
    run(random_twin({}, dtype), 0);
    run(random_twin({3, 0}, dtype), 1);
    run(random_twin({300, 257}, dtype), 1);
  }
}

}  // namespace

std::vector<KernelCase> reduction_cases() {
  return {{"reduce", check_reduce}, {"arg_reduce", check_arg_reduce}, {"cumsum", check_cumsum}};
}

TEST_CASE("reductions of the cpu agree with the reference") {
  for (const KernelCase& c : reduction_cases()) {
    INFO(c.op);
    c.run();
  }
}

TEST_CASE("maximum and minimum of the cpu give NaN where there is one") {
  const Twin x = with_nan();
  for (ReduceOp op : {ReduceOp::max, ReduceOp::min, ReduceOp::sum}) {
    run_reduce(op, x, {{40, 130}, {1, 130}}, kFloat32);
    run_reduce(op, x, {{40, 130}, {40, 1}}, kFloat32);
    run_reduce(op, x, {{40, 130}, {1, 1}}, kFloat32);
  }
}
