// Rows of the tables for functions that read and write by index: bad calls, mixed devices,
// agreement.
#include <ambit/ambit.h>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace ambit::indexing;

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      VALUE(index_put, none(), {list(0)}, m23()),
      INDEX(index_put, m23(), {list(2)}, m23()),
      DTYPE(index_put, m23(), {list(0)}, i23()),
      SHAPE(index_put_, m23(), {list(0)}, ones({2, 2, 3})),
      DTYPE(index, m23(), {m23()}),
      VALUE(scatter, m23(), 1, idx(0), m23(), "mean"),
      VALUE(scatter_, m23(), 1, idx(0), 1., "mean"),
      VALUE(scatter_reduce, m23(), 1, idx(0), m23(), "max"),
      INDEX(scatter_reduce, m23(), 1, idx(3), m23(), "amax"),
      DTYPE(scatter_reduce, m23(), 1, idx(0), i23(), "amax"),
      DEVICE(scatter_reduce, m23(), 1, idx(0), there(), "amax"),
      VALUE(scatter_reduce, none(), 1, idx(0), m23(), "amax"),
      INDEX(scatter_reduce_, m23(), 1, idx(3), m23(), "prod"),
      DEVICE(scatter_reduce_, m23(), 1, idx(0), there(), "prod"),
      VALUE(scatter_reduce_, none(), 1, idx(0), m23(), "prod"),
      INDEX(index_add, m23(), 0, list(2), m23()),
      INDEX(index_add, m23(), 2, list(0), m23()),
      SHAPE(index_add, m23(), 0, idx(0), m23()),
      SHAPE(index_add, m23(), 0, list(0), m45()),
      DTYPE(index_add, m23(), 0, ones({2}), m23()),
      DTYPE(index_add, m23(), 0, list(0), i23()),
      DEVICE(index_add, m23(), 0, list(0), there()),
      VALUE(index_add, none(), 0, list(0), m23()),
      INDEX(index_add_, m23(), 0, list(-1), m23()),
      VALUE(index_add_, m23(), 0, none(), m23()),
      SHAPE(index_copy, m23(), 1, list(0), m23()),
      VALUE(index_copy, m23(), 0, list(0), none()),
      INDEX(index_copy_, m23(), 0, list(2), m23()),
      VALUE(index_copy_, none(), 0, list(0), m23()),
      INDEX(index_fill, m23(), 0, list(-3), 1),
      SHAPE(index_fill, m23(), 0, list(0), m23()),
      DTYPE(index_fill, i23().to(kUInt8), 0, list(0), 1000),
      VALUE(index_fill, none(), 0, list(0), 1),
      INDEX(index_fill_, m23(), 3, list(0), 1),
      VALUE(index_fill_, m23(), 0, none(), 1),
      VALUE(index_reduce, m23(), 0, list(0), m23(), "sum"),
      SHAPE(index_reduce, m23(), 0, list(0), m45(), "prod"),
      VALUE(index_reduce, none(), 0, list(0), m23(), "prod"),
      INDEX(index_reduce_, m23(), 0, list(2), m23(), "prod"),
      VALUE(index_reduce_, none(), 0, list(0), m23(), "prod"),
      INDEX(take, m23(), list(6)),
      DTYPE(take, m23(), m23()),
      VALUE(take, none(), list(0)),
      DEVICE(take, there(), list(0)),
      INDEX(put, m23(), list(-7), ones({2})),
      SHAPE(put, m23(), list(0), ones({3})),
      VALUE(put, none(), list(0), ones({2})),
      DTYPE(put_, m23(), list(0), list(0)),
      VALUE(put_, none(), list(0), ones({2})),
      SHAPE(take_along_dim, m23(), list(0), 0),
      INDEX(take_along_dim, m23(), idx(3), 1),
      DTYPE(take_along_dim, m23(), m23(), 1),
      VALUE(take_along_dim, none(), idx(0)),
      VALUE(masked_scatter, m23(), b23(), ones({5})),
      DTYPE(masked_scatter, m23(), i23(), m23()),
      DTYPE(masked_scatter, m23(), b23(), i23()),
      VALUE(masked_scatter, none(), b23(), m23()),
      SHAPE(masked_scatter_, m23(), ones({4, 2, 3}, kBool), m23()),
      VALUE(masked_scatter_, m23(), none(), m23()),
      BAD(NotImplementedError, masked_scatter, m23().to("meta"), b23().to("meta"),
          m23().to("meta")),
      VALUE(argwhere, none()),
      BAD(NotImplementedError, argwhere, m23().to("meta")),
      VALUE(nonzero_numpy, none()),
      BAD(NotImplementedError, where, m23().to("meta")),
      SHAPE(fill_diagonal_, ones({3}), 1),
      SHAPE(fill_diagonal_, ones({2, 3, 3}), 1),
      VALUE(fill_diagonal_, none(), 1),
      SHAPE(select_scatter, m23(), ones({2}), 0, 0),
      INDEX(select_scatter, m23(), ones({3}), 0, 2),
      VALUE(select_scatter, none(), ones({3}), 0, 0),
      SHAPE(slice_scatter, m23(), m23(), 0, 1),
      VALUE(slice_scatter, m23(), none()),
      SHAPE(diagonal_scatter, m23(), ones({3})),
      SHAPE(diagonal_scatter, m23(), ones({2}), 0, 1, 1),
      VALUE(diagonal_scatter, none(), ones({2})),
      SHAPE(as_strided_scatter, m23(), ones({3}), {2}, {1}),
      VALUE(as_strided_scatter, none(), ones({2}), {2}, {1}),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto rows = [] { return places({2}); };
  return {
      NAMED(list("self", "indices[0]", "value"), index_put, given(f(), places({2}), f()), {t[1]},
            t[2]),
      NAMED(list("self", "indices[0]", "value"), index_put_, given(f(), places({2}), f()),
            std::vector<TensorIndex>{t[1]}, t[2]),
      NAMED(list("self", "indices[0]", "value"), index_put_, given(f(), places({2}), f()),
            std::vector<std::optional<Tensor>>{t[1]}, t[2]),
      BOTH(scatter, strict, given(f(), places()), 0, t[1], 1.5),
      BOTH(scatter, strict, given(f(), places()), 0, t[1], 1.5, "add"),
      BOTH(scatter, strict, given(f(), places(), f()), 0, t[1], t[2], "add"),
      BOTH(scatter_, in_place, given(f(), places()), 0, t[1], 1.5),
      BOTH(scatter_, in_place, given(f(), places()), 0, t[1], 1.5, "add"),
      BOTH(scatter_, in_place, given(f(), places(), f()), 0, t[1], t[2], "add"),
      BOTH(index_fill, in_place_elementwise, given(f(), rows(), f({})), 0, t[1], t[2]),
      BOTH(index_fill_, in_place_elementwise, given(f(), rows(), f({})), 0, t[1], t[2]),
      BOTH(scatter_reduce, strict, given(f(), places(), f()), 0, t[1], t[2], "amax"),
      BOTH(scatter_reduce_, in_place, given(f(), places(), f()), 0, t[1], t[2], "amax"),
      BOTH(index_add, strict, given(f(), rows(), f()), 0, t[1], t[2]),
      BOTH(index_add_, in_place, given(f(), rows(), f()), 0, t[1], t[2]),
      BOTH(index_copy, strict, given(f(), rows(), f()), 0, t[1], t[2]),
      BOTH(index_copy_, in_place, given(f(), rows(), f()), 0, t[1], t[2]),
      BOTH(index_fill, strict, given(f(), rows()), 0, t[1], 1),
      BOTH(index_fill_, in_place, given(f(), rows()), 0, t[1], 1),
      BOTH(index_reduce, strict, given(f(), rows(), f()), 0, t[1], t[2], "prod"),
      BOTH(index_reduce_, in_place, given(f(), rows(), f()), 0, t[1], t[2], "prod"),
      BOTH(take, strict, given(f(), places()), t[1]),
      BOTH(put, strict, given(f(), places(), f()), t[1], t[2]),
      BOTH(put_, in_place, given(f(), places(), f()), t[1], t[2]),
      BOTH(take_along_dim, strict, given(f(), places()), t[1], 0),
      BOTH(masked_scatter, strict, given(f(), mask(), f()), t[1], t[2]),
      BOTH(masked_scatter_, in_place, given(f(), mask(), f()), t[1], t[2]),
      BOTH(select_scatter, strict, given(f(), f({2})), t[1], 0, 0),
      BOTH(slice_scatter, strict, given(f(), f()), t[1]),
      BOTH(diagonal_scatter, strict, given(f(), f({2})), t[1]),
      BOTH(as_strided_scatter, strict, given(f(), f({2})), t[1], {2}, {1}),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      full_only(RESULT(index_put, index_put(o.a, {MADE(o.m.remainder(2).select(0, 0))},
                                            MADE(o.a.select(0, 0) * 0), true))),
      full_only(RESULT(scatter_reduce,
                       scatter_reduce(o.a, 1, MADE(o.m.remainder(5)), o.unit, "prod"),
                       scatter_reduce(o.a, 1, MADE(o.m.remainder(5)), o.unit, "amax", false))),
      full_only(IN_PLACE(scatter_reduce_, o.a, 1, MADE(o.m.remainder(5)), o.unit, "mean")),
      full_only(RESULT(index_add,
                       index_add(o.a, 0, MADE(arange(1, o.n.options())), o.a.narrow(0, 0, 1)))),
      full_only(
          IN_PLACE(index_add_, o.a, 0, MADE(arange(1, o.n.options())), o.unit.narrow(0, 0, 1), 2)),
      full_only(RESULT(index_copy,
                       index_copy(o.a, 0, MADE(arange(1, o.n.options())), o.unit.narrow(0, 0, 1)))),
      full_only(
          IN_PLACE(index_copy_, o.a, 1, MADE(arange(2, o.n.options())), o.unit.narrow(1, 0, 2))),
      full_only(RESULT(index_fill, index_fill(o.a, 1, MADE(arange(2, o.n.options())), 3))),
      full_only(IN_PLACE(index_fill_, o.a, 1, MADE(arange(2, o.n.options())), 3)),
      full_only(RESULT(index_reduce, index_reduce(o.a, 0, MADE(arange(1, o.n.options())),
                                                  o.unit.narrow(0, 0, 1), "amin"))),
      full_only(IN_PLACE(index_reduce_, o.a, 0, MADE(arange(1, o.n.options())),
                         o.unit.narrow(0, 0, 1), "prod")),
      full_only(RESULT(take, take(o.a, MADE(o.n.remainder(6))))),
      full_only(RESULT(
          put, put(o.a, MADE(arange(3, o.n.options())), o.unit.reshape({-1}).narrow(0, 0, 3)))),
      full_only(IN_PLACE(put_, o.a, MADE(arange(3, o.n.options())),
                         o.unit.reshape({-1}).narrow(0, 0, 3), true)),
      full_only(RESULT(take_along_dim, take_along_dim(o.a, MADE(o.m.remainder(5)), 1))),
      RESULT(masked_scatter, masked_scatter(o.a, o.yes, o.unit)),
      IN_PLACE(masked_scatter_, o.a, o.no, o.unit),
      RESULT(argwhere, argwhere(o.yes)),
      RESULT(nonzero_numpy, nonzero_numpy(o.no)[0]),
      full_only(IN_PLACE(fill_diagonal_, o.a, 2)),
      with_dims(
          RESULT(select_scatter, select_scatter(o.a.reshape({-1, 1}), o.unit.reshape({-1}), 1, 0))),
      with_dims(RESULT(slice_scatter, slice_scatter(o.a, o.unit, 0))),
      full_only(RESULT(diagonal_scatter, diagonal_scatter(o.a.narrow(0, 0, 1),
                                                          o.unit.reshape({-1}).narrow(0, 0, 1)))),
      not_empty(RESULT(
          as_strided_scatter,
          as_strided_scatter(o.a.contiguous(), o.unit.reshape({-1}).narrow(0, 0, 1), {1}, {1}, 0))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
