// Reductions over any dims, positions of extremes, scans along one dim.
#include <ambit/error.h>
#include <ambit/function_table.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <ambit/ops/creation.h>

#include "kernels.h"
#include "launch.h"
#include "program.h"

namespace ambit::opencl {
namespace {

// The definitions for a program of reduce.cl.
struct FoldText {
  const char* value;         // type of the accumulator
  std::string first;         // its initial value
  std::string element;       // from x
  std::string merge;         // from a and b
  std::string finish = "v";  // from v and count
};

bool is_variance(ReduceOp op) {
  return op == ReduceOp::var || op == ReduceOp::var_unbiased || op == ReduceOp::std ||
         op == ReduceOp::std_unbiased;
}

std::string least(DType dtype, bool largest) {
  if (is_floating_point(dtype)) return largest ? "-INFINITY" : "INFINITY";
  const char* const limits[] = {"UCHAR", "CHAR", "SHRT", "INT", "LONG"};
  if (dtype == kBool) return largest ? "0" : "1";
  if (dtype == kUInt8) return largest ? "0" : "UCHAR_MAX";
  const size_t at = dtype == kInt8 ? 1 : dtype == kInt16 ? 2 : dtype == kInt32 ? 3 : 4;
  return std::string(limits[at]) + (largest ? "_MIN" : "_MAX");
}

FoldText fold_text(ReduceOp op, DType dtype) {
  const bool is_float = is_floating_point(dtype);
  const char* total = is_float ? "Wide" : "ulong";
  // Conversion of a negative integer to ulong preserves the bits of the long.
  const std::string element = is_float ? "(Wide)(x)" : "(ulong)(long)(x)";
  switch (op) {
    case ReduceOp::sum:
      return {total, "0", element, "a + b"};
    case ReduceOp::mean:
      return {total, "0", element, "a + b", "v / (Wide)(count)"};
    case ReduceOp::prod:
      return {total, "1", element, "a * b"};
    case ReduceOp::max:
      return {"T", least(dtype, true), "(x)", "maximum(a, b)"};
    case ReduceOp::min:
      return {"T", least(dtype, false), "(x)", "minimum(a, b)"};
    case ReduceOp::any:
      return {"uchar", "0", "(uchar)((x) != 0)", "(uchar)((a) | (b))"};
    case ReduceOp::all:
      return {"uchar", "1", "(uchar)((x) != 0)", "(uchar)((a) & (b))"};
    case ReduceOp::nansum:
      return {total, "0", "((x) != (x) ? (Wide)0 : (Wide)(x))", "a + b"};
    case ReduceOp::abs_sum:
      return {total, "0", "fabs((Wide)(x))", "a + b"};
    case ReduceOp::norm:
      return {total, "0", "(Wide)(x) * (Wide)(x)", "a + b", "sqrt(v)"};
    default:
      break;
  }
  const bool unbiased = op == ReduceOp::var_unbiased || op == ReduceOp::std_unbiased;
  const bool root = op == ReduceOp::std || op == ReduceOp::std_unbiased;
  std::string finish =
      unbiased ? "v.squares / (Wide)(count > 0 ? count - 1 : count)" : "v.squares / (Wide)(count)";
  if (root) finish = "sqrt(" + finish + ")";
  return {"V", "", "", "", finish};
}

std::string reduce_source(const Features& features, ReduceOp op, DType x, DType y) {
  const FoldText f = fold_text(op, x);
  std::string text = begin_program(features, x) + std::string(device_source("arithmetic"));
  text += fmt::format("#define Y {}\n#define FINISH(v, count) (({})({}))\n", type_name(y),
                      type_name(y), f.finish);
  if (is_variance(op)) {
    text += "#define MOMENTS\n";
  } else {
    text += fmt::format(
        "typedef {} V;\n#define FIRST {}\n#define ELEMENT(x) ((V)({}))\n"
        "V merge(V a, V b) {{ return (V)({}); }}\n#define MERGE(a, b) merge(a, b)\n",
        f.value, f.first, f.element, f.merge);
  }
  return text + std::string(device_source("reduce"));
}

// Return the kept, or the reduced, dims of x as a Layout. Errors: NotImplementedError if they
// cannot be merged into its number of dims.
Layout dims_of(const char* op, const Tensor& y, const Tensor& x, bool reduced) {
  Dims sizes, strides;
  for (size_t d = 0; d < x.sizes().size(); ++d) {
    const bool is_reduced = y.sizes()[d] == 1 && x.sizes()[d] != 1;
    if (is_reduced != reduced) continue;
    sizes.push_back(x.sizes()[d]);
    strides.push_back(x.strides()[d]);
  }
  const Walk walk(sizes, {strides});
  if (walk.dims() > Layout::kMostDims) {
    throw NotImplementedError(fmt::format("{}: expected at most {} dims on opencl, got {}", op,
                                          Layout::kMostDims, walk.dims()));
  }
  Layout layout;
  walk.for_each_part([&](const Layout& l, const auto&) { layout = l; });
  return layout;
}

Dims sizes_without(const Tensor& t, int64_t dim) {
  Dims sizes = t.sizes();
  if (!sizes.empty()) sizes[static_cast<size_t>(dim)] = 1;
  return sizes;
}

}  // namespace

void reduce(Tensor& y, const Tensor& x, const ReduceOp& op) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const Layout kept = dims_of(name(op), y, x, false), reduced = dims_of(name(op), y, x, true);
  const int64_t outputs = y.numel(), count = x.numel() / outputs;
  const std::string key =
      fmt::format("reduce/{}/{}/{}", name(op), name(x.dtype()), name(y.dtype()));
  const auto source = [&] { return reduce_source(device.features(), op, x.dtype(), y.dtype()); };
  // Enough work items for the device, with enough elements each.
  constexpr int64_t kItems = 512, kEach = 4096;
  const int64_t parts =
      std::clamp<int64_t>(count / kEach, 1, std::max<int64_t>(kItems / outputs, 1));
  if (parts == 1) {
    Launch(name(op), device, device.kernel(name(op), key, "whole", source))
        .add(cl_long{outputs})
        .add(cl_long{count})
        .add(kept)
        .add(reduced)
        .add(x)
        .add(y)
        .run(outputs);
    return;
  }
  const int64_t each = (count + parts - 1) / parts;
  const int64_t value_bytes = is_variance(op) ? 24 : 8;
  const Tensor values =
      empty({outputs * parts * value_bytes}, TensorOptions(kUInt8).device(y.device()));
  Launch(name(op), device, device.kernel(name(op), key, "parts", source))
      .add(cl_long{outputs})
      .add(cl_long{count})
      .add(cl_long{each})
      .add(cl_long{parts})
      .add(kept)
      .add(reduced)
      .add(x)
      .add(values)
      .run(outputs * parts);
  Launch(name(op), device, device.kernel(name(op), key, "finish", source))
      .add(cl_long{outputs})
      .add(cl_long{count})
      .add(cl_long{parts})
      .add(values)
      .add(y)
      .run(outputs);
}

void arg_reduce(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  if (index.numel() == 0) return;
  OpenClDevice& device = device_of(index);
  const cl_kernel kernel =
      device.kernel("arg_reduce", fmt::format("arg_reduce/{}", name(x.dtype())), "arg_reduce", [&] {
        return begin_program(device.features(), x.dtype()) +
               std::string(device_source("arithmetic")) + std::string(device_source("lines"));
      });
  const Dims lines = sizes_without(x, dim);
  const Tensor& v = value.defined() ? value : index;
  const Walk walk(lines, {x.strides(), index.strides(), v.strides()});
  walk.for_each_part([&](const Layout& l, const auto& offsets) {
    const int64_t n = l.count();
    Launch(("arg_reduce"), device, kernel)
        .add(cl_long{n})
        .add(cl_long{length_along(x, dim)})
        .add(cl_long{step_along(x, dim)})
        .add(cl_int{largest})
        .add(l)
        .add(x, offsets[0])
        .add(index, offsets[1])
        .add(value, offsets[2])
        .run(n);
  });
}

void scan(Tensor& y, const Tensor& x, const ScanParams& p, const ScanOp& op) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const bool is_float = is_floating_point(x.dtype());
  const cl_kernel kernel =
      device.kernel("scan", fmt::format("scan/{}/{}", name(op), name(x.dtype())), "scan", [&] {
        const char* combine = op == ScanOp::sum    ? "(a) + (b)"
                              : op == ScanOp::prod ? "(a) * (b)"
                                                   : "log_add(a, b)";
        const char* first = op == ScanOp::sum ? "0" : op == ScanOp::prod ? "1" : "-INFINITY";
        return begin_program(device.features(), x.dtype()) +
               std::string(device_source("arithmetic")) +
               fmt::format("typedef {} V;\n#define FIRST {}\n#define COMBINE(a, b) ((V)({}))\n",
                           is_float ? "Wide" : "ulong", first, combine) +
               std::string(device_source("lines"));
      });
  const Walk walk(sizes_without(x, p.dim), {x.strides(), y.strides()});
  walk.for_each_part([&](const Layout& l, const auto& offsets) {
    const int64_t n = l.count();
    Launch("scan", device, kernel)
        .add(cl_long{n})
        .add(cl_long{length_along(x, p.dim)})
        .add(cl_long{step_along(x, p.dim)})
        .add(cl_long{step_along(y, p.dim)})
        .add(cl_int{p.reverse})
        .add(cl_int{p.exclusive})
        .add(l)
        .add(x, offsets[0])
        .add(y, offsets[1])
        .run(n);
  });
}

}  // namespace ambit::opencl
