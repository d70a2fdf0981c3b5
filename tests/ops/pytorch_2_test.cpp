// Functions that PyTorch added in its versions 2.0 to 2.15: values of 2.15. pytorch_2_calls.cpp has
// their rows of the tables.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <sstream>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

static_assert(std::is_same_v<ambit::optional<int>, std::optional<int>>);
static_assert(std::is_same_v<decltype(ambit::nullopt), decltype(std::nullopt)>);

// x = torch.tensor([[[1., 0, 3], [0, 0, 0]]]); torch.any(x, (0, 2)) and so on.
TEST_CASE("any, all and squeeze accept several dims") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{{1., 0., 3.}, {0., 0., 0.}}}, d);
    check_values(any(x, {0, 2}), {2}, {1, 0});
    check_values(all(x, {0, 2}, true), {1, 2, 1}, {0, 0});
    check_values(x.any(nullopt, true), {1, 1, 1}, {1});
    check_values(x.all(OptionalIntArrayRef()), {}, {0});
    CHECK(any(x, {0, 2}).dtype() == kBool);
    // An empty list reduces nothing.
    check_values(any(x, IntArrayRef()), {1, 2, 3}, {1, 0, 1, 0, 0, 0});
    const Tensor bytes = tensor({2, 0, 3}, d).to(kUInt8);
    check_values(all(bytes, IntArrayRef()), {3}, {1, 0, 1});
    CHECK(all(bytes, IntArrayRef()).dtype() == kUInt8);
    check_values(any(tensor(3., d), IntArrayRef{0}), {}, {1});
    const Tensor boxed = arange(6, d).view({1, 2, 1, 3, 1});
    CHECK(squeeze(boxed, {0, -1, 1}).sizes() == IntArrayRef{2, 1, 3});
    CHECK(boxed.squeeze(IntArrayRef()).sizes() == boxed.sizes());
    CHECK(squeeze(tensor(1., d), IntArrayRef{-1}).dim() == 0);
    const Tensor y = boxed.clone();
    CHECK(y.squeeze_({0, 2}).is_same(y));
    CHECK(y.sizes() == IntArrayRef{2, 3, 1});
  });
  gradcheck(
      [](const std::vector<Tensor>& in) {
        return squeeze(in[0], {0, 2});
      },
      {wave(kCPU, {1, 3, 1})});
}

// w = wave(3, 4); torch.var(w, 0, correction=1.5) and so on.
TEST_CASE("the correction of var and std is a real number") {
  for_each_device([](Device d) {
    const Tensor w = wave(d, {3, 4});
    check_values(var(w, {0}, Scalar(1.5)), {4},
                 {0.320969543161, 0.337508884662, 1.30954103725, 1.62342875131});
    check_values(ambit::std(w, {0, 1}, Scalar(0.5)), {}, {0.702192876768});
    check_values(ambit::std(w, {0}, Scalar(3.5)), {4}, {INFINITY, INFINITY, INFINITY, INFINITY});
    const auto [variance, mean] = var_mean(w, {1}, Scalar(2.5), true);
    check_values(variance, {3, 1}, {0.385099563106, 0.724042300925, 1.02753428161});
    check_values(mean, {3, 1}, {0.623219195969, -0.467455865643, 0.257675523802});
    check_values(w.std({1}, Scalar(-1)), {3}, {0.339896850429, 0.466060822509, 0.55521192754});
  });
  gradcheck([](const std::vector<Tensor>& in) { return var(in[0], {0}, Scalar(0.5)); },
            {wave(kCPU, {3, 2})});
}

TEST_CASE("linspace and logspace accept tensors as ends") {
  for_each_device([](Device d) {
    const Tensor one = tensor(1., d), two = tensor(2, d);
    check_values(linspace(one, two, 5), {5}, {1, 1.25, 1.5, 1.75, 2});
    const Tensor whole = linspace(two - 1, 7, 4, kInt32);
    CHECK(whole.dtype() == kInt32);
    check_values(whole, {4}, {1, 3, 5, 7});
    // Powers of 10 with exponents that are multiples of 1/2, rounded to float32: the error is half
    // a unit in the last place, 2^-24.
    check_values(logspace(0, two, 5), {5}, {1, 3.16227766017, 10, 31.6227766017, 100}, 0x1p-24);
    check_values(logspace(one - 1, two + 1, 4, 2), {4}, {1, 2, 4, 8});
    Tensor out = empty({0}, kFloat64);
    check_values(linspace_out(out, one, 3, 3), {3}, {1, 2, 3});
    check_values(logspace_out(out, one, two, 2, 3), {2}, {3, 9});
    CHECK_FALSE(linspace(one.requires_grad_(), 2, 3).requires_grad());
  });
}

// h = wave(2, 3).half(); h.float() @ h.float().T and so on: PyTorch 2.15 has these functions only
// on CUDA.
TEST_CASE("products of float16 and bfloat16 matrices have float32 results without rounding") {
  for_each_device([](Device d) {
    const Tensor h = wave(d, {2, 3}).to(kFloat16), t = h.t();
    // Sums of 3 exact products of magnitude 1 in float32: 3 roundings of 2^-24.
    const double tolerance = 3 * 0x1p-24;
    const std::vector<double> square{1.38570904732, -0.12996172905, -0.12996172905, 0.98053508997};
    CHECK(mm(h, t, kFloat32).dtype() == kFloat32);
    check_values(mm(h, t, kFloat32), {2, 2}, square, tolerance);
    check_values(bmm(h.unsqueeze(0), t.unsqueeze(0), kFloat32)[0], {2, 2}, square, tolerance);
    const std::vector<double> sums{2.77141809463, 0.0620980262756, 0.171717166901, 2.12855052948};
    const Tensor self = h.narrow(1, 0, 2);
    for (const DType dtype : {kFloat16, kFloat32}) {
      check_values(addmm(self.to(dtype), h, t, kFloat32, 0.5, 2), {2, 2}, sums, 2 * tolerance);
      check_values(
          baddbmm(self.to(dtype).unsqueeze(0), h.unsqueeze(0), t.unsqueeze(0), kFloat32, 0.5, 2)[0],
          {2, 2}, sums, 2 * tolerance);
    }
    CHECK(mm(h, t, kFloat16).equal(mm(h, t)));
    const Tensor leaf = h.detach().requires_grad_();
    mm(leaf, t, kFloat32).sum().backward();
    CHECK(leaf.grad().dtype() == kFloat16);
    Tensor out = empty({2, 2}, kFloat32).to(d);
    check_values(mm_out(out, h, t, kFloat32), {2, 2}, square, tolerance);
  });
}

TEST_CASE("pad_sequence pads on either side") {
  for_each_device([](Device d) {
    const std::vector<Tensor> list{tensor({1., 2.}, d), tensor({3.}, d)};
    check_values(nn::utils::rnn::pad_sequence(list, true, 9, "left"), {2, 2}, {1, 2, 9, 3});
    check_values(nn::utils::rnn::pad_sequence(list, false, 9, "right"), {2, 2}, {1, 3, 2, 9});
  });
  CHECK_THROWS_WITH_AS(nn::utils::rnn::pad_sequence({ones({1})}, true, 9, "up"),
                       "pad_sequence: expected padding_side left or right, got \"up\"", Error);
}

TEST_CASE("empty_permuted has the strides of its layout") {
  for_each_device([](Device d) {
    CHECK(empty_permuted({2, 3, 4}, {1, 2, 0}, d).strides() == IntArrayRef{1, 8, 2});
    CHECK(empty_permuted({2, 0, 3}, {2, 0, 1}, d).strides() == IntArrayRef{1, 1, 2});
    CHECK(empty_permuted({}, {}, d).dim() == 0);
  });
  CHECK_THROWS_AS(empty_permuted({2, 3}, {-1, 0}), IndexError);
  Tensor out = empty({0});
  CHECK(empty_permuted_out(out, {2, 3}, {1, 0}).sizes() == IntArrayRef{2, 3});
}

TEST_CASE("random tensors like another use the given generator") {
  for_each_device([](Device d) {
    const Tensor like = empty({2, 3}, TensorOptions(kFloat64).device(d));
    const auto seeded = [d] { return std::optional<Generator>(Generator(d, 7)); };
    CHECK(rand_like(like, seeded()).equal(rand({2, 3}, seeded(), like.options())));
    CHECK(randn_like(like, seeded()).equal(randn({2, 3}, seeded(), like.options())));
    const Tensor want = randint(2, 9, {2, 3}, seeded(), like.options());
    CHECK(randint_like(like, 2, 9, seeded()).equal(want));
    const Tensor below = randint(9, {2, 3}, seeded(), like.options());
    CHECK(randint_like(like, 9, seeded()).equal(below));
    CHECK(randint_like(like, tensor(9), seeded()).equal(below));
    CHECK(randint_like(like, tensor(1), kInt32).equal(zeros({2, 3}, dtype(kInt32).device(d))));
  });
}

// torch.nonzero_static(torch.tensor([[1, 0], [0, 2]]), size=3) and so on.
TEST_CASE("nonzero_static has the given number of rows") {
  for_each_device([](Device d) {
    check_values(nonzero_static(tensor({{1, 0}, {0, 2}}, d), 3), {3, 2}, {0, 0, 1, 1, -1, -1});
    check_values(tensor({{1, 0}, {3, 2}}, d).nonzero_static(1, 7), {1, 2}, {0, 0});
    CHECK(nonzero_static(tensor(4, d), 2).sizes() == IntArrayRef{2, 0});
    Tensor out = empty({0}, dtype(kInt64).device(d));
    check_values(nonzero_static_out(out, tensor({0, 5}, d), 2, 9), {2, 1}, {1, 9});
  });
}

// a = torch.tensor([[1.5, -2., 3.25], [0., 7., 1e10]]); torch.hash_tensor(a).view(torch.int64) and
// so on.
TEST_CASE("hash_tensor is the xor of the elements' bits") {
  for_each_device([](Device d) {
    const Tensor a = tensor({{1.5, -2., 3.25}, {0., 7., 1e10}}, d);
    const auto check = [](const Tensor& got, IntArrayRef sizes, std::vector<int64_t> want) {
      CHECK(got.dtype() == kUInt64);
      CHECK(got.sizes() == sizes);
      CHECK(got.cpu().flatten().view(kInt64).equal(tensor(want)));
    };
    for (const DType dtype : {kFloat32, kFloat64}) {
      check(hash_tensor(a.to(dtype)), {}, {-4761254375618248704});
      check(hash_tensor(a.to(dtype), {0, 1}), {}, {-4761254375618248704});
      check(hash_tensor(a.to(dtype), 0), {3},
            {4609434218613702656, -9215490737506877440, 146543318308749312});
      check(a.to(dtype).hash_tensor(1, true), {2, 1}, {-4615626668101337088, 152735767796383744});
    }
    check(hash_tensor(tensor({1.5, 2.25}, d).to(kFloat16)), {}, {9221683186994511872});
    check(hash_tensor(tensor({5, 9, -3}, d)), {}, {-15});
    check(hash_tensor(tensor({5, 9, -3}, d).to(kInt8)), {}, {-15});
    check(hash_tensor(tensor({200, 5}, d).to(kUInt8)), {}, {205});
    check(hash_tensor(ones({3}, dtype(kBool).device(d))), {}, {1});
    check(hash_tensor(tensor(2.5, d)), {}, {4612811918334230528});
    const Tensor whole = tensor({{4, 9}}, d), same = hash_tensor(whole, 0);
    check(same, {2}, {4, 9});
    CHECK(hash_tensor(zeros({0, 3}, d), 1).dtype() == kUInt64);
    CHECK_FALSE(same.is_alias_of(whole));
    CHECK(hash_tensor(zeros({0, 3}, d), 1).sizes() == IntArrayRef{0});
    CHECK_THROWS_AS(hash_tensor(zeros({0, 3}, d), 0), ShapeError);
    CHECK_THROWS_AS(hash_tensor(zeros({0}, d)), ShapeError);
  });
}

// A = wave(3, 2) + torch.eye(3, 2); torch.linalg.polar(A); S = A @ A.T + torch.eye(3);
// torch.linalg.matrix_sqrth(S); (U * wave(3, 2, k=0.3)).sum().backward() and so on.
TEST_CASE("polar factors and symmetric square roots have PyTorch's values and gradients") {
  for_each_device([](Device d) {
    const TensorOptions options = TensorOptions(kFloat64).device(d);
    const Tensor A = wave(d, {3, 2}) + eye(3, 2, options);
    const auto [U, H] = linalg_polar(A);
    check_values(U, {3, 2},
                 {0.812649375623, 0.0100981600573, 0.232744996118, 0.91101984577, 0.534257203116,
                  -0.412238847971});
    check_values(H, {2, 2}, {1.22097770138, 0.769767291981, 0.769767291981, 1.84853259683});
    const auto gradient = [&](const Tensor& at, bool of_H) {
      const Tensor leaf = at.detach().requires_grad_();
      const auto [u, h] = linalg_polar(leaf);
      const Tensor& y = of_H ? h : u;
      (y * wave(d, y.sizes(), 0.3)).sum().backward();
      return leaf.grad();
    };
    check_values(gradient(A, false), {3, 2},
                 {-0.348369195915, 0.100603746802, -0.042983919125, 0.131432549873, 0.548623958511,
                  0.292921384401});
    check_values(gradient(A, true), {3, 2},
                 {0.00324725510519, 0.445597988485, 0.292955729392, 0.838981347281, -0.132563228948,
                  -0.0351702230055});
    // A matrix with equal singular values.
    check_values(gradient(eye(2, options), false), {2, 2}, {0, -0.134561133367, 0.134561133367, 0});

    const Tensor S = (matmul(A, A.t()) + eye(3, options)).requires_grad_();
    const Tensor root = linalg_matrix_sqrth(S);
    check_values(root.detach(), {3, 3},
                 {1.43407420839, 0.594788744432, 0.0683662407081, 0.594788744432, 2.25324716887,
                  -0.108461328474, 0.0683662407081, -0.108461328474, 1.10400549407});
    (root * wave(d, {3, 3}, 0.3)).sum().backward();
    check_values(S.grad(), {3, 3},
                 {-0.0654089514654, 0.129668722062, 0.243918544222, 0.129668722062, 0.184501627148,
                  0.247403593562, 0.243918544222, 0.247403593562, 0.315115749573});
    const Tensor one = eye(2, options).requires_grad_();
    (linalg_matrix_sqrth(one) * wave(d, {2, 2}, 0.3)).sum().backward();
    check_values(one.grad(), {2, 2}, {0, 0.215040670014, 0.215040670014, 0.391663454814});
    // Negative eigenvalues count as 0; the lower triangle is read.
    check_values(linalg_matrix_sqrth(tensor({{4., 7.}, {0., -9.}}, d)), {2, 2}, {2, 0, 0, 0});
    const Tensor batch = stack({A, A * 2});
    CHECK(std::get<0>(linalg_polar(batch))[1].allclose(U, 1e-12, 1e-12));
    CHECK(std::get<1>(linalg_polar(zeros({0, 3, 2}, options))).sizes() == IntArrayRef{0, 2, 2});
    Tensor u = empty({0}, options), h = empty({0}, options);
    linalg_polar_out(u, h, A);
    CHECK(h.equal(H));
  });
  const auto both = [](const std::vector<Tensor>& in) {
    const auto [u, h] = linalg_polar(in[0]);
    return cat({u, h}, 0);
  };
  const std::vector<Tensor> A{wave(kCPU, {3, 2}) + eye(3, 2, kFloat64)};
  gradcheck(both, A);
  gradgradcheck(both, A);
}

// x = wave(2, 3, 4); torch.native_layer_norm(x, [4], None, None, 1e-5), torch.native_batch_norm(x,
// None, None, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5) and so on.
TEST_CASE("native norms also return the statistics") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 4}), w = wave(d, {4}) + 1;
    const auto [y, mean, rstd] = native_layer_norm(x, {4}, w, {}, 1e-5);
    CHECK(y.equal(layer_norm(x, {4}, w)));
    check_values(mean, {2, 3, 1},
                 {0.623219195969, -0.467455865643, 0.257675523802, -0.0181194046965,
                  -0.223530507993, 0.4393502816});
    check_values(
        rstd, {2, 3, 1},
        {2.63137544127, 1.91908583014, 1.61094447135, 1.51660519449, 1.58584729291, 1.85505511097});
    const auto whole = native_layer_norm(x, {3, 4}, {}, {}, 1e-5);
    check_values(std::get<1>(whole), {2, 1, 1}, {0.137812951376, 0.0659001229702});
    check_values(std::get<2>(whole), {2, 1, 1}, {1.45472428155, 1.48890332727});
    const auto none = native_layer_norm(zeros({2, 0}, x.options()), {0}, {}, {}, 1e-5);
    check_values(std::get<1>(none), {2, 1}, {0, 0});
    check_values(std::get<2>(none), {2, 1}, {NAN, NAN});

    Tensor o1 = empty({0}, x.options()), o2 = o1.clone(), o3 = o1.clone();
    native_layer_norm_out(o1, o2, o3, x, IntArrayRef{4}, w, Tensor(), 1e-5);
    CHECK((o1.equal(y) && o2.equal(mean) && o3.equal(rstd)));

    const Tensor g = wave(d, {2, 4, 3});
    const auto [gy, g_mean, g_rstd] = native_group_norm(g, w, {}, 2, 4, 3, 2, 1e-5);
    CHECK(gy.equal(group_norm(g, 2, w)));
    check_values(g_mean, {2, 2},
                 {0.412846951057, -0.137221048305, -0.278298743362, 0.410098989303});
    check_values(g_rstd, {2, 2}, {2.11294198808, 1.32475938853, 1.51428962687, 2.08902528629});
    // Elements that have another shape.
    const auto other = native_group_norm(g, {}, {}, 2, 3, 4, 1, 1e-5);
    check_values(std::get<1>(other), {2, 1}, {0.137812951376, 0.0659001229702});
    CHECK(std::get<0>(other).sizes() == g.sizes());

    const Tensor running_mean = zeros({3}, x.options()), running_var = ones({3}, x.options());
    const auto [by, b_mean, b_rstd] =
        native_batch_norm(x, {}, {}, running_mean, running_var, true, 0.1, 1e-5);
    CHECK(by.equal(batch_norm(x, {}, {}, {}, {}, BatchNormParams{})));
    check_values(b_mean, {3}, {0.302549895636, -0.345493186818, 0.348512902701});
    check_values(b_rstd, {3}, {1.59633108759, 1.69163341107, 1.69952056221});
    check_values(running_mean, {3}, {0.0302549895636, -0.0345493186818, 0.0348512902701});
    check_values(running_var, {3}, {0.94484715908, 0.939936225002, 0.939566401707});
    const auto fixed =
        native_batch_norm(x, wave(d, {3}) + 1, {}, running_mean, running_var, false, 0.1, 1e-5);
    check_values(std::get<0>(fixed)[0][0], {4},
                 {-0.0311253274057, 0.631624411565, 0.982672592547, 0.856915770746});
    CHECK(std::get<1>(fixed).sizes() == IntArrayRef{0});

    const Tensor leaf = x.detach().requires_grad_();
    std::get<0>(native_layer_norm(leaf, {4}, {}, {}, 1e-5))[0][0][0].backward();
    CHECK(leaf.grad().defined());
    CHECK_FALSE(std::get<1>(native_layer_norm(leaf, {4}, {}, {}, 1e-5)).requires_grad());
    CHECK(std::get<1>(native_layer_norm(x.to(kFloat16), {4}, {}, {}, 1e-5)).dtype() == kFloat16);
  });
}

TEST_CASE("native_dropout returns its mask") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {50}) + 2;
    const auto [y, mask] = native_dropout(x, 0.25, true);
    CHECK(mask.dtype() == kBool);
    CHECK(y.equal(x * mask * (1 / 0.75)));
    const auto sure = native_dropout(x, 1, nullopt);
    check_values(std::get<0>(sure).sum(), {}, {0});
    CHECK_FALSE(any(std::get<1>(sure)).item<bool>());
    const auto idle = native_dropout(x, 0.5, false);
    CHECK(std::get<0>(idle).equal(x));
    CHECK_FALSE(std::get<0>(idle).is_alias_of(x));
    CHECK(all(std::get<1>(idle)).item<bool>());
    const Tensor leaf = x.detach().requires_grad_();
    const auto [z, kept] = native_dropout(leaf, 0.5, true);
    z.sum().backward();
    CHECK(leaf.grad().equal(kept.to(kFloat64) * 2));
  });
}

TEST_CASE("max_out and min_out accept one tensor") {
  Tensor out = empty({});
  CHECK(max_out(out, tensor({1., 5., 2.})).item<double>() == 5);
  CHECK(min_out(out, tensor({1., 5., 2.})).item<double>() == 1);
}

TEST_CASE("memory is read and written through typed pointers") {
  const Tensor x = tensor({1., 2.}, kFloat32);
  x.mutable_data_ptr<float>()[1] = 7;
  static_assert(std::is_same_v<decltype(x.const_data_ptr<float>()), const float*>);
  static_assert(std::is_same_v<decltype(x.const_data_ptr<const float>()), const float*>);
  static_assert(std::is_same_v<decltype(x.const_data_ptr()), const void*>);
  CHECK(x.const_data_ptr<const float>()[1] == 7);
  CHECK(x.mutable_data_ptr() == x.const_data_ptr());
  CHECK_THROWS_AS(x.const_data_ptr<double>(), DTypeError);
}

TEST_CASE("scientific notation can be disabled") {
  const auto text = [](const Tensor& t) {
    std::ostringstream out;
    out << t;
    return out.str();
  };
  const Tensor mixed = tensor({0.00001, 100000.}, kFloat64);
  CHECK(text(mixed).find("1.0000e-05") != std::string::npos);
  set_printoption_sci_mode(false);
  // torch.set_printoptions(sci_mode=False)
  CHECK(text(mixed) == "tensor([     0.0000, 100000.0000], dtype=torch.float64)");
  CHECK(text(tensor({1e10, 1.}, kFloat64)) ==
        "tensor([10000000000.,           1.], dtype=torch.float64)");
  set_printoption_sci_mode(true);
  CHECK(text(mixed).find("1.0000e-05") != std::string::npos);
}
