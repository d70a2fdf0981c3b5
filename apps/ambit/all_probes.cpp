// The probes: per op, operands as small as they can be. Which dtypes an op is defined for is said
// in kernels.h.
#include <ambit/ops/creation.h>
#include <ambit/tensor.h>

#include "defined_for.h"
#include "probe.h"

using namespace ambit;

namespace {

using DTypes = std::vector<DType>;
const DTypes kFloats = {kFloat64, kFloat32};
const DTypes kNumbers = {kFloat64, kFloat32, kInt64, kInt32, kInt16, kInt8, kUInt8};
const DTypes kAll = {kFloat64, kFloat32, kInt64, kInt32, kInt16, kInt8, kUInt8, kBool};

// Makes operands, without a kernel of the device: they are filled on the CPU.
struct Make {
  DType dtype;
  Device device;

  Tensor out(IntArrayRef sizes) const { return out(sizes, dtype); }
  Tensor out(IntArrayRef sizes, DType d) const {
    return empty(sizes, TensorOptions(d).device(device));
  }
  Tensor in(IntArrayRef sizes) const { return in(sizes, dtype); }
  Tensor in(IntArrayRef sizes, DType d) const { return ones(sizes, d).to(device); }
  Tensor index(IntArrayRef sizes, DType d = kInt64) const { return zeros(sizes, d).to(device); }
  std::vector<Tensor> list() const { return {in({2}), in({1})}; }
};

// A probe of `op`: operands(make) returns a tuple of the call's arguments.
template <class... A, class Operands>
Probe probe(const Op<void(A...)>& op, DTypes dtypes, Operands operands, std::string function = "") {
  return {&op, std::move(function), std::move(dtypes), [&op, operands](DType dtype, Device device) {
            return [&op, call = operands(Make{dtype, device})]() mutable { std::apply(op, call); };
          }};
}

template <class Function>
DTypes dtypes_of(Function f) {
  DTypes dtypes = kAll;
  std::erase_if(dtypes, [f](DType d) { return !is_defined_for(f, d); });
  return dtypes;
}

// Call add(f) for every function f up to the family's last.
template <class Function, class Add>
void for_each_function(Function last, Add add) {
  for (int f = 0; f <= static_cast<int>(last); ++f) add(static_cast<Function>(f));
}

void add_memory(std::vector<Probe>& probes) {
  for (const DType from : kAll) {
    probes.push_back(probe(
        kernels::copy, kAll, [from](Make m) { return std::tuple(m.out({2}), m.in({2}, from)); },
        std::string("from ") + name(from)));
  }
  probes.push_back(
      probe(kernels::fill, kAll, [](Make m) { return std::tuple(m.out({2}), Scalar(1)); }));
  using Kind = RandomParams::Kind;
  const auto random = [&](Kind kind, const DTypes& dtypes, const char* function) {
    probes.push_back(probe(
        kernels::random, dtypes,
        [kind](Make m) { return std::tuple(m.out({2}), RandomParams{.kind = kind}); }, function));
  };
  random(Kind::uniform, kFloats, "uniform");
  random(Kind::normal, kFloats, "normal");
  random(Kind::integer, kAll, "integer");
  random(Kind::bernoulli, kAll, "bernoulli");
}

void add_elementwise(std::vector<Probe>& probes) {
  for_each_function(UnaryOp::logical_not, [&](UnaryOp f) {
    probes.push_back(probe(
        kernels::unary, dtypes_of(f),
        [f](Make m) {
          return std::tuple(m.out({2}, makes_bool(f) ? kBool : m.dtype), m.in({2}), f);
        },
        name(f)));
  });
  for_each_function(BinaryOp::gelu_grad, [&](BinaryOp f) {
    probes.push_back(probe(
        kernels::binary, dtypes_of(f),
        [f](Make m) { return std::tuple(m.out({2}), m.in({2}), m.in({2}), f); }, name(f)));
  });
  for_each_function(CompareOp::logical_xor, [&](CompareOp f) {
    probes.push_back(probe(
        kernels::compare, kAll,
        [f](Make m) { return std::tuple(m.out({2}, kBool), m.in({2}), m.in({2}), f); }, name(f)));
  });
  probes.push_back(probe(kernels::where, kAll, [](Make m) {
    return std::tuple(m.out({2}), m.in({2}, kBool), m.in({2}), m.in({2}));
  }));
}

DType result_of(ReduceOp f, DType dtype) {
  if (f == ReduceOp::any || f == ReduceOp::all) return kBool;
  const bool counts = f == ReduceOp::sum || f == ReduceOp::prod;
  return counts && dtype == kBool ? kInt64 : dtype;
}

void add_reductions(std::vector<Probe>& probes) {
  for_each_function(ReduceOp::all, [&](ReduceOp f) {
    probes.push_back(probe(
        kernels::reduce, kAll,
        [f](Make m) { return std::tuple(m.out({1}, result_of(f, m.dtype)), m.in({2}), f); },
        name(f)));
  });
  probes.push_back(probe(kernels::arg_reduce, kAll, [](Make m) {
    return std::tuple(m.out({1}), m.out({1}, kInt64), m.in({2}), int64_t{0}, true);
  }));
  probes.push_back(probe(kernels::cumsum, kNumbers,
                         [](Make m) { return std::tuple(m.out({2}), m.in({2}), int64_t{0}); }));
}

void add_indexing(std::vector<Probe>& probes) {
  const auto read = [](Make m) {
    return std::tuple(m.out({1}), m.in({2}), m.index({1}), int64_t{0});
  };
  const auto write = [](Make m) {
    return std::tuple(m.in({2}), m.index({1}), m.in({1}), int64_t{0});
  };
  probes.push_back(probe(kernels::gather, kAll, read));
  probes.push_back(probe(kernels::scatter, kAll, write));
  probes.push_back(probe(kernels::scatter_add, kAll, write));
  probes.push_back(probe(kernels::nonzero, {kBool}, [](Make m) {
    return std::tuple(m.out({2, 1}, kInt64), m.in({2}));
  }));
  probes.push_back(probe(kernels::index_select, kAll, read));
  probes.push_back(probe(kernels::index_add, kAll, write));
}

constexpr Pool2dParams kPairs{.kernel = {2, 2}};

void add_layers(std::vector<Probe>& probes) {
  probes.push_back(probe(kernels::matmul, kNumbers, [](Make m) {
    return std::tuple(m.out({1, 2, 2}), m.in({1, 2, 3}), m.in({1, 3, 2}));
  }));
  probes.push_back(probe(kernels::linear, kNumbers, [](Make m) {
    return std::tuple(m.out({2, 2}), m.in({2, 3}), m.in({2, 3}), m.in({2}));
  }));
  probes.push_back(probe(kernels::conv2d, kFloats, [](Make m) {
    return std::tuple(m.out({1, 1, 2, 2}), m.in({1, 1, 3, 3}), m.in({1, 1, 2, 2}), m.in({1}),
                      Conv2dParams{});
  }));
  probes.push_back(probe(kernels::conv2d_input_grad, kFloats, [](Make m) {
    return std::tuple(m.out({1, 1, 3, 3}), m.in({1, 1, 2, 2}), m.in({1, 1, 2, 2}), Conv2dParams{});
  }));
  probes.push_back(probe(kernels::conv2d_weight_grad, kFloats, [](Make m) {
    return std::tuple(m.out({1, 1, 2, 2}), m.in({1, 1, 2, 2}), m.in({1, 1, 3, 3}), Conv2dParams{});
  }));
  probes.push_back(probe(kernels::max_pool2d, kFloats, [](Make m) {
    return std::tuple(m.out({1, 1, 1, 1}), m.out({1, 1, 1, 1}, kInt32), m.in({1, 1, 2, 2}), kPairs);
  }));
  probes.push_back(probe(kernels::max_pool2d_grad, kFloats, [](Make m) {
    return std::tuple(m.out({1, 1, 2, 2}), m.in({1, 1, 1, 1}), m.index({1, 1, 1, 1}, kInt32),
                      kPairs);
  }));
  probes.push_back(probe(kernels::avg_pool2d, kFloats, [](Make m) {
    return std::tuple(m.out({1, 1, 1, 1}), m.in({1, 1, 2, 2}), kPairs);
  }));
  probes.push_back(probe(kernels::avg_pool2d_grad, kFloats, [](Make m) {
    return std::tuple(m.out({1, 1, 2, 2}), m.in({1, 1, 1, 1}), kPairs);
  }));
  probes.push_back(probe(kernels::softmax, kFloats, [](Make m) {
    return std::tuple(m.out({2}), m.in({2}), int64_t{0}, false);
  }));
  probes.push_back(probe(kernels::softmax_grad, kFloats, [](Make m) {
    return std::tuple(m.out({2}), m.in({2}), m.in({2}), int64_t{0}, false);
  }));
  probes.push_back(probe(kernels::batch_norm, kFloats, [](Make m) {
    return std::tuple(m.out({2, 1}), m.out({1}), m.out({1}), m.in({1}), m.in({1}), m.in({2, 1}),
                      m.in({1}), m.in({1}), BatchNormParams{});
  }));
  probes.push_back(probe(kernels::batch_norm_grad, kFloats, [](Make m) {
    return std::tuple(m.out({2, 1}), m.out({1}), m.out({1}), m.in({2, 1}), m.in({2, 1}), m.in({1}),
                      m.in({1}), m.in({1}), BatchNormParams{});
  }));
  probes.push_back(probe(kernels::nll_loss, kFloats, [](Make m) {
    return std::tuple(m.out({1}), m.out({}), m.in({1, 2}), m.index({1}), m.in({2}), int64_t{-100});
  }));
  probes.push_back(probe(kernels::cross_entropy, kFloats, [](Make m) {
    return std::tuple(m.out({1}), m.out({}), m.in({1, 2}), m.index({1}), m.in({2}), int64_t{-100});
  }));
  probes.push_back(probe(kernels::cross_entropy_grad, kFloats, [](Make m) {
    return std::tuple(m.out({1, 2}), m.in({1}), m.in({1, 2}), m.index({1}), m.in({2}),
                      int64_t{-100});
  }));
  probes.push_back(probe(kernels::sgd_step, kFloats, [](Make m) {
    return std::tuple(m.list(), m.list(), m.list(), SgdParams{.lr = 0.1, .momentum = 0.9});
  }));
  probes.push_back(probe(kernels::adam_step, kFloats, [](Make m) {
    return std::tuple(m.list(), m.list(), m.list(), m.list(), AdamParams{});
  }));
}

}  // namespace

std::vector<Probe> all_probes() {
  std::vector<Probe> probes;
  add_memory(probes);
  add_elementwise(probes);
  add_reductions(probes);
  add_indexing(probes);
  add_layers(probes);
  return probes;
}
