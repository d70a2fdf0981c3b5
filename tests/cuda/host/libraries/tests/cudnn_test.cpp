// The emulation of cuDNN on memory of the runtime: what its plans compute, beside the reference
// backend, and what its checks find.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "cudnn_script.h"
#include "gpu_array.h"
#include "tests/child_process.h"

using namespace ambit;
using namespace host_libraries;
using D = CudnnScript::Descriptor;

namespace {

struct Problem {
  Kind kind;
  Dims x, w;
  ConvParams params = {};
  DType dtype = kFloat32;
  bool channels_last = false, bias = false, relu = false, keeps_nan = false;

  Dims y() const { return params.out_sizes("convolution", x, w); }
};

constexpr int64_t kX = 1, kW = 2, kY = 3, kB = 4, kBetween = 5, kBiased = 6;

cudnnHandle_t handle() {
  static const cudnnHandle_t made = [] {
    cudnnHandle_t h = nullptr;
    cudaStream_t stream = nullptr;
    must(cudaStreamCreate(&stream));
    REQUIRE(emulated_cudnn().create(&h) == CUDNN_STATUS_SUCCESS);
    REQUIRE(emulated_cudnn().set_stream(h, stream) == CUDNN_STATUS_SUCCESS);
    return h;
  }();
  return made;
}

cudnnDataType_t data_type(DType dtype) {
  return dtype == kFloat16    ? CUDNN_DATA_HALF
         : dtype == kBFloat16 ? CUDNN_DATA_BFLOAT16
         : dtype == kFloat64  ? CUDNN_DATA_DOUBLE
                              : CUDNN_DATA_FLOAT;
}
cudnnDataType_t sum_type(DType dtype) {
  return dtype == kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

// [N,C,...] -> [N,...,C]
Dims channels_last(const Dims& n) {
  Dims sizes(IntArrayRef(n).slice(2));
  sizes.insert(0, n[0]);
  sizes.push_back(n[1]);
  return sizes;
}
Sizes channels_last_strides(const Dims& n) {
  Sizes strides(n.size(), 1);
  int64_t step = n[1];
  for (size_t d = n.size(); d-- > 2; step *= n[d]) strides[d] = step;
  strides[0] = step;
  return strides;
}

// The graph of a problem, as the plugin builds it.
D graph_of(CudnnScript& s, const Problem& p, double alpha = 1, double beta = 0) {
  const auto tensor = [&](int64_t id, const Dims& n, bool is_virtual = false) {
    TensorSpec spec{.id = id, .sizes = Sizes(n.begin(), n.end()), .is_virtual = is_virtual};
    spec.type = is_virtual ? sum_type(p.dtype) : data_type(p.dtype);
    if (p.channels_last) spec.strides = channels_last_strides(n);
    return s.tensor(spec);
  };
  const auto list = [&](const PerAxis& numbers) { return numbers.of(p.x.size() - 2).vec(); };
  const ConvSpec conv{.stride = list(p.params.stride),
                      .dilation = list(p.params.dilation),
                      .before = list(p.params.padding),
                      .after = list(p.params.padding),
                      .compute = sum_type(p.dtype),
                      .alpha = alpha,
                      .beta = beta};
  const Dims y = p.y();
  D product = p.bias ? tensor(kBetween, y, true) : tensor(kY, y);
  Dims repeated(y.size(), 1);
  repeated[1] = p.w[0];
  std::vector<D> operations{
      s.operation(p.kind, conv, s.convolution(conv), tensor(kX, p.x), tensor(kW, p.w), product)};
  if (p.bias) {
    D sum = p.relu ? tensor(kBiased, y, true) : tensor(kY, y);
    operations.push_back(
        s.pointwise(CUDNN_POINTWISE_ADD, product, tensor(kB, repeated), sum, conv.compute));
    if (p.relu) {
      operations.push_back(s.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, tensor(kY, y),
                                       conv.compute, p.keeps_nan));
    }
  }
  return s.graph(operations, handle());
}

// A problem's operands, its exact result, and what the sizes of its terms add up to.
struct Operands {
  Tensor x, w, y, b, exact, magnitude;
  int64_t terms;

  explicit Operands(const Problem& p) {
    const TensorOptions wide = TensorOptions(p.dtype);
    x = randn(p.x, wide);
    w = randn(p.w, wide);
    y = randn(p.y(), wide);
    b = p.bias ? randn({p.w[0]}, wide) : Tensor();
    const auto ours = [&](const Tensor& t) { return t.to(Device("reference"), kFloat64); };
    const auto compute = [&](const Tensor& X, const Tensor& W, const Tensor& Y, const Tensor& B) {
      switch (p.kind) {
        case Kind::forward:
          return p.x.size() == 5 ? conv3d(X, W, B, p.params) : conv2d(X, W, B, p.params);
        case Kind::data:
          return convolution_input_grad(Y, W, p.x, p.params);
        default:
          return convolution_weight_grad(Y, X, p.w, p.params);
      }
    };
    const Tensor no;
    exact = compute(ours(x), ours(w), ours(y), b.defined() ? ours(b) : no).cpu();
    if (p.relu) exact = relu(exact);
    magnitude =
        compute(ours(x).abs(), ours(w).abs(), ours(y).abs(), b.defined() ? ours(b).abs() : no)
            .cpu();
    const int64_t window = count("convolution", IntArrayRef(p.w).slice(2));
    terms = p.kind == Kind::forward ? p.w[1] * window
            : p.kind == Kind::data  ? p.w[0] * window
                                    : y.numel() / y.size(1);
  }
  // In memory as the problem's layout has them.
  Tensor laid_out(const Tensor& t, const Problem& p) const {
    return p.channels_last && t.dim() > 2 ? t.movedim(1, -1).contiguous() : t;
  }
};

bool has(const std::vector<cudnnBackendNumericalNote_t>& notes, cudnnBackendNumericalNote_t note) {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

// Run every plan there is, and compare. Return how many there were.
int check_all_plans(const Problem& p) {
  const Operands o(p);
  GpuArray x(o.laid_out(o.x, p)), w(o.laid_out(o.w, p)), y(o.laid_out(o.y, p));
  GpuArray b(p.bias ? o.b : zeros({1}));
  const GpuArray& written = p.kind == Kind::forward ? y : p.kind == Kind::data ? x : w;
  const Dims sizes = o.exact.sizes();
  CudnnScript s(emulated_cudnn());
  D graph = graph_of(s, p);
  int count = 0;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    for (D configuration : s.ranked(graph, mode)) {
      D plan = s.plan(configuration, handle());
      if (!plan) continue;
      const auto notes = s.notes(configuration);
      const bool reduced = is_reduced(p.dtype);
      const bool rounds = !reduced && (has(notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
                                       has(notes, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
      const bool narrow = reduced && (has(notes, CUDNN_NUMERICAL_NOTE_WINOGRAD) ||
                                      has(notes, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
      GpuArray workspace(static_cast<size_t>(s.workspace_bytes(plan)));
      D pack = s.pack({kX, kW, kY, kB}, {x.data(), w.data(), y.data(), b.data()}, workspace.data());
      REQUIRE(s.api().execute(handle(), plan, pack) == CUDNN_STATUS_SUCCESS);
      const Dims memory = p.channels_last ? channels_last(sizes) : sizes;
      Tensor ours = written.read(memory, p.dtype);
      if (p.channels_last) ours = ours.movedim(-1, 1);
      // Each term is rounded once, each partial sum once; tensor cores round both factors of
      // float32 to 11 bits, by half a unit in the last of them. A result of 16 bits is rounded once
      // more, and none of these is one of float16's least; narrow sums are rounded so on the way.
      const double unit = p.dtype == kFloat64 ? 0x1p-53 : 0x1p-24;
      const double relative =
          (static_cast<double>(o.terms) + 3) * unit + (rounds ? 2 * 0x1p-11 : 0);
      const double last_place = p.dtype == kFloat16 ? 0x1p-11 : p.dtype == kBFloat16 ? 0x1p-8 : 0;
      const double of_sums = narrow ? static_cast<double>(o.terms) * last_place : 0;
      const Tensor bound =
          o.magnitude * (relative + of_sums) + o.exact.abs() * last_place + (reduced ? 0x1p-25 : 0);
      CHECK(worst_ratio(ours, o.exact, bound) <= 1);
      // They do round: nobody gets exact results from an engine that says it has none.
      if (rounds && o.terms > 8) {
        CHECK(worst_ratio(ours, o.exact, o.magnitude * (relative - 2 * 0x1p-11)) > 1);
      }
      ++count;
    }
  }
  return count;
}

const ConvParams kOdd{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2};

std::vector<Problem> problems() {
  std::vector<Problem> list;
  for (const Kind kind : {Kind::forward, Kind::data, Kind::filter}) {
    for (const DType dtype : dtypes::kAnyFloating) {
      for (const bool last : {false, true}) {
        const auto add = [&](Dims x, Dims w, const ConvParams& params = {}) {
          list.push_back({kind, std::move(x), std::move(w), params, dtype, last});
        };
        add({2, 3, 9, 8}, {4, 3, 3, 3}, {.padding = {1, 1}});
        add({3, 6, 14, 15}, {8, 3, 3, 2}, kOdd);
        add({2, 4, 9, 9}, {4, 1, 3, 3}, {.stride = {3, 2}, .groups = 4});
        add({2, 2, 12, 12}, {3, 2, 5, 5}, {.padding = {4, 2}});
        add({1, 2, 3, 3}, {2, 2, 2, 2}, {.stride = {5, 5}, .padding = {4, 4}});
        add({2, 3, 4, 6, 5}, {4, 3, 3, 2, 3}, {.padding = {1, 0, 2}});
        add({2, 4, 7, 5, 6}, {6, 2, 2, 3, 2},
            {.stride = {2, 1, 3}, .padding = {1, 2, 0}, .dilation = {3, 1, 2}, .groups = 2});
      }
    }
  }
  return list;
}

}  // namespace

TEST_CASE("every plan of cuDNN on the host computes what the reference does") {
  for (const Problem& p : problems()) {
    CAPTURE(str(p.x));
    CAPTURE(str(p.w));
    CAPTURE(static_cast<int>(p.kind));
    CAPTURE(p.channels_last);
    CAPTURE(std::string(name(p.dtype)));
    CHECK(check_all_plans(p) >= 3);
  }
}

TEST_CASE("fused sums and relus of cuDNN on the host are those of the reference") {
  for (const DType dtype : dtypes::kAnyFloating) {
    for (const bool last : {false, true}) {
      for (const bool with_relu : {false, true}) {
        CHECK(check_all_plans({Kind::forward,
                               {3, 6, 14, 15},
                               {8, 3, 3, 2},
                               kOdd,
                               dtype,
                               last,
                               true,
                               with_relu}) >= 3);
      }
    }
  }
}

TEST_CASE("a relu keeps NaN where it is asked to and the engine notes that it heeds it") {
  for (const bool asked : {false, true}) {
    const Problem p{.kind = Kind::forward,
                    .x = {2, 3, 6, 6},
                    .w = {4, 3, 3, 3},
                    .bias = true,
                    .relu = true,
                    .keeps_nan = asked};
    Operands o(p);
    o.b[1].fill_(NAN);
    GpuArray x(o.x), w(o.w), y(o.y), b(o.b);
    CudnnScript s(emulated_cudnn());
    int keeping = 0;
    for (D configuration : s.ranked(graph_of(s, p), CUDNN_HEUR_MODE_FALLBACK)) {
      const auto notes = s.notes(configuration);
      const bool heeds =
          std::count(notes.begin(), notes.end(), CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP) > 0;
      D plan = s.plan(configuration, handle());
      const GpuArray workspace(static_cast<size_t>(s.workspace_bytes(plan)) + 1);
      D pack = s.pack({kX, kW, kY, kB}, {x.data(), w.data(), y.data(), b.data()}, workspace.data());
      REQUIRE(s.api().execute(handle(), plan, pack) == CUDNN_STATUS_SUCCESS);
      const Tensor is_nan = isnan(y.read(p.y(), kFloat32));
      CHECK(is_nan.any().item<bool>() == (asked && heeds));
      CHECK(is_nan.select(1, 1).all().item<bool>() == (asked && heeds));
      keeping += heeds;
    }
    CHECK(keeping == 1);
  }
}

TEST_CASE("alpha and beta scale the product and what was there") {
  const Problem p{Kind::filter, {2, 3, 6, 6}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y);
  CudnnScript s(emulated_cudnn());
  D configuration = s.ranked(graph_of(s, p, 2, -0.5), CUDNN_HEUR_MODE_FALLBACK).front();
  D plan = s.plan(configuration, handle());
  D pack = s.pack({kX, kW, kY}, {x.data(), w.data(), y.data()}, nullptr);
  REQUIRE(s.api().execute(handle(), plan, pack) == CUDNN_STATUS_SUCCESS);
  const Tensor expected = o.exact * 2 - o.w.to(kFloat64) * 0.5;
  // As above, and roundings of both scalings and their sum.
  const Tensor bound = (o.magnitude * 2 + o.w.to(kFloat64).abs()) * ((o.terms + 6) * 0x1p-24);
  CHECK(worst_ratio(w.read(p.w, kFloat32), expected, bound) <= 1);
}

TEST_CASE("engines that say they are not deterministic add in another order each time") {
  const Problem p{Kind::filter, {16, 3, 16, 16}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y);
  CudnnScript s(emulated_cudnn());
  for (D configuration : s.ranked(graph_of(s, p), CUDNN_HEUR_MODE_A)) {
    D plan = s.plan(configuration, handle());
    if (!plan) continue;
    GpuArray workspace(static_cast<size_t>(s.workspace_bytes(plan)));
    D pack = s.pack({kX, kW, kY}, {x.data(), w.data(), y.data()}, workspace.data());
    Tensor first;
    bool same = true;
    for (int i = 0; i < 8; ++i) {
      REQUIRE(s.api().execute(handle(), plan, pack) == CUDNN_STATUS_SUCCESS);
      const Tensor result = w.read(p.w, kFloat32);
      same = same && (!first.defined() || equal(first, result));
      first = result;
    }
    CHECK(same == !has(s.notes(configuration), CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
  }
}

TEST_CASE("a plan does not run on memory that breaks its promises") {
  const Problem p{Kind::forward, {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y), shifted(o.x, 2);
  CudnnScript s(emulated_cudnn());
  D plan = nullptr;
  for (D configuration : s.ranked(graph_of(s, p), CUDNN_HEUR_MODE_A)) {
    D made = s.plan(configuration, handle());
    if (made && s.workspace_bytes(made) > 0) plan = made;
  }
  REQUIRE(plan);
  GpuArray workspace(static_cast<size_t>(s.workspace_bytes(plan)));
  const auto run = [&](const Sizes& ids, const std::vector<void*>& pointers, void* scratch) {
    return s.api().execute(handle(), plan, s.pack(ids, pointers, scratch));
  };
  void *px = x.data(), *pw = w.data(), *py = y.data(), *scratch = workspace.data();
  CHECK(run({kX, kW, kY}, {px, pw, py}, scratch) == CUDNN_STATUS_SUCCESS);
  CHECK(run({kX, kW, kY}, {px, pw, py}, nullptr) == CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  CHECK(run({kX, kW, kY}, {px, nullptr, py}, scratch) == CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  CHECK(run({kX, kY}, {px, py}, scratch) == CUDNN_STATUS_BAD_PARAM);
  CHECK(run({kX, kW, kY}, {shifted.data(), pw, py}, scratch) ==
        CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
  CHECK(run({kX, kW, kY}, {px, pw, py}, static_cast<std::byte*>(scratch) + 4) ==
        CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
  D unfinished = s.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  CHECK(s.api().execute(handle(), plan, unfinished) == CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  CHECK(s.api().execute(handle(), plan, plan) == CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  must(cudaDeviceSynchronize());
}

TEST_CASE("descriptors of another kind are refused, which the real library crashes at") {
  CudnnScript s(emulated_cudnn());
  D conv = s.convolution({}), x = s.tensor({.id = 1, .sizes = {2, 3, 8, 8}});
  D operation = s.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  s.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, conv);
  CHECK(s.log().back().status == CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  s.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, x);
  CHECK(s.log().back().status == CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  s.graph({x});
  CHECK(s.log()[s.log().size() - 2].status == CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  CHECK(s.api().make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, nullptr) ==
        CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
}

TEST_CASE("plans fail and grow where AMBIT_CUDA_HOST_CUDNN says so") {
  const Problem p{Kind::forward, {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y);
  setenv("AMBIT_CUDA_HOST_CUDNN", "execute:1,workspace:2=4000000000", 1);
  CudnnScript s(emulated_cudnn());
  D graph = graph_of(s, p);
  int place = 0;
  for (D configuration : s.ranked(graph, CUDNN_HEUR_MODE_A)) {
    D plan = s.plan(configuration, handle());
    if (!plan) continue;
    const int64_t bytes = s.workspace_bytes(plan);
    CHECK((bytes == 4000000000) == (place == 2));
    GpuArray workspace(place == 2 ? 0 : static_cast<size_t>(bytes));
    D pack = s.pack({kX, kW, kY}, {x.data(), w.data(), y.data()}, workspace.data());
    const cudnnStatus_t status = s.api().execute(handle(), plan, pack);
    if (place != 2) CHECK((status == CUDNN_STATUS_EXECUTION_FAILED) == (place == 1));
    must(cudaDeviceSynchronize());
    ++place;
  }
  CHECK(place > 3);
  unsetenv("AMBIT_CUDA_HOST_CUDNN");
}

// Each ends its process with a word of what was wrong.
TEST_CASE("cuDNN on the host does not forgive what the real one cannot see") {
  const auto ends = [](const char* child, const char* word) {
    const ChildResult result = run_child(child);
    INFO(result.output);
    CHECK(result.signal == SIGABRT);
    CHECK(result.output.find(word) != std::string::npos);
  };
  ends("child: a result over an operand", "overlaps");
  ends("child: a descriptor used after its end", "destroyed");
  ends("child: an operand freed before the plan", "which was freed, in cudnnBackendExecute");
  ends("child: an operand never written", "never written, in cudnnBackendExecute");
  ends("child: a workspace too small", "out of the bounds of memory, in cudnnBackendExecute");
}

TEST_CASE("a handle of cuDNN is of one GPU, and so are its stream and its plans") {
  const ChildResult result = run_child("child: cuDNN on two GPUs", "AMBIT_CUDA_HOST=2");
  INFO(result.output);
  CHECK(result.exit_code == 0);
}
TEST_CASE("child: cuDNN on two GPUs" * doctest::skip()) {
  const CudnnApi& api = emulated_cudnn();
  cudaStream_t here = nullptr, there = nullptr;
  cudnnHandle_t second = nullptr;
  must(cudaStreamCreate(&here));
  handle();
  must(cudaSetDevice(1));
  must(cudaStreamCreate(&there));
  REQUIRE(api.create(&second) == CUDNN_STATUS_SUCCESS);
  CHECK(api.set_stream(second, there) == CUDNN_STATUS_SUCCESS);
  CHECK(api.set_stream(second, here) == CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED);
  const Problem p{Kind::forward, {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y);
  CudnnScript s(api);
  D plan = s.plan(s.ranked(graph_of(s, p), CUDNN_HEUR_MODE_FALLBACK).front(), handle());
  D pack = s.pack({kX, kW, kY}, {x.data(), w.data(), y.data()}, nullptr);
  CHECK(api.execute(second, plan, pack) == CUDNN_STATUS_BAD_PARAM);
  // The stream of the first GPU cannot be used while the second is the current one.
  CHECK(api.execute(handle(), plan, pack) == CUDNN_STATUS_EXECUTION_FAILED_CUDART);
  must(cudaSetDevice(0));
}

namespace {

void run_wrongly(const std::function<void(std::vector<void*>&, GpuArray&)>& spoil,
                 size_t workspace_bytes = 1 << 20) {
  const Problem p{Kind::forward, {2, 3, 8, 8}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y), scratch(workspace_bytes);
  std::vector<void*> pointers{x.data(), w.data(), y.data()};
  CudnnScript s(emulated_cudnn());
  for (D configuration : s.ranked(graph_of(s, p), CUDNN_HEUR_MODE_A)) {
    D plan = s.plan(configuration, handle());
    if (!plan || s.workspace_bytes(plan) == 0) continue;
    spoil(pointers, x);
    s.api().execute(handle(), plan, s.pack({kX, kW, kY}, pointers, scratch.data()));
    must(cudaDeviceSynchronize());
  }
}

}  // namespace

TEST_CASE("child: a result over an operand" * doctest::skip()) {
  run_wrongly([](std::vector<void*>& p, GpuArray&) { p[2] = p[0]; });
}
TEST_CASE("child: a descriptor used after its end" * doctest::skip()) {
  D d = nullptr;
  emulated_cudnn().make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &d);
  emulated_cudnn().destroy(d);
  emulated_cudnn().finalize(d);
}
TEST_CASE("child: an operand freed before the plan" * doctest::skip()) {
  run_wrongly([](std::vector<void*>&, GpuArray& x) { x.free(); });
}
TEST_CASE("child: an operand never written" * doctest::skip()) {
  GpuArray raw(1 << 16);
  run_wrongly([&](std::vector<void*>& p, GpuArray&) { p[0] = raw.data(); });
}
TEST_CASE("child: a workspace too small" * doctest::skip()) {
  run_wrongly([](std::vector<void*>&, GpuArray&) {}, 16);
}
