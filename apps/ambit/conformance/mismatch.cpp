// Operands on different devices: every kernel op refuses them with the documented text, whichever
// operand it is, and nothing has run. Core checks it; the cases show that it holds here.
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include "cases.h"
#include "expect.h"

using namespace ambit;

namespace conformance {
namespace {

using Tensors = std::vector<Tensor>;

// A call of an op that would be right on one device.
struct Call {
  const OpBase& op;
  std::function<Tensors()> operands;  // on the host, outputs first; all are defined
  void (*run)(Tensors&);
};

Tensor ones_of(DType dtype, IntArrayRef sizes) { return ones(sizes, dtype); }

Call call(const OpBase& op, std::vector<Dims> floats, void (*run)(Tensors&)) {
  return {op,
          [=] {
            Tensors operands;
            for (const Dims& sizes : floats) operands.push_back(ones(sizes));
            return operands;
          },
          run};
}

std::vector<Call> memory_and_elementwise_calls() {
  namespace k = kernels;
  return {
      call(k::copy, {{3}, {3}}, [](Tensors& t) { k::copy(t[0], t[1]); }),
      call(k::unary, {{3}, {3}}, [](Tensors& t) { k::unary(t[0], t[1], UnaryOp::neg); }),
      call(k::binary, {{3}, {3}, {3}},
           [](Tensors& t) { k::binary(t[0], t[1], t[2], BinaryOp::add); }),
      {k::compare,
       [] {
         return Tensors{ones_of(kBool, {3}), ones({3}), ones({3})};
       },
       [](Tensors& t) { k::compare(t[0], t[1], t[2], CompareOp::eq); }},
      {k::where,
       [] {
         return Tensors{ones({3}), ones_of(kBool, {3}), ones({3}), ones({3})};
       },
       [](Tensors& t) { k::where(t[0], t[1], t[2], t[3]); }},
  };
}

std::vector<Call> reduction_and_index_calls() {
  namespace k = kernels;
  const auto index = [] { return ones_of(kInt64, {3}); };
  const auto with_index = [=](int at) {  // three vectors, one of them an index
    return [=] {
      Tensors t{ones({3}), ones({3}), ones({3})};
      t[static_cast<size_t>(at)] = index();
      return t;
    };
  };
  return {
      call(k::reduce, {{1}, {3}}, [](Tensors& t) { k::reduce(t[0], t[1], ReduceOp::sum); }),
      {k::arg_reduce,
       [] {
         return Tensors{ones({1}), ones_of(kInt64, {1}), ones({3})};
       },
       [](Tensors& t) { k::arg_reduce(t[0], t[1], t[2], 0, true); }},
      call(k::cumsum, {{3}, {3}}, [](Tensors& t) { k::cumsum(t[0], t[1], 0); }),
      {k::gather, with_index(2), [](Tensors& t) { k::gather(t[0], t[1], t[2], 0); }},
      {k::scatter, with_index(1), [](Tensors& t) { k::scatter(t[0], t[1], t[2], 0); }},
      {k::scatter_add, with_index(1), [](Tensors& t) { k::scatter_add(t[0], t[1], t[2], 0); }},
      {k::nonzero,
       [] {
         return Tensors{ones_of(kInt64, {3, 1}), ones_of(kBool, {3})};
       },
       [](Tensors& t) { k::nonzero(t[0], t[1]); }},
      {k::index_select, with_index(2), [](Tensors& t) { k::index_select(t[0], t[1], t[2], 0); }},
      {k::index_add, with_index(1), [](Tensors& t) { k::index_add(t[0], t[1], t[2], 0); }},
  };
}

std::vector<Call> matmul_and_conv_calls() {
  namespace k = kernels;
  return {
      call(k::matmul, {{1, 2, 4}, {1, 2, 3}, {1, 3, 4}},
           [](Tensors& t) { k::matmul(t[0], t[1], t[2]); }),
      call(k::linear, {{2, 4}, {2, 3}, {4, 3}, {4}},
           [](Tensors& t) { k::linear(t[0], t[1], t[2], t[3]); }),
      call(k::conv2d, {{1, 2, 3, 3}, {1, 1, 4, 4}, {2, 1, 2, 2}, {2}},
           [](Tensors& t) { k::conv2d(t[0], t[1], t[2], t[3], {}); }),
      call(k::conv2d_input_grad, {{1, 1, 4, 4}, {1, 2, 3, 3}, {2, 1, 2, 2}},
           [](Tensors& t) { k::conv2d_input_grad(t[0], t[1], t[2], {}); }),
      call(k::conv2d_weight_grad, {{2, 1, 2, 2}, {1, 2, 3, 3}, {1, 1, 4, 4}},
           [](Tensors& t) { k::conv2d_weight_grad(t[0], t[1], t[2], {}); }),
  };
}

std::vector<Call> pool_calls() {
  namespace k = kernels;
  static constexpr Pool2dParams kPool{.kernel = {2, 2}};
  const auto indices = [] { return ones_of(kInt32, {1, 1, 2, 2}); };
  return {
      {k::max_pool2d,
       [=] {
         return Tensors{ones({1, 1, 2, 2}), indices(), ones({1, 1, 4, 4})};
       },
       [](Tensors& t) { k::max_pool2d(t[0], t[1], t[2], kPool); }},
      {k::max_pool2d_grad,
       [=] {
         return Tensors{ones({1, 1, 4, 4}), ones({1, 1, 2, 2}), indices()};
       },
       [](Tensors& t) { k::max_pool2d_grad(t[0], t[1], t[2], kPool); }},
      call(k::avg_pool2d, {{1, 1, 2, 2}, {1, 1, 4, 4}},
           [](Tensors& t) { k::avg_pool2d(t[0], t[1], kPool); }),
      call(k::avg_pool2d_grad, {{1, 1, 4, 4}, {1, 1, 2, 2}},
           [](Tensors& t) { k::avg_pool2d_grad(t[0], t[1], kPool); }),
  };
}

std::vector<Call> layer_calls() {
  namespace k = kernels;
  return {
      call(k::softmax, {{2, 3}, {2, 3}}, [](Tensors& t) { k::softmax(t[0], t[1], 1, false); }),
      call(k::softmax_grad, {{2, 3}, {2, 3}, {2, 3}},
           [](Tensors& t) { k::softmax_grad(t[0], t[1], t[2], 1, false); }),
      call(k::batch_norm, {{4, 2}, {2}, {2}, {2}, {2}, {4, 2}, {2}, {2}},
           [](Tensors& t) { k::batch_norm(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], {}); }),
      call(k::batch_norm_grad, {{4, 2}, {2}, {2}, {4, 2}, {4, 2}, {2}, {2}, {2}},
           [](Tensors& t) {
             k::batch_norm_grad(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], {});
           }),
      {k::nll_loss,
       [] {
         return Tensors{ones({2}), ones({}), ones({2, 3}), ones_of(kInt64, {2}), ones({3})};
       },
       [](Tensors& t) { k::nll_loss(t[0], t[1], t[2], t[3], t[4], -100); }},
      {k::cross_entropy,
       [] {
         return Tensors{ones({2}), ones({}), ones({2, 3}), ones_of(kInt64, {2}), ones({3})};
       },
       [](Tensors& t) { k::cross_entropy(t[0], t[1], t[2], t[3], t[4], -100); }},
      {k::cross_entropy_grad,
       [] {
         return Tensors{ones({2, 3}), ones({2}), ones({2, 3}), ones_of(kInt64, {2}), ones({3})};
       },
       [](Tensors& t) { k::cross_entropy_grad(t[0], t[1], t[2], t[3], t[4], -100); }},
      call(k::sgd_step, {{3}, {2}, {3}, {2}, {3}, {2}},
           [](Tensors& t) {
             k::sgd_step({&t[0], 2}, {&t[2], 2}, {&t[4], 2}, {.lr = 1, .momentum = 0.5});
           }),
      call(k::adam_step, {{3}, {2}, {3}, {2}, {3}, {2}, {3}, {2}},
           [](Tensors& t) {
             k::adam_step({&t[0], 2}, {&t[2], 2}, {&t[4], 2}, {&t[6], 2}, {.lr = 1});
           }),
  };
}

// Operand `odd` is on another device. The first operand with a dim says which one is expected.
void check_operand(const Call& c, Device device, Device other, size_t odd) {
  Tensors operands = c.operands();
  size_t first = 0;
  while (operands[first].dim() == 0) ++first;
  for (size_t i = 0; i < operands.size(); ++i) {
    // Ones would be what some of these calls compute.
    operands[i] = (operands[i] * 2).to(operands[i].dtype()).to(i == odd ? other : device);
  }
  Tensors before;
  for (const Tensor& t : operands) before.push_back(t.cpu().clone());
  const bool sets_expected = odd == first;
  const std::string want =
      fmt::format("expected device {} but got device {}", (sets_expected ? other : device).str(),
                  (sets_expected ? device : other).str());
  const std::string what = fmt::format("{} with operand {} on {} instead of {}", c.op.name(), odd,
                                       other.str(), device.str());
  const std::string got =
      expect_throws<DeviceMismatchError>(what, "DeviceMismatchError", [&] { c.run(operands); });
  expect(got == want, fmt::format("{}: expected the text \"{}\", got \"{}\"", what, want, got));
  for (size_t i = 0; i < operands.size(); ++i) {
    expect_same(fmt::format("{}: operand {} after it", what, i), operands[i], before[i]);
  }
}

void check_call(const Call& c, Device device) {
  std::vector<Device> others{device.is_cpu() ? Device("reference") : kCPU};
  if (device_count(device.type()) > 1) others.push_back(other_index(device));
  const size_t count = c.operands().size();
  for (const Device other : others) {
    for (size_t odd = 0; odd < count; ++odd) check_operand(c, device, other, odd);
  }
}

// The one mixture that is allowed.
void check_zero_dim(Device device) {
  const Tensor x = numbers({5}).to(device);
  expect_same("a tensor of the device plus a 0-dim one of the cpu", x + tensor(2.),
              numbers({5}) + 2);
  expect_same("a 0-dim tensor of the cpu minus one of the device", tensor(2.) - x,
              2 - numbers({5}));
}

}  // namespace

void add_mismatch_cases(Cases& cases) {
  for (const auto& calls : {memory_and_elementwise_calls(), reduction_and_index_calls(),
                            matmul_and_conv_calls(), pool_calls(), layer_calls()}) {
    for (const Call& c : calls) {
      cases.push_back({std::string("mismatch/") + c.op.name(), c.op.name(),
                       [c](Device device) { check_call(c, device); }});
    }
  }
  cases.push_back({"mismatch/zero_dim", "", check_zero_dim});
}

}  // namespace conformance
