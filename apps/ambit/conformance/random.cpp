// Random numbers: one seed gives the same numbers on every device. Bits are equal, except for
// normally distributed numbers, which may differ relatively by 1e-6 because libm implementations
// differ.
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>
#include <ambit/random.h>
#include <fmt/format.h>

#include "bound.h"
#include "cases.h"
#include "expect.h"

using namespace ambit;

namespace conformance {
namespace {

constexpr double kNormalBound = 1e-6;

using Draw = std::function<Tensor(IntArrayRef sizes, Device device)>;

std::vector<Tensor> draw_all(const Draw& draw, uint64_t seed, Device device) {
  manual_seed(seed);
  std::vector<Tensor> drawn;
  // Consecutive fills that end anywhere in a block of four words; each continues the stream. The
  // last one needs many thread blocks of a GPU.
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 1001, 70'001}) {
    drawn.push_back(draw({n}, device));
  }
  return drawn;
}

void check_stream(Device device, const Draw& draw, double bound) {
  // A seed of more than 32 bits uses both words of the key.
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, (uint64_t{1} << 40) + 3}) {
    const auto got = draw_all(draw, seed, device), want = draw_all(draw, seed, "reference");
    for (size_t i = 0; i < got.size(); ++i) {
      expect_close(fmt::format("seed {}, fill {} ({} numbers)", seed, i + 1, got[i].numel()),
                   got[i], want[i], bound);
    }
  }
}

// The kernel itself, at large offsets: block numbers have 64 bits.
void check_far(Device device, DType dtype, RandomParams p, double bound) {
  p.seed = 0x123456789abcdef0;
  for (const uint64_t offset : {uint64_t{0xffffffff}, uint64_t{0x500000000}, uint64_t{1} << 62}) {
    p.offset = offset;
    Tensor y = empty({1001}, TensorOptions(dtype).device(device));
    Tensor want = empty({1001}, TensorOptions(dtype).device("reference"));
    kernels::random(y, p);
    kernels::random(want, p);
    expect_close(fmt::format("1001 numbers from block {} on", offset), y, want, bound);
  }
}

void check_strided(Device device) {
  const auto draw = [](Device d) {
    manual_seed(11);
    const Tensor t = zeros({33, 17}, d);
    t.t().uniform_(-1, 1);
    t.slice(1, 3, 17, 2).normal_();
    return t;
  };
  expect_close("fills of a transposed tensor, then of every second column", draw(device),
               draw("reference"), kNormalBound);
}

// A GPU needs about a thousand thread blocks for it.
void check_large(Device device) {
  const auto draw = [](Device d) {
    manual_seed(3);
    return rand({(1 << 20) + 3}, d);
  };
  expect_same("a fill of 1048579 numbers", draw(device), draw("reference"));
}

void check_restart(Device device) {
  manual_seed(5);
  const Tensor first = rand({1001}, device), second = rand({1001}, device);
  expect(!first.cpu().equal(second.cpu()), "two fills after one seed have the same numbers");
  manual_seed(5);
  expect_same("the first fill after the same seed", rand({1001}, device), first);
  expect_same("the second fill after the same seed", rand({1001}, device), second);
}

Draw filled(DType dtype, std::function<void(const Tensor&)> fill) {
  return [=](IntArrayRef sizes, Device device) {
    const Tensor t = empty(sizes, TensorOptions(dtype).device(device));
    fill(t);
    return t;
  };
}

}  // namespace

void add_random_cases(Cases& cases) {
  using Kind = RandomParams::Kind;
  const auto add = [&](const std::string& name, std::function<void(Device)> check) {
    cases.push_back({"random/" + name, "random", std::move(check)});
  };
  const auto add_kind = [&](const char* kind, DType dtype, const RandomParams& p, double bound,
                            std::function<void(const Tensor&)> fill) {
    const std::string type = std::string("/") + name(dtype);
    add(kind + type, [=, draw = filled(dtype, fill)](Device d) { check_stream(d, draw, bound); });
    add(std::string("far_") + kind + type, [=](Device d) { check_far(d, dtype, p, bound); });
  };
  for (const DType dtype : dtypes::kAnyFloating) {
    add_kind("uniform", dtype, {.kind = Kind::uniform, .low = -0.1, .high = 0.7}, 0,
             [](const Tensor& t) { t.uniform_(-0.1, 0.7); });
    // The mean is 0: with another mean, results near 0 would be differences that cancel and exceed
    // a relative bound of 1e-6.
    add_kind("normal", dtype, {.kind = Kind::normal, .low = 0, .high = 2},
             kNormalBound + last_place(dtype), [](const Tensor& t) { t.normal_(0, 2); });
  }
  for (const DType dtype : dtypes::kEvery) {
    if (dtype != kBool) {
      add_kind("integer", dtype, {.kind = Kind::integer, .low = 3, .high = 101}, 0,
               [](const Tensor& t) { t.random_(3, 101); });
    }
    add_kind("bernoulli", dtype, {.kind = Kind::bernoulli, .low = 0.3}, 0,
             [](const Tensor& t) { t.bernoulli_(0.3); });
  }
  add("wide_integer/int64", [draw = filled(kInt64, [](const Tensor& t) {
                               t.random_(-(int64_t{1} << 50), int64_t{1} << 52);
                             })](Device d) { check_stream(d, draw, 0); });
  add("randperm", [](Device d) {
    check_stream(
        d, [](IntArrayRef sizes, Device on) { return randperm(sizes[0], on); }, 0);
  });
  add("dropout", [](Device d) {
    check_stream(
        d, [](IntArrayRef sizes, Device on) { return dropout(ones(sizes, on), 0.25); }, 0);
  });
  add("large", check_large);
  add("strided", check_strided);
  add("restart", check_restart);
}

}  // namespace conformance
