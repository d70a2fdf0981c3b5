// The emulation of cuDNN on memory of the runtime: results of its plans, compared with the
// reference backend. cudnn_checks_test.cpp tests its checks.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cudnn_problem.h"

using namespace ambit;
using namespace host_libraries;

namespace {

bool has(const std::vector<cudnnBackendNumericalNote_t>& notes, cudnnBackendNumericalNote_t note) {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

// Run every plan, and compare the results. Return the number of plans.
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
      const bool is_16_bit = is_reduced_floating(p.dtype);
      const bool rounds = !is_16_bit && (has(notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
                                         has(notes, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
      const bool narrow =
          is_16_bit && (has(notes, CUDNN_NUMERICAL_NOTE_WINOGRAD) ||
                        has(notes, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
      GpuArray workspace(static_cast<size_t>(s.workspace_bytes(plan)));
      D pack = s.pack({kX, kW, kY, kB}, {x.data(), w.data(), y.data(), b.data()}, workspace.data());
      REQUIRE(s.api().execute(handle(), plan, pack) == CUDNN_STATUS_SUCCESS);
      const Dims memory = p.channels_last ? channels_last(sizes) : sizes;
      Tensor ours = written.read(memory, p.dtype);
      if (p.channels_last) ours = ours.movedim(-1, 1);
      // Each term is rounded once, and each partial sum once; tensor cores round both float32
      // factors to 11 bits, by half a unit in the last place. A float16 or bfloat16 result is
      // rounded once more (none is a denormal of float16), and so is each partial sum that is kept
      // in such a dtype.
      const double unit = p.dtype == kFloat64 ? 0x1p-53 : 0x1p-24;
      const double relative =
          (static_cast<double>(o.terms) + 3) * unit + (rounds ? 2 * 0x1p-11 : 0);
      const double last_place = p.dtype == kFloat16 ? 0x1p-11 : p.dtype == kBFloat16 ? 0x1p-8 : 0;
      const double of_sums = narrow ? static_cast<double>(o.terms) * last_place : 0;
      const Tensor bound = o.magnitude * (relative + of_sums) + o.exact.abs() * last_place +
                           (is_16_bit ? 0x1p-25 : 0);
      CHECK(worst_ratio(ours, o.exact, bound) <= 1);
      // Check that they do round, so that tests cannot rely on exact results of such an engine.
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

TEST_CASE("every plan of cuDNN on the host has the reference's results") {
  for (const Problem& p : problems()) {
    CAPTURE(str(p.x));
    CAPTURE(str(p.w));
    CAPTURE(static_cast<int>(p.kind));
    CAPTURE(p.channels_last);
    CAPTURE(std::string(name(p.dtype)));
    CHECK(check_all_plans(p) >= 3);
  }
}

TEST_CASE("fused sums and relus of cuDNN on the host equal the reference's") {
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

TEST_CASE("a relu propagates NaN if the mode requests it and the engine's notes say that it does") {
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

TEST_CASE("alpha and beta scale the product and the previous output") {
  const Problem p{Kind::filter, {2, 3, 6, 6}, {4, 3, 3, 3}};
  const Operands o(p);
  GpuArray x(o.x), w(o.w), y(o.y);
  CudnnScript s(emulated_cudnn());
  D configuration = s.ranked(graph_of(s, p, 2, -0.5), CUDNN_HEUR_MODE_FALLBACK).front();
  D plan = s.plan(configuration, handle());
  D pack = s.pack({kX, kW, kY}, {x.data(), w.data(), y.data()}, nullptr);
  REQUIRE(s.api().execute(handle(), plan, pack) == CUDNN_STATUS_SUCCESS);
  const Tensor expected = o.exact * 2 - o.w.to(kFloat64) * 0.5;
  // As above, plus the roundings of both scalings and their sum.
  const Tensor bound = (o.magnitude * 2 + o.w.to(kFloat64).abs()) * ((o.terms + 6) * 0x1p-24);
  CHECK(worst_ratio(w.read(p.w, kFloat32), expected, bound) <= 1);
}

TEST_CASE("engines that are not deterministic add in another order each time") {
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
