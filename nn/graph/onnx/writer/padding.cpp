// Forms: padding.
#include "forms.h"

namespace ambit::graph::onnx {
namespace {

// PyTorch lists (before, after) of each dim from the last dim on; ONNX lists all before, then all
// after.
Dims onnx_pads(const Dims& pads, int64_t rank) {
  const auto n = static_cast<size_t>(rank);
  Dims out(2 * n, 0);
  for (size_t i = 0; 2 * i + 1 < pads.size(); ++i) {
    out[n - 1 - i] = pads[2 * i];
    out[2 * n - 1 - i] = pads[2 * i + 1];
  }
  return out;
}

void pad_constant(Site& s, const Ref& value) {
  const Ref pads = s.e.integers(onnx_pads(s.integers(1), s.rank(0)));
  s.give(s.e.op("Pad", {s.tensor(0), pads, value}));
}

// Opset 18 has no such mode: the ends of each dim are copied.
void pad_circular(Site& s) {
  Ref x = s.tensor(0);
  const Dims sizes = s.fixed_sizes(0), pads = s.integers(1);
  for (size_t i = 0; 2 * i + 1 < pads.size(); ++i) {
    const size_t at = sizes.size() - 1 - i;
    const auto dim = static_cast<int64_t>(at);
    const int64_t size = sizes[at], before = pads[2 * i], after = pads[2 * i + 1];
    const Ref body =
        s.e.slice(x, dim, std::max<int64_t>(-before, 0), size + std::min<int64_t>(after, 0));
    std::vector<Ref> parts;
    if (before > 0) parts.push_back(s.e.slice(x, dim, size - before, size));
    parts.push_back(body);
    if (after > 0) parts.push_back(s.e.slice(x, dim, 0, after));
    x = s.e.concat(parts, dim);
  }
  s.give(x);
}

void pad(Site& s) {
  const std::string_view mode = s.text(2);
  const DType d = s.dtype_of(0);
  if (mode == "constant") return pad_constant(s, s.has(3) ? s.tensor(3, d) : s.e.number(0, d));
  if (mode == "circular") return pad_circular(s);
  const Ref pads = s.e.integers(onnx_pads(s.integers(1), s.rank(0)));
  const char* name = mode == "reflect" ? "reflect" : "edge";
  s.give(s.e.op("Pad", {s.tensor(0), pads}, {attribute("mode", name)}));
}

constexpr Form kRows[] = {
    {"pad.default", pad},
    {"constant_pad_nd.default", [](Site& s) { pad_constant(s, s.tensor(2, s.dtype_of(0))); }},
};

}  // namespace

constinit const std::span<const Form> kPaddingForms = kRows;

}  // namespace ambit::graph::onnx
