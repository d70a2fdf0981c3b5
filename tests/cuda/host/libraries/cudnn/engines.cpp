#include "engines.h"

#include <algorithm>
#include <bit>

namespace ambit::cuda::host::cudnn {
namespace {

bool always(const Graph&) { return true; }
int64_t none(const Graph&) { return 0; }

bool is_float(const Graph& g) { return g.convolution.x.type == CUDNN_DATA_FLOAT; }
bool is_reduced_floating(const Graph& g) {
  return g.convolution.compute == CUDNN_DATA_FLOAT && !is_float(g);
}
bool has_tensor_cores(const Graph& g) { return g.convolution.compute == CUDNN_DATA_FLOAT; }

bool is_plain(const Convolution& c) {
  const auto all_one = [](const std::vector<int64_t>& list) {
    return std::all_of(list.begin(), list.end(), [](int64_t i) { return i == 1; });
  };
  return c.spatial_dims == 2 && c.groups() == 1 && all_one(c.stride) && all_one(c.dilation);
}

bool is_winograd(const Convolution& c) {
  return is_plain(c) && c.w.sizes[2] == 3 && c.w.sizes[3] == 3;
}
bool suits_winograd(const Graph& g) { return is_float(g) && is_winograd(g.convolution); }
bool suits_narrow_winograd(const Graph& g) {
  return is_reduced_floating(g) && is_winograd(g.convolution);
}
bool suits_fft(const Graph& g) {
  const Convolution& c = g.convolution;
  return is_float(g) && is_plain(c) && g.steps.empty() && c.w.sizes[2] >= 5 && c.w.sizes[3] >= 5;
}
bool is_depthwise(const Graph& g) {
  const Convolution& c = g.convolution;
  return c.kind == ConvKind::forward && c.w.sizes[1] == 1 && c.groups() > 1;
}
bool is_gradient(const Graph& g) { return g.convolution.kind != ConvKind::forward; }

// Vectors of 16 bytes along the width, or along the channels if they are innermost.
bool is_vectorisable(const Graph& g) {
  for (const Tensor& t : g.operands()) {
    const auto line = std::find(t.strides.begin(), t.strides.end(), 1) - t.strides.begin();
    const auto size = static_cast<size_t>(line) < t.sizes.size() ? t.sizes[line] : 1;
    if (t.alignment < 16 || static_cast<size_t>(size) * t.element_bytes() % 16 != 0) return false;
  }
  return true;
}

// Operands as matrices, with a column for each element of a window.
int64_t indices_bytes(const Graph& g) {
  const Tensor& w = g.convolution.w;
  int64_t taps = 1;
  for (size_t d = 1; d < w.sizes.size(); ++d) taps *= w.sizes[d];
  return 4 * taps + 192;
}
// Copy all operands to other strides.
int64_t copies_bytes(const Graph& g) {
  int64_t bytes = 0;
  for (const Tensor& t : g.operands()) {
    bytes += t.at(nullptr).numel() * static_cast<int64_t>(t.element_bytes());
  }
  return bytes;
}
// Tensor cores need channels last; operands with other strides are copied.
int64_t layout_bytes(const Graph& g) {
  const Tensor& x = g.convolution.x;
  return x.strides[1] == 1 ? 0 : copies_bytes(g);
}
// Filters of 3x3 are transformed to 6x6.
int64_t winograd_bytes(const Graph& g) {
  const Tensor& w = g.convolution.w;
  return w.sizes[0] * w.sizes[1] * 36 * static_cast<int64_t>(w.element_bytes());
}
// Complex images of all three operands, padded to powers of two.
int64_t fft_bytes(const Graph& g) {
  const Convolution& c = g.convolution;
  const auto padded = [](int64_t size) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
  };
  const int64_t n = c.x.sizes[0], channels = c.x.sizes[1], k = c.w.sizes[0];
  const int64_t images = n * channels + k * channels + n * k;
  return 8 * images * padded(c.x.sizes[2] + c.w.sizes[2]) * padded(c.x.sizes[3] + c.w.sizes[3]);
}

using Notes = std::vector<cudnnBackendNumericalNote_t>;

// The engines, in the order of the heuristics.
const std::vector<Engine>& engines() {
  static const auto* list = new std::vector<Engine>{
      {6, Notes{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, Arithmetic::plain, is_depthwise, always,
       none},
      {1000, Notes{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS},
       Arithmetic::tf32, is_float, always, layout_bytes},
      {1003,
       Notes{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION},
       Arithmetic::narrow, is_reduced_floating, always, none},
      {1004, Notes{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_WINOGRAD},
       Arithmetic::narrow, suits_narrow_winograd, always, winograd_bytes},
      {1001, Notes{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, Arithmetic::tf32, has_tensor_cores,
       is_vectorisable, layout_bytes},
      {1002, Notes{CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}, Arithmetic::tf32, is_float, always,
       none},
      {0, Notes{}, Arithmetic::plain, always, is_vectorisable, copies_bytes},
      {5, Notes{CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4},
       Arithmetic::plain, suits_winograd, always, winograd_bytes},
      {4, Notes{CUDNN_NUMERICAL_NOTE_FFT}, Arithmetic::plain, suits_fft, always, fft_bytes},
      {3, Notes{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, Arithmetic::shuffled, is_gradient, always,
       none},
      {1, Notes{}, Arithmetic::plain, always, always, indices_bytes},
      {2, Notes{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, Arithmetic::plain, always, always, none},
  };
  return *list;
}

// The two engines that support everything.
bool is_fallback(const Engine& e) { return e.index == 1 || e.index == 2; }

}  // namespace

std::vector<Configuration> rank_engines(std::shared_ptr<const Graph> graph, int64_t mode) {
  std::vector<Configuration> ranked;
  if (!graph || mode < 0 || mode >= CUDNN_HEUR_MODES_COUNT) return ranked;
  std::vector<const Engine*> order;
  for (const Engine& e : engines()) {
    if ((mode != CUDNN_HEUR_MODE_FALLBACK || is_fallback(e)) && e.suits(*graph))
      order.push_back(&e);
  }
  // Mode B has another order, and the fallback mode puts engines without a workspace first.
  const bool reversed = mode == CUDNN_HEUR_MODE_B || mode == CUDNN_HEUR_MODE_FALLBACK;
  if (reversed) std::reverse(order.begin(), order.end());
  for (const Engine* e : order) ranked.push_back({graph, e});
  return ranked;
}

}  // namespace ambit::cuda::host::cudnn
