// Matrix products.
#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include "cases.h"
#include "sum_bound.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Product {
  int64_t B, M, N, K;
};

void check_matmul(Trial& t, DType dtype, const Product& p, Layout a_layout, Layout b_layout) {
  t.begin();
  Operand& y = t.output("y", dtype, {p.B, p.M, p.N});
  Operand& a = t.input("a", dtype, {p.B, p.M, p.K}, a_layout);
  Operand& b = t.input("b", dtype, {p.B, p.K, p.N}, b_layout);
  t.run([&](Side s) { kernels::matmul(y[s], a[s], b[s]); });
  t.expect(y, sum_bound(p.K, dtype));
}

// Check kernel(y, x, w, b), with and without a bias.
template <class Kernel>
void check_layer(Trial& t, DType dtype, const Product& p, Layout layout, const Bound& bound,
                 const Kernel& kernel) {
  for (bool has_bias : {false, true}) {
    t.begin();
    Operand& y = t.output("y", dtype, {p.M, p.N});
    Operand& x = t.input("x", dtype, {p.M, p.K}, layout);
    Operand& w = t.input("w", dtype, {p.N, p.K}, layout);
    Operand& b = has_bias ? t.input("b", dtype, {p.N}) : t.absent();
    t.run([&](Side s) { kernel(y[s], x[s], w[s], b[s]); });
    t.expect(y, bound);
  }
}

void check_linear(Trial& t, DType dtype, const Product& p, Layout layout) {
  check_layer(t, dtype, p, layout, sum_bound(p.K + 1, dtype), kernels::linear);
}

void check_linear_map(Trial& t, DType dtype, const Product& p, Layout layout, UnaryOp op) {
  check_layer(t, dtype, p, layout, map_bound(p.K + 1, dtype),
              [op](Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b) {
                kernels::linear_map(y, x, w, b, op);
              });
}

void check_linear_int8(Trial& t, DType dtype, const Product& p) {
  for (bool has_bias : {false, true}) {
    t.begin();
    Operand& y = t.output("y", dtype, {p.M, p.N});
    Operand& x = t.input("x", dtype, {p.M, p.K});
    Operand& w = t.input("w", kInt8, {p.N, p.K});
    Operand& scale = t.input("scale", dtype, {p.N});
    Operand& b = has_bias ? t.input("b", dtype, {p.N}) : t.absent();
    t.run([&](Side s) { kernels::linear_int8(y[s], x[s], w[s], scale[s], b[s]); });
    // |sum * s * scale| <= K * 127 * 128 * (3 / 127) * 3
    t.expect(y, {1, 4 * 1152 * static_cast<double>(p.K) * epsilon(dtype) / 2,
                 "an exact sum of products, then four roundings of numbers below 1152 K"});
  }
}

void add_cases_of(Cases& cases, DType dtype) {
  const auto add = [&](const char* op, const char* form, const std::function<void(Trial&)>& check) {
    const std::string path = fmt::format("{}/{}/{}", op, name(dtype), form);
    cases.push_back(kernel_case(path, check));
    if (is_floating_point(dtype)) cases.push_back(deterministic_case(path, check));
  };
  constexpr Layout kPlain = Layout::contiguous;
  for (Layout layout : kLayouts) {
    add("matmul", name(layout), [=](Trial& t) {
      check_matmul(t, dtype, {3, 7, 31, 5}, layout, kPlain);
      check_matmul(t, dtype, {3, 7, 31, 5}, kPlain, layout);
      check_matmul(t, dtype, {2, 65, 97, 300}, layout, layout);
    });
    add("linear", name(layout), [=](Trial& t) {
      check_linear(t, dtype, {1, 4, 120, 400}, layout);
    });
  }
  add("matmul", "odd", [=](Trial& t) {
    for (int64_t n : {1, 3, 7, 17, 31, 33}) check_matmul(t, dtype, {1, n, n, n}, kPlain, kPlain);
    check_matmul(t, dtype, {1, 1, 600, 9}, kPlain, kPlain);
    check_matmul(t, dtype, {1, 600, 1, 9}, kPlain, kPlain);
  });
  add("matmul", "empty", [=](Trial& t) {
    for (const Product& p :
         {Product{0, 2, 3, 4}, Product{2, 0, 3, 4}, Product{2, 3, 0, 4}, Product{2, 3, 4, 0}}) {
      check_matmul(t, dtype, p, kPlain, kPlain);
    }
  });
  add("matmul", "large", [=](Trial& t) {
    check_matmul(t, dtype, {1, 200, 300, 200}, kPlain, kPlain);
  });
  if (is_floating_point(dtype)) {
    for (const UnaryOp op : kActivations) {
      add("linear_map", name(op), [=](Trial& t) {
        for (const Layout layout : kLayouts) check_linear_map(t, dtype, {1, 5, 9, 7}, layout, op);
        check_linear_map(t, dtype, {1, 70, 130, 300}, kPlain, op);
        check_linear_map(t, dtype, {1, 0, 3, 4}, kPlain, op);
        check_linear_map(t, dtype, {1, 3, 4, 0}, kPlain, op);
      });
    }
  }
  add("linear", "odd", [=](Trial& t) {
    for (int64_t n : {1, 3, 7, 17, 31, 33}) check_linear(t, dtype, {1, n, n, n}, kPlain);
  });
  add("linear", "empty", [=](Trial& t) {
    check_linear(t, dtype, {1, 0, 3, 4}, kPlain);
    check_linear(t, dtype, {1, 3, 4, 0}, kPlain);
  });
}

}  // namespace

void add_product_cases(Cases& cases) {
  for (DType dtype : dtypes::with_reduced_floating(dtypes::kNumbers)) add_cases_of(cases, dtype);
  for (DType dtype : dtypes::with_reduced_floating({kFloat32})) {
    const auto add = [&](const char* form, const std::function<void(Trial&)>& check) {
      const std::string path = fmt::format("linear_int8/{}/{}", name(dtype), form);
      cases.push_back(kernel_case(path, check));
      cases.push_back(deterministic_case(path, check));
    };
    add("odd", [=](Trial& t) {
      for (int64_t n : {1, 3, 7, 17, 31, 33}) check_linear_int8(t, dtype, {1, n, n, n});
    });
    add("one_row", [=](Trial& t) { check_linear_int8(t, dtype, {1, 1, 130, 400}); });
    add("large", [=](Trial& t) { check_linear_int8(t, dtype, {1, 70, 130, 2000}); });
    add("empty", [=](Trial& t) {
      check_linear_int8(t, dtype, {1, 0, 3, 4});
      check_linear_int8(t, dtype, {1, 3, 4, 0});
    });
  }
  // Libraries use other algorithms for large matrices.
  for (Layout layout : kLayouts) {
    const auto large = [=](Trial& t) {
      check_matmul(t, kFloat32, {2, 160, 170, 180}, layout, layout);
    };
    const std::string path = fmt::format("matmul/float32/large_{}", name(layout));
    cases.push_back(kernel_case(path, large));
    cases.push_back(deterministic_case(path, large));
  }
  cases.push_back(kernel_case("linear/float32/large", [](Trial& t) {
    check_linear(t, kFloat32, {1, 160, 170, 180}, Layout::contiguous);
  }));
}

}  // namespace conformance
