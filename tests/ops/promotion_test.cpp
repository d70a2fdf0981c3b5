// Type promotion compared with PyTorch's table, and with the results of each family of ops.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

// One letter for each dtype, in the order of the enum: bool uint8 int8 int16 int32 int64 float16
// bfloat16 float32 float64. The tables are rows of torch.result_type(self, other), PyTorch 1.13:
//   print("".join(letter[torch.result_type(torch.ones(1, dtype=a), torch.ones(1, dtype=b))]
//                 for b in dtypes)) for a in dtypes; torch.ones((), dtype=b) for 0-dim.
const std::string kLetters = "buiswlhgfd";
using Table = std::vector<std::string>;
const Table kSameDim = {"buiswlhgfd", "uusswlhgfd", "isiswlhgfd", "sssswlhgfd", "wwwwwlhgfd",
                        "llllllhgfd", "hhhhhhhffd", "ggggggfgfd", "fffffffffd", "dddddddddd"};
const Table kOtherHasNoDim = {"buiswlhgfd", "uuuuuuhgfd", "iiiiiihgfd", "sssssshgfd", "wwwwwwhgfd",
                              "llllllhgfd", "hhhhhhhhhh", "gggggggggg", "ffffffffff", "dddddddddd"};
// other = True, 1, 1.5
const Table kNumbers = {"blf", "uuf", "iif", "ssf", "wwf", "llf", "hhh", "ggg", "fff", "ddd"};

DType dtype_at(size_t i) { return static_cast<DType>(i); }
char letter(DType d) { return kLetters[static_cast<size_t>(d)]; }

void check_table(const Table& table, IntArrayRef self_sizes, IntArrayRef other_sizes) {
  for (size_t a = 0; a < kLetters.size(); ++a) {
    for (size_t b = 0; b < kLetters.size(); ++b) {
      const Tensor self = ones(self_sizes, dtype_at(a)), other = ones(other_sizes, dtype_at(b));
      INFO(name(dtype_at(a)), " with ", name(dtype_at(b)));
      CHECK(letter(result_type(self, other)) == table[a][b]);
      CHECK(letter(self.mul(other).dtype()) == table[a][b]);
    }
  }
}

}  // namespace

TEST_CASE("tensors promote as in PyTorch, with priority for those with dims") {
  check_table(kSameDim, {1}, {1});
  check_table(kSameDim, {}, {});
  check_table(kOtherHasNoDim, {1}, {});
  CHECK(result_type(ones({}, kFloat64), ones({1}, kFloat32)) == kFloat32);
}

TEST_CASE("numbers promote only to a higher category") {
  for (size_t a = 0; a < kLetters.size(); ++a) {
    for (const Tensor& self : {ones({1}, dtype_at(a)), ones({}, dtype_at(a))}) {
      INFO(name(dtype_at(a)));
      CHECK(letter(result_type(self, true)) == kNumbers[a][0]);
      CHECK(letter(result_type(self, 1)) == kNumbers[a][1]);
      CHECK(letter(result_type(self, 1.5)) == kNumbers[a][2]);
      CHECK(letter(mul(self, 1.5).dtype()) == kNumbers[a][2]);
    }
  }
}

TEST_CASE("operands of different dtypes are computed in the promoted one, on every device") {
  for_each_device([](Device d) {
    const auto on = [d](DType t) { return TensorOptions(t).device(d); };
    const Tensor i = tensor({1, 2}, on(kInt32)), f = tensor({0.5, 1.5}, on(kFloat32)),
                 u = tensor({200, 100}, on(kUInt8)), b = tensor({true, false}, on(kBool));
    check_values(i + f, {2}, {1.5, 3.5});
    check_values(f - i, {2}, {-0.5, -0.5});
    check_values(u + u, {2}, {144, 200});  // modulo 256
    check_values(u + i, {2}, {201, 102});
    check_values(u + 300, {2}, {244, 144});  // the number is converted modulo 256, as in PyTorch
    check_values(b + b, {2}, {1, 0});        // logical or
    check_values(b * b, {2}, {1, 0});
    check_values(b + 1, {2}, {2, 1});
    CHECK((b + b).dtype() == kBool);
    check_values(maximum(i, f), {2}, {1, 2});
    check_values(f + tensor(1e-9, on(kFloat64)), {2}, {0.5, 1.5});
    CHECK((f + tensor(1e-9, on(kFloat64))).dtype() == kFloat32);
  });
}

TEST_CASE("division and float functions return floats for integers, rounding keeps integers") {
  for_each_device([](Device d) {
    const Tensor i = tensor({1, 4}, d), b = tensor({true, false}, d);
    check_values(i / i, {2}, {1, 1});
    CHECK((i / i).dtype() == kFloat32);
    CHECK((b / i).dtype() == kFloat32);
    CHECK((i / tensor({2., 2.}, TensorOptions(kFloat64).device(d))).dtype() == kFloat64);
    check_values(sqrt(i), {2}, {1, 2});
    CHECK(exp(b).dtype() == kFloat32);
    CHECK(atan2(i, i).dtype() == kFloat32);
    CHECK(floor(i).dtype() == kInt64);
    CHECK(relu(i).dtype() == kInt64);
    CHECK(square(i).dtype() == kInt64);
    CHECK(square(b).dtype() == kInt64);
    CHECK(sign(b).dtype() == kBool);
    CHECK(pow(b, 2).dtype() == kInt64);
    CHECK(floor_divide(i, 2).dtype() == kInt64);
    CHECK(clamp(i, 0.5).dtype() == kFloat32);
    CHECK(where(b, i, 0.5).dtype() == kFloat32);
  });
}

TEST_CASE("a result is written into self only if its category permits") {
  for_each_device([](Device d) {
    const Tensor i = tensor({1, 2}, d), b = tensor({true, false}, d), f = tensor({0.5, 1.5}, d);
    CHECK_THROWS_WITH_AS(
        i.add_(1.5), "add_: expected a result that can be cast to int64, got float32", DTypeError);
    CHECK_THROWS_AS(i.add_(f), DTypeError);
    CHECK_THROWS_AS(i.div_(2), DTypeError);
    CHECK_THROWS_AS(i.exp_(), DTypeError);
    CHECK_THROWS_AS(i.clamp_(0.5), DTypeError);
    CHECK_THROWS_AS(i.pow_(2.5), DTypeError);
    CHECK_THROWS_AS(b.add_(1), DTypeError);
    check_values(i, {2}, {1, 2});
    check_values(b, {2}, {1, 0});
    f.add_(f.to(kFloat64));  // float64 to float32, within a category
    check_values(f, {2}, {1, 3});
    f.mul_(i);
    check_values(f, {2}, {1, 6});
    i.eq_(2);
    check_values(i, {2}, {0, 1});
    CHECK(i.dtype() == kInt64);
    f.logical_not_();
    check_values(f, {2}, {0, 0});
  });
}

TEST_CASE("an op that is not defined for a dtype is a DTypeError") {
  const Tensor b = tensor({true, false}), i = tensor({1, 2}), f = tensor({0.5, 1.5});
  CHECK_THROWS_AS(b - b, DTypeError);
  CHECK_THROWS_AS(b - i, DTypeError);
  CHECK_THROWS_AS(i - b, DTypeError);
  CHECK_THROWS_AS(b - 1, DTypeError);
  CHECK_THROWS_AS(1 - b, DTypeError);
  CHECK_THROWS_AS(-b, DTypeError);
  CHECK_THROWS_AS(abs(b), DTypeError);
  CHECK_THROWS_AS(relu(b), DTypeError);
  CHECK_THROWS_AS(floor(b), DTypeError);
  CHECK_THROWS_AS(pow(b, b), DTypeError);
  CHECK_THROWS_AS(remainder(b, b), DTypeError);
  CHECK_THROWS_AS(f & f, DTypeError);
  CHECK_THROWS_AS(i & 1.5, DTypeError);
  CHECK_THROWS_AS(~f, DTypeError);
  CHECK_THROWS_AS(gelu(i), DTypeError);
  CHECK_THROWS_AS(clamp(tensor({1}, kUInt8), 256), DTypeError);
  CHECK_THROWS_AS(isclose(i, f), DTypeError);
}

TEST_CASE("alpha must be of the result's category") {
  const Tensor b = tensor({true, false}), i = tensor({1, 2}), f = tensor({0.5, 1.5});
  check_values(add(i, f, 1.5), {2}, {1.75, 4.25});
  check_values(sub(i, i, 3), {2}, {-2, -4});
  check_values(add(f, 2, 3), {2}, {6.5, 7.5});
  check_values(add(b, b, true), {2}, {1, 0});
  check_values(add(b, ~b, 2), {2}, {1, 1});
  check_values(add(b, ~b, false), {2}, {1, 0});
  CHECK_THROWS_AS(add(i, i, 1.5), DTypeError);
  CHECK_THROWS_AS(add(i, 1, 1.5), DTypeError);
  CHECK_THROWS_AS(add(f, f, true), DTypeError);
}

TEST_CASE("comparisons with a number out of self's range are exact") {
  for_each_device([](Device d) {
    const Tensor u = tensor({0, 255}, TensorOptions(kUInt8).device(d));
    check_values(u == 256, {2}, {0, 0});
    check_values(u == -1, {2}, {0, 0});
    check_values(u < 256, {2}, {1, 1});
    check_values(u > -1, {2}, {1, 1});
    check_values(u < 0.5, {2}, {1, 0});
    check_values(tensor({1, 2}, d) == tensor({1., 2.5}, d), {2}, {1, 0});
  });
}

// PyTorch 2.15 converts the number modulo 2^bits: -2^63 == 2^63, 0 == 2^32 of int32 and 44 == 300
// of uint8 are true there. Here the numbers are compared.
TEST_CASE("integers of every size are compared with numbers below and above their range") {
  for_each_device([](Device device) {
    const auto check = [&](const Tensor& x, const Scalar& number, bool is_above) {
      INFO(x.dtype());
      const std::vector<double> yes(3, 1), no(3, 0);
      check_values(x == number, {3}, no);
      check_values(x != number, {3}, yes);
      check_values(x < number, {3}, is_above ? yes : no);
      check_values(x <= number, {3}, is_above ? yes : no);
      check_values(x > number, {3}, is_above ? no : yes);
      check_values(x >= number, {3}, is_above ? no : yes);
      CHECK(x.clone().lt_(number).equal((x < number).to(x.dtype())));
    };
    const auto ends = [&]<class T>(T) {
      using Limits = std::numeric_limits<T>;
      return tensor({int64_t{Limits::min()}, int64_t{0}, int64_t{Limits::max()}})
          .to(dtype_of<T>)
          .to(device);
    };
    const Scalar large(uint64_t{1} << 63), largest(std::numeric_limits<uint64_t>::max());
    check(ends(uint8_t()), 300, true);
    check(ends(uint8_t()), -1, false);
    check(ends(int8_t()), 128, true);
    check(ends(int8_t()), -129, false);
    check(ends(int16_t()), 1 << 16, true);
    check(ends(int16_t()), -40000, false);
    check(ends(int32_t()), int64_t{1} << 32, true);
    check(ends(int32_t()), -(int64_t{1} << 40), false);
    for (const Scalar& number : {large, largest}) {
      check(ends(uint8_t()), number, true);
      check(ends(int32_t()), number, true);
      check(ends(int64_t()), number, true);
    }
  });
}
