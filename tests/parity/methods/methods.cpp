#include "methods.h"

namespace parity {

namespace {

struct Named {
  const char* name;
  Kind kind;
  Operands operands;
};

// No element is 0, because many functions have a kink there, and the gradients of the libraries
// differ.
Tensor nonzero_wave(torch::IntArrayRef sizes, double k) {
  const int64_t n = torch::empty(sizes).numel();
  return wave({n + 1}, k, torch::kDouble).slice(0, 1).reshape(sizes);
}

Operands made(torch::IntArrayRef sizes, torch::Dtype dtype) {
  const auto numbers = [&](double k) {
    const Tensor t = nonzero_wave(sizes, k);
    return (torch::isFloatingType(dtype) ? t : t * 7).to(dtype);
  };
  Operands o{numbers(0.7), numbers(0.37), {}, {}, {}};
  o.p = (wave(sizes, 0.53, torch::kDouble) * 3 + 4).to(dtype);
  o.n = (nonzero_wave(sizes, 0.9) > 0).to(torch::kLong);
  o.m = nonzero_wave(sizes, 1.3) > 0;
  return o;
}

std::vector<Named> operands() {
  std::vector<Named> all{{"numbers", kPlain, made({2, 3}, torch::kDouble)},
                         {"strided", kStrided, made({3, 2}, torch::kDouble)},
                         {"no dims", kNoDims, made({}, torch::kDouble)},
                         {"none", kNone, made({0, 3}, torch::kDouble)},
                         {"corners", kCorners, made({2, 5}, torch::kDouble)},
                         {"single", kSingle, made({2, 3}, torch::kFloat)},
                         {"integers", kIntegers, made({2, 3}, torch::kLong)},
                         {"bytes", kBytes, made({2, 3}, torch::kByte)},
                         {"bools", kBools, made({2, 3}, torch::kBool)}};
  for (Named& named : all) {
    Operands& o = named.operands;
    if (named.kind == kStrided) {
      for (Tensor* t : {&o.a, &o.b, &o.p, &o.n, &o.m}) *t = t->t();
    }
    if (named.kind == kCorners) {
      o.a = corners().view({2, 5});
      o.b = corners().flip({0}).view({2, 5});
      o.p = corners().abs().view({2, 5});
      continue;
    }
    if (!o.a.is_floating_point()) continue;
    for (Tensor* t : {&o.a, &o.b, &o.p}) t->requires_grad_();
  }
  return all;
}

// Return the sum of all results, weighted by waves, so that the gradients of two elements or of two
// results cannot cancel.
Tensor total(const List& results, const List& leaves) {
  Tensor sum = torch::zeros({}, leaves[0].options().requires_grad(false));
  double k = 0.43;
  for (const Tensor& y : results) {
    k += 0.1;
    if (!y.defined() || !y.requires_grad()) continue;
    sum = sum + (y * nonzero_wave(y.sizes(), k).to(y)).sum().to(sum);
  }
  return sum;
}

// Undefined tensors are printed as zeros, because the libraries differ in whether a gradient is
// undefined or zeros.
List report_gradients(const std::string& what, const Tensor& of, const List& leaves,
                      double roundings, double scale = 0) {
  const List gradients = torch::autograd::grad({of}, leaves, {}, true, true, true);
  List defined;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Tensor& g = gradients[i];
    if (g.defined()) defined.push_back(g);
    report(what + " by " + "abp"[i], g.defined() ? g : torch::zeros_like(leaves[i]), roundings,
           scale);
  }
  return defined;
}

void report_row(const Row& row, const Named& named, const std::string& what) {
  const Operands& o = named.operands;
  const List results = row.call(o), leaves{o.a, o.b, o.p};
  torch::zeros({1}).cpu();  // wait: a device may report invalid data later
  for (const Tensor& y : results) report(what, y, row.roundings);
  if (!o.a.requires_grad() || (row.but & kGradients)) return;
  const Tensor sum = total(results, leaves);
  report_text(what, sum.requires_grad() ? "has a gradient" : "has no gradient");
  if (!sum.requires_grad()) return;
  const List first = report_gradients(what + " gradient", sum, leaves, 4 * row.roundings);
  if (row.but & kSecond) return;
  // The gradient of a constant gradient is zeros, or depends on an operand that the library saved.
  const Tensor second = total(first, leaves) + (sum * 0).sum();
  double scale = 1;  // magnitude of the terms of a second gradient, which may cancel
  for (const Tensor& g : first) {
    if (g.numel() > 0) scale = std::max(scale, g.detach().abs().max().item().toDouble());
  }
  report_gradients(what + " second gradient", second, leaves, 16 * row.roundings,
                   std::isfinite(scale) ? scale : 0);
}

}  // namespace

void run(const std::vector<Row>& rows) {
  const std::vector<Named> all = operands();
  for (const Row& row : rows) {
    for (const Named& named : all) {
      if (row.but & named.kind) continue;
      const std::string what = std::string(row.name) + " of " + named.name;
      try {
        report_row(row, named, what);
      } catch (const std::exception&) {
        report_text(what, "refused");
      }
    }
  }
}

}  // namespace parity
