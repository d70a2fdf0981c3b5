// Elementwise ops: copies, fills, functions of one to three operands, comparisons, where().
#include <ambit/backend/functors.h>
#include <ambit/error.h>
#include <ambit/function_table.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <vector>

#include <ambit/ops/creation.h>

#include "kernels.h"
#include "launch.h"
#include "program.h"

namespace ambit::opencl {
namespace {

// The definitions for a program of elementwise.cl.
struct Map {
  std::string begin;  // its first lines
  const char* result_type;
  std::vector<const char*> operand_types;
  std::string result;        // an expression of a, b, c
  std::string refused = "";  // a statement that reports operands which the function refuses
};

std::string source_of(const Map& m) {
  std::string text = m.begin;
  for (size_t k = 0; k < m.operand_types.size(); ++k) {
    text += fmt::format("#define {} {}\n", static_cast<char>('A' + k), m.operand_types[k]);
  }
  text += fmt::format("#define R {}\n#define OPERANDS {}\n#define RESULT {}\n", m.result_type,
                      m.operand_types.size(), m.result);
  if (!m.refused.empty()) text += fmt::format("#define REFUSED {}\n", m.refused);
  return text + std::string(device_source("elementwise"));
}

template <class MakeMap>
void run(const char* op, Tensor& y, std::initializer_list<const Tensor*> inputs, MakeMap make_map,
         const std::string& key) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const auto source = [&] { return source_of(make_map(device.features())); };
  const auto strides = [&](size_t k) { return IntArrayRef((*(inputs.begin() + k))->strides()); };
  const Walk walk = inputs.size() == 1 ? Walk(y.sizes(), {y.strides(), strides(0)})
                    : inputs.size() == 2
                        ? Walk(y.sizes(), {y.strides(), strides(0), strides(1)})
                        : Walk(y.sizes(), {y.strides(), strides(0), strides(1), strides(2)});
  if (walk.is_linear()) {
    Launch launch(op, device, device.kernel(op, key, "linear", source));
    launch.add(cl_long{walk.count_}).add_fault().add(y);
    for (const Tensor* x : inputs) launch.add(*x);
    return launch.run(walk.count_);
  }
  const cl_kernel kernel = device.kernel(op, key, "strided", source);
  walk.for_each_part([&](const Layout& layout, const auto& offsets) {
    const int64_t n = layout.count();
    Launch launch(op, device, kernel);
    launch.add(cl_long{n}).add(layout).add_fault().add(y, offsets[0]);
    size_t k = 0;
    for (const Tensor* x : inputs) launch.add(*x, offsets[++k]);
    launch.run(n);
  });
}

// Return the program of a function of functors.h.
Map function_map(const Features& features, const char* family, const char* function, DType dtype,
                 DType result, std::vector<const char*> types) {
  std::string begin = begin_program(features, dtype) + std::string(device_source("arithmetic"));
  if (is_floating_point(dtype)) begin += device_source("special");
  if (is_floating_point(dtype)) begin += device_source("functors");
  const std::string value(expression(family, function));
  // Normalise a bool to 0 or 1.
  const bool is_bool = result == kBool;
  return {.begin = std::move(begin),
          .result_type = type_name(result),
          .operand_types = std::move(types),
          .result = is_bool ? "(uchar)((" + value + ") != 0)"
                            : fmt::format("({})({})", type_name(result), value)};
}

std::string key_of(const char* family, const char* function, DType dtype) {
  return fmt::format("{}/{}/{}", family, function, name(dtype));
}

}  // namespace

void unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  const DType dtype = x.dtype();
  run(
      name(op), y, {&x},
      [&](const Features& f) {
        Map m = function_map(f, "unary", name(op), dtype, y.dtype(), {type_name(dtype)});
        m.begin += "#define x a\n";
        return m;
      },
      key_of("unary", name(op), dtype));
}

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  const DType dtype = a.dtype();
  run(
      name(op), y, {&a, &b},
      [&](const Features& f) {
        Map m = function_map(f, "binary", name(op), dtype, y.dtype(),
                             {type_name(dtype), type_name(dtype)});
        const FunctionRow& row = row_of(op);
        if (row.refuses_some(dtype)) {
          m.refused = "if (b == 0) { report(fault, FAULT_DIVISOR, op, 0, 0); return; }";
          if (row.refuses == FunctionRow::Refuses::overflow && dtype != kUInt8) {
            const int bits = static_cast<int>(8 * element_size(dtype));
            m.refused += fmt::format(
                " if (b == -1 && a == (T)(((T)1) << {0})) {{ report(fault, FAULT_QUOTIENT, op, "
                "(long)a, {1}); return; }}",
                bits - 1, bits);
          }
        }
        return m;
      },
      key_of("binary", name(op), dtype));
}

void ternary(Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& number,
             const TernaryOp& op) {
  const DType dtype = a.dtype();
  Tensor third = c;
  if (!c.defined()) {
    Tensor one = empty({}, TensorOptions(dtype).device(y.device()));
    fill(one, number);
    third = one.expand(y.sizes());
  }
  run(
      name(op), y, {&a, &b, &third},
      [&](const Features& f) {
        return function_map(f, "ternary", name(op), dtype, y.dtype(),
                            {type_name(dtype), type_name(dtype), type_name(dtype)});
      },
      key_of("ternary", name(op), dtype));
}

void compare(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op) {
  const DType dtype = a.dtype();
  run(
      name(op), y, {&a, &b},
      [&](const Features& f) {
        return function_map(f, "compare", name(op), dtype, kBool,
                            {type_name(dtype), type_name(dtype)});
      },
      key_of("compare", name(op), dtype));
}

void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  const size_t bytes = element_size(y.dtype());
  run(
      "where", y, {&condition, &a, &b},
      [&](const Features& f) {
        return Map{.begin = begin_moving_program(f, bytes),
                   .result_type = bits_name(bytes),
                   .operand_types = {"uchar", bits_name(bytes), bits_name(bytes)},
                   .result = "a ? b : c"};
      },
      fmt::format("where/{}", bytes));
}

// Conversions first convert x to `v` in float, double or an integer type, then to the type of y.
void copy(Tensor& y, const Tensor& x) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const size_t bytes = element_size(y.dtype());
  if (y.dtype() == x.dtype()) {
    if (y.is_contiguous() && x.is_contiguous() && y.data_ptr() != x.data_ptr()) {
      return device.copy(y.data_ptr(), x.data_ptr(), static_cast<size_t>(y.numel()) * bytes);
    }
    return run(
        "copy", y, {&x},
        [&](const Features& f) {
          return Map{.begin = begin_moving_program(f, bytes),
                     .result_type = bits_name(bytes),
                     .operand_types = {bits_name(bytes)},
                     .result = "a"};
        },
        fmt::format("move/{}", bytes));
  }
  run(
      "copy", y, {&x},
      [&](const Features& f) {
        if (!f.has_double && (x.dtype() == kFloat64 || y.dtype() == kFloat64))
          begin_program(f, kFloat64);
        const DType from = x.dtype(), to = y.dtype();
        const bool is_float = is_floating_point(from);
        std::string value = "a";
        if (from == kFloat16) value = "half_to_float(a)";
        if (from == kBFloat16) value = "bfloat16_to_float(a)";
        std::string result;
        if (to == kBool) {
          result = fmt::format("(uchar)({} != 0)", value);
        } else if (to == kFloat16) {
          result = fmt::format("float_to_half((float)({}))", value);
        } else if (to == kBFloat16) {
          result = fmt::format("float_to_bfloat16((float)({}))", value);
        } else if (!is_floating_point(to) && is_float) {
          const char* value_type = from == kFloat64 ? "double" : "float";
          result = fmt::format("({})to_{}_from_{}({})", type_name(to),
                               to == kInt64 ? "long" : "int", value_type, value);
        } else {
          result = fmt::format("({})({})", type_name(to), value);
        }
        return Map{.begin = begin_moving_program(f, 4) + std::string(device_source("convert")),
                   .result_type = type_name(to),
                   .operand_types = {type_name(from)},
                   .result = result};
      },
      fmt::format("copy/{}/{}", name(y.dtype()), name(x.dtype())));
}

void fill(Tensor& y, const Scalar& value) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const size_t bytes = element_size(y.dtype());
  uint64_t bits = 0;
  visit(y.dtype(), [&]<class T>() {
    const T v = arithmetic::element_of<T>(value);
    std::memcpy(&bits, &v, sizeof v);
  });
  const Walk walk(y.sizes(), {y.strides()});
  const cl_kernel kernel = device.kernel("fill", fmt::format("fill/{}", bytes), "fill", [&] {
    return begin_moving_program(device.features(), bytes) + std::string(device_source("fill"));
  });
  walk.for_each_part([&](const Layout& layout, const auto& offsets) {
    const int64_t n = layout.count();
    Launch("fill", device, kernel)
        .add(cl_long{n})
        .add(layout)
        .add(cl_ulong{bits})
        .add(y, offsets[0])
        .run(n);
  });
}

void random(Tensor& y, const RandomParams& p) {
  if (y.numel() == 0) return;
  OpenClDevice& device = device_of(y);
  const DType dtype = y.dtype();
  if (!device.features().has_double) {
    throw NotImplementedError("random: expected a device with cl_khr_fp64, got none");
  }
  const cl_kernel kernel =
      device.kernel("random", fmt::format("random/{}", name(dtype)), "random_fill", [&] {
        return begin_program(device.features(), dtype) + std::string(device_source("random"));
      });
  Launch("random", device, kernel)
      .add(cl_long{y.numel()})
      .add(static_cast<cl_int>(p.kind))
      .add(cl_double{p.low})
      .add(cl_double{p.high})
      .add(cl_ulong{p.seed})
      .add(cl_ulong{p.offset})
      .add(y)
      .run(y.numel());
}

}  // namespace ambit::opencl
