// Elementwise kernels, copies and fills of the CPU against the reference.
#include <ambit/error.h>

#include "kernel_cases.h"

using namespace ambit;

namespace {

// The last two are for threads: two of them share 2^18 elements.
const std::vector<Dims> kShapes = {{},       {1},       {7},       {31},      {1023},
                                   {4097},   {0},       {3, 0, 5}, {5, 7, 3}, {2, 1, 3, 2, 3, 2},
                                   {270001}, {513, 517}};

/// Call f(sizes, layout) for shapes in all layouts.
template <class F>
void for_layouts(const F& f) {
  for (const Dims& sizes : kShapes) {
    for (Layout layout : kLayouts) {
      INFO("sizes ", str(sizes), " layout ", static_cast<int>(layout));
      f(IntArrayRef(sizes), layout);
    }
  }
}

/// Numbers at which functions bend: zeros, infinities, NaN, denormals, and all magnitudes.
template <class T>
T special(int64_t i) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {T(0),
                      -T(0),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::denorm_min(),
                      -Limits::denorm_min(),
                      Limits::min(),
                      Limits::max(),
                      Limits::lowest(),
                      T(1),
                      T(-1),
                      T(0.5),
                      T(2),
                      T(-0.999),
                      T(88.8),
                      T(-87.4),
                      T(-103.5),
                      T(710),
                      T(-745.2),
                      T(1e5),
                      T(2.5),
                      T(-3.5),
                      T(8)};
  constexpr int64_t kCount = sizeof(values) / sizeof(T);
  if (i < kCount) return values[i];
  // Exponents from the smallest to the largest, but those of sin and cos beyond use.
  const double exponent = std::uniform_real_distribution<double>(-60, 12)(generator());
  return static_cast<T>((i % 2 == 0 ? 1 : -1) * std::exp2(exponent));
}

Twin special_twin(int64_t n, DType dtype) {
  if (dtype == kFloat32) return make_twin<float>({n}, special<float>);
  return make_twin<double>({n}, special<double>);
}

bool makes_bool(UnaryOp op) { return op >= UnaryOp::isnan; }
bool is_exact(UnaryOp op) {
  switch (op) {
    case UnaryOp::neg:
    case UnaryOp::abs:
    case UnaryOp::sign:
    case UnaryOp::relu:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
    case UnaryOp::trunc:
      return true;
    default:
      return op >= UnaryOp::bitwise_not;
  }
}
bool takes(UnaryOp op, DType d) {
  switch (op) {
    case UnaryOp::neg:
    case UnaryOp::abs:
    case UnaryOp::sign:
    case UnaryOp::square:
    case UnaryOp::relu:
      return d != kBool;
    case UnaryOp::bitwise_not:
      return !is_floating_point(d);
    default:
      return makes_bool(op) || is_floating_point(d);
  }
}

/// Maths is good to 4 ulp (math-inl.h, libm), the reference rounds once more.
/// gelu adds 1 + erf(x / sqrt 2), exact to half an ulp of 1, and multiplies by x / 2: for x in
/// [-4096, 4096] that is at most 2^-24 * 2^11 * 4 roundings in float, below 5e-4; near 0 it is
/// small.
Bound bound_of(UnaryOp op, DType dtype) {
  if (is_exact(op)) return {};
  if (op == UnaryOp::gelu) return {5, dtype == kFloat32 ? 5e-4 : 5e-4 * 0x1p-29};
  // sin and cos of x come from x - k pi, off by an ulp of the part taken away: 4096 * 2^-24 *
  // 2^-12.
  if (op == UnaryOp::sin || op == UnaryOp::cos) return {5, dtype == kFloat32 ? 1.2e-7 : 2.3e-16};
  // The reference's 1 / (1 + exp(-x)) in double overflows where results are denormal.
  if (op == UnaryOp::sigmoid) return {5, std::numeric_limits<double>::min()};
  return {5};
}

void run_unary(UnaryOp op, const Twin& x, Layout out) {
  const DType dtype = makes_bool(op) ? kBool : x.cpu.dtype();
  Twin y = output_twin(x.cpu.sizes(), dtype, out);
  kernels::unary(y.cpu, x.cpu, op);
  kernels::unary(y.reference, x.reference, op);
  check_close(y, bound_of(op, dtype));
}

void check_unary() {
  for (int i = 0; i <= static_cast<int>(UnaryOp::logical_not); ++i) {
    const auto op = static_cast<UnaryOp>(i);
    for (DType dtype : kAllDTypes) {
      if (!takes(op, dtype)) continue;
      INFO(name(op), " ", name(dtype));
      run_unary(op, random_twin({1023}, dtype), Layout::contiguous);
      run_unary(op, laid_out({31, 7}, Layout::transposed, dtype), Layout::sliced);
      if (is_floating_point(dtype)) run_unary(op, special_twin(20000, dtype), Layout::contiguous);
    }
  }
  for_layouts([](IntArrayRef sizes, Layout layout) {
    run_unary(UnaryOp::exp, laid_out(sizes, layout, kFloat32), Layout::contiguous);
    run_unary(UnaryOp::neg, laid_out(sizes, layout, kInt16), Layout::transposed);
    run_unary(UnaryOp::logical_not, laid_out(sizes, layout, kFloat64), Layout::contiguous);
  });
}

bool is_division(BinaryOp op) { return op >= BinaryOp::floor_divide && op <= BinaryOp::fmod; }
bool takes(BinaryOp op, DType d) {
  switch (op) {
    case BinaryOp::div:
    case BinaryOp::atan2:
    case BinaryOp::relu_grad:
    case BinaryOp::sigmoid_grad:
    case BinaryOp::tanh_grad:
    case BinaryOp::gelu_grad:
      return is_floating_point(d);
    case BinaryOp::bitwise_and:
    case BinaryOp::bitwise_or:
    case BinaryOp::bitwise_xor:
      return !is_floating_point(d);
    case BinaryOp::add:
    case BinaryOp::mul:
    case BinaryOp::maximum:
    case BinaryOp::minimum:
      return true;
    default:
      return d != kBool;
  }
}

/// pow and atan2 are libm's, good to an ulp; the rest is one to three rounded operations on numbers
/// up to 3, of which gelu_grad's maths is good to 4 ulp of at most 3.
Bound bound_of(BinaryOp op, DType dtype) {
  const double eps = dtype == kFloat32 ? 0x1p-23 : 0x1p-52;
  if (op == BinaryOp::gelu_grad) return {5, 16 * eps};
  if (op >= BinaryOp::relu_grad) return {4, 16 * eps};
  return {op == BinaryOp::pow || op == BinaryOp::atan2 ? 2.0 : 1.0};
}

/// Divisors that integers have.
Twin divisors(IntArrayRef sizes, Layout layout, DType dtype) {
  return laid_out(sizes, layout, [&](IntArrayRef base) {
    return visit(dtype, [&]<class T>() {
      return make_twin<T>(base, [](int64_t) {
        T v = random_element<T>();
        while (v == T(0) || (std::is_integral_v<T> && v == static_cast<T>(-1)))
          v = random_element<T>();
        return v;
      });
    });
  });
}

void run_binary(BinaryOp op, const Twin& a, const Twin& b, Layout out) {
  Twin y = output_twin(a.cpu.sizes(), a.cpu.dtype(), out);
  kernels::binary(y.cpu, a.cpu, b.cpu, op);
  kernels::binary(y.reference, a.reference, b.reference, op);
  check_close(y, bound_of(op, a.cpu.dtype()));
}

void check_binary() {
  for (int i = 0; i <= static_cast<int>(BinaryOp::gelu_grad); ++i) {
    const auto op = static_cast<BinaryOp>(i);
    for (DType dtype : kAllDTypes) {
      if (!takes(op, dtype)) continue;
      INFO(name(op), " ", name(dtype));
      for (Layout layout : kLayouts) {
        const Twin b =
            is_division(op) ? divisors({67, 9}, layout, dtype) : laid_out({67, 9}, layout, dtype);
        run_binary(op, random_twin({67, 9}, dtype), b, Layout::contiguous);
        run_binary(op, laid_out({67, 9}, layout, dtype), b, Layout::transposed);
      }
    }
  }
  for_layouts([](IntArrayRef sizes, Layout layout) {
    const Twin a = random_twin(sizes, kFloat32), b = laid_out(sizes, layout, kFloat32);
    run_binary(BinaryOp::mul, a, b, Layout::contiguous);
    run_binary(BinaryOp::sub, b, a, Layout::sliced);
  });
}

void check_compare() {
  for (int i = 0; i <= static_cast<int>(CompareOp::logical_xor); ++i) {
    const auto op = static_cast<CompareOp>(i);
    for (DType dtype : kAllDTypes) {
      INFO(name(op), " ", name(dtype));
      for (Layout layout : kLayouts) {
        // The first rows of a are equal to b's.
        const Twin b = laid_out({67, 9}, layout, dtype), a = random_twin({67, 9}, dtype);
        Tensor top = a.cpu.slice(0, 0, 33), reference_top = a.reference.slice(0, 0, 33);
        kernels::copy(top, b.cpu.slice(0, 0, 33));
        kernels::copy(reference_top, b.reference.slice(0, 0, 33));
        Twin out = output_twin({67, 9}, kBool);
        kernels::compare(out.cpu, a.cpu, b.cpu, op);
        kernels::compare(out.reference, a.reference, b.reference, op);
        check_close(out);
      }
    }
  }
}

void check_where() {
  for_layouts([](IntArrayRef sizes, Layout layout) {
    for (DType dtype : kAllDTypes) {
      const Twin condition = laid_out(sizes, layout, kBool), a = random_twin(sizes, dtype),
                 b = laid_out(sizes, layout, dtype);
      Twin y = output_twin(sizes, dtype);
      kernels::where(y.cpu, condition.cpu, a.cpu, b.cpu);
      kernels::where(y.reference, condition.reference, a.reference, b.reference);
      check_close(y);
    }
  });
}

void check_copy() {
  for (DType to : kAllDTypes) {
    for (DType from : kAllDTypes) {
      INFO(name(to), " from ", name(from));
      for (Layout layout : kLayouts) {
        const Twin x = laid_out({37, 5, 11}, layout, from);
        // Of floats only what every integer holds: else the conversion is undefined.
        const Twin safe =
            is_floating_point(from) ? map(x, [](const Tensor& t) { return t.abs(); }) : x;
        Twin y = output_twin({37, 5, 11}, to, Layout::transposed);
        kernels::copy(y.cpu, safe.cpu);
        kernels::copy(y.reference, safe.reference);
        check_close(y);
      }
    }
  }
  for_layouts([](IntArrayRef sizes, Layout layout) {
    const Twin x = laid_out(sizes, layout, kFloat32);
    for (Layout out : {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::offset}) {
      Twin y = output_twin(sizes, kFloat32, out);
      kernels::copy(y.cpu, x.cpu);
      kernels::copy(y.reference, x.reference);
      check_close(y);
    }
  });
}

void check_fill() {
  for_layouts([](IntArrayRef sizes, Layout layout) {
    if (layout == Layout::broadcast) return;  // outputs do not overlap themselves
    for (DType dtype : kAllDTypes) {
      Twin y = output_twin(sizes, dtype, layout);
      kernels::fill(y.cpu, 2.75);
      kernels::fill(y.reference, 2.75);
      check_close(y);
    }
  });
}

}  // namespace

std::vector<KernelCase> elementwise_cases() {
  return {{"unary", check_unary}, {"binary", check_binary}, {"compare", check_compare},
          {"where", check_where}, {"copy", check_copy},     {"fill", check_fill}};
}

TEST_CASE("elementwise kernels of the cpu agree with the reference") {
  for (const KernelCase& c : elementwise_cases()) {
    INFO(c.op);
    c.run();
  }
}

TEST_CASE("integer divisions throw before anything is written") {
  for (BinaryOp op :
       {BinaryOp::floor_divide, BinaryOp::trunc_divide, BinaryOp::remainder, BinaryOp::fmod}) {
    Tensor y = full({270000}, 7, kInt32);
    const Tensor a = full({270000}, 100, kInt32);
    Tensor b = full({270000}, 3, kInt32);
    b.data_ptr<int32_t>()[269999] = 0;
    CHECK_THROWS_AS(kernels::binary(y, a, b, op), Error);
    for (int64_t i : {0, 135000, 269999}) CHECK(y.data_ptr<int32_t>()[i] == 7);
  }
  Tensor y = full({3}, 7, kInt8);
  const Tensor a = full({3}, -128, kInt8), b = full({1}, -1, kInt8).expand({3});
  CHECK_THROWS_AS(kernels::binary(y, a, b, BinaryOp::floor_divide), Error);
  CHECK_THROWS_AS(kernels::binary(y, a, b, BinaryOp::trunc_divide), Error);
  CHECK(y.data_ptr<int8_t>()[0] == 7);
  kernels::binary(y, a, b, BinaryOp::remainder);  // but it divides without rest
  CHECK(y.data_ptr<int8_t>()[0] == 0);
}
