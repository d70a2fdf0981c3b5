// Rows of the tables for products: bad calls, mixed devices, agreement.
#include <ambit/ambit.h>

#include <cmath>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
#define SUM(f, self, a, b)                                                                    \
  VALUE(f, none(), a, b), VALUE(f, self, none(), b), DTYPE(f, self, a, (b).to(kFloat64)),     \
      DTYPE(f, (self).to(kInt64), (a).to(kInt64), (b).to(kInt64), 1e30),                      \
      DEVICE(f, self, a, (b).to("reference")), SHAPE(f, self, a, a), SHAPE(f, self, self, b), \
      SHAPE(f, m45(), a, b), VALUE(f##_, none(), a, b), SHAPE(f##_, ones({9, 9}), a, b),      \
      DTYPE(f##_, (self).to(kInt64), (a).to(kInt64), (b).to(kInt64), 1, 1e30),                \
      DEVICE(f##_, self, a, (b).to("reference")),                                             \
      VALUE(f##_, ones(1).expand((self).sizes()), a, b)
  return {
      SUM(addmm, ones({2, 2}), m23(), ones({3, 2})),
      SUM(addmv, ones(2), m23(), ones(3)),
      SUM(baddbmm, ones({2, 2, 2}), ones({2, 2, 3}), ones({2, 3, 2})),
      SUM(addbmm, ones({2, 2}), ones({2, 2, 3}), ones({2, 3, 2})),
#undef SUM
      SHAPE(addr, m23(), m23(), ones(3)),
      SHAPE(addr, m45(), ones(2), ones(3)),
      DTYPE(addr, i23(), ones(2, kInt64), ones(3, kInt64), 0.5),
      DEVICE(addr, there(), ones(2), ones(3)),
      VALUE(addr, m23(), none(), ones(3)),
      VALUE(addr, none(), ones(2), ones(3)),
      SHAPE(addr_, ones(3), ones(2), ones(3)),
      DTYPE(addr_, i23(), ones(2), ones(3)),
      DEVICE(addr_, there(), ones(2), ones(3)),
      VALUE(addr_, none(), ones(2), ones(3)),
      VALUE(addr_, ones(3).expand({2, 3}), ones(2), ones(3)),
      SHAPE(vdot, m23(), m23()),
      SHAPE(vdot, ones(2), ones(3)),
      DTYPE(vdot, ones(2), ones(2, kInt64)),
      DEVICE(vdot, ones(3), there()[0]),
      VALUE(vdot, ones(3), none()),
      SHAPE(outer, m23(), ones(3)),
      DEVICE(outer, ones(3), there()[0]),
      VALUE(outer, none(), ones(3)),
      SHAPE(ger, ones(3), m23()),
      DEVICE(ger, ones(3), there()[0]),
      VALUE(ger, none(), ones(3)),
      SHAPE(inner, m23(), ones(2)),
      DTYPE(inner, m23(), i23()),
      DEVICE(inner, m23(), there()),
      VALUE(inner, none(), m23()),
      VALUE(einsum, "ij", std::vector<Tensor>{}),
      VALUE(einsum, "ij,jk", {m23()}),
      VALUE(einsum, "i1", {m23()}),
      VALUE(einsum, "i..j", {m23()}),
      VALUE(einsum, "i...j...", {m23()}),
      VALUE(einsum, "ij->ii", {m23()}),
      VALUE(einsum, "ij->k", {m23()}),
      VALUE(einsum, "ij->i,j", {m23()}),
      VALUE(einsum, "ij->i->j", {m23()}),
      SHAPE(einsum, "i", {m23()}),
      SHAPE(einsum, "ijk...", {m23()}),
      SHAPE(einsum, "ii", {m23()}),
      SHAPE(einsum, "ij,ij", {m23(), m45()}),
      DTYPE(einsum, "ij,ij", {m23(), i23()}),
      DTYPE(einsum, "ij,ij", {b23(), b23()}),
      DEVICE(einsum, "ij,ij", {m23(), there()}),
      VALUE(einsum, "ij,ij", {m23(), none()}),
      VALUE(einsum, "ij,ij", {m23(), m23()}, {0, 0}),
      VALUE(einsum, "ij,ij", {m23(), m23()}, {0, 2}),
      VALUE(einsum, "ij,ij", {m23(), m23()}, {0, 1, 0, 1}),
      SHAPE(tensordot, m23(), m23(), {0}, {1}),
      SHAPE(tensordot, m23(), m23(), {0, 1}, {1}),
      SHAPE(tensordot, m23(), m23(), {0, 0}, {0, 0}),
      INDEX(tensordot, m23(), m23(), {2}, {0}),
      DTYPE(tensordot, m23(), i23(), {0}, {0}),
      DTYPE(tensordot, b23(), b23(), {0}, {0}),
      DEVICE(tensordot, m23(), there(), {0}, {0}),
      VALUE(tensordot, none(), m23(), {0}, {0}),
      DEVICE(kron, m23(), there()),
      VALUE(kron, m23(), none()),
      SHAPE(cross, m23(), ones(3)),
      SHAPE(cross, m45(), m45()),
      SHAPE(cross, m23(), m23(), 0),
      SHAPE(cross, ones({}), ones({})),
      INDEX(cross, m23(), m23(), 2),
      DTYPE(cross, m23(), i23()),
      DTYPE(cross, b23(), b23()),
      DEVICE(cross, m23(), there()),
      VALUE(cross, m23(), none()),
      SHAPE(linalg_cross, ones({3, 2}), ones({3, 2})),
      DEVICE(linalg_cross, m23(), there()),
      VALUE(linalg_cross, none(), m23()),
      SHAPE(chain_matmul, {m23(), m45()}),
      SHAPE(chain_matmul, {ones(3)}),
      SHAPE(chain_matmul, std::vector<Tensor>{}),
      DTYPE(chain_matmul, {m23(), ones({3, 2}, kFloat64)}),
      DEVICE(chain_matmul, {m23(), there().t()}),
      VALUE(chain_matmul, {m23(), none()}),
      SHAPE(linalg_multi_dot, {m23()}),
      SHAPE(linalg_multi_dot, {m23(), ones(3), m23()}),
      SHAPE(linalg_multi_dot, {m23(), m23()}),
      SHAPE(linalg_multi_dot, {ones({}), m23()}),
      DTYPE(linalg_multi_dot, {m23(), i23().t()}),
      DEVICE(linalg_multi_dot, {m23(), there().t()}),
      VALUE(linalg_multi_dot, {m23(), none()}),
      SHAPE(matrix_power, m23(), 2),
      SHAPE(matrix_power, ones(3), 2),
      DTYPE(matrix_power, ones({2, 2}, kInt64), -1),
      DTYPE(matrix_power, ones({2, 2}, kBool), 2),
      VALUE(matrix_power, none(), 2),
      SHAPE(matrix_exp, m23()),
      DTYPE(matrix_exp, ones({2, 2}, kInt64)),
      VALUE(matrix_exp, none()),
      SHAPE(linalg_matrix_exp, m23()),
      VALUE(linalg_matrix_exp, none()),
      SHAPE(linalg_matmul, m23(), m23()),
      DEVICE(linalg_matmul, m23(), there()),
      VALUE(linalg_matmul, none(), m23()),
      SHAPE(trace, ones(3)),
      DTYPE(trace, b23()),
      VALUE(trace, none()),
      SHAPE(cdist, m23(), m45()),
      SHAPE(cdist, ones(3), m23()),
      SHAPE(cdist, ones({2, 2, 3}), ones({3, 2, 3})),
      DTYPE(cdist, i23(), i23()),
      DTYPE(cdist, m23(), ones({2, 3}, kFloat64)),
      VALUE(cdist, m23(), m23(), -1.),
      VALUE(cdist, m23(), m23(), NAN),
      VALUE(cdist, m23(), m23(), 2., 3),
      DEVICE(cdist, m23(), there()),
      VALUE(cdist, none(), m23()),
      SHAPE(pdist, ones(3)),
      DTYPE(pdist, i23()),
      VALUE(pdist, m23(), -1.),
      VALUE(pdist, none()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
#define SUM(name, a, b)                                    \
  BOTH(name, strict, given(f({1}), f a, f b), t[1], t[2]), \
      BOTH(name##_, in_place, given(f(), f a, f b), t[1], t[2])
#define LIST(name) CALL(name, strict, given(f(), f(), f()), {t[0], t[1], t[2]})
  const auto chain = given(f(), f(), f());
  return {
      SUM(addmm, (), ()),
      SUM(addmv, (), ({2})),
      SUM(addr, ({2}), ({2})),
      SUM(baddbmm, ({1, 2, 2}), ({1, 2, 2})),
      SUM(addbmm, ({1, 2, 2}), ({1, 2, 2})),
      BOTH(vdot, strict, given(f({2}), f({2})), t[1]),
      BOTH(outer, strict, given(f({2}), f({2})), t[1]),
      BOTH(ger, strict, given(f({2}), f({2})), t[1]),
      BOTH(inner, strict, given(f(), f()), t[1]),
      CALL(einsum, strict, chain, "ij,jk,kl", {t[0], t[1], t[2]}),
      CALL(tensordot, strict, given(f(), f()), t[0], t[1], {0}, {1}),
      BOTH(kron, strict, given(f(), f()), t[1]),
      BOTH(cross, strict, given(f({3}), f({3})), t[1]),
      CALL(linalg_cross, strict, given(f({3}), f({3})), t[0], t[1]),
      CALL(linalg_matmul, strict, given(f(), f()), t[0], t[1]),
      LIST(chain_matmul),
      LIST(linalg_multi_dot),
      Call{"multi_dot", Rule::strict, chain,
           [](const Tensors& t) {
             linalg::multi_dot({t[0], t[1], t[2]});
           },
           "linalg_multi_dot"},
      CALL(cdist, strict, given(f(), f()), t[0], t[1]),
  };
#undef LIST
#undef SUM
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  const auto sum = [](Call c) { return with_dims(std::move(c)); };
  return {
      sum(RESULT(addmv, addmv(o.a.select(1, 0), o.a, MADE(ones(5, o.a.options())), 0.5, 2))),
      sum(RESULT(addr, addr(o.a, o.a.select(1, 0), MADE(ones(5, o.a.options())), 2, 3))),
      sum(RESULT(baddbmm, baddbmm(MADE(ones(1, o.a.options())), o.a.expand({2, -1, -1}),
                                  o.unit.t().expand({2, -1, -1})))),
      sum(RESULT(addbmm, addbmm(MADE(ones(1, o.a.options())), o.a.expand({2, -1, -1}),
                                o.unit.t().expand({2, -1, -1}), 2, 3))),
      sum(IN_PLACE(addmm_, o.a, MADE(o.a.mm(o.a.t())), o.unit, 0.5)),
      sum(IN_PLACE(addmv_, o.a.select(1, 0), o.a, MADE(ones(5, o.a.options())))),
      sum(IN_PLACE(addr_, o.a, o.a.select(1, 0), MADE(ones(5, o.a.options())))),
      sum(IN_PLACE(baddbmm_, o.a.unsqueeze(0), MADE(o.a.mm(o.a.t()).unsqueeze(0)),
                   o.unit.unsqueeze(0))),
      sum(IN_PLACE(addbmm_, o.a, MADE(o.a.mm(o.a.t()).unsqueeze(0)), o.unit.unsqueeze(0))),
      RESULT(vdot, vdot(o.a.reshape({-1}), o.unit.reshape({-1}))),
      RESULT(outer, outer(o.a.reshape({-1}), o.unit.reshape({-1}))),
      RESULT(ger, ger(o.a.reshape({-1}), o.unit.reshape({-1}))),
      RESULT(inner, inner(o.a, o.unit)),
      with_dims(RESULT(einsum, einsum("ij,kj->ik", {o.a, o.unit}),
                       einsum("ij,ij->j", {o.a, o.unit}), einsum("ij,kj,lj->ik", {o.n, o.m, o.n}))),
      with_dims(RESULT(tensordot, tensordot(o.a, o.unit, {1}, {1}))),
      RESULT(kron, kron(o.a, o.n)),
      with_dims(RESULT(cross, cross(o.a.narrow(1, 0, 3), o.unit.narrow(1, 1, 3), 1))),
      with_dims(RESULT(linalg_cross, linalg_cross(o.a.narrow(1, 0, 3), o.unit.narrow(1, 1, 3)))),
      with_dims(RESULT(linalg_matmul, linalg_matmul(o.a, o.unit.t()))),
      with_dims(RESULT(chain_matmul, chain_matmul({o.unit, o.unit.t(), o.unit}))),
      with_dims(RESULT(linalg_multi_dot, linalg_multi_dot({o.unit, o.unit.t(), o.unit}))),
      with_dims(RESULT(matrix_power, matrix_power(MADE(o.unit.t().mm(o.unit) * 0.1), 3))),
      with_dims(RESULT(matrix_exp, matrix_exp(MADE(o.unit.t().mm(o.unit) * 0.1)))),
      with_dims(RESULT(linalg_matrix_exp, linalg_matrix_exp(MADE(o.unit.t().mm(o.unit) * 0.1)))),
      with_dims(RESULT(trace, trace(o.a), trace(o.n))),
      with_dims(RESULT(cdist, cdist(o.a, o.unit), cdist(o.a, o.unit, 1))),
      with_dims(RESULT(pdist, pdist(o.a, 1), pdist(o.a, 3))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
