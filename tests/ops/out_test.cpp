// Functions with a given output: values, shapes, dtypes, aliases of operands, errors.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

TEST_CASE("every function of one tensor fills an output of its dtype and shape") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{0.1, 0.5, 0.9}, {0.2, 0.4, 0.6}}, kFloat64).to(d);
#define UNARY(row)                                                                              \
  row(abs) row(neg) row(sign) row(exp) row(exp2) row(expm1) row(log) row(log1p) row(log2)       \
      row(log10) row(sqrt) row(rsqrt) row(reciprocal) row(square) row(sin) row(cos) row(tan)    \
          row(asin) row(acos) row(atan) row(sinh) row(cosh) row(tanh) row(asinh) row(atanh)     \
              row(sigmoid) row(erf) row(erfc) row(erfinv) row(lgamma) row(digamma) row(i0)      \
                  row(sinc) row(frac) row(floor) row(ceil) row(round) row(trunc) row(logit)     \
                      row(nan_to_num) row(arcsin) row(fix) row(absolute) row(negative) row(sgn) \
                          row(deg2rad) row(special_i1) row(sum) row(amax) row(prod) row(mean)   \
                              row(std) row(var) row(norm) row(nansum)
#define CHECK_OUT(name)                              \
  {                                                  \
    Tensor out = empty({0}, x.options());            \
    INFO(#name);                                     \
    CHECK(&name##_out(out, x) == &out);              \
    CHECK(out.allclose(ambit::name(x), 0, 0, true)); \
  }
    UNARY(CHECK_OUT)
#undef CHECK_OUT
#undef UNARY
  });
}

TEST_CASE("arguments of every kind are passed to the function: numbers, lists in braces, modes") {
  for_each_device([](Device d) {
    const Tensor x = tensor({{1., -2.}, {3., 4.}}, kFloat64).to(d);
    const Tensor y = tensor({{5., 6.}, {-7., 8.}}, kFloat64).to(d);
    Tensor out = empty({2, 2}, x.options());
    const auto is = [&](const Tensor& expected) { return out.equal(expected); };
    CHECK((add_out(out, x, y, 2), is(x + y * 2)));
    CHECK((sub_out(out, x, 1), is(x - 1)));
    CHECK((div_out(out, x, y, "floor"), is(floor_divide(x, y))));
    CHECK((pow_out(out, 2, x), is(pow(2, x))));
    CHECK((clamp_out(out, x, 0, 1), is(clamp(x, 0, 1))));
    CHECK((clamp_out(out, x, x, y), is(clamp(x, x, y))));
    CHECK((addcmul_out(out, x, y, y, 0.5), is(addcmul(x, y, y, 0.5))));
    CHECK((lerp_out(out, x, y, 0.25), is(lerp(x, y, 0.25))));
    CHECK((maximum_out(out, x, y), is(maximum(x, y))));
    CHECK((max_out(out, x, y), is(maximum(x, y))));
    CHECK((min_out(out, x, y), is(minimum(x, y))));
    CHECK((matmul_out(out, x, y), is(matmul(x, y))));
    CHECK((where_out(out, x > 0, x, y), is(where(x > 0, x, y))));
    CHECK((softmax_out(out, x, 1), is(softmax(x, 1))));
    CHECK((polygamma_out(out, 1, y * y), is(polygamma(1, y * y))));
    CHECK((sum_out(out, x, {1}), is(sum(x, {1}))));
    CHECK((sum_out(out, x, {0, 1}, true), is(sum(x, {0, 1}, true))));
    CHECK((mean_out(out, x, 1), is(mean(x, 1))));
    CHECK((norm_out(out, x, 3, {0}), is(norm(x, 3, {0}))));
    CHECK((cat_out(out, std::vector<Tensor>{x, y}, 1), is(cat({x, y}, 1))));
    CHECK((stack_out(out, TensorList({x, y})), is(stack({x, y}))));
    CHECK((gather_out(out, x, 1, (y > 0).to(kInt64)), is(gather(x, 1, (y > 0).to(kInt64)))));
    Tensor boolean = empty({0}, x.options().dtype(kBool));
    gt_out(boolean, x, y);
    CHECK(boolean.equal(x > y));
    Tensor index = empty({0}, x.options().dtype(kInt64));
    argmax_out(index, x, 1);
    CHECK(index.equal(argmax(x, 1)));
    const auto [values, places] = max_out(out, index, x, 0, true);
    CHECK(&values == &out);
    CHECK(out.equal(std::get<0>(max(x, 0, true))));
    CHECK(places.equal(std::get<1>(max(x, 0, true))));
    Tensor least = empty({0}, x.options());
    CHECK((median_out(out, x), is(median(x))));
    CHECK((median_out(out, index, x, 1), is(std::get<0>(median(x, 1)))));
    const std::vector<Tensor> halves{empty({0}, x.options()), zeros({2, 1}, x.options())};
    unsafe_split_out(halves, x, 1, 1);
    CHECK(cat({halves[0], halves[1]}, 1).equal(x));
    unsafe_split_with_sizes_out(halves, x, {1, 1});
    CHECK(cat({halves[0], halves[1]}).equal(x));
    CHECK_THROWS_AS(unsafe_split_out(halves, x, 2), Error);
    aminmax_out(least, out, x);
    CHECK(least.item<double>() == -2);
    CHECK(out.item<double>() == 4);
  });
}

TEST_CASE(
    "an output of the correct shape keeps its memory, gets converted values, and may be an "
    "operand") {
  for_each_device([](Device d) {
    const Tensor x = tensor({1., -2., 3.}, kFloat64).to(d);
    Tensor out = zeros({3}, x.options().dtype(kFloat32));
    const Tensor view = out.slice(0, 1, 3);
    const void* memory = out.data_ptr();
    const auto version = out.version();
    mul_out(out, x, 2);
    CHECK(out.data_ptr() == memory);
    CHECK(out.dtype() == kFloat32);
    CHECK(out.version() > version);
    check_values(out, {3}, {2, -4, 6});
    check_values(view, {2}, {-4, 6});
    add_out(out, out, out);
    check_values(out, {3}, {4, -8, 12});
    Tensor every_second = zeros({6}, x.options()).slice(0, 0, 6, 2);
    neg_out(every_second, x);
    check_values(every_second, {3}, {-1, 2, -3});
    // If the shape changes, `out` remains the same tensor object.
    const Tensor copy = out;
    cumsum_out(out, x.reshape({3, 1}), 0);
    CHECK(copy.is_same(out));
    check_values(out, {3, 1}, {1, -1, 2});
    exp_out(out, zeros({0, 2}, x.options()));
    CHECK(out.sizes() == IntArrayRef{0, 2});
  });
}

TEST_CASE("factories create tensors with the dtype and device of out") {
  for_each_device([](Device d) {
    Tensor out = empty({0}, TensorOptions(kInt32).device(d));
    check_values(arange_out(out, 3), {3}, {0, 1, 2});
    check_values(arange_out(out, 1, 7, 3), {2}, {1, 4});
    check_values(ones_out(out, {2, 1}), {2, 1}, {1, 1});
    check_values(zeros_out(out, 2), {2}, {0, 0});
    check_values(full_out(out, {2}, 7), {2}, {7, 7});
    check_values(eye_out(out, 2), {2, 2}, {1, 0, 0, 1});
    check_values(eye_out(out, 1, 2), {1, 2}, {1, 0});
    check_values(linspace_out(out, 0, 4, 3), {3}, {0, 2, 4});
    CHECK(randint_out(out, 5, {9}).max().item<int>() < 5);
    CHECK(randperm_out(out, 4).sum().item<int>() == 6);
    check_values(range_out(out, 1, 5, 2), {3}, {1, 3, 5});
    check_values(scalar_tensor_out(out, 7), {}, {7});
    check_values(tril_indices_out(out, 2, 2), {2, 3}, {0, 1, 1, 0, 0, 1});
    check_values(triu_indices_out(out, 2, 2, 1), {2, 1}, {0, 1});
    CHECK(empty_strided_out(out, {2, 3}, {1, 2}).sizes() == IntArrayRef{2, 3});
    CHECK(out.dtype() == kInt32);
    CHECK(out.device() == d);
    CHECK(empty_out(out, {1, 2, 2, 2}, MemoryFormat::ChannelsLast).stride(1) == 1);
    CHECK(empty_out(out, {3}).sizes() == IntArrayRef{3});
    Tensor floats = empty({0}, TensorOptions(kFloat64).device(d));
    const Generator g(d, 3);
    rand_out(floats, {4}, g);
    CHECK(floats.equal(rand({4}, Generator(d, 3), floats.options())));
    check_values(logspace_out(floats, 0, 2, 3), {3}, {1, 10, 100});
    check_values(logspace_out(floats, 0, 2, 3, 2), {3}, {1, 2, 4});
    CHECK(bartlett_window_out(floats, 5).equal(bartlett_window(5, floats.options())));
    CHECK(blackman_window_out(floats, 5).equal(blackman_window(5, floats.options())));
    CHECK(hann_window_out(floats, 5, false).equal(hann_window(5, false, floats.options())));
    CHECK(hamming_window_out(floats, 5, true, 0.5)
              .equal(hamming_window(5, true, 0.5, floats.options())));
    CHECK(kaiser_window_out(floats, 5).equal(kaiser_window(5, floats.options())));
    CHECK(fft_fftfreq_out(floats, 5).equal(fft_fftfreq(5, floats.options())));
    CHECK(fft_rfftfreq_out(floats, 5, 0.5).equal(fft_rfftfreq(5, 0.5, floats.options())));
    randn_out(floats, {4});
    CHECK(floats.dtype() == kFloat64);
    CHECK_THROWS_AS(rand_out(out, {2}), DTypeError);
  });
}

TEST_CASE("outputs that share memory are refused, and do not change") {
  for_each_device([](Device d) {
    const Tensor x = tensor({3, 1, 2}, d), plane = tensor({{2., 0.}, {1., 3.}}, d);
    Tensor o = full({3}, 9, x.options()), memory = full({6}, 9, x.options());
    Tensor first = memory.narrow(0, 0, 3), second = memory.narrow(0, 2, 3),
           third = memory.narrow(0, 3, 3);
    // PyTorch 2.15 writes both results of sort into the same memory, and refuses this for aminmax.
    CHECK_THROWS_WITH_AS(
        sort_out(o, o, x),
        "sort_out: expected outputs that share no memory, got outputs 0 and 1 that overlap", Error);
    CHECK_THROWS_AS(sort_out(first, second, x), Error);
    CHECK_THROWS_AS(cummax_out(first, second, x, 0), Error);
    CHECK_THROWS_AS(topk_out(o, o, x, 2), Error);
    CHECK_THROWS_AS(mode_out(o, o, x), Error);
    Tensor q = full({2, 2}, 9, plane.options()), r = q.t(), s = full({2}, 9, plane.options());
    CHECK_THROWS_AS(linalg_qr_out(q, r, plane), Error);
    CHECK_THROWS_AS(aminmax_out(s, s, plane, 0), Error);
    CHECK_THROWS_WITH_AS(
        linalg_svd_out(q, s, r, plane),
        "linalg_svd_out: expected outputs that share no memory, got outputs 0 and 2 that overlap",
        Error);
    CHECK_THROWS_AS(unsafe_split_out({first, second}, memory, 3), Error);
    CHECK(o.eq(9).all().item<bool>());
    CHECK(memory.eq(9).all().item<bool>());
    CHECK(q.eq(9).all().item<bool>());
    sort_out(first, third, x);  // the two outputs do not overlap
    CHECK(memory.cpu().equal(tensor({1, 2, 3, 1, 2, 0})));
  });
}

TEST_CASE("no output is written if one of them cannot contain its result") {
  Tensor values = full({3}, 9.), places = full({3}, 9, kBool);
  CHECK_THROWS_AS(sort_out(values, places, tensor({3., 1., 2.})), DTypeError);
  CHECK(values.eq(9).all().item<bool>());
}

TEST_CASE("outputs that cannot contain a result are refused, and do not change") {
  const Tensor x = tensor({1., 2.}), w = tensor({3., 4.}).requires_grad_();
  Tensor none, integers = zeros({2}, kInt64), boolean = zeros({2}, kBool),
               there = zeros({2}, "reference");
  CHECK_THROWS_AS(add_out(none, x, x), Error);
  CHECK_THROWS_AS(add_out(integers, x, x), DTypeError);
  CHECK_THROWS_AS(add_out(boolean, integers, 1), DTypeError);
  CHECK_THROWS_AS(add_out(there, x, x), DeviceMismatchError);
  CHECK_THROWS_AS(add_out(integers, x, ones({3})), ShapeError);
  CHECK_THROWS_AS(zeros_out(none, {2}), Error);
  CHECK(integers.equal(zeros({2}, kInt64)));
  CHECK(there.equal(zeros({2}, "reference")));
  // PyTorch: functions with out=... arguments don't support automatic differentiation
  Tensor leaf = zeros({2}).requires_grad_(), plain = zeros({2});
  CHECK_THROWS_AS(add_out(leaf, x, x), AutogradError);
  CHECK_THROWS_AS(add_out(plain, x, w), AutogradError);
  CHECK(plain.equal(zeros({2})));
  const NoGradGuard no_grad;
  add_out(plain, x, w);
  add_out(leaf, x, w);
  check_values(plain, {2}, {4, 6});
  check_values(leaf, {2}, {4, 6});
}
