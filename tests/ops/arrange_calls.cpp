// Rows of the tables for ops that copy elements to other positions: bad calls, mixed devices,
// agreement.
#include <ambit/ambit.h>

#include <cmath>
#include <limits>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(roll, m23(), {1, 2}),
      SHAPE(roll, m23(), 1, {0, 1}),
      SHAPE(roll, m23(), IntArrayRef{}),
      INDEX(roll, m23(), 1, 2),
      INDEX(roll, ones({}), 1, 0),
      VALUE(roll, none(), 1),
      SHAPE(rot90, ones(3)),
      SHAPE(rot90, m23(), 1, {0, -2}),
      SHAPE(rot90, m23(), 1, IntArrayRef{0}),
      INDEX(rot90, m23(), 1, {0, 2}),
      VALUE(rot90, none()),
      SHAPE(fliplr, ones(3)),
      VALUE(fliplr, none()),
      SHAPE(flipud, ones({})),
      VALUE(flipud, none()),
      VALUE(repeat_interleave, m23(), -1),
      VALUE(repeat_interleave, m23(), list(-1), 0),
      SHAPE(repeat_interleave, m23(), list(1), 1),
      SHAPE(repeat_interleave, m23(), idx(1), 0),
      SHAPE(repeat_interleave, m23(), list(1), 0, 3),
      SHAPE(repeat_interleave, m23(), 2, 0, 3),
      SHAPE(repeat_interleave, m23(), list(std::numeric_limits<int64_t>::max()), 0),
      INDEX(repeat_interleave, m23(), 1, 2),
      DTYPE(repeat_interleave, m23(), ones(2), 0),
      DTYPE(repeat_interleave, ones(2)),
      SHAPE(repeat_interleave, idx(1)),
      DEVICE(repeat_interleave, there(), list(1), 0),
      VALUE(repeat_interleave, none(), 1),
      SHAPE(tile, m23(), {-1}),
      VALUE(tile, none(), {2}),
      INDEX(narrow_copy, m23(), 1, 2, 2),
      VALUE(narrow_copy, none(), 0, 0, 1),
      SHAPE(diag, ones({})),
      SHAPE(diag, ones({1, 1, 1})),
      VALUE(diag, none()),
      SHAPE(diag_embed, ones({})),
      SHAPE(diag_embed, ones(3), 0, 0, -2),
      INDEX(diag_embed, ones(3), 0, 0, 2),
      VALUE(diag_embed, none()),
      VALUE(diagflat, none()),
      SHAPE(tril, ones(3)),
      VALUE(tril, none()),
      SHAPE(triu, ones(3)),
      VALUE(triu, none()),
      SHAPE(tril_, ones(3)),
      VALUE(tril_, none()),
      VALUE(tril_, ones({1, 3}).expand({3, 3})),
      SHAPE(triu_, ones(3)),
      VALUE(triu_, none()),
      SHAPE(hstack, {m23(), m45()}),
      SHAPE(hstack, std::vector<Tensor>{}),
      VALUE(hstack, {m23(), none()}),
      DEVICE(hstack, {m23(), there()}),
      SHAPE(vstack, {m23(), m45()}),
      DEVICE(vstack, {m23(), there()}),
      SHAPE(row_stack, {m23(), m45()}),
      DEVICE(row_stack, {m23(), there()}),
      SHAPE(dstack, {m23(), m45()}),
      DEVICE(dstack, {m23(), there()}),
      SHAPE(column_stack, {m23(), m45()}),
      SHAPE(column_stack, std::vector<Tensor>{}),
      DEVICE(column_stack, {m23(), there()}),
      SHAPE(block_diag, {ones({1, 1, 1})}),
      VALUE(block_diag, {m23(), none()}),
      DEVICE(block_diag, {m23(), there()}),
      SHAPE(cartesian_prod, {m23()}),
      SHAPE(cartesian_prod, std::vector<Tensor>{}),
      DTYPE(cartesian_prod, {ones(2), ones(2, kInt64)}),
      DEVICE(cartesian_prod, {ones(2), there()[0]}),
      VALUE(cartesian_prod, {ones(2), none()}),
      VALUE(combinations, ones(3), -1),
      SHAPE(combinations, m23()),
      VALUE(combinations, none()),
      BAD(OutOfMemoryError, combinations, ones(200), 100),
      SHAPE(logspace, 0, 1, -1),
      DTYPE(logspace, 0, 1, 2, 10, kBool),
      DTYPE(logspace, 0, 9, 2, 10, kInt8),
      VALUE(range, 0, 1, 0),
      VALUE(range, 0, 1, -1),
      VALUE(range, 0, NAN),
      SHAPE(tril_indices, -1, 2),
      DTYPE(tril_indices, 2, 2, 0, kFloat32),
      SHAPE(triu_indices, 2, -1),
      DTYPE(triu_indices, 2, 2, 0, kInt16),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
#define LIST(name, ...) \
  CALL(name, strict, given(f(__VA_ARGS__), f(__VA_ARGS__), f(__VA_ARGS__)), {t[0], t[1], t[2]})
  return {
      BOTH(repeat_interleave, strict, given(f(), ones(2, kInt64)), t[1], 0),
      LIST(hstack),
      LIST(vstack),
      LIST(row_stack),
      LIST(dstack),
      LIST(column_stack),
      LIST(block_diag),
      LIST(cartesian_prod, {2}),
  };
#undef LIST
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      with_dims(RESULT(roll, roll(o.a, {2, -1}, {0, 1}), roll(o.n, 3))),
      with_dims(RESULT(rot90, rot90(o.a), rot90(o.a, 3))),
      with_dims(RESULT(fliplr, fliplr(o.a))),
      with_dims(RESULT(flipud, flipud(o.a))),
      with_dims(RESULT(repeat_interleave, repeat_interleave(o.a, 2, 1),
                       repeat_interleave(o.a, MADE(tensor({0, 2, 1, 0, 3}, o.a.device())), 1))),
      with_dims(RESULT(tile, tile(o.a, {2, 1, 3}))),
      with_dims(RESULT(narrow_copy, narrow_copy(o.a, 1, 1, 3))),
      with_dims(RESULT(diag, diag(o.a, 1), diag(o.a.select(1, 0), -1))),
      with_dims(RESULT(diag_embed, diag_embed(o.a, 1, 0, 2))),
      RESULT(diagflat, diagflat(o.a)),
      with_dims(RESULT(tril, tril(o.a), tril(o.yes, -1))),
      with_dims(RESULT(triu, triu(o.a, 1), triu(o.n))),
      with_dims(IN_PLACE(tril_, o.a)),
      with_dims(IN_PLACE(triu_, o.n, 1)),
      RESULT(hstack, hstack({o.a, o.n})),
      RESULT(vstack, vstack({o.a, o.n})),
      RESULT(row_stack, row_stack({o.a, o.a})),
      RESULT(dstack, dstack({o.a, o.n})),
      RESULT(column_stack, column_stack({o.a, o.a})),
      RESULT(block_diag, block_diag({o.a, o.n})),
      with_dims(RESULT(cartesian_prod, cartesian_prod({o.a.select(1, 0), o.a.select(1, 1)}))),
      with_dims(RESULT(combinations, combinations(o.a.select(1, 0), 2, true))),
      RESULT(logspace, logspace(0, 1, 5, 3, o.a.options())),
      RESULT(range, range(0, 2, 0.3, o.a.options())),
      RESULT(tril_indices, tril_indices(4, 3, 1, o.n.options())),
      RESULT(triu_indices, triu_indices(4, 3, -1, o.n.options())),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
