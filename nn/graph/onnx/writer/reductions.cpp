// Forms: reductions and scans.
#include <cmath>

#include "forms.h"

namespace ambit::graph::onnx {
namespace {

// A sum or product. Bool and integers are converted to int64 first, the dtype of the result.
void reduce(Site& s, const char* type, const Dims& dims, bool keepdim) {
  const Ref x = s.tensor(0, s.result_dtype());
  s.give(dims.empty() ? x : s.e.reduce(type, x, dims, keepdim));
}

// Maximum or minimum; opset 18 does not have them for bool.
Ref extremum(Site& s, const char* type, const Ref& x, const Dims& dims, bool keepdim) {
  if (dims.empty()) return x;
  const DType d = x.dtype == kBool || x.dtype == kInt16 ? kInt32 : x.dtype;
  return s.e.cast(s.e.reduce(type, s.e.cast(x, d), dims, keepdim), x.dtype);
}

void extremum_of_all(Site& s, const char* type) {
  s.give(extremum(s, type, s.tensor(0), s.all_dims(0), false));
}

void logical(Site& s, const char* type, const Dims& dims, bool keepdim) {
  s.give(extremum(s, type, s.tensor(0, kBool), dims, keepdim));
}

Ref position(Site& s, const char* type, const Ref& x, int64_t dim, bool keepdim) {
  const DType d = x.dtype == kBool || x.dtype == kInt16 ? kInt32 : x.dtype;
  return s.e.op(type, {s.e.cast(x, d)},
                {attribute("axis", dim), attribute("keepdims", int{keepdim})}, kInt64);
}

// Return the values, and their positions: the first one among equal elements.
void extremum_along(Site& s, const char* reduce, const char* arg) {
  const Ref x = s.tensor(0);
  if (s.rank(0) == 0) {
    s.give(x);
    return s.give(s.e.integer(0));
  }
  const int64_t dim = s.dim(1, 0);
  const bool keepdim = s.flag(2);
  s.give(extremum(s, reduce, x, Dims{dim}, keepdim));
  s.give(position(s, arg, x, dim, keepdim));
}

void position_of(Site& s, const char* type) {
  const Ref x = s.tensor(0);
  if (s.rank(0) == 0) return s.give(s.e.integer(0));
  if (s.has(1)) return s.give(position(s, type, x, s.dim(1, 0), s.flag(2)));
  const Ref flat = position(s, type, s.e.reshape(x, {-1}), 0, false);
  s.give(s.flag(2) ? s.e.reshape(flat, Dims(static_cast<size_t>(s.rank(0)), 1)) : flat);
}

// How many elements the dims have, as a number of `dtype`.
Ref count(Site& s, const Dims& dims, DType dtype) {
  const Dims sizes = s.sizes(0);
  double n = 1;
  bool is_fixed = true;
  for (const int64_t d : dims) {
    is_fixed &= sizes[static_cast<size_t>(d)] >= 0;
    n *= static_cast<double>(sizes[static_cast<size_t>(d)]);
  }
  if (is_fixed) return s.e.number(n, dtype);
  const Ref all = s.sizes_of(0, 0, s.rank(0));
  const Ref counted = s.e.op("Gather", {all, s.e.integers(dims)}, {attribute("axis", 0)});
  return s.e.cast(s.e.op("ReduceProd", {counted}, {attribute("keepdims", 0)}), dtype);
}

struct Moments {
  Ref var, mean;
};

// ONNX has no variance, so sum the squared distances from the mean. The mean keeps all dims for the
// subtraction.
Moments moments(Site& s, const Dims& dims, double correction, bool keepdim) {
  Emitter& e = s.e;
  const Ref x = s.tensor(0);
  if (dims.empty()) Site::refuse("a variance of no dims");
  const Ref mean = e.reduce("ReduceMean", x, dims, true);
  const Ref distance = e.sub(x, mean), squares = e.mul(distance, distance);
  Ref var;
  if (correction == 0) {
    var = e.reduce("ReduceMean", squares, dims, keepdim);
  } else {
    const Ref n = e.op("Max", {e.add(count(s, dims, x.dtype), -correction), e.number(0, x.dtype)});
    var = e.div(e.reduce("ReduceSum", squares, dims, keepdim), n);
  }
  return {var, keepdim ? mean : e.squeeze(mean, dims)};
}

struct Spread {
  Dims dims;
  double correction;
  bool keepdim;
};

// var.correction, var.dim and var.default differ in their parameters.
Spread with_correction(Site& s) { return {s.dims(1, 0), s.has(2) ? s.real(2) : 1, s.flag(3)}; }
Spread with_dims(Site& s) { return {s.dims(1, 0), s.flag(2) ? 1.0 : 0.0, s.flag(3)}; }
Spread of_all(Site& s) { return {s.all_dims(0), s.flag(1) ? 1.0 : 0.0, false}; }

void var(Site& s, const Spread& p) { s.give(moments(s, p.dims, p.correction, p.keepdim).var); }
void std_of(Site& s, const Spread& p) {
  s.give(s.e.op("Sqrt", {moments(s, p.dims, p.correction, p.keepdim).var}));
}
void var_mean(Site& s, const Spread& p) {
  const Moments m = moments(s, p.dims, p.correction, p.keepdim);
  s.give(m.var);
  s.give(m.mean);
}

void norm(Site& s, const Dims& dims, bool keepdim) {
  Emitter& e = s.e;
  const Ref x = s.tensor(0, s.result_dtype());
  const double p = s.has(1) ? s.real(1) : 2;
  if (dims.empty()) return s.give(e.op("Abs", {x}));
  if (p == 2) return s.give(e.reduce("ReduceL2", x, dims, keepdim));
  if (p == 1) return s.give(e.reduce("ReduceL1", x, dims, keepdim));
  const Ref size = e.op("Abs", {x});
  if (p == 0) {
    const Ref counted = e.cast(e.compare("Greater", size, 0), x.dtype);
    return s.give(e.reduce("ReduceSum", counted, dims, keepdim));
  }
  if (std::isinf(p))
    return s.give(e.reduce(p > 0 ? "ReduceMax" : "ReduceMin", size, dims, keepdim));
  const Ref powers = e.op("Pow", {size, e.number(p, x.dtype)});
  const Ref sum = e.reduce("ReduceSum", powers, dims, keepdim);
  s.give(e.op("Pow", {sum, e.number(1 / p, x.dtype)}));
}

// Subtract the maximum, so that no exponential overflows; subtract 0 where the maximum is infinite.
void log_sum_exp(Site& s) {
  Emitter& e = s.e;
  const Dims dims = s.dims(1, 0);
  const Ref x = s.tensor(0, s.result_dtype());
  if (dims.empty()) return s.give(x);
  Ref most = e.reduce("ReduceMax", x, dims, true);
  const Ref is_infinite = e.op("IsInf", {most}, {}, kBool);
  most = e.where(is_infinite, e.number(0, x.dtype), most);
  const Ref sum = e.reduce("ReduceSum", e.op("Exp", {e.sub(x, most)}), dims, true);
  const Ref y = e.add(e.op("Log", {sum}), most);
  s.give(s.flag(2) ? y : e.squeeze(y, dims));
}

void running_sum(Site& s) {
  const Ref x = s.tensor(0, s.result_dtype());
  if (s.rank(0) == 0) return s.give(x);
  s.give(s.e.op("CumSum", {x, s.e.integer(s.dim(1, 0))}));
}

// Differences of neighbours, n times.
void differences(Site& s) {
  const int64_t dim = s.dim(2, 0);
  const Ref x = s.tensor(0);
  if (x.dtype == kBool) Site::refuse("bool");
  std::vector<Ref> parts{x};
  if (s.has(3)) parts.insert(parts.begin(), s.tensor(3, x.dtype));
  if (s.has(4)) parts.push_back(s.tensor(4, x.dtype));
  Ref y = s.e.concat(parts, dim);
  constexpr int64_t kEnd = INT64_MAX;
  for (int64_t n = s.integer(1); n > 0; --n) {
    y = s.e.sub(s.e.slice(y, dim, 1, kEnd), s.e.slice(y, dim, 0, -1));
  }
  s.give(y);
}

constexpr Form kRows[] = {
    // clang-format off
    {"sum.default", [](Site& s) { reduce(s, "ReduceSum", s.all_dims(0), false); }},
    {"sum.dim_IntList", [](Site& s) { reduce(s, "ReduceSum", s.dims(1, 0), s.flag(2)); }},
    {"mean.default", [](Site& s) { reduce(s, "ReduceMean", s.all_dims(0), false); }},
    {"mean.dim", [](Site& s) { reduce(s, "ReduceMean", s.dims(1, 0), s.flag(2)); }},
    {"prod.default", [](Site& s) { reduce(s, "ReduceProd", s.all_dims(0), false); }},
    {"prod.dim_int", [](Site& s) { reduce(s, "ReduceProd", s.dims(1, 0), s.flag(2)); }},
    {"var.correction", [](Site& s) { var(s, with_correction(s)); }},
    {"var.dim", [](Site& s) { var(s, with_dims(s)); }},
    {"var.default", [](Site& s) { var(s, of_all(s)); }},
    {"std.correction", [](Site& s) { std_of(s, with_correction(s)); }},
    {"std.dim", [](Site& s) { std_of(s, with_dims(s)); }},
    {"std.default", [](Site& s) { std_of(s, of_all(s)); }},
    {"var_mean.correction", [](Site& s) { var_mean(s, with_correction(s)); }},
    {"var_mean.dim", [](Site& s) { var_mean(s, with_dims(s)); }},
    {"max.default", [](Site& s) { extremum_of_all(s, "ReduceMax"); }},
    {"min.default", [](Site& s) { extremum_of_all(s, "ReduceMin"); }},
    {"amax.default", [](Site& s) {
       s.give(extremum(s, "ReduceMax", s.tensor(0), s.dims(1, 0), s.flag(2))); }},
    {"amin.default", [](Site& s) {
       s.give(extremum(s, "ReduceMin", s.tensor(0), s.dims(1, 0), s.flag(2))); }},
    {"max.dim", [](Site& s) { extremum_along(s, "ReduceMax", "ArgMax"); }},
    {"min.dim", [](Site& s) { extremum_along(s, "ReduceMin", "ArgMin"); }},
    {"argmax.default", [](Site& s) { position_of(s, "ArgMax"); }},
    {"argmin.default", [](Site& s) { position_of(s, "ArgMin"); }},
    {"any.default", [](Site& s) { logical(s, "ReduceMax", s.all_dims(0), false); }},
    {"any.dim", [](Site& s) { logical(s, "ReduceMax", s.dims(1, 0), s.flag(2)); }},
    {"any.dims", [](Site& s) { logical(s, "ReduceMax", s.dims(1, 0), s.flag(2)); }},
    {"all.default", [](Site& s) { logical(s, "ReduceMin", s.all_dims(0), false); }},
    {"all.dim", [](Site& s) { logical(s, "ReduceMin", s.dims(1, 0), s.flag(2)); }},
    {"logsumexp.default", log_sum_exp},
    {"linalg_vector_norm.default", [](Site& s) { norm(s, s.dims(2, 0), s.flag(3)); }},
    {"norm.ScalarOpt_dim", [](Site& s) { norm(s, s.dims(2, 0), s.flag(3)); }},
    {"cumsum.default", running_sum},
    {"diff.default", differences},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kReduceForms = kRows;

}  // namespace ambit::graph::onnx
