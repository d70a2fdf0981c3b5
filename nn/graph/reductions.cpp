// Functions of programs: reductions, scans and products.
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/products.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/samples.h>
#include <ambit/ops/scan.h>

#include "call.h"

namespace ambit::graph {
namespace {

using Reduce = Tensor (*)(const Tensor&, IntArrayRef, bool, std::optional<DType>);

Tensor reduced(const Call& c, Reduce reduce) {
  return reduce(c.tensor(0), c.integers(1), c.flag(2), c.dtype(3));
}

constexpr Function kRows[] = {
    // clang-format off
    {"sum.default", "self dtype=None", one([](Call& c) { return sum(c.tensor(0), c.dtype(1)); })},
    {"sum.dim_IntList", "self dim keepdim=False dtype=None", one([](Call& c) {
       return reduced(c, sum); })},
    {"mean.default", "self dtype=None", one([](Call& c) {
       return mean(c.tensor(0), c.dtype(1)); })},
    {"mean.dim", "self dim keepdim=False dtype=None", one([](Call& c) {
       return reduced(c, mean); })},
    {"prod.default", "self dtype=None", one([](Call& c) {
       return prod(c.tensor(0), c.dtype(1)); })},
    {"prod.dim_int", "self dim keepdim=False dtype=None", one([](Call& c) {
       return prod(c.tensor(0), c.integer(1), c.flag(2), c.dtype(3)); })},
    {"var.correction", "self dim=None correction=None keepdim=False", one([](Call& c) {
       return var(c.tensor(0), c.integers(1), c.optional_integer(2), c.flag(3)); })},
    {"var.dim", "self dim unbiased=True keepdim=False", one([](Call& c) {
       return var(c.tensor(0), c.integers(1), c.flag(2), c.flag(3)); })},
    {"var.default", "self unbiased=True", one([](Call& c) {
       return var(c.tensor(0), c.flag(1)); })},
    {"std.correction", "self dim=None correction=None keepdim=False", one([](Call& c) {
       return ambit::std(c.tensor(0), c.integers(1), c.optional_integer(2), c.flag(3)); })},
    {"std.dim", "self dim unbiased=True keepdim=False", one([](Call& c) {
       return ambit::std(c.tensor(0), c.integers(1), c.flag(2), c.flag(3)); })},
    {"std.default", "self unbiased=True", one([](Call& c) {
       return ambit::std(c.tensor(0), c.flag(1)); })},
    {"var_mean.correction", "self dim=None correction=None keepdim=False", many([](Call& c) {
       c.give(var_mean(c.tensor(0), c.integers(1), c.optional_integer(2), c.flag(3))); })},
    {"var_mean.dim", "self dim unbiased=True keepdim=False", many([](Call& c) {
       c.give(var_mean(c.tensor(0), c.integers(1), c.flag(2), c.flag(3))); })},
    {"max.default", "self", one([](Call& c) { return max(c.tensor(0)); })},
    {"min.default", "self", one([](Call& c) { return min(c.tensor(0)); })},
    {"max.dim", "self dim keepdim=False", many([](Call& c) {
       c.give(max(c.tensor(0), c.integer(1), c.flag(2))); })},
    {"min.dim", "self dim keepdim=False", many([](Call& c) {
       c.give(min(c.tensor(0), c.integer(1), c.flag(2))); })},
    {"amax.default", "self dim=[] keepdim=False", one([](Call& c) {
       return amax(c.tensor(0), c.integers(1), c.flag(2)); })},
    {"amin.default", "self dim=[] keepdim=False", one([](Call& c) {
       return amin(c.tensor(0), c.integers(1), c.flag(2)); })},
    {"argmax.default", "self dim=None keepdim=False", one([](Call& c) {
       return argmax(c.tensor(0), c.optional_integer(1), c.flag(2)); })},
    {"argmin.default", "self dim=None keepdim=False", one([](Call& c) {
       return argmin(c.tensor(0), c.optional_integer(1), c.flag(2)); })},
    {"any.default", "self", one([](Call& c) { return ambit::any(c.tensor(0)); })},
    {"any.dim", "self dim keepdim=False", one([](Call& c) {
       return ambit::any(c.tensor(0), c.integer(1), c.flag(2)); })},
    {"any.dims", "self dim=None keepdim=False", one([](Call& c) {
       return ambit::any(c.tensor(0), c.optional_integers(1), c.flag(2)); })},
    {"all.default", "self", one([](Call& c) { return all(c.tensor(0)); })},
    {"all.dim", "self dim keepdim=False", one([](Call& c) {
       return all(c.tensor(0), c.integer(1), c.flag(2)); })},
    {"logsumexp.default", "self dim keepdim=False", one([](Call& c) {
       return logsumexp(c.tensor(0), c.integers(1), c.flag(2)); })},
    {"linalg_vector_norm.default", "self ord=2 dim=None keepdim=False dtype=None",
     one([](Call& c) {
       return linalg_vector_norm(c.tensor(0), c.scalar(1), c.optional_integers(2), c.flag(3),
                                 c.dtype(4)); })},
    {"norm.ScalarOpt_dim", "self p dim keepdim=False", one([](Call& c) {
       return norm(c.tensor(0), c.optional_scalar(1), c.integers(2), c.flag(3)); })},
    {"cumsum.default", "self dim dtype=None", one([](Call& c) {
       return cumsum(c.tensor(0), c.integer(1), c.dtype(2)); })},
    {"cumprod.default", "self dim dtype=None", one([](Call& c) {
       return cumprod(c.tensor(0), c.integer(1), c.dtype(2)); })},
    {"diff.default", "self n=1 dim=-1 prepend=None append=None", one([](Call& c) {
       return diff(c.tensor(0), c.integer(1), c.integer(2), c.optional_tensor(3),
                   c.optional_tensor(4)); })},
    // products
    {"matmul.default", "self other", tensors(matmul)},
    {"mm.default", "self mat2", tensors(mm)},
    {"bmm.default", "self mat2", tensors(bmm)},
    {"mv.default", "self vec", tensors(mv)},
    {"dot.default", "self tensor", tensors(dot)},
    {"outer.default", "self vec2", tensors(outer)},
    {"addmm.default", "self mat1 mat2 beta=1 alpha=1", one([](Call& c) {
       return addmm(c.tensor(0), c.tensor(1), c.tensor(2), c.scalar(3), c.scalar(4)); })},
    {"addmv.default", "self mat vec beta=1 alpha=1", one([](Call& c) {
       return addmv(c.tensor(0), c.tensor(1), c.tensor(2), c.scalar(3), c.scalar(4)); })},
    {"baddbmm.default", "self batch1 batch2 beta=1 alpha=1", one([](Call& c) {
       return baddbmm(c.tensor(0), c.tensor(1), c.tensor(2), c.scalar(3), c.scalar(4)); })},
    {"einsum.default", "equation tensors path=None", one([](Call& c) {
       return einsum(c.text(0), c.tensors(1), c.integers(2)); })},
    {"linear.default", "input weight bias=None", one([](Call& c) {
       return linear(c.tensor(0), c.tensor(1), c.optional_tensor(2)); })},
    // clang-format on
};

}  // namespace

constinit const std::span<const Function> kReduceFunctions = kRows;

}  // namespace ambit::graph
