// Random numbers: the generator compared with published vectors, the conversions to numbers, and
// equal numbers for equal seeds on every device.
#include <ambit/backend/philox.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>
#include <ambit/random.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

constexpr int64_t kMany = 20'000;

template <class T>
std::vector<T> values(const Tensor& t) {
  const Tensor host = t.cpu().contiguous();
  const T* p = host.data_ptr<T>();
  return std::vector<T>(p, p + host.numel());
}

// Return the values of a fill on each device if they equal those of the first bit for bit.
template <class T>
void check_same_on_all_devices(const std::function<Tensor(const TensorOptions&)>& draw) {
  std::vector<T> expected;
  for_each_device([&](Device device) {
    manual_seed(7);
    draw(device);  // another fill, so that the second one starts later in the stream
    const std::vector<T> got = values<T>(draw(device));
    if (expected.empty()) expected = got;
    CHECK(got == expected);
  });
}

struct Moments {
  double mean, variance;
};
template <class T>
Moments moments(const std::vector<T>& v) {
  double mean = 0, variance = 0;
  for (const T x : v) mean += static_cast<double>(x) / static_cast<double>(v.size());
  for (const T x : v) {
    variance += std::pow(static_cast<double>(x) - mean, 2) / static_cast<double>(v.size());
  }
  return {mean, variance};
}

// Five standard errors of the mean of kMany numbers with standard deviation `sigma`.
double five_errors(double sigma) { return 5 * sigma / std::sqrt(static_cast<double>(kMany)); }

}  // namespace

TEST_CASE("Philox4x32-10 has the known answers of Random123") {
  // Source: github.com/DEShawResearch/random123, tests/kat_vectors, "philox4x32 10".
  using philox::Block;
  struct Answer {
    Block counter;
    uint32_t key0, key1;
    Block expected;
  };
  constexpr uint32_t kOnes = 0xffffffff;
  const Answer answers[] = {
      {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{kOnes, kOnes, kOnes, kOnes}},
       kOnes,
       kOnes,
       {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       0xa4093822,
       0x299f31d0,
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (const Answer& a : answers) {
    const Block got = philox::encrypt(a.counter, a.key0, a.key1);
    for (int i = 0; i < 4; ++i) CHECK(got.word[i] == a.expected.word[i]);
  }
  CHECK(philox::generate(0, 0).word[0] == 0x6627e8d5);
}

TEST_CASE("random bits are converted to numbers inside of the bounds, at both ends too") {
  using namespace philox;
  CHECK(to_unit(uint32_t{0}) == 0);
  CHECK(to_unit(UINT32_MAX) == 1 - 0x1p-24f);
  CHECK(to_unit(UINT64_MAX) == 1 - 0x1p-53);
  CHECK(to_below(0, 10) == 0);
  CHECK(to_below(UINT64_MAX, 10) == 9);
  CHECK(to_below(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
  CHECK(to_below(uint64_t{1} << 63, 1'000'000'000'001) == 500'000'000'000);
  CHECK(std::isfinite(to_normal(0)));
  CHECK(std::isfinite(to_normal(UINT64_MAX)));
}

TEST_CASE("uniform numbers are below the upper bound even if rounding would reach it") {
  // Near 2^24 the spacing of floats is 2: low + range * (1 - 2^-24) rounds to high.
  const float low = 16777216.f, high = 16777220.f;
  CHECK(philox::to_uniform(UINT32_MAX, low, high) == 16777218.f);
  CHECK(philox::to_uniform(uint32_t{0}, low, high) == low);
  CHECK(philox::to_uniform(UINT64_MAX, 0x1p53, 0x1p53 + 4) == 0x1p53 + 2);
  for_each_device([&](Device device) {
    const Tensor t = empty({kMany}, device);
    t.uniform_(low, high);
    for (const float x : values<float>(t)) REQUIRE((x == low || x == low + 2));
  });
}

TEST_CASE("one seed gives the same uniform numbers, integers and masks on every device") {
  check_same_on_all_devices<float>([](const TensorOptions& o) { return rand({1001}, o); });
  check_same_on_all_devices<double>(
      [](const TensorOptions& o) { return rand({1001}, o.dtype(kFloat64)); });
  check_same_on_all_devices<float>([](const TensorOptions& o) {
    Tensor t = empty({1001}, o);
    t.uniform_(-0.1, 0.7);
    return t;
  });
  check_same_on_all_devices<double>([](const TensorOptions& o) {
    Tensor t = empty({1001}, o.dtype(kFloat64));
    t.uniform_(-0.1, 0.7);
    return t;
  });
  check_same_on_all_devices<int64_t>(
      [](const TensorOptions& o) { return randint(-3, 1000, {1001}, o); });
  check_same_on_all_devices<int64_t>([](const TensorOptions& o) { return randperm(1001, o); });
  check_same_on_all_devices<float>([](const TensorOptions& o) {
    Tensor t = empty({1001}, o);
    t.bernoulli_(0.3);
    return t;
  });
}

TEST_CASE("every dtype has random integers, equal on every device") {
  for (const DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64}) {
    INFO(name(dtype));
    std::vector<double> expected;
    for_each_device([&](Device device) {
      manual_seed(3);
      const Tensor t = randint(0, 100, {500}, TensorOptions(device).dtype(dtype));
      const std::vector<double> got = values<double>(t.to(kFloat64));
      if (expected.empty()) expected = got;
      CHECK(got == expected);
      CHECK(*std::min_element(got.begin(), got.end()) >= 0);
      CHECK(*std::max_element(got.begin(), got.end()) < 100);
    });
  }
}

TEST_CASE("one seed gives the same normal numbers on every device, to 1e-6") {
  std::vector<float> expected;
  for_each_device([&](Device device) {
    manual_seed(7);
    const std::vector<float> got = values<float>(randn({1001}, device));
    if (expected.empty()) expected = got;
    for (size_t i = 0; i < got.size(); ++i) {
      // The documented bound: libm implementations differ in the last bits, float32 rounds by 6e-8.
      CHECK(std::abs(got[i] - expected[i]) <= 1e-6f * std::abs(expected[i]));
    }
  });
}

TEST_CASE("random numbers have the moments of their distributions") {
  for_each_device([&](Device device) {
    manual_seed(1);
    const Moments uniform = moments(values<float>(rand({kMany}, device)));
    CHECK(std::abs(uniform.mean - 0.5) < five_errors(std::sqrt(1 / 12.0)));
    // The variance of the square deviation of a uniform number is 1/180, of a normal one 2.
    CHECK(std::abs(uniform.variance - 1 / 12.0) < five_errors(std::sqrt(1 / 180.0)));

    const Moments normal = moments(values<float>(randn({kMany}, device)));
    CHECK(std::abs(normal.mean) < five_errors(1));
    CHECK(std::abs(normal.variance - 1) < five_errors(std::sqrt(2.0)));

    const Tensor shifted = empty({kMany}, device);
    shifted.normal_(10, 3);
    CHECK(std::abs(moments(values<float>(shifted)).mean - 10) < five_errors(3));

    const Moments dice = moments(values<int64_t>(randint(1, 7, {kMany}, device)));
    CHECK(std::abs(dice.mean - 3.5) < five_errors(std::sqrt(35 / 12.0)));

    const Tensor coins = empty({kMany}, device);
    coins.bernoulli_(0.3);
    CHECK(std::abs(moments(values<float>(coins)).mean - 0.3) < five_errors(std::sqrt(0.3 * 0.7)));
  });
}

TEST_CASE("seeds have different streams, streams advance, and a seed restarts them") {
  for_each_device([&](Device device) {
    manual_seed(1);
    const auto first = values<float>(rand({100}, device));
    const auto second = values<float>(rand({100}, device));
    manual_seed(2);
    const auto other = values<float>(rand({100}, device));
    manual_seed(1);
    CHECK(values<float>(rand({100}, device)) == first);
    CHECK(first != second);
    CHECK(first != other);
    // Fills do not share numbers; among 300 numbers of 24 bits 300^2 / 2 / 2^24 = 0.003 pairs are
    // equal.
    std::set<float> distinct(first.begin(), first.end());
    distinct.insert(second.begin(), second.end());
    distinct.insert(other.begin(), other.end());
    CHECK(distinct.size() >= 298);
  });
}

TEST_CASE("randperm is a permutation, and another one each time") {
  for_each_device([&](Device device) {
    manual_seed(5);
    std::vector<int64_t> p = values<int64_t>(randperm(1000, device));
    CHECK(p != values<int64_t>(randperm(1000, device)));
    std::sort(p.begin(), p.end());
    for (int64_t i = 0; i < 1000; ++i) REQUIRE(p[static_cast<size_t>(i)] == i);
    CHECK(randperm(0, device).numel() == 0);
  });
}

TEST_CASE("bernoulli with probability 0 is never true, with 1 always") {
  for_each_device([&](Device device) {
    const Tensor t = empty({kMany}, TensorOptions(device).dtype(kBool));
    t.bernoulli_(0);
    for (const bool b : values<bool>(t)) REQUIRE(!b);
    t.bernoulli_(1);
    for (const bool b : values<bool>(t)) REQUIRE(b);
  });
}

TEST_CASE("element i of a fill does not depend on the number of elements") {
  for_each_device([&](Device device) {
    for (const DType dtype : {kFloat32, kFloat64}) {
      const TensorOptions options = TensorOptions(device).dtype(dtype);
      manual_seed(9);
      const auto few = values<double>(rand({7}, options).to(kFloat64));
      manual_seed(9);
      const auto many = values<double>(rand({kMany}, options).to(kFloat64));
      CHECK(std::equal(few.begin(), few.end(), many.begin()));
    }
  });
}

TEST_CASE("a generator is a handle, and its state can be saved") {
  Generator g(kCPU, 11), same = g;
  same.advance(3);
  CHECK(g == same);
  CHECK(g.offset() == 3);
  CHECK(g.current_seed() == 11);
  CHECK(g.device() == Device(kCPU));
  const Generator copy = g.clone();
  CHECK_FALSE(copy == g);
  g.advance(1);
  CHECK(copy.offset() == 3);
  const Tensor state = g.get_state();
  CHECK(state.dtype() == kUInt8);
  CHECK(state.sizes() == IntArrayRef{16});
  copy.set_state(state);
  CHECK(copy.offset() == 4);
  CHECK(copy.current_seed() == 11);
  g.set_current_seed(5);
  CHECK(g.offset() == 0);
  CHECK(Generator(kCPU).current_seed() == Generator::kDefaultSeed);
  const std::lock_guard lock(g.mutex());
  g.advance(1);  // does not lock the mutex, which is held here
}

TEST_CASE("random numbers continue from a saved state of the generator") {
  for_each_device([](Device d) {
    manual_seed(4);
    rand({5}, d);
    const Tensor state = default_generator(d).get_state();
    const Tensor next = rand({100}, d), after = rand({3}, d);
    default_generator(d).set_state(state);
    CHECK(rand({100}, d).equal(next));
    CHECK(rand({3}, d).equal(after));
  });
}

TEST_CASE("a generator refuses an invalid state, and every call of an undefined one is an error") {
  const Generator g(kCPU, 11);
  g.advance(2);
  CHECK_THROWS_AS(g.set_state(zeros({16})), DTypeError);
  CHECK_THROWS_AS(g.set_state(zeros({15}, kUInt8)), ShapeError);
  CHECK_THROWS_AS(g.set_state(zeros({4, 4}, kUInt8)), ShapeError);
  CHECK_THROWS_AS(g.set_state(zeros({32}, kUInt8).slice(0, 0, 32, 2)), Error);
  CHECK_THROWS_AS(g.set_state(zeros({16}, TensorOptions(kUInt8).device(Device("reference")))),
                  Error);
  CHECK_THROWS_AS(g.set_state(Tensor()), Error);
  CHECK(g.offset() == 2);
  const Generator none;
  CHECK_FALSE(none.defined());
  CHECK_THROWS_AS(none.get_state(), Error);
  CHECK_THROWS_AS(none.set_state(g.get_state()), Error);
  CHECK_THROWS_AS(none.clone(), Error);
  CHECK_THROWS_AS(none.advance(1), Error);
  CHECK_THROWS_AS(none.device(), Error);
}
