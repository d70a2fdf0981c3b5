// Forms: products of matrices.
#include <cctype>
#include <string>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

void matmul(Site& s) { s.give(s.e.op("MatMul", {s.tensor(0), s.tensor(1)})); }

void dot(Site& s) {
  s.give(s.e.reduce("ReduceSum", s.e.mul(s.tensor(0), s.tensor(1)), Dims{0}, false));
}

void outer(Site& s) {
  const DType d = s.result_dtype();
  s.give(s.e.mul(s.e.unsqueeze(s.tensor(0, d), 1), s.e.unsqueeze(s.tensor(1, d), 0)));
}

// beta * self + alpha * (a b)
void add_product(Site& s) {
  Emitter& e = s.e;
  const DType d = s.result_dtype();
  const double beta = s.real(3), alpha = s.real(4);
  const bool is_gemm = s.rank(1) == 2 && s.rank(2) == 2 && is_floating_point(d);
  if (is_gemm && beta != 0) {
    return s.give(e.op("Gemm", {s.tensor(1), s.tensor(2), s.tensor(0)},
                       {attribute("alpha", alpha), attribute("beta", beta)}));
  }
  Ref product = e.op("MatMul", {s.tensor(1), s.tensor(2)});
  if (alpha != 1) product = e.mul(product, s.tensor(4, d));
  if (beta == 0) return s.give(product);
  s.give(e.add(beta == 1 ? s.tensor(0) : e.mul(s.tensor(0), s.tensor(3, d)), product));
}

// x W^T + b. Gemm is for matrices only.
void linear(Site& s) {
  const Ref x = s.tensor(0), w = s.tensor(1), b = s.optional(2);
  Emitter& e = s.e;
  if (s.rank(0) == 2 && s.rank(1) == 2) {
    return s.give(e.op("Gemm", {x, w, b}, {attribute("transB", 1)}));
  }
  const Ref y = e.op("MatMul", {x, s.rank(1) == 2 ? e.transpose(w, {1, 0}) : w});
  s.give(b.name.empty() ? y : e.add(y, b));
}

// onnxruntime refuses capital letters without an output term, so write the output term that PyTorch
// implies.
void einsum(Site& s) {
  std::string equation(s.text(0));
  if (equation.find("->") == equation.npos) {
    int counts[128] = {};
    for (const char c : equation) ++counts[static_cast<unsigned char>(c) & 127];
    equation += equation.find("...") == equation.npos ? "->" : "->...";
    for (int c = 'A'; c <= 'z'; ++c) {
      if (counts[c] == 1 && std::isalpha(c)) equation += static_cast<char>(c);
    }
  }
  s.give(s.e.op("Einsum", s.tensors(1), {attribute("equation", equation.c_str())}));
}

constexpr Form kRows[] = {
    {"matmul.default", matmul},
    {"mm.default", matmul},
    {"bmm.default", matmul},
    {"mv.default", matmul},
    {"dot.default", dot},
    {"outer.default", outer},
    {"addmm.default", add_product},
    {"addmv.default", add_product},
    {"baddbmm.default", add_product},
    {"einsum.default", einsum},
    {"linear.default", linear},
};

}  // namespace

constinit const std::span<const Form> kProductForms = kRows;

}  // namespace ambit::graph::onnx
