// Functions of programs that create tensors, on the device of the program.
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>

#include "call.h"

namespace ambit::graph {
namespace {

#define AMBIT_OPTIONS " dtype=None layout=None device=None pin_memory=None"
#define AMBIT_LIKE AMBIT_OPTIONS " memory_format=None"

// Return the dtype that PyTorch's full() chooses: the dtype of the value, and the default dtype for
// floats.
TensorOptions options_for(const Call& c, size_t value, size_t dtype) {
  if (c.has(dtype) || c.scalar(value).is_floating_point()) return c.options(dtype);
  return c.options(dtype).dtype(c.scalar(value).dtype());
}

// Return the options of a tensor like the first argument; options that the program gives from
// `dtype` on have priority.
TensorOptions options_like(const Call& c, size_t dtype) {
  return c.options(dtype).dtype(c.dtype(dtype).value_or(c.tensor(0).dtype()));
}

constexpr Function kRows[] = {
    // clang-format off
    {"zeros.default", "size" AMBIT_OPTIONS, one([](Call& c) {
       return zeros(c.integers(0), c.options(1)); })},
    {"ones.default", "size" AMBIT_OPTIONS, one([](Call& c) {
       return ones(c.integers(0), c.options(1)); })},
    {"empty.memory_format", "size" AMBIT_LIKE, one([](Call& c) {
       return empty(c.integers(0), c.options(1), c.format(5)); })},
    {"empty_permuted.default", "size physical_layout" AMBIT_OPTIONS, one([](Call& c) {
       return empty_permuted(c.integers(0), c.integers(1), c.options(2)); })},
    {"full.default", "size fill_value" AMBIT_OPTIONS, one([](Call& c) {
       return full(c.integers(0), c.scalar(1), options_for(c, 1, 2)); })},
    {"scalar_tensor.default", "s" AMBIT_OPTIONS, one([](Call& c) {
       return scalar_tensor(c.scalar(0), c.options(1)); })},
    {"arange.default", "end" AMBIT_OPTIONS, one([](Call& c) {
       return arange(c.scalar(0), c.options(1)); })},
    {"arange.start", "start end" AMBIT_OPTIONS, one([](Call& c) {
       return arange(c.scalar(0), c.scalar(1), c.options(2)); })},
    {"arange.start_step", "start end step=1" AMBIT_OPTIONS, one([](Call& c) {
       return arange(c.scalar(0), c.scalar(1), c.scalar(2), c.options(3)); })},
    {"linspace.default", "start end steps" AMBIT_OPTIONS, one([](Call& c) {
       return linspace(c.scalar(0), c.scalar(1), c.integer(2), c.options(3)); })},
    {"eye.default", "n" AMBIT_OPTIONS, one([](Call& c) {
       return eye(c.integer(0), c.options(1)); })},
    {"eye.m", "n m" AMBIT_OPTIONS, one([](Call& c) {
       return eye(c.integer(0), c.integer(1), c.options(2)); })},
    {"zeros_like.default", "self" AMBIT_LIKE, one([](Call& c) {
       return zeros_like(c.tensor(0), options_like(c, 1), c.format(5)); })},
    {"ones_like.default", "self" AMBIT_LIKE, one([](Call& c) {
       return ones_like(c.tensor(0), options_like(c, 1), c.format(5)); })},
    {"empty_like.default", "self" AMBIT_LIKE, one([](Call& c) {
       return empty_like(c.tensor(0), options_like(c, 1), c.format(5)); })},
    {"full_like.default", "self fill_value" AMBIT_LIKE, one([](Call& c) {
       return full_like(c.tensor(0), c.scalar(1), options_like(c, 2), c.format(6)); })},
    {"rand_like.default", "self" AMBIT_LIKE, one([](Call& c) {
       return rand_like(c.tensor(0), options_like(c, 1), c.format(5)); })},
    {"randn_like.default", "self" AMBIT_LIKE, one([](Call& c) {
       return randn_like(c.tensor(0), options_like(c, 1), c.format(5)); })},
    {"new_zeros.default", "self size" AMBIT_OPTIONS, one([](Call& c) {
       return zeros(c.integers(1), options_like(c, 2)); })},
    {"new_ones.default", "self size" AMBIT_OPTIONS, one([](Call& c) {
       return ones(c.integers(1), options_like(c, 2)); })},
    {"new_empty.default", "self size" AMBIT_OPTIONS, one([](Call& c) {
       return empty(c.integers(1), options_like(c, 2)); })},
    {"new_full.default", "self size fill_value" AMBIT_OPTIONS, one([](Call& c) {
       return full(c.integers(1), c.scalar(2), options_like(c, 3)); })},
    {"rand.default", "size" AMBIT_OPTIONS, one([](Call& c) {
       return rand(c.integers(0), c.options(1)); })},
    {"randn.default", "size" AMBIT_OPTIONS, one([](Call& c) {
       return randn(c.integers(0), c.options(1)); })},
    {"bernoulli.p", "self p generator=None", one([](Call& c) {
       return bernoulli(c.tensor(0), c.real(1)); })},
    {"bernoulli.default", "self generator=None", one([](Call& c) {
       return bernoulli(c.tensor(0)); })},
    // clang-format on
};

}  // namespace

constinit const std::span<const Function> kCreationFunctions = kRows;

}  // namespace ambit::graph
