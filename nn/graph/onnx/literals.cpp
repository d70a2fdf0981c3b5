#include "literals.h"

#include <ambit/detail/printable.h>
#include <ambit/ops/shape.h>

namespace ambit::graph::onnx {

using Kind = Argument::Kind;

bool is_dtype(std::string_view name) {
  return name == "to" || name == "dtype" || name == "output_dtype" || name == "output_datatype" ||
         name == "softmax_precision";
}

std::string place_of(const proto::NodeProto& node) {
  if (!node.name().empty() || node.output().empty()) return printable(node.name());
  return printable(node.output(0));
}

Argument real(double value) {
  Argument a;
  a.kind = Kind::real;
  a.real = value;
  return a;
}

Argument text(const std::string& value) {
  Argument a;
  a.kind = Kind::text;
  a.text = value;
  return a;
}

Argument literal(const Tensor& t) {
  Argument list;
  list.kind = Kind::list;
  const Tensor flat = t.reshape({-1});
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const Scalar s = flat.select(0, i).item();
    list.items.push_back(s.is_floating_point() ? real(s.to<double>())
                         : s.isBoolean()       ? Argument::of(Kind::flag, s.to<bool>())
                                               : Argument::of(Kind::integer, s.to<int64_t>()));
  }
  return t.dim() == 0 ? list.items[0] : list;
}

}  // namespace ambit::graph::onnx
