// Eigenvalues of general matrices: values and gradients of PyTorch 2.15.0+cu132, with L =
// torch.linalg, and
//   R = torch.tensor([[[1., 2, 0], [-3, 1, 1], [.5, 0, 2]], [[0, 1, 0], [0, 0, 1], [1, .25, 0]]],
//                    dtype=torch.float64)
//   A = torch.complex(wave(2,3,3) + 2*torch.eye(3), wave(2,3,3,k=.4))
#include <ambit/ambit.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

using Complex = std::complex<double>;

Tensor real_matrices(Device d) {
  return tensor(
      {{{1., 2., 0.}, {-3., 1., 1.}, {0.5, 0., 2.}}, {{0., 1., 0.}, {0., 0., 1.}, {1., 0.25, 0.}}},
      TensorOptions(kFloat64).device(d));
}
Tensor complex_matrices(Device d) {
  return complex(wave(d, {2, 3, 3}) + 2 * eye(3, TensorOptions(kFloat64).device(d)),
                 wave(d, {2, 3, 3}, 0.4));
}

// Check values [...,N], whose order is open, by that of their real and imaginary parts.
void check_in_order(const Tensor& values, const std::vector<Complex>& expected,
                    double tolerance = 6e-12) {
  REQUIRE(values.numel() == static_cast<int64_t>(expected.size()));
  const Tensor host = values.detach().cpu().to(kComplexDouble).contiguous();
  const int64_t n = values.size(-1);
  std::vector<Complex> got(host.data_ptr<Complex>(), host.data_ptr<Complex>() + host.numel());
  for (auto first = got.begin(); first != got.end(); first += n) {
    std::sort(first, first + n, [](const Complex& a, const Complex& b) {
      return std::abs(a.real() - b.real()) > 1e-9 ? a.real() < b.real() : a.imag() < b.imag();
    });
  }
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element ", i, ": ", got[i].real(), " ", got[i].imag());
    CHECK(std::abs(got[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])));
  }
}

// Check A V = V diag(L) and the lengths of V's columns. Both factors are exact for a matrix within
// p(n) epsilon ||A||, p(n) about n in practice; 8 for the constant.
void check_factors(const Tensor& A) {
  const auto [values, vectors] = linalg_eig(A);
  const DType dtype = complex_dtype(A.dtype());
  CHECK(values.dtype() == dtype);
  CHECK(vectors.dtype() == dtype);
  REQUIRE(vectors.sizes() == A.sizes());
  if (A.numel() == 0) return;
  const int64_t n = A.size(-1);
  const double epsilon = dtype == kComplexDouble
                             ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double bound = 8 * static_cast<double>(std::max<int64_t>(n, 4)) * epsilon;
  const Tensor a = A.to(dtype);
  const double size = std::max(1e-30, a.abs().max().item<double>()) * static_cast<double>(n);
  const Tensor difference = matmul(a, vectors) - vectors * values.unsqueeze(-2);
  CHECK(difference.abs().max().item<double>() <= bound * size);
  CHECK((square(vectors.abs()).sum(-2) - 1).abs().max().item<double>() <= bound);
  const Tensor sums = linalg_eigvals(A).sum(-1) - values.sum(-1);
  CHECK(sums.abs().max().item<double>() <= bound * size);
}

// sum(|L| (1 + Re L)), and sum(|V|^2 |L| wave(3,1))
Tensor loss_of_values(const Tensor& A) {
  const Tensor values = linalg_eigvals(A);
  return (values.abs() * (real(values) + 1)).sum();
}
Tensor loss_of_both(const Tensor& A) {
  const auto [values, vectors] = linalg_eig(A);
  return (square(vectors.abs()) * values.abs().unsqueeze(-2) * wave(A.device(), {3, 1})).sum();
}

Tensor as_parts(const Tensor& x) { return x.is_complex() ? view_as_real(x) : x; }

void check_gradient(Tensor (*loss)(const Tensor&), const Tensor& A, double value,
                    const std::vector<double>& gradient) {
  const Tensor x = A.clone().requires_grad_();
  const Tensor y = loss(x);
  // The eigenvectors' condition numbers, of up to 10, multiply the roundings.
  check_values(y.detach(), {}, {value}, 6e-11);
  y.backward();
  CHECK(x.grad().dtype() == A.dtype());
  check_values(as_parts(x.grad()), as_parts(A).sizes(), gradient, 6e-11);
}

}  // namespace

// L.eigvals(R), L.eigvals(A)
TEST_CASE("eigenvalues of general matrices are PyTorch's") {
  for_each_device([](Device d) {
    check_in_order(linalg_eigvals(real_matrices(d)), {{0.931441440165, -2.4801649034},
                                                      {0.931441440165, 2.4801649034},
                                                      {2.13711711967, 0},
                                                      {-0.541578186849, -0.793675498811},
                                                      {-0.541578186849, 0.793675498811},
                                                      {1.0831563737, 0}});
    check_in_order(std::get<0>(linalg_eig(real_matrices(d))), {{0.931441440165, -2.4801649034},
                                                               {0.931441440165, 2.4801649034},
                                                               {2.13711711967, 0},
                                                               {-0.541578186849, -0.793675498811},
                                                               {-0.541578186849, 0.793675498811},
                                                               {1.0831563737, 0}});
    check_in_order(linalg_eigvals(complex_matrices(d)), {{1.46598198054, -0.569524622038},
                                                         {2.03664545063, 1.64244926664},
                                                         {2.20109408111, -0.131725184986},
                                                         {1.35010668971, 0.684229889052},
                                                         {2.16219996454, 0.0786470912066},
                                                         {2.20546849635, -1.59473872814}});
  });
}

TEST_CASE("eigenvectors reproduce matrices of all sizes and kinds") {
  for_each_device([](Device d) {
    manual_seed(3);
    for (const DType dtype : {kFloat32, kFloat64, kComplexFloat, kComplexDouble}) {
      const TensorOptions options = TensorOptions(dtype).device(d);
      for (const Dims& sizes : std::vector<Dims>{
               {0, 0}, {2, 0, 0}, {0, 3, 3}, {1, 1}, {2, 2}, {3, 5, 5}, {2, 2, 8, 8}, {40, 40}}) {
        INFO(name(dtype), " ", str(IntArrayRef(sizes)));
        const Tensor x = randn(sizes, options);
        check_factors(x);
        check_factors(x + adjoint(x));
        check_factors(x * 1e12);
        check_factors(x * 0);
      }
      const Tensor defective =
          eye(4, options) * 2 + cat({zeros({4, 1}, options), eye(4, 3, options)}, 1);
      check_factors(defective);
      const Tensor q = std::get<0>(linalg_qr(randn({6, 6}, options)));
      const Tensor twice = tensor({1., 1., 2., 2., 3., 3.}, d).to(dtype);
      check_factors(matmul(q * twice, adjoint(q)));
      check_factors(randn({3, 3}, options).t());  // strided
    }
  });
}

TEST_CASE("eigenvalues of float16 and bfloat16 are complex64") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat16, kBFloat16}) {
      const Tensor x = tensor({{2., 1.}, {0., 3.}}, TensorOptions(dtype).device(d));
      x.requires_grad_();
      const Tensor values = linalg_eigvals(x);
      CHECK(values.dtype() == kComplexFloat);
      check_in_order(values, {2, 3}, 1e-5);  // roundings of float32
      real(values).sum().backward();
      CHECK(x.grad().dtype() == dtype);
      check_values(x.grad(), {2, 2}, {1, 0, 0, 1}, 1e-3);
    }
  });
}

TEST_CASE("eig has PyTorch's gradients") {
  for_each_device([](Device d) {
    check_gradient(loss_of_values, real_matrices(d), 20.075660976,
                   {3.33629271866, 2.22004243867, -0.153325624505, -1.35621032182, 3.33629271866,
                    0.371453911899, 0.742907823798, -0.306651249009, 5.25836494104, 1.35864049105,
                    0.990620922897, 0.595895787046, 0.595895787046, 1.60629572178, 1.13959486966,
                    0.990620922897, 0.595895787046, 1.60629572178});
    check_gradient(
        loss_of_both, real_matrices(d), 5.69474594919,
        {0.136891046924, 0.0351535155367, -0.0277342847989, -0.580225123554, 0.0974104535351,
         -0.137660647924, 0.473119434847, -0.102157014439, 0.956348563391, -0.1448246687,
         0.109901587473, 0.0568636524696, 0.00143911524944, 0.0894032087411, 0.323505363868,
         1.18881691994, 0.062567917719, 0.0677708388664});
    check_gradient(
        loss_of_values, complex_matrices(d), 38.0049510342,
        {3.51467061323,     0.35753158899,   0.455768537201, 1.28576010137,  0.97329891573,
         0.214345009405,    -0.645101477168, 1.72837164095,  5.23389737748,  -0.214918871414,
         0.39158736297,     0.572787052111,  0.460251025199, 1.85695233135,  -0.861790344595,
         -0.607356096947,   5.50335017301,   0.679419142381, 4.42454242998,  -0.904000696079,
         -0.00804557393154, -1.22042510949,  1.23752122044,  0.28279267986,  0.174011148811,
         -2.11772394878,    4.78751381389,   0.195873974979, 0.351592824635, 0.159680731184,
         1.14842406462,     -2.23344943136,  -1.03837024364, 0.802878795156, 5.04072057966,
         0.00721198743076});
    check_gradient(
        loss_of_both, complex_matrices(d), 6.92834089076,
        {-0.22183993353,   -0.063366104296, 1.0466002876,    -0.136538791454, -0.979143179325,
         -0.0864009265399, -0.133176505988, 0.560122988082,  1.00999194542,   -0.388008054222,
         -0.0304560512203, 0.432433939052,  -0.427164396507, 0.888549756405,  -0.121414305181,
         -0.955247960822,  0.662659835503,  0.661191788706,  0.0266661160356, -0.109525845068,
         0.781146707578,   0.7148144389,    -0.690419425714, -0.121633869834, 0.15429736418,
         -0.808865918542,  0.78226150753,   0.577712391389,  0.0679346324585, -0.281499250356,
         -0.108625196778,  -0.967948193331, -0.391332581183, 1.52976179008,   0.586232103548,
         -0.573900405126});
  });
}

TEST_CASE("eig has correct first and second gradients") {
  const auto of_real = [](const std::vector<Tensor>& in) {
    return loss_of_values(in[0]) + loss_of_both(in[0]);
  };
  const auto of_parts = [](const std::vector<Tensor>& in) {
    const Tensor A = view_as_complex(in[0]);
    return loss_of_values(A) + loss_of_both(A);
  };
  gradcheck(of_real, {real_matrices("cpu")});
  gradgradcheck(of_real, {real_matrices("cpu")});
  const Tensor parts = view_as_real(complex_matrices("cpu")).clone();
  gradcheck(of_parts, {parts});
  gradgradcheck(of_parts, {parts});
}

TEST_CASE("eig refuses numbers that are not finite, and losses that depend on phases") {
  for_each_device([](Device d) {
    const Tensor batch = real_matrices(d);
    batch[1][0][2].fill_(INFINITY);
    CHECK_THROWS_WITH_AS(
        linalg_eig(batch),
        "linalg_eig: expected finite numbers for which LAPACK converges, got its code 1 in "
        "matrix 1 of the batch",
        LinAlgError);
    CHECK_THROWS_AS(linalg_eigvals(complex_matrices(d) * NAN), LinAlgError);
    for (const Tensor& A : {real_matrices(d), complex_matrices(d)}) {
      const Tensor x = A.clone().requires_grad_();
      const Tensor imaginary = imag(std::get<1>(linalg_eig(x))).sum();
      CHECK_THROWS_AS(imaginary.backward(), AutogradError);
    }
  });
}

TEST_CASE("eig of meta tensors has shapes and dtypes") {
  const Tensor x = empty({2, 3, 3}, TensorOptions(kFloat32).device(kMeta));
  const auto [values, vectors] = linalg_eig(x);
  CHECK(values.sizes() == IntArrayRef{2, 3});
  CHECK(vectors.sizes() == x.sizes());
  CHECK(vectors.dtype() == kComplexFloat);
}

TEST_CASE("eig has variants with given outputs and in linalg::") {
  const Tensor x = real_matrices("cpu");
  Tensor values = empty({0}, kComplexDouble), vectors = empty({0}, kComplexDouble);
  linalg_eig_out(values, vectors, x);
  CHECK(vectors.equal(std::get<1>(linalg::eig(x))));
  Tensor only = empty({0}, kComplexDouble);
  linalg_eigvals_out(only, x);
  CHECK(only.equal(linalg::eigvals(x)));
}
