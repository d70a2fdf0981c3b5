// Products of matrices: values and shapes in all cases of numpy's @, errors, gradients.
#include <ambit/error.h>
#include <ambit/memory.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/parallel.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("matmul accepts vectors, matrices and batches that broadcast") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 3}), b = wave(d, {3, 4}, 0.3);
    // wave(2, 3) @ wave(3, 4, k=0.3)
    check_values(a.matmul(b), {2, 4},
                 {1.26607107327, 1.06376530088, 0.766436542325, 0.400644290084, 0.0752808946219,
                  0.439327116938, 0.764129556325, 1.02067457822});
    // wave(2, 3, 4) @ wave(4, 2, k=0.3)
    check_values(matmul(wave(d, {2, 3, 4}), wave(d, {4, 2}, 0.3)), {2, 3, 2},
                 {2.12286473059, 2.23274462596, -1.96716894483, -1.89323693527, 1.58415632479,
                  1.33495564722, -1.01808601582, -0.622413133956, 0.334370452871, -0.162052527341,
                  0.387983394313, 0.927792157201});
    // wave(2, 1, 2, 3) @ wave(3, 3, 2, k=0.3)
    check_values(matmul(wave(d, {2, 1, 2, 3}), wave(d, {3, 3, 2}, 0.3)), {2, 3, 2, 2},
                 {1.28223033393,  1.48761421529,   -0.137795141246, 0.167596531842, 0.574212001827,
                  0.119875226316, 1.0174040261,    0.943632149909,  -1.54315467316, -1.54208602033,
                  -0.32451751051, -0.596386934001, -1.14309965335,  -1.65683512778, 1.29197395557,
                  1.5052969886,   -1.60147692058,  -1.07265325643,  0.599594743832, 0.13941748628,
                  1.87081747527,  2.14425326126,   -1.5644323191,   -1.56864887844});
    // wave(3) @ wave(2, 3, 4); wave(2, 3, 4) @ wave(4)
    check_values(matmul(wave(d, {3}), wave(d, {2, 3, 4})), {2, 4},
                 {-0.406276246497, -0.209411505972, 0.0859427379568, 0.340876769332, 0.345390139126,
                  0.435226125547, 0.320368464528, 0.0548365087463});
    check_values(matmul(wave(d, {2, 3, 4}), wave(d, {4})), {2, 3},
                 {2.13125800955, -1.93293716676, 1.5112551537, -0.914939569783, 0.212897852317,
                  0.513745344315});
  });
}

TEST_CASE("matmul accepts any strides") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {4, 3, 2, 5}), b = wave(d, {5, 3, 4, 2}, 0.3);
    const Tensor at = a.permute({1, 0, 3, 2}), bt = b.permute({1, 2, 3, 0});
    // The expected result is that of contiguous operands, except for rounding.
    CHECK(matmul(at, bt).allclose(matmul(at.contiguous(), bt.contiguous()), 1e-14, 1e-14));
    const Tensor row = wave(d, {5, 3}).t();
    CHECK(matmul(row, row.t()).allclose(matmul(row.contiguous(), row.t().contiguous()), 1e-14));
    const Tensor repeated = wave(d, {1, 3}).expand({4, 3});
    CHECK(matmul(repeated, row).select(0, 3).allclose(matmul(repeated.select(0, 0), row), 1e-14));
    const Tensor batches = wave(d, {2, 1, 2, 3}).expand({2, 4, 2, 3});
    CHECK(matmul(batches, row).sizes() == IntArrayRef{2, 4, 2, 5});
  });
}

TEST_CASE("mm, bmm, mv, dot and addmm equal matmul for one kind of shapes each") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 3}), b = wave(d, {3, 4}, 0.3), v = wave(d, {3});
    CHECK(a.mm(b).equal(a.matmul(b)));
    CHECK(a.mv(v).equal(a.matmul(v)));
    CHECK(v.dot(v).allclose((v * v).sum()));
    const Tensor batch = wave(d, {2, 2, 3}), other = wave(d, {2, 3, 2});
    CHECK(batch.bmm(other).select(0, 1).allclose(batch[1].mm(other[1])));
    // torch.addmm(wave(4), wave(2, 3), wave(3, 4, k=0.3), beta=0.5, alpha=2)
    check_values(addmm(wave(d, {4}), a, b, 0.5, 2), {2, 4},
                 {2.53214214654, 2.44963944538, 2.02559794964, 1.23289326349, 0.150561789244,
                  1.2007630775, 2.02098397764, 2.47295383975});
    const Tensor nan = full({}, std::numeric_limits<double>::quiet_NaN(), d).to(kFloat64);
    CHECK(addmm(nan, a, b, 0).equal(a.mm(b)));
    nan.requires_grad_();
    addmm(nan, a, b, 0).sum().backward();
    CHECK(nan.grad().equal(zeros_like(nan)));
  });
}

TEST_CASE("linear is input times transposed weight, plus bias") {
  for_each_device([](Device d) {
    const Tensor w = wave(d, {4, 3}, 0.3), b = wave(d, {4}, 1.1);
    // F.linear(wave(2, 2, 3), wave(4, 3, k=0.3), wave(4, k=1.1))
    check_values(linear(wave(d, {2, 2, 3}), w, b), {2, 2, 4},
                 {0.746806117015, 2.47462458965, 2.0302261545, -0.222284140628, -0.099071341945,
                  1.52970002388, 1.70135455475, 0.313780695788, -0.646774554898, -1.33689093781,
                  -1.31474526578, -0.569303770003, 0.752114571134, 2.50240818894, 2.05945882492,
                  -0.213725101245});
    CHECK(linear(wave(d, {3}), w).sizes() == IntArrayRef{4});
    CHECK(linear(wave(d, {0, 3}), w, b).sizes() == IntArrayRef{0, 4});
    const Tensor wide = wave(d, {3, 5}).t();
    CHECK(linear(wide, w, b).allclose(linear(wide.contiguous(), w, b), 1e-14));
  });
}

TEST_CASE("products of integers are exact modulo the range") {
  for_each_device([](Device d) {
    const Tensor a = tensor({{1, 2}, {3, 4}}, d), b = tensor({{5, 6}, {7, 8}}, d);
    check_values(a.matmul(b), {2, 2}, {19, 22, 43, 50});
    CHECK(a.matmul(b).dtype() == kInt64);
    CHECK(full({1}, 100, d).to(kInt8).dot(full({1}, 3, d).to(kInt8)).item<int64_t>() == 44);
  });
}

namespace {

/// Return tensors with the values of t: row-major, transposed, and with other strides.
std::vector<Tensor> layouts(const Tensor& t) {
  return {t, t.t().contiguous().t(), stack({t, zeros_like(t)}, 2).select(2, 0)};
}

// Whole numbers of at most 4, whose sums of up to 6200 products are exact in float32.
void check_large_product(Device d, int64_t m, int64_t n, int64_t k) {
  INFO(m, " x ", n, " x ", k);
  const Tensor a = (arange(m * k).mul(7).remainder(9) - 4).reshape({m, k}).to(d),
               b = (arange(k * n).mul(5).remainder(7) - 3).reshape({k, n}).to(d),
               bias = arange(1, 2 * n + 1).to(d).slice(0, 0, 2 * n, 2);
  const Tensor expected = matmul(a, b);
  for (const DType dtype : {kFloat32, kFloat64}) {
    for (const Tensor& x : layouts(a.to(dtype))) {
      for (const Tensor& w : layouts(b.to(dtype))) {
        CHECK(equal(matmul(x, w).to(kInt64), expected));
        CHECK(equal(linear(x, w.t(), bias.to(dtype)).to(kInt64), expected + bias));
      }
    }
  }
}

}  // namespace

TEST_CASE("large products of whole numbers are exact, for any strides") {
  // Rows and columns that fill tiles, panels and blocks, or not; few rows; several blocks along the
  // inner dim.
  for_each_device([](Device d) {
    check_large_product(d, 200, 70, 400);
    check_large_product(d, 33, 517, 300);
    check_large_product(d, 97, 66, 801);
    check_large_product(d, 97, 1, 801);
    check_large_product(d, 1, 66, 801);
    check_large_product(d, 1, 1, 801);
  });
  check_large_product(kCPU, 16, 4200, 70);    // more columns than are packed at once,
  check_large_product(kCPU, 100, 180, 6200);  // and a longer inner dim
}

TEST_CASE("products are equal bit for bit with any number of threads") {
  const int before = get_num_threads();
  std::vector<Tensor> results;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (const auto& [m, n, k] : {std::tuple{300, 200, 500}, {32, 600, 500}, {5, 3000, 64}}) {
      const Tensor a = wave(kCPU, {m, k}).to(kFloat32), b = wave(kCPU, {n, k}, 0.3).to(kFloat32);
      for (const Tensor& w : layouts(b)) results.push_back(linear(a, w, b.select(1, 0)));
      results.push_back(bmm(stack({a, -a}, 0), stack({b.t(), b.t()}, 0)));
    }
  }
  set_num_threads(before);
  const size_t half = results.size() / 2;
  for (size_t i = 0; i < half; ++i) CHECK(equal(results[i], results[half + i]));
}

TEST_CASE("long sums of few products allocate little memory") {
  const Tensor x = ones({int64_t{1} << 19, 2}, kFloat64);
  const size_t peak = memory_stats(kCPU).peak_in_use, before = memory_stats(kCPU).in_use;
  CHECK((mm(x.t(), x) == 1 << 19).all().item<bool>());
  // A slab has 2^20 numbers, 8 MiB; all of x, padded to the width of a tile, would be 128 MiB.
  CHECK(memory_stats(kCPU).peak_in_use <= std::max(peak, before + (size_t{9} << 20)));
}

TEST_CASE("products with an empty inner dim are zero") {
  for_each_device([](Device d) {
    check_values(matmul(zeros({2, 0}, d), zeros({0, 3}, d)), {2, 3}, {0, 0, 0, 0, 0, 0});
    CHECK(matmul(zeros({0, 2, 3}, d), zeros({3, 4}, d)).sizes() == IntArrayRef{0, 2, 4});
    CHECK(matmul(zeros({0, 2, 3}, d), zeros({0, 3, 4}, d)).sizes() == IntArrayRef{0, 2, 4});
    const Tensor x = zeros({2, 0}, d).requires_grad_(), w = zeros({3, 0}, d).requires_grad_();
    linear(x, w).sum().backward();
    CHECK(x.grad().sizes() == IntArrayRef{2, 0});
    CHECK(w.grad().sizes() == IntArrayRef{3, 0});
  });
}

TEST_CASE("products refuse operands of invalid shapes, and say why") {
  const Tensor x = ones({2, 3});
  CHECK_THROWS_WITH_AS(
      x.matmul(x), "matmul: expected inner sizes that agree, got [2, 3] and [2, 3]", ShapeError);
  CHECK_THROWS_WITH_AS(x.matmul(ones({3, 2}, kFloat64)),
                       "matmul: expected both of one dtype, got float32 and float64", DTypeError);
  CHECK_THROWS_AS(ones({2}, kBool).dot(ones({2}, kBool)), DTypeError);
  CHECK_THROWS_WITH_AS(x.mm(ones({3})), "mm: expected mat2 to be a matrix, got shape [3]",
                       ShapeError);
  CHECK_THROWS_AS(addmm(ones({5}), x, ones({3, 4})), ShapeError);
  CHECK_THROWS_AS(addmm(ones({3}, kInt64), ones({2, 3}, kInt64), ones({3, 3}, kInt64), 1e30),
                  DTypeError);
  CHECK_THROWS_WITH_AS(linear(x, ones({4, 2})),
                       "linear: expected input of shape [..., 2], got [2, 3]", ShapeError);
  CHECK_THROWS_WITH_AS(linear(x, ones({4, 3}), ones({3})),
                       "linear: expected bias of shape [4], got [3]", ShapeError);
}

TEST_CASE("products of every shape have correct first and second gradients") {
  for_each_device([](Device d) {
    const TensorFn product = [](const std::vector<Tensor>& in) { return matmul(in[0], in[1]); };
    const std::vector<std::vector<std::vector<int64_t>>> shapes{{{3}, {3}},
                                                                {{2, 3}, {3}},
                                                                {{3}, {3, 2}},
                                                                {{2, 3}, {3, 2}},
                                                                {{2, 2, 3}, {3}},
                                                                {{2, 2, 3}, {3, 2}},
                                                                {{3}, {2, 3, 2}},
                                                                {{2, 3}, {2, 3, 2}},
                                                                {{2, 2, 3}, {2, 3, 1}},
                                                                {{2, 1, 1, 3}, {2, 3, 2}}};
    for (const auto& s : shapes) {
      INFO(str(IntArrayRef(s[0])), " @ ", str(IntArrayRef(s[1])));
      gradcheck(product, {wave(d, s[0]), wave(d, s[1], 0.3)});
      gradgradcheck(product, {wave(d, s[0]), wave(d, s[1], 0.3)});
    }
  });
}

TEST_CASE("linear and addmm have correct first and second gradients") {
  for_each_device([](Device d) {
    const TensorFn layer = [](const std::vector<Tensor>& in) {
      return linear(in[0], in[1], in.size() > 2 ? in[2] : Tensor());
    };
    const Tensor w = wave(d, {2, 3}, 0.3), b = wave(d, {2}, 1.1);
    for (const Tensor& x : {wave(d, {3}), wave(d, {4, 3}), wave(d, {2, 2, 3})}) {
      gradcheck(layer, {x, w, b});
      gradgradcheck(layer, {x, w, b});
    }
    gradcheck(layer, {wave(d, {4, 3}), w});
    const TensorFn sum = [](const std::vector<Tensor>& in) {
      return addmm(in[0], in[1], in[2], 0.5, 2);
    };
    gradcheck(sum, {wave(d, {2}), wave(d, {3, 2}), wave(d, {2, 2}, 0.3)});
    gradgradcheck(sum, {wave(d, {1, 2}), wave(d, {3, 2}), wave(d, {2, 2}, 0.3)});
  });
}
