// Rows of the tables for functions that PyTorch added in its versions 2.0 to 2.15: bad calls, mixed
// devices, agreement.
#include <ambit/ambit.h>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(any, m23(), {0, 0}),
      INDEX(any, m23(), {0, 2}),
      SHAPE(all, m23(), {1, -1}),
      INDEX(all, m23(), {0, -3}),
      SHAPE(squeeze, m23(), {0, 0}),
      INDEX(squeeze, m23(), {0, 2}),
      SHAPE(squeeze_, m23(), {1, 1}),
      INDEX(squeeze_, m23(), {0, -3}),
      INDEX(var, m23(), {2}, Scalar(1.5)),
      DTYPE(var, i23(), {0}, Scalar(1.5)),
      SHAPE(linspace, ones({1}), ones({}), 3),
      SHAPE(linspace, 0, ones({2}), 3),
      SHAPE(linspace, ones({}), 1, -1),
      VALUE(linspace, none(), 1, 3),
      SHAPE(logspace, ones({1}), ones({}), 3),
      VALUE(logspace, 1, none(), 3),
      DTYPE(mm, m23(), ones({3, 2}), kInt64),
      DTYPE(mm, i23(), ones({3, 2}, kInt64), kFloat32),
      DEVICE(mm, there(), ones({3, 2}), ones({}).dtype()),
      SHAPE(mm, m23(), m23(), ones({}).dtype()),
      VALUE(mm, none(), m23(), kFloat32),
      DTYPE(bmm, ones({1, 2, 3}), ones({1, 3, 2}), kInt64),
      DTYPE(addmm, m23(), m23(), ones({3, 2}), kInt64),
      DTYPE(addmm, i23(), m23(), ones({3, 3}), ones({}).dtype()),
      DEVICE(addmm, there(), m23(), ones({3, 3}), ones({}).dtype()),
      DTYPE(baddbmm, m23(), ones({1, 2, 3}), ones({1, 3, 3}), kInt64),
      SHAPE(empty_permuted, {2, 3}, {0, 0}),
      SHAPE(empty_permuted, {2, 3}, IntArrayRef{0}),
      SHAPE(empty_permuted, {2, -3}, {0, 1}),
      INDEX(empty_permuted, {2, 3}, {0, 2}),
      SHAPE(randint_like, m23(), ones({1}, kInt64)),
      VALUE(randint_like, m23(), none()),
      DEVICE(randint_like, m23(), full({}, 3, "reference")),
      SHAPE(nonzero_static, m23(), -1),
      VALUE(nonzero_static, none(), 1),
      VALUE(hash_tensor, none()),
      VALUE(hash_tensor, m23(), {}, false, 1),
      INDEX(hash_tensor, m23(), 2),
      SHAPE(hash_tensor, m23(), {0, 0}),
      SHAPE(linalg_polar, ones({2, 3}, kFloat64)),
      SHAPE(linalg_polar, ones({3})),
      DTYPE(linalg_polar, i23()),
      VALUE(linalg_polar, none()),
      SHAPE(linalg_matrix_sqrth, m23()),
      DTYPE(linalg_matrix_sqrth, ones({2, 2}, kInt64)),
      VALUE(linalg_matrix_sqrth, none()),
      SHAPE(native_layer_norm, m23(), {2}, none(), none(), 1e-5),
      DTYPE(native_layer_norm, i23(), {3}, none(), none(), 1e-5),
      DEVICE(native_layer_norm, m23(), {3}, ones({3}, "reference"), none(), 1e-5),
      VALUE(native_layer_norm, none(), {3}, none(), none(), 1e-5),
      SHAPE(native_batch_norm, ones({3}), none(), none(), none(), none(), true, 0.1, 1e-5),
      DTYPE(native_batch_norm, i23(), none(), none(), none(), none(), true, 0.1, 1e-5),
      VALUE(native_batch_norm, m23(), none(), none(), none(), none(), false, 0.1, 1e-5),
      VALUE(native_batch_norm, none(), none(), none(), none(), none(), true, 0.1, 1e-5),
      SHAPE(native_group_norm, m23(), none(), none(), 2, 3, 2, 1, 1e-5),
      SHAPE(native_group_norm, m23(), none(), none(), 2, 3, 1, 2, 1e-5),
      DTYPE(native_group_norm, i23(), none(), none(), 2, 3, 1, 1, 1e-5),
      VALUE(native_group_norm, none(), none(), none(), 2, 3, 1, 1, 1e-5),
      VALUE(native_dropout, m23(), 1.5, true),
      DTYPE(native_dropout, i23(), 0.5, true),
      VALUE(native_dropout, none(), 0.5, false),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(native_layer_norm, strict, given(f(), f({2}), f({2})), t[0], {2}, t[1], t[2], 1e-5),
      CALL(native_batch_norm, strict, given(f(), f({2}), f({2}), f({2}), f({2})), t[0], t[1], t[2],
           t[3], t[4], true, 0.1, 1e-5),
      CALL(native_group_norm, strict, given(f(), f({2}), f({2})), t[0], t[1], t[2], 2, 2, 1, 1,
           1e-5),
      CALL(mm, strict, given(f(), f()), t[0], t[1], kFloat32),
      CALL(bmm, strict, given(f({1, 2, 2}), f({1, 2, 2})), t[0], t[1], kFloat32),
      CALL(addmm, strict, given(f(), f(), f()), t[0], t[1], t[2], kFloat32),
      CALL(baddbmm, strict, given(f({1, 2, 2}), f({1, 2, 2}), f({1, 2, 2})), t[0], t[1], t[2],
           kFloat32),
      CALL(randint_like, elementwise, given(f(), full({}, 3, kInt64)), t[0], t[1],
           std::optional<Generator>()),
      CALL(randint_like, elementwise, given(f(), full({}, 3, kInt64)), t[0], t[1]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
#define ALL_OF(...) std::get<0>(__VA_ARGS__), std::get<1>(__VA_ARGS__), std::get<2>(__VA_ARGS__)
#define TALL MADE(o.a.narrow(1, 0, 2) + eye(o.a.size(0), 2, o.a.options()) * 4)
#define SYMMETRIC MADE(matmul(TALL.t(), TALL) + eye(2, o.a.options()))
  return {
      with_dims(RESULT(any, any(o.n, {0, 1}), any(o.yes, OptionalIntArrayRef(), true))),
      with_dims(RESULT(all, all(o.n, {0, 1}, true), all(o.yes, IntArrayRef()))),
      RESULT(squeeze, squeeze(o.a.unsqueeze(0).unsqueeze(-1), {0, -1})),
      not_empty(RESULT(var, var(o.a, {0}, Scalar(0.5)))),
      not_empty(RESULT(std, ambit::std(o.unit, {0}, Scalar(0.5)))),
      RESULT(linspace, linspace(MADE(full({}, 2, kCPU)), 5, 4, o.a.options())),
      RESULT(logspace, logspace(0, MADE(full({}, 2, kCPU)), 4, 2, o.a.options())),
      RESULT(empty_permuted, empty_permuted({2, 3}, {1, 0}, o.a.options()).fill_(1)),
      RESULT(nonzero_static, nonzero_static(o.n, 4, -2)),
      not_empty(RESULT(hash_tensor, hash_tensor(o.n), hash_tensor(o.a))),
      full_only(
          RESULT(linalg_polar, std::get<0>(linalg_polar(TALL)), std::get<1>(linalg_polar(TALL)))),
      full_only(RESULT(linalg_matrix_sqrth, linalg_matrix_sqrth(SYMMETRIC))),
      full_only(RESULT(native_layer_norm,
                       ALL_OF(native_layer_norm(o.a, {o.a.size(1)}, o.unit[0], {}, 1e-3)))),
      full_only(RESULT(native_group_norm, ALL_OF(native_group_norm(o.a, {}, {}, o.a.size(0),
                                                                   o.a.size(1), 1, 1, 1e-3)))),
      full_only(RESULT(native_batch_norm,
                       ALL_OF(native_batch_norm(o.a, {}, {}, {}, {}, true, 0.1, 1e-3)))),
  };
#undef TALL
#undef SYMMETRIC
#undef ALL_OF
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
