// Compares the emulation of cuDNN with the real library: operations, graphs, heuristics and plans.
#include <algorithm>

#include "cudnn_drift.h"

using namespace host_libraries;

namespace {

// True if an engine does not round float32 operands.
bool is_strict(const std::vector<cudnnBackendNumericalNote_t>& notes) {
  return std::none_of(notes.begin(), notes.end(), [](cudnnBackendNumericalNote_t note) {
    return note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE ||
           note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
  });
}

}  // namespace

TEST_CASE("operations are accepted and refused as by the real cuDNN") {
  struct Operands {
    const char* what;
    TensorSpec x, w, y;
    ConvSpec conv = kConv;
  };
  ConvSpec doubles = kConv;
  doubles.compute = CUDNN_DATA_DOUBLE;
  const ConvSpec strided{.stride = {2, 3}, .dilation = {1, 2}, .before = {1, 2}, .after = {0, 1}};
  const Operands list[] = {
      {"right", kImage, kFilter, kResult},
      {"a row missing", kImage, kFilter, with_sizes(kResult, {2, 4, 7, 8})},
      {"a channel too many", kImage, kFilter, with_sizes(kResult, {2, 5, 8, 8})},
      {"another batch", kImage, kFilter, with_sizes(kResult, {3, 4, 8, 8})},
      {"channels that make no groups", kImage, with_sizes(kFilter, {4, 2, 3, 3}), kResult},
      {"3 groups", kImage, with_sizes(kFilter, {3, 1, 3, 3}), with_sizes(kResult, {2, 3, 8, 8})},
      {"3 groups of 4 filters", kImage, with_sizes(kFilter, {4, 1, 3, 3}), kResult},
      {"a filter of 3 dims", kImage, with_sizes(kFilter, {4, 3, 9}), kResult},
      {"an image of 5 dims", with_sizes(kImage, {2, 3, 8, 8, 1}), kFilter, kResult},
      {"no images", with_sizes(kImage, {0, 3, 8, 8}), kFilter, with_sizes(kResult, {0, 4, 8, 8})},
      {"a filter wider than the image", with_sizes(kImage, {2, 3, 2, 2}),
       with_sizes(kFilter, {4, 3, 5, 5}), with_sizes(kResult, {2, 4, 0, 0})},
      {"mixed dtypes", kImage, kFilter, of_doubles(kResult)},
      {"doubles", of_doubles(kImage), of_doubles(kFilter), of_doubles(kResult), doubles},
      {"doubles, sums of floats", of_doubles(kImage), of_doubles(kFilter), of_doubles(kResult)},
      {"strided", with_sizes(kImage, {2, 3, 9, 10}), kFilter, with_sizes(kResult, {2, 4, 4, 3}),
       strided},
      {"strided, a column less", with_sizes(kImage, {2, 3, 9, 10}), kFilter,
       with_sizes(kResult, {2, 4, 4, 2}), strided},
  };
  for (const Kind kind : {Kind::forward, Kind::data, Kind::filter}) {
    for (const Operands& o : list) {
      compare(std::string(o.what) + ", kind " + std::to_string(static_cast<int>(kind)),
              [&](CudnnScript& s) {
                s.operation(kind, o.conv, s.convolution(o.conv), s.tensor(o.x), s.tensor(o.w),
                            s.tensor(o.y));
              });
    }
    compare("one missing", [&](CudnnScript& s) {
      D c = s.convolution(kConv), x = s.tensor(kImage), w = s.tensor(kFilter),
        y = s.tensor(kResult);
      s.operation(kind, kConv, nullptr, x, w, y);
      s.operation(kind, kConv, c, nullptr, w, y);
      s.operation(kind, kConv, c, x, nullptr, y);
      s.operation(kind, kConv, c, x, w, nullptr);
    });
    compare("one not finalized", [&](CudnnScript& s) {
      D c = s.convolution(kConv), x = s.tensor(kImage), w = s.tensor(kFilter),
        y = s.tensor(kResult);
      s.operation(kind, kConv, s.convolution(kConv, false), x, w, y);
      s.operation(kind, kConv, c, s.tensor(kImage, false), w, y);
      s.operation(kind, kConv, c, x, s.tensor(kFilter, false), y);
      s.operation(kind, kConv, c, x, w, s.tensor(kResult, false));
      s.set(s.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR),
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, D{nullptr});
    });
  }
}

TEST_CASE("sums and relus are accepted and refused as by the real cuDNN") {
  const auto pointwise = [](const char* what, cudnnPointwiseMode_t mode, const TensorSpec* x,
                            const TensorSpec* b, const TensorSpec* y) {
    compare(what, [&](CudnnScript& s) {
      const auto tensor = [&](const TensorSpec* spec) { return spec ? s.tensor(*spec) : nullptr; };
      s.pointwise(mode, tensor(x), tensor(b), tensor(y));
    });
  };
  const TensorSpec three = with_sizes(kBias, {1, 3, 1, 1}), flat = with_sizes(kBias, {4});
  const TensorSpec narrow = with_sizes(kResult, {2, 4, 8, 7});
  pointwise("sum", CUDNN_POINTWISE_ADD, &kBetween, &kBias, &kResult);
  pointwise("sum of one", CUDNN_POINTWISE_ADD, &kBetween, nullptr, &kResult);
  pointwise("sum to nowhere", CUDNN_POINTWISE_ADD, &kBetween, &kBias, nullptr);
  pointwise("sum of nothing", CUDNN_POINTWISE_ADD, nullptr, &kBias, &kResult);
  pointwise("sum of other channels", CUDNN_POINTWISE_ADD, &kBetween, &three, &kResult);
  pointwise("sum of another rank", CUDNN_POINTWISE_ADD, &kBetween, &flat, &kResult);
  pointwise("sum of another size", CUDNN_POINTWISE_ADD, &kBetween, &kBias, &narrow);
  pointwise("relu", CUDNN_POINTWISE_RELU_FWD, &kBetween, nullptr, &kResult);
  pointwise("relu of two", CUDNN_POINTWISE_RELU_FWD, &kBetween, &kBias, &kResult);
  compare("relu that keeps NaN", [](CudnnScript& s) {
    s.pointwise(CUDNN_POINTWISE_RELU_FWD, s.tensor(kBetween), nullptr, s.tensor(kResult),
                CUDNN_DATA_FLOAT, true);
  });
  compare("nothing set", [](CudnnScript& s) {
    D d = s.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    s.finalize(d);
    const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
    s.set(d, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    s.finalize(d);
  });
}

TEST_CASE("graphs are accepted, refused and ranked as by the real cuDNN") {
  const auto operations = [](CudnnScript& s) {
    return s.operation(Kind::forward, kConv, s.convolution(kConv), s.tensor(kImage),
                       s.tensor(kFilter), s.tensor(kBetween));
  };
  const auto sum = [](CudnnScript& s, const TensorSpec& to) {
    return s.pointwise(CUDNN_POINTWISE_ADD, s.tensor(kBetween), s.tensor(kBias), s.tensor(to));
  };
  const auto relu = [](CudnnScript& s) {
    return s.pointwise(CUDNN_POINTWISE_RELU_FWD, s.tensor(kBiased), nullptr, s.tensor(kResult));
  };
  // Check that there are engines, that some have plans, and that notes can be read.
  const auto use = [](CudnnScript& s, D graph) {
    D gpu = properties(s);
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK,
                            CUDNN_HEUR_MODE_INSTANT, static_cast<cudnnBackendHeurMode_t>(99)}) {
      const std::vector<D> list = s.ranked(graph, mode, gpu);
      s.note(list.empty() ? "no engine" : "engines", CUDNN_STATUS_SUCCESS);
      if (list.empty()) continue;
      s.finalize(list.front());
      s.notes(list.back());
      s.workspace_bytes(s.plan(list.back(), nullptr, gpu));
    }
  };
  compare("convolution", [&](CudnnScript& s) {
    for (const Kind kind : {Kind::forward, Kind::data, Kind::filter}) {
      use(s, s.graph({s.operation(kind, kConv, s.convolution(kConv), s.tensor(kImage),
                                  s.tensor(kFilter), s.tensor(kResult))}));
    }
  });
  compare("sum", [&](CudnnScript& s) { use(s, s.graph({operations(s), sum(s, kResult)})); });
  compare("sum first", [&](CudnnScript& s) { use(s, s.graph({sum(s, kResult), operations(s)})); });
  compare("sum and relu", [&](CudnnScript& s) {
    use(s, s.graph({operations(s), sum(s, kBiased), relu(s)}));
  });
  compare("no operation",
          [](CudnnScript& s) { s.finalize(s.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)); });
  compare("an operation twice", [&](CudnnScript& s) {
    D o = operations(s);
    s.graph({o, o});
  });
  compare("an operation not finalized", [](CudnnScript& s) {
    s.graph({s.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)});
  });
  compare("a null handle", [](CudnnScript& s) {
    cudnnHandle_t handle = nullptr;
    s.set(s.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
          CUDNN_TYPE_HANDLE, handle);
  });
}

TEST_CASE("the same fused graphs have plans in the emulation and in the real cuDNN") {
  struct Variant {
    Kind kind = Kind::forward;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    bool channels_last = false, sum = false, relu = false, keeps_nan = false;
  };
  std::vector<Variant> variants;
  for (const auto type :
       {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}) {
    for (const bool last : {false, true}) {
      for (const Kind kind : {Kind::forward, Kind::data, Kind::filter}) {
        variants.push_back({kind, type, last});
      }
      for (const bool sum : {false, true}) {
        variants.push_back({Kind::forward, type, last, sum, true});
        variants.push_back({Kind::forward, type, last, sum, true, true});
      }
      variants.push_back({Kind::forward, type, last, true, false});
    }
  }
  for (const Variant& v : variants) {
    const std::string what = "kind " + std::to_string(static_cast<int>(v.kind)) + ", type " +
                             std::to_string(v.type) + ", last " + std::to_string(v.channels_last) +
                             ", sum " + std::to_string(v.sum) + ", relu " + std::to_string(v.relu) +
                             ", keeps NaN " + std::to_string(v.keeps_nan);
    const auto sums = v.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    compare(what, [&](CudnnScript& s) {
      const auto tensor = [&](TensorSpec spec) {
        const Sizes& n = spec.sizes;
        spec.type = spec.is_virtual ? sums : v.type;
        spec.alignment = 16;
        if (v.channels_last) spec.strides = {n[1] * n[2] * n[3], 1, n[3] * n[1], n[1]};
        return s.tensor(spec);
      };
      ConvSpec conv = kConv;
      conv.compute = sums;
      const bool fused = v.sum || v.relu;
      std::vector<D> operations{s.operation(v.kind, conv, s.convolution(conv), tensor(kImage),
                                            tensor(kFilter), tensor(fused ? kBetween : kResult))};
      if (v.sum) {
        operations.push_back(s.pointwise(CUDNN_POINTWISE_ADD, tensor(kBetween), tensor(kBias),
                                         tensor(v.relu ? kBiased : kResult), sums));
      }
      if (v.relu) {
        operations.push_back(s.pointwise(CUDNN_POINTWISE_RELU_FWD,
                                         tensor(v.sum ? kBiased : kBetween), nullptr,
                                         tensor(kResult), sums, v.keeps_nan));
      }
      D graph = s.graph(operations), gpu = properties(s);
      // The engines may differ between the libraries; both must have a plan, or neither.
      for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        CudnnScript tries(s.api());
        bool any = false, strict = false, keeping = false;
        for (D configuration : tries.ranked(graph, mode, gpu)) {
          const bool works = tries.plan(configuration, nullptr, gpu);
          any = any || works;
          const auto notes = tries.notes(configuration);
          strict = strict || (works && is_strict(notes));
          keeping = keeping || (works && std::count(notes.begin(), notes.end(),
                                                    CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP) > 0);
        }
        if (v.keeps_nan && mode == CUDNN_HEUR_MODE_FALLBACK) {
          s.note(keeping ? "NaN is kept" : "it is not", CUDNN_STATUS_SUCCESS);
        }
        s.note(any ? "plans" : "no plan", CUDNN_STATUS_SUCCESS);
        const bool rounds = v.type == CUDNN_DATA_FLOAT;  // tensor cores round
        if (rounds) s.note(strict ? "strict plans" : "no strict plan", CUDNN_STATUS_SUCCESS);
      }
    });
  }
}

TEST_CASE("heuristics, plans and packs are accepted and refused as by the real cuDNN") {
  compare("no graph", [](CudnnScript& s) {
    D d = s.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    s.set(d, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    s.finalize(d);
  });
  compare("a graph not finalized", [](CudnnScript& s) {
    s.ranked(s.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), CUDNN_HEUR_MODE_A, properties(s));
  });
  compare("a plan of nothing", [](CudnnScript& s) {
    D d = s.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    s.finalize(d);
    s.workspace_bytes(d);
    s.plan(s.make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), nullptr, properties(s));
  });
  int memory = 0;
  void* p = &memory;
  compare("packs", [&](CudnnScript& s) {
    s.pack({1, 2, 3}, {p, p, p}, nullptr);
    s.pack({1, 2, 3}, {p, p}, nullptr);
    s.pack({1, 1, 3}, {p, p, p}, nullptr);
    s.pack({1, 2}, {p, nullptr}, nullptr);
    s.finalize(s.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
    D d = s.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    s.set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, Sizes{1});
    s.finalize(d);
    D done = s.pack({1, 2, 3}, {p, p, p}, nullptr);
    s.finalize(done);
    s.note("execute", s.api().execute(nullptr, done, done));
  });
}
