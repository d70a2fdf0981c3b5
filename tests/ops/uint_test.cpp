// uint16, uint32 and uint64: what PyTorch 2.15 computes for them on the CPU, on every device.
// Expected values are results of PyTorch 2.15.0+cu132. Its operands are, with d one of the dtypes
// and M its largest number,
//   a = torch.tensor([1, M, 3, M - 1, 0, 7], dtype=d); m = a.view(2, 3)
//   b = torch.tensor([2, 5, 3, M, 1, 4], dtype=d); i = torch.tensor([4, 0, 2])
// PyTorch throws NotImplementedError for: eye, arange, linspace, random_(), tril, triu,
// masked_select, take, put_, index_put_, index_copy, index_fill, index_add, masked_fill,
// masked_scatter, nonzero, count_nonzero, topk, kthvalue, median, mode, searchsorted, histc,
// bincount, isin, lt, le, gt, ge, logical_and, logical_or, logical_xor, logical_not, isclose, min,
// max, amin, amax, argmin, argmax, cummax; ambit has most of these. Both refuse: add, sub,
// floor_divide, trunc_divide, remainder, fmod, pow, bitwise_not, shifts, neg, abs, sign, gcd, lcm,
// heaviside, diff, matmul, softmax, addcmul, mean without dtype, and these dtypes as indices. One
// file, because all cases share these operands.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

using Integers = std::vector<uint64_t>;

uint64_t largest(DType d) { return ~uint64_t{0} >> (64 - 8 * element_size(d)); }

Tensor make(const Integers& values, DType dtype, Device device) {
  const Tensor host = empty({static_cast<int64_t>(values.size())}, dtype);
  visit<dtypes::kWideUnsigned>(dtype, [&]<class T>() {
    std::transform(values.begin(), values.end(), host.data_ptr<T>(),
                   [](uint64_t v) { return static_cast<T>(v); });
  });
  return host.to(device);
}

/// Return the elements modulo 2^64.
Integers read(const Tensor& t) {
  const Tensor host = t.cpu().contiguous();
  Integers values;
  visit<dtypes::kIntegral | dtypes::kWideUnsigned | DTypeSet{kBool}>(host.dtype(), [&]<class T>() {
    const T* data = host.data_ptr<T>();
    for (int64_t i = 0; i < host.numel(); ++i) values.push_back(static_cast<uint64_t>(data[i]));
  });
  return values;
}

/// Check the dtype and the elements.
void check(const Tensor& got, DType dtype, const Integers& values) {
  INFO(str(got));
  CHECK(got.dtype() == dtype);
  CHECK(read(got) == values);
}

/// The operands of the file's head.
struct Operands {
  Operands(DType dtype, Device device)
      : d(dtype),
        M(largest(dtype)),
        a(make({1, M, 3, M - 1, 0, 7}, dtype, device)),
        b(make({2, 5, 3, M, 1, 4}, dtype, device)),
        m(a.view({2, 3})),
        i(tensor({4, 0, 2}, device)),
        mask(tensor({true, false, true, false, false, true}, device)) {}
  DType d;
  uint64_t M;
  Tensor a, b, m, i, mask;
};

void for_each_dtype_and_device(const std::function<void(const Operands&)>& body) {
  for_each_device([&](Device device) {
    for (const DType d : dtypes::kWideUnsigned) {
      INFO(name(d));
      body(Operands(d, device));
    }
  });
}

}  // namespace

TEST_CASE("their names, sizes and categories are PyTorch's") {
  CHECK(std::string(name(kUInt16)) == "uint16");
  CHECK(std::string(name(kUInt32)) == "uint32");
  CHECK(std::string(name(kUInt64)) == "uint64");
  CHECK(dtype_of<uint16_t> == kUInt16);
  CHECK(dtype_of<uint32_t> == kUInt32);
  CHECK(dtype_of<uint64_t> == kUInt64);
  CHECK(dtype_of<unsigned long long> == kUInt64);
  const size_t sizes[] = {2, 4, 8};
  size_t i = 0;
  for (const DType d : dtypes::kWideUnsigned) {
    CHECK(element_size(d) == sizes[i++]);
    CHECK(is_integral(d));
    CHECK_FALSE(is_signed(d));
    CHECK_FALSE(is_floating_point(d));
    CHECK_FALSE(is_reduced_floating(d));
    CHECK_FALSE(dtypes::kEvery.contains(d));
    CHECK(dtypes::kStored.contains(d));
    CHECK_THROWS_AS(set_default_dtype(d), DTypeError);
    CHECK_THROWS_AS(zeros({2}, TensorOptions(d).requires_grad(true)), DTypeError);
  }
  CHECK(i == 3);
  for (const DType d : dtypes::kEvery) CHECK_FALSE(is_wide_unsigned(d));
}

// torch.promote_types, torch.can_cast and torch.result_type
TEST_CASE("they promote with floats only") {
  for (const DType d : dtypes::kWideUnsigned) {
    INFO(name(d));
    CHECK(promote_types(d, d) == d);
    for (const DType other : dtypes::kStored) {
      INFO(name(other));
      CHECK(can_cast(d, other) == (other != kBool));
      CHECK(can_cast(other, d) == !is_differentiable(other));
      if (other == d || is_complex(other)) continue;  // complex_test
      const Tensor u = ones({2}, d), x = ones({2}, other);
      if (is_floating_point(other)) {
        CHECK(promote_types(d, other) == other);
        CHECK(promote_types(other, d) == other);
        CHECK(result_type(u, x) == other);
        CHECK(result_type(u, ones({}, other)) == other);
        CHECK(result_type(ones({}, d), x) == other);
        continue;
      }
      CHECK_THROWS_AS(promote_types(d, other), DTypeError);
      CHECK_THROWS_AS(promote_types(other, d), DTypeError);
      CHECK_THROWS_AS(cat({u, x}), DTypeError);
      CHECK_THROWS_AS(u == x, DTypeError);
      CHECK_THROWS_AS(u * x, DTypeError);
      CHECK(result_type(u, ones({}, other)) == d);
      if (other != kBool) CHECK(result_type(ones({}, d), x) == other);
    }
    CHECK(result_type(ones({2}, d), true) == d);
    CHECK(result_type(ones({2}, d), 1) == d);
    CHECK(result_type(ones({2}, d), 1.5) == kFloat32);
  }
  CHECK_THROWS_WITH_AS(
      promote_types(kInt32, kUInt16),
      "promote_types: expected uint16 with a floating-point dtype or itself, got int32",
      DTypeError);
}

TEST_CASE("a Scalar holds every uint64") {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const Scalar large(kMost);
  CHECK(large.dtype() == kUInt64);
  CHECK(large.isIntegral(false));
  CHECK_FALSE(large.is_floating_point());
  CHECK(large.to<uint64_t>() == kMost);
  CHECK(large.toUInt64() == kMost);
  CHECK(large.to<double>() == 0x1p64);
  CHECK(large.to<float>() == 0x1p64f);
  CHECK(large.to<bool>());
  CHECK(large.equal(kMost));
  CHECK_FALSE(large.equal(-1));
  CHECK_FALSE(Scalar(0x8000000000000005u).equal(int8_t{5}));
  CHECK_THROWS_AS(large.to<int64_t>(), DTypeError);
  CHECK_THROWS_AS(large.to<int>(), DTypeError);
  CHECK_THROWS_AS(large.to<uint32_t>(), DTypeError);
  std::ostringstream text;
  text << large;
  CHECK(text.str() == "18446744073709551615");
  CHECK(Scalar(uint64_t{7}).dtype() == kInt64);
  CHECK(Scalar(kMost / 2).dtype() == kInt64);
  CHECK(Scalar(kMost / 2 + 1).dtype() == kUInt64);
  CHECK(Scalar(std::numeric_limits<uint32_t>::max()).dtype() == kInt64);
  CHECK(Scalar(0x1.8p63).to<uint64_t>() == uint64_t{3} << 62);
  CHECK_THROWS_AS(Scalar(0x1p64).to<uint64_t>(), DTypeError);
  CHECK_THROWS_AS(Scalar(std::nan("")).to<uint64_t>(), DTypeError);
}

// n = 2 ** 63; torch.full((2,), n, dtype=torch.float32), torch.ones(2) + n, torch.ones(2) * n,
// torch.ones(2) - n, torch.ones(2) / n, torch.full((2,), 2. ** 63) == n, torch.ones(2) < n, and
// torch.ones(2, dtype=torch.bfloat16) * n
TEST_CASE("floats compute with numbers from 2^63 on") {
  const Scalar n(uint64_t{1} << 63);
  for_each_device([&](Device device) {
    for (const DType d : {kFloat32, kFloat64, kBFloat16}) {
      INFO(name(d));
      const auto all_are = [d = d](const Tensor& t, double number) {
        CHECK(t.dtype() == d);
        CHECK(t.to(kFloat64).eq(number).all().item<bool>());
      };
      const Tensor one = ones({2}, TensorOptions(d).device(device));
      const Tensor large = full({2}, n, TensorOptions(d).device(device));
      all_are(large, 0x1p63);
      all_are(one + n, 0x1p63);
      all_are(one * n, 0x1p63);
      all_are((one - n) / n, -1);
      all_are(where(one > 0, one, n), 1);
      all_are(clamp(one, n), 0x1p63);
      CHECK((large == n).all().item<bool>());
      CHECK((one < n).all().item<bool>());
      CHECK_FALSE((large > n).any().item<bool>());
    }
    // torch.full((2,), n, dtype=torch.bool), torch.tensor([1, 3]) / n
    CHECK(full({2}, n, TensorOptions(kBool).device(device)).all().item<bool>());
    CHECK((tensor({1, 3}, device) / n).to(kFloat64).equal(tensor({0x1p-63, 3 * 0x1p-63}, device)));
  });
}

// torch.full((2,), n, dtype=d), a.fill_(n)
TEST_CASE("they are created with every number that they hold; negative ones wrap") {
  for_each_dtype_and_device([](const Operands& o) {
    const TensorOptions options = TensorOptions(o.d).device(o.a.device());
    check(zeros({2}, options), o.d, {0, 0});
    check(ones({2}, options), o.d, {1, 1});
    check(full({2}, 7, options), o.d, {7, 7});
    check(full({2}, o.M, options), o.d, {o.M, o.M});
    check(full({2}, -1, options), o.d, {o.M, o.M});
    check(full({2}, 1.9, options), o.d, {1, 1});
    check(o.a.clone().fill_(-1), o.d, Integers(6, o.M));
    check(zeros_like(o.a), o.d, Integers(6, 0));
    check(empty_like(o.a).fill_(3), o.d, Integers(6, 3));
    check(eye(2, options), o.d, {1, 0, 0, 1});
    check(arange(4, options), o.d, {0, 1, 2, 3});
    check(tensor({1, 2, 3}, options), o.d, {1, 2, 3});
    CHECK_THROWS_AS(full({2}, 1e30, options), DTypeError);
    if (o.d == kUInt64) return;
    CHECK_THROWS_AS(full({2}, o.M + 1, options), DTypeError);
    CHECK_THROWS_AS(o.a.clone().fill_(static_cast<int64_t>(o.M) + 1), DTypeError);
    CHECK_THROWS_AS(tensor({static_cast<int64_t>(o.M) + 1}, options), DTypeError);
  });
}

TEST_CASE("item() returns the number") {
  for_each_dtype_and_device([](const Operands& o) {
    CHECK(o.a[1].item().to<uint64_t>() == o.M);
    CHECK(o.a[1].item<uint64_t>() == o.M);
    CHECK(o.a[5].item<int>() == 7);
    CHECK(o.a[1].item<double>() == static_cast<double>(o.M));
    CHECK(o.a[5].item().dtype() == kInt64);
    if (o.d == kUInt64) CHECK_THROWS_AS(o.a[1].item<int64_t>(), DTypeError);
    if (o.d != kUInt64) CHECK(o.a[1].item<int64_t>() == static_cast<int64_t>(o.M));
  });
}

// x.to(d) of an integer
TEST_CASE("integers convert modulo 2^bits, in both directions") {
  const std::vector<int64_t> numbers{0,
                                     1,
                                     -1,
                                     32767,
                                     32768,
                                     65535,
                                     65536,
                                     -32768,
                                     int64_t{1} << 31,
                                     0xffffffff,
                                     int64_t{1} << 32,
                                     -(int64_t{1} << 31),
                                     std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::min()};
  for_each_device([&](Device device) {
    const Tensor x = tensor(numbers, device);
    for (const DType d : dtypes::kWideUnsigned) {
      for (const DType other : dtypes::kIntegral | dtypes::kWideUnsigned) {
        INFO(name(other), " to ", name(d));
        // Convert on the host, element by element.
        Integers expected, back;
        visit<dtypes::kIntegral | dtypes::kWideUnsigned>(other, [&]<class From>() {
          visit<dtypes::kWideUnsigned>(d, [&]<class To>() {
            for (const int64_t n : numbers) {
              const auto from = static_cast<From>(n);
              expected.push_back(static_cast<To>(from));
              back.push_back(static_cast<uint64_t>(static_cast<From>(static_cast<To>(n))));
            }
          });
        });
        const Tensor from = x.to(other);
        check(from.to(d), d, expected);
        check(from.view({2, 7}).t().to(d).t(), d, expected);
        check(x.to(d).to(other), other, back);
      }
      check(tensor({true, false}, device).to(d), d, {1, 0});
      check(x.to(d).to(kBool), kBool,
            d == kUInt64   ? Integers{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
            : d == kUInt32 ? Integers{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0}
                           : Integers{0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0});
    }
  });
}

// torch.tensor(x, dtype=torch.float64).to(d) of one element; rows give other results outside of the
// range of uint32
TEST_CASE("floats are truncated; outside of the range they convert as in PyTorch") {
  const double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> floats{
      0,      1.9,        -1.9,       65535,   65536,         70000.5,       0x1p31, 0x1p32 - 1,
      0x1p32, 0x1p32 + 5, 0x1p53 + 2, 0x1p63,  0x1p63 + 2048, 0x1p64 - 2048, 0x1p64, 1e30,
      -1,     -70000,     -0x1p40,    -0x1p63, -1e30,         kInf,          -kInf,  NAN};
  const uint64_t k63 = uint64_t{1} << 63;
  const struct {
    DType dtype;
    Integers integers;
  } expected[] = {
      {kUInt16,
       {0, 1, 65535, 65535, 0, 4464, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 65535, 61072, 0, 0, 0, 0, 0, 0}},
      {kUInt32,
       {0, 1, 4294967295, 65535, 65536,      70000,      2147483648, 4294967295, 0, 5, 2, 0,
        0, 0, 0,          0,     4294967295, 4294897296, 0,          0,          0, 0, 0, 0}},
      {kUInt64,
       {0,
        1,
        ~uint64_t{0},
        65535,
        65536,
        70000,
        2147483648,
        4294967295,
        4294967296,
        4294967301,
        9007199254740994,
        k63,
        k63 + 2048,
        ~uint64_t{0} - 2047,
        0,
        0,
        ~uint64_t{0},
        18446744073709481616u,
        18446742974197923840u,
        k63,
        k63,
        0,
        k63,
        k63}},
  };
  const auto n = static_cast<int64_t>(floats.size());
  std::vector<double> data = floats;
  const Tensor host = from_blob(data.data(), {n}, kFloat64);
  for_each_device([&](Device device) {
    const Tensor x = host.to(device);
    for (const auto& [dtype, integers] : expected) {
      INFO(name(dtype));
      check(x.to(dtype), dtype, integers);
      check(x.repeat({50}).view({50, n}).to(dtype)[49], dtype, integers);
      const Tensor strided = zeros({n, 2}, TensorOptions(dtype).device(device));
      strided.select(1, 1).copy_(x);
      check(strided.select(1, 1), dtype, integers);
      check(strided.select(1, 0), dtype, Integers(floats.size(), 0));
    }
    check(tensor({1.9, 65504., -1., -3.5}, TensorOptions(kFloat16).device(device)).to(kUInt64),
          kUInt64, {1, 65504, ~uint64_t{0}, ~uint64_t{0} - 2});
    check(tensor({1.9, 0x1p40, 0x1p63, -2.}, TensorOptions(kBFloat16).device(device)).to(kUInt64),
          kUInt64, {1, uint64_t{1} << 40, k63, ~uint64_t{0} - 1});
  });
}

// x.to(torch.float32), x.to(torch.float64), ...
TEST_CASE("they convert to the nearest float, also above 2^63") {
  for_each_device([](Device device) {
    const auto floats = [](const Tensor& t, const std::vector<double>& expected) {
      const Tensor host = t.cpu().to(kFloat64);
      REQUIRE(host.numel() == static_cast<int64_t>(expected.size()));
      for (size_t i = 0; i < expected.size(); ++i) {
        INFO("element ", i);
        CHECK(host.data_ptr<double>()[i] == expected[i]);
      }
    };
    const double kInf = std::numeric_limits<double>::infinity();
    const Tensor u16 = make({0, 1, 32767, 32768, 65535}, kUInt16, device);
    floats(u16.to(kFloat16), {0, 1, 32768, 32768, kInf});
    floats(u16.to(kBFloat16), {0, 1, 32768, 32768, 65536});
    floats(u16.to(kFloat32), {0, 1, 32767, 32768, 65535});
    floats(u16.to(kFloat64), {0, 1, 32767, 32768, 65535});
    const Tensor u32 = make({0, 1, 16777217, 2147483648, 4294967295}, kUInt32, device);
    floats(u32.to(kFloat16), {0, 1, kInf, kInf, kInf});
    floats(u32.to(kBFloat16), {0, 1, 16777216, 2147483648., 4294967296.});
    floats(u32.to(kFloat32), {0, 1, 16777216, 2147483648., 4294967296.});
    floats(u32.to(kFloat64), {0, 1, 16777217, 2147483648., 4294967295.});
    const uint64_t k63 = uint64_t{1} << 63, k53 = uint64_t{1} << 53, k39 = uint64_t{1} << 39;
    const Tensor u64 = make({0, 1, k53 + 1, k63, k63 + 1024, k63 + 1025, k63 + 3072, ~uint64_t{0},
                             ~uint64_t{0} - 1023, ~uint64_t{0} - 1024, k63 + k39, k63 + k39 + 1},
                            kUInt64, device);
    floats(u64.to(kFloat32), {0, 1, 0x1p53, 0x1p63, 0x1p63, 0x1p63, 0x1p63, 0x1p64, 0x1p64, 0x1p64,
                              0x1p63, 0x1p63 + 0x1p40});
    floats(u64.to(kFloat64), {0, 1, 0x1p53, 0x1p63, 0x1p63, 0x1p63 + 2048, 0x1p63 + 4096, 0x1p64,
                              0x1p64, 0x1p64 - 2048, 0x1p63 + 0x1p39, 0x1p63 + 0x1p39});
    floats(u64.to(kBFloat16),
           {0, 1, 0x1p53, 0x1p63, 0x1p63, 0x1p63, 0x1p63, 0x1p64, 0x1p64, 0x1p64, 0x1p63, 0x1p63});
    floats(u64.to(kFloat16), {0, 1, kInf, kInf, kInf, kInf, kInf, kInf, kInf, kInf, kInf, kInf});
  });
}

TEST_CASE("they move between all devices") {
  for_each_device([](Device from) {
    for_each_device([from](Device to) {
      for (const DType d : dtypes::kWideUnsigned) {
        const Operands o(d, from);
        INFO(name(d), " from ", from.str(), " to ", to.str());
        check(o.a.to(to), d, read(o.a));
        check(o.m.t().to(to), d, read(o.m.t()));
        check(o.a.to(to, kInt64), kInt64, read(o.a));
        check(o.i.to(to, d), d, {4, 0, 2});
      }
    });
  });
}

TEST_CASE("ops that move elements support them") {
  for_each_dtype_and_device([](const Operands& o) {
    const auto& [d, M, a, b, m, i, mask] = o;
    check(a.clone(), d, {1, M, 3, M - 1, 0, 7});
    check(zeros_like(a).copy_(a), d, {1, M, 3, M - 1, 0, 7});
    check(m.t().contiguous(), d, {1, M - 1, M, 0, 3, 7});
    check(m.slice(0, 0, 1).expand({2, 3}), d, {1, M, 3, 1, M, 3});
    check(cat({a, b}), d, {1, M, 3, M - 1, 0, 7, 2, 5, 3, M, 1, 4});
    check(stack({a, b}, 1), d, {1, 2, M, 5, 3, 3, M - 1, M, 0, 1, 7, 4});
    check(a.repeat({2}), d, {1, M, 3, M - 1, 0, 7, 1, M, 3, M - 1, 0, 7});
    check(flip(a, {0}), d, {7, 0, M - 1, 3, M, 1});
    check(roll(a, {1}), d, {7, 1, M, 3, M - 1, 0});
    check(rot90(m), d, {3, 7, M, 0, 1, M - 1});
    check(a.unfold(0, 2, 1), d, {1, M, M, 3, 3, M - 1, M - 1, 0, 0, 7});
    check(a.gather(0, i), d, {0, 1, 3});
    check(a.index_select(0, i), d, {0, 1, 3});
    check(a.index({i}), d, {0, 1, 3});
    check(a.index({mask}), d, {1, 3, 7});
    check(masked_select(a, mask), d, {1, 3, 7});
    check(take(a, i), d, {0, 1, 3});
    const Tensor first = b.slice(0, 0, 3);  // 2, 5, 3
    check(a.scatter(0, i, first), d, {5, M, 3, M - 1, 2, 7});
    check(a.scatter(0, i, 5), d, {5, M, 5, M - 1, 5, 7});
    check(a.scatter_add(0, i, first), d, {6, M, 6, M - 1, 2, 7});
    check(where(mask, a, b), d, {1, 5, 3, M, 1, 7});
    check(where(mask, a, 5), d, {1, 5, 3, 5, 5, 7});
    check(where(mask, a, -1), d, {1, M, 3, M, M, 7});
    check(masked_fill(a, mask, 9), d, {9, M, 9, M - 1, 0, 9});
    check(a.clone().index_put_({i}, first), d, {5, M, 3, M - 1, 2, 7});
    Tensor written = a.clone();
    written[0] = 5;
    check(written, d, {5, M, 3, M - 1, 0, 7});
    check(diag(a.slice(0, 0, 2)), d, {1, 0, 0, M});
    check(m.diagonal(), d, {1, 0});
    const DType s = d == kUInt16 ? kInt16 : d == kUInt32 ? kInt32 : kInt64;
    check(a.view(s), s, {1, ~uint64_t{0}, 3, ~uint64_t{0} - 1, 0, 7});
    check(tensor({-1}, TensorOptions(s).device(a.device())).view(d), d, {M});
    CHECK(a.view(kUInt8).numel() == 6 * static_cast<int64_t>(element_size(d)));
  });
}

// Orders are refused by PyTorch 2.15 on the CPU; ambit compares the numbers. a == -1 and
// a == M + 4, too: PyTorch converts the number modulo 2^bits first.
TEST_CASE("they are compared as unsigned numbers") {
  for_each_dtype_and_device([](const Operands& o) {
    const auto& [d, M, a, b, m, i, mask] = o;
    check(a == b, kBool, {0, 0, 1, 0, 0, 0});
    check(a != b, kBool, {1, 1, 0, 1, 1, 1});
    check(a < b, kBool, {1, 0, 0, 1, 1, 0});
    check(a <= b, kBool, {1, 0, 1, 1, 1, 0});
    check(a > b, kBool, {0, 1, 0, 0, 0, 1});
    check(a >= b, kBool, {0, 1, 1, 0, 0, 1});
    check(a == 1, kBool, {1, 0, 0, 0, 0, 0});
    check(a == M, kBool, {0, 1, 0, 0, 0, 0});
    check(a < 5, kBool, {1, 0, 1, 0, 1, 0});
    check(a >= M - 1, kBool, {0, 1, 0, 1, 0, 0});
    check(a > 1.5, kBool, {0, 1, 1, 1, 0, 1});
    check(a == tensor(1, a.device()), kBool, {1, 0, 0, 0, 0, 0});
    check(a == ones({6}, a.device()), kBool, {1, 0, 0, 0, 0, 0});
    check(a == -1, kBool, Integers(6, 0));
    check(a != -1, kBool, Integers(6, 1));
    check(a > -1, kBool, Integers(6, 1));
    check(a <= -1, kBool, Integers(6, 0));
    check(logical_and(a, b), kBool, {1, 1, 1, 1, 0, 1});
    check(logical_not(a), kBool, {0, 0, 0, 0, 1, 0});
    CHECK(equal(a, a.clone()));
    CHECK_FALSE(equal(a, b));
    CHECK(allclose(a, a));
    if (d == kUInt64) return;
    check(a == M + 4, kBool, Integers(6, 0));
    check(a < M + 4, kBool, Integers(6, 1));
    check(a >= M + 4, kBool, Integers(6, 0));
  });
}

TEST_CASE("arithmetic that PyTorch has for them") {
  for_each_dtype_and_device([](const Operands& o) {
    const auto& [d, M, a, b, m, i, mask] = o;
    check(a * b, d, {2, M - 4, 9, 2, 0, 28});
    check(a * 3, d, {3, M - 2, 9, M - 5, 0, 21});
    check(a * true, d, {1, M, 3, M - 1, 0, 7});
    check(a.clone().mul_(b), d, {2, M - 4, 9, 2, 0, 28});
    CHECK_THROWS_AS(a.clone().mul_(2.5), DTypeError);
    check(bitwise_and(a, b), d, {0, 5, 3, M - 1, 0, 4});
    check(bitwise_or(a, b), d, {3, M, 3, M, 1, 7});
    check(bitwise_xor(a, b), d, {3, M - 5, 0, 1, 1, 3});
    check(bitwise_and(a, 3), d, {1, 3, 3, 2, 0, 3});
    check(bitwise_and(a, -1), d, {1, M, 3, M - 1, 0, 7});
    check(maximum(a, b), d, {2, M, 3, M, 1, 7});
    check(minimum(a, b), d, {1, 5, 3, M - 1, 0, 4});
    check(fmax(a, b), d, {2, M, 3, M, 1, 7});
    check(clamp(a, 1, 5), d, {1, 5, 3, 5, 1, 5});
    check(clamp(a, -5), d, {1, M, 3, M - 1, 0, 7});
    check(clamp(a, std::nullopt, M - 1), d, {1, M - 1, 3, M - 1, 0, 7});
    check(clamp(a, b, std::nullopt), d, {2, M, 3, M, 1, 7});
    check(a.clone().clamp_(1, 5), d, {1, 5, 3, 5, 1, 5});
    check(relu(a), d, {1, M, 3, M - 1, 0, 7});
    check(floor(a), d, {1, M, 3, M - 1, 0, 7});
    check(round(a), d, {1, M, 3, M - 1, 0, 7});
    check(signbit(a), kBool, Integers(6, 0));
    check(isnan(a), kBool, Integers(6, 0));
    check(isfinite(a), kBool, Integers(6, 1));
    CHECK((a / b).dtype() == kFloat32);
    CHECK((a / b)[5].item<float>() == 1.75f);
    CHECK((a / 2)[0].item<float>() == 0.5f);
    CHECK((a + 1.5)[0].item<float>() == 2.5f);
    CHECK(sqrt(a).dtype() == kFloat32);
    if (d == kUInt16) {
      check(a * 70000, d, {4464, 61072, 13392, 56608, 0, 31248});
      check(clamp(a, 0, 70000), d, {1, M, 3, M - 1, 0, 7});
    }
  });
}

TEST_CASE("sums are int64; those of uint64 wrap") {
  for_each_dtype_and_device([](const Operands& o) {
    const auto& [d, M, a, b, m, i, mask] = o;
    check(a.sum(), kInt64, {2 * M + 10});
    check(m.sum(0), kInt64, {M, M, 10});
    check(m.slice(0, 0, 1).expand({3, 3}).sum(0), kInt64, {3, 3 * M, 9});
    check(a.prod(), kInt64, {0});
    check(a.slice(0, 1, 3).prod(), kInt64, {3 * M});
    check(a.cumsum(0), kInt64, {1, M + 1, M + 4, 2 * M + 3, 2 * M + 3, 2 * M + 10});
    check(a.cumprod(0), kInt64, {1, M, 3 * M, 3 * M * (M - 1), 0, 0});
    check(a.any(), kBool, {1});
    check(a.all(), kBool, {0});
    CHECK(a.sum(kFloat64).item<double>() == 2 * static_cast<double>(M) + 10);
    CHECK_THROWS_AS(a.mean(), DTypeError);
    CHECK(a.mean(kFloat64).dtype() == kFloat64);
  });
}

TEST_CASE("they are sorted as unsigned numbers, also by ops that PyTorch lacks for them") {
  for_each_dtype_and_device([](const Operands& o) {
    const auto& [d, M, a, b, m, i, mask] = o;
    const auto [values, indices] = sort(a);
    check(values, d, {0, 1, 3, 7, M - 1, M});
    check(indices, kInt64, {4, 0, 2, 5, 3, 1});
    check(argsort(a), kInt64, {4, 0, 2, 5, 3, 1});
    check(std::get<0>(sort(a, 0, true)), d, {M, M - 1, 7, 3, 1, 0});
    check(std::get<0>(topk(a, 2)), d, {M, M - 1});
    check(std::get<0>(_unique2(cat({a, a}))), d, {0, 1, 3, 7, M - 1, M});
    check(a.max(), d, {M});
    check(a.min(), d, {0});
    check(amax(m, {0}), d, {M - 1, M, 7});
    check(std::get<0>(m.min(1)), d, {1, 0});
    check(a.argmax(), kInt64, {1});
    check(std::get<0>(cummax(a, 0)), d, {1, M, M, M, M, M});
    check(searchsorted(values, b), kInt64, {2, 3, 2, 5, 1, 3});
  });
}

TEST_CASE("other arithmetic is refused by a DTypeError that names the dtype, also on meta") {
  const auto check_refusals = [](const Operands& o) {
    const auto& [d, M, a, b, m, i, mask] = o;
    const auto refuses = [&, dtype = d](const char* op, const std::function<void()>& call) {
      INFO(op);
      std::string why;
      try {
        call();
      } catch (const DTypeError& e) {
        why = e.what();
      }
      CHECK(why.find(op) != why.npos);
      CHECK(why.find(name(dtype)) != why.npos);
    };
    const Tensor x = a, y = b, matrix = m;
    refuses("add", [&] { x + y; });
    refuses("add", [&] { x + 1; });
    refuses("sub", [&] { x - y; });
    refuses("floor_divide", [&] { floor_divide(x, y); });
    refuses("remainder", [&] { remainder(x, y); });
    refuses("pow", [&] { pow(x, y); });
    refuses("bitwise_not", [&] { bitwise_not(x); });
    refuses("shift", [&] { bitwise_right_shift(x, y); });
    refuses("neg", [&] { neg(x); });
    refuses("abs", [&] { abs(x); });
    refuses("gcd", [&] { gcd(x, y); });
    refuses("matmul", [&] { matmul(matrix, matrix.t()); });
    refuses("index", [&] { ones({9}, x.device()).index({y}); });
    refuses("add", [&] { x.clone().add_(y); });
    refuses("sub", [&] { diff(x); });
    refuses("sign", [&] { sign(x); });
    refuses("square", [&] { square(x); });
    refuses("lcm", [&] { lcm(x, y); });
    refuses("fmod", [&] { fmod(x, y); });
    refuses("heaviside", [&] { heaviside(x, y); });
    refuses("matmul", [&] { dot(x, y); });
    refuses("index_add", [&] { index_add(x, 0, o.i, y.slice(0, 0, 3)); });
    refuses("scatter_reduce", [&] { scatter_reduce(x, 0, o.i, y, "amax"); });
  };
  for_each_dtype_and_device(check_refusals);
  for (const DType d : dtypes::kWideUnsigned) {
    INFO(name(d));
    check_refusals(Operands(d, Device("meta")));
  }
}

TEST_CASE("random integers are in the range") {
  for_each_device([](Device device) {
    for (const DType d : dtypes::kWideUnsigned) {
      INFO(name(d));
      const Tensor x = randint(9, {1000}, TensorOptions(d).device(device));
      CHECK(x.dtype() == d);
      const Integers values = read(x);
      CHECK(*std::max_element(values.begin(), values.end()) == 8);
      CHECK(*std::min_element(values.begin(), values.end()) == 0);
      CHECK_THROWS_AS(randint(-1, 9, {2}, d), DTypeError);
      CHECK_THROWS_AS(rand({2}, d), DTypeError);
    }
    CHECK_THROWS_AS(randint(0, 70000, {2}, kUInt16), DTypeError);
    CHECK(randint(0, 65536, {2}, kUInt16).dtype() == kUInt16);
  });
}

// repr(a), repr(a[1]), repr(torch.empty(0, dtype=d))
TEST_CASE("they print as in PyTorch") {
  CHECK(str(Operands(kUInt16, kCPU).a) ==
        "tensor([    1, 65535,     3, 65534,     0,     7], dtype=torch.uint16)");
  CHECK(str(Operands(kUInt32, kCPU).a) ==
        "tensor([         1, 4294967295,          3, 4294967294,          0,          7],\n"
        "       dtype=torch.uint32)");
  CHECK(str(Operands(kUInt64, kCPU).a) ==
        "tensor([                   1, 18446744073709551615,                    3,\n"
        "        18446744073709551614,                    0,                    7],\n"
        "       dtype=torch.uint64)");
  CHECK(str(Operands(kUInt64, kCPU).a[1]) == "tensor(18446744073709551615, dtype=torch.uint64)");
  CHECK(str(empty({0}, kUInt16)) == "tensor([], dtype=torch.uint16)");
  CHECK(str(empty({2}, TensorOptions(kUInt16).device(kMeta))) ==
        "tensor(..., device='meta', size=(2,), dtype=torch.uint16)");
}

TEST_CASE("on meta they have shapes") {
  for (const DType d : dtypes::kWideUnsigned) {
    INFO(name(d));
    const Tensor x = empty({2, 3}, TensorOptions(d).device(kMeta));
    CHECK(x.t().contiguous().sizes() == IntArrayRef{3, 2});
    CHECK((x == 1).dtype() == kBool);
    CHECK((x < x).dtype() == kBool);
    CHECK((x * x).dtype() == d);
    CHECK(x.to(kFloat32).dtype() == kFloat32);
    CHECK(x.to(kFloat32).to(d).dtype() == d);
    CHECK(std::get<0>(sort(x)).dtype() == d);
    CHECK(max(x).dtype() == d);
    CHECK(clamp(x, 1, 5).dtype() == d);
    CHECK(relu(x).dtype() == d);
    CHECK(x.sum().dtype() == kInt64);
    CHECK(cat({x, x}).sizes() == IntArrayRef{4, 3});
    CHECK(argmax(x, 1).sizes() == IntArrayRef{2});
  }
}

TEST_CASE("large tensors convert and compare in all their parts") {
  const int64_t n = (int64_t{1} << 20) + 3;
  const Tensor x = arange(n, kInt64).mul_(4099);
  for (const DType d : dtypes::kWideUnsigned) {
    INFO(name(d));
    const Tensor u = x.to(d), mask = tensor(static_cast<int64_t>(largest(d) >> 1 << 1 | 1));
    const Tensor expected = d == kUInt64 ? x : bitwise_and(x, mask);
    CHECK(u.to(kInt64).equal(expected));
    CHECK(u.to(kFloat64).equal(expected.to(kFloat64)));
    CHECK((u > 70).equal(expected > 70));
    CHECK(std::get<0>(sort(u)).to(kInt64).equal(std::get<0>(sort(expected))));
    CHECK(max(u).to(kInt64).equal(max(expected)));
    CHECK(u.sum().item<int64_t>() == expected.sum().item<int64_t>());
  }
}
