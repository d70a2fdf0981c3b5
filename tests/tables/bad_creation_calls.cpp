// Bad calls of factories.
#include "bad_calls.h"

#include <cmath>

using namespace ambit;
using namespace bad_input;

namespace {

std::vector<BadCall> creation_calls() {
  return {
      SHAPE(empty, {-1}),
      SHAPE(empty, {1L << 40, 1L << 40}),
      BAD(OutOfMemoryError, empty, {1L << 50}),
      BAD(BackendError, empty, {1}, Device("reference:9")),
      SHAPE(empty_strided, {2, 2}, {1}),
      SHAPE(empty_strided, {2}, {-1}),
      SHAPE(zeros, {-1}),
      SHAPE(ones, {2, -3}),
      SHAPE(full, {-2}, 1),
      VALUE(empty_like, none()),
      VALUE(zeros_like, none()),
      VALUE(ones_like, none()),
      VALUE(full_like, none(), 1),
      VALUE(arange, 0, 3, 0),
      VALUE(arange, 0, 3, -1),
      VALUE(arange, -1),
      VALUE(arange, 0.0, NAN),
      VALUE(linspace, 0, 1, -1),
      VALUE(eye, -1),
      VALUE(eye, 2, -1),
      SHAPE(tensor, {{1, 2}, {3}}),
      SHAPE(tensor, {{{1}}, {2}}),
      BAD(BackendError, scalar_tensor, 1, Device("reference:9")),
      VALUE(from_blob, nullptr, {2}),
      SHAPE(from_blob, nullptr, {-2}),
  };
}

std::vector<BadCall> random_calls() {
  return {
      SHAPE(rand, {-1}),
      DTYPE(rand, {2}, kInt64),
      SHAPE(randn, {-1}),
      DTYPE(randn, {2}, kBool),
      VALUE(randint, 3, 3, {2}),
      VALUE(randint, 0, {2}),
      SHAPE(randint, 1, {-1}),
      VALUE(randperm, -1),
      VALUE(rand_like, none()),
      DTYPE(rand_like, i23()),
      VALUE(randn_like, none()),
      DTYPE(randn_like, i23()),
      VALUE(randint_like, m23(), 2, 1),
      VALUE(bernoulli, m23() * 2),
      DTYPE(bernoulli, i23()),
      VALUE(uniform_, m23(), 2, 1),
      DTYPE(uniform_, i23()),
      VALUE(normal_, m23(), 0, -1),
      DTYPE(normal_, i23()),
      VALUE(random_, m23(), 3, 3),
      VALUE(bernoulli_, m23(), 1.5),
      VALUE(dropout, m23(), -0.1),
      VALUE(dropout, m23(), 1.1),
      VALUE(dropout, none(), 0.5),
  };
}

const CallTable<BadCall> kCreation(creation_calls);
const CallTable<BadCall> kRandom(random_calls);

}  // namespace
