// Rows of the tables for views: bad calls, mixed devices, agreement.
#include <ambit/ambit.h>

#include <limits>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

const IntArrayRef kNone;

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      INDEX(swapaxes, m23(), 0, 2),
      VALUE(swapaxes, none(), 0, 1),
      INDEX(swapaxes_, m23(), 0, 2),
      VALUE(swapaxes_, none(), 0, 1),
      INDEX(swapdims, m23(), -3, 0),
      VALUE(swapdims, none(), 0, 1),
      INDEX(swapdims_, m23(), 0, 2),
      VALUE(swapdims_, none(), 0, 1),
      INDEX(transpose_, m23(), 0, 2),
      VALUE(transpose_, none(), 0, 1),
      SHAPE(t_, ones({1, 2, 3})),
      VALUE(t_, none()),
      INDEX(squeeze_, m23(), 2),
      VALUE(squeeze_, none()),
      INDEX(unsqueeze_, m23(), 3),
      VALUE(unsqueeze_, none(), 0),
      SHAPE(adjoint, ones(3)),
      VALUE(adjoint, none()),
      INDEX(movedim, m23(), 0, 2),
      SHAPE(movedim, m23(), {0, 0}, {0, 1}),
      SHAPE(movedim, m23(), {0, 1}, {-1, 1}),
      SHAPE(movedim, m23(), IntArrayRef{0}, {0, 1}),
      VALUE(movedim, none(), 0, 1),
      INDEX(moveaxis, m23(), 0, 2),
      VALUE(moveaxis, none(), 0, 1),
      VALUE(atleast_1d, none()),
      VALUE(atleast_1d, {m23(), none()}),
      VALUE(atleast_2d, none()),
      VALUE(atleast_3d, none()),
      SHAPE(broadcast_to, m23(), {3, 2}),
      VALUE(broadcast_to, none(), {2}),
      SHAPE(broadcast_tensors, {m23(), m45()}),
      VALUE(broadcast_tensors, {m23(), none()}),
      SHAPE(meshgrid, {m23(), m23()}),
      SHAPE(meshgrid, std::vector<Tensor>{}),
      VALUE(meshgrid, {ones(2)}, "ji"),
      VALUE(meshgrid, {ones(2), none()}),
      DTYPE(meshgrid, {ones(2), ones(2, kInt64)}),
      DEVICE(meshgrid, {ones(2), there()[0]}),
      DTYPE(narrow, m23(), 0, ones({}), 1),
      SHAPE(narrow, m23(), 0, ones(1, kInt64), 1),
      INDEX(narrow, m23(), 0, tensor(2), 1),
      VALUE(narrow, m23(), 0, none(), 1),
      SHAPE(unfold, m23(), 1, 4, 1),
      SHAPE(unfold, m23(), 1, -1, 1),
      SHAPE(unfold, tensor(1), 0, 2, 1),
      VALUE(unfold, m23(), 1, 2, 0),
      INDEX(unfold, m23(), 2, 1, 1),
      VALUE(unfold, none(), 0, 1, 1),
      SHAPE(diagonal, m23(), 0, 1, -1),
      INDEX(diagonal, m23(), 0, 0, 2),
      INDEX(diagonal, ones(3)),
      VALUE(diagonal, none()),
      SHAPE(linalg_diagonal, m23(), 0, 1, 1),
      INDEX(linalg_diagonal, ones(3)),
      VALUE(linalg_diagonal, none()),
      VALUE(ravel, none()),
      SHAPE(unflatten, m23(), 1, {2, 2}),
      SHAPE(unflatten, m23(), 1, {-1, -1}),
      SHAPE(unflatten, m23(), 1, kNone),
      SHAPE(unflatten, ones({2, 0}), 1, {0, -1}),
      INDEX(unflatten, m23(), 2, {1}),
      INDEX(unflatten, tensor(1), 0, {1}),
      VALUE(unflatten, none(), 0, {1}),
      SHAPE(split_with_sizes, m23(), {1, 1}, 1),
      VALUE(split_with_sizes, none(), {1}),
      SHAPE(unsafe_split, m23(), 0, 1),
      VALUE(unsafe_split, none(), 1),
      SHAPE(unsafe_split_with_sizes, m23(), {1, 1}, 1),
      VALUE(unsafe_split_with_sizes, none(), {1}),
      SHAPE(unsafe_chunk, m23(), 0),
      VALUE(unsafe_chunk, none(), 1),
      SHAPE(tensor_split, m23(), 0),
      SHAPE(tensor_split, m23(), int64_t{1} << 40),
      SHAPE(tensor_split, ones({}), 1),
      INDEX(tensor_split, m23(), {1, 2}, 2),
      DTYPE(tensor_split, m23(), ones({})),
      SHAPE(tensor_split, m23(), idx(0)),
      VALUE(tensor_split, m23(), none()),
      VALUE(tensor_split, none(), 2),
      SHAPE(hsplit, m23(), 2),
      SHAPE(hsplit, m23(), 0),
      SHAPE(hsplit, ones({}), 1),
      VALUE(hsplit, none(), 1),
      SHAPE(vsplit, ones(3), 1),
      SHAPE(vsplit, m23(), 3),
      VALUE(vsplit, none(), 1),
      SHAPE(dsplit, m23(), 1),
      VALUE(dsplit, none(), 1),
      SHAPE(concat, {m23(), m45()}),
      DEVICE(concat, {m23(), there()}),
      SHAPE(concatenate, {m23(), m45()}),
      DEVICE(concatenate, {m23(), there()}),
      SHAPE(view, m23(), kFloat64),
      VALUE(view, none(), kFloat64),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(meshgrid, strict, given(f({2}), f({2}), f({2})), {t[0], t[1], t[2]}),
      reported_as(CALL(concat, strict, given(f(), f(), f()), {t[0], t[1], t[2]}), "cat"),
      reported_as(CALL(concatenate, strict, given(f(), f(), f()), {t[0], t[1], t[2]}), "cat"),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  const auto become = [](const Operands& o, auto&& in_place) {
    const Tensor x = MADE(o.a.clone());
    in_place(x);
    return std::vector<Tensor>{x};
  };
#define BECOME(f, ...)                                                          \
  with_dims(Call{#f, [become](const Operands& o) {                              \
                   return become(o, [](const Tensor& x) { x.f(__VA_ARGS__); }); \
                 }})
  return {
      BECOME(transpose_, 0, 1),
      BECOME(swapaxes_, 0, 1),
      BECOME(swapdims_, 0, 1),
      BECOME(t_),
      BECOME(squeeze_),
      BECOME(unsqueeze_, 0),
      with_dims(RESULT(swapaxes, swapaxes(o.a, 0, 1))),
      with_dims(RESULT(swapdims, swapdims(o.a, 0, 1))),
      RESULT(adjoint, adjoint(o.a)),
      with_dims(RESULT(movedim, movedim(o.a, 0, 1))),
      with_dims(RESULT(moveaxis, moveaxis(o.a, {0, 1}, {1, 0}))),
      RESULT(atleast_1d, atleast_1d(o.a)),
      RESULT(atleast_2d, atleast_2d(o.a)),
      RESULT(atleast_3d, atleast_3d(o.a)),
      RESULT(broadcast_to, broadcast_to(o.a, o.a.sizes())),
      RESULT(broadcast_tensors, broadcast_tensors({o.a, o.n})[1]),
      with_dims(RESULT(meshgrid, meshgrid({o.a.select(1, 0), o.a.select(1, 1)}, "xy")[1])),
      with_dims(RESULT(unfold, unfold(o.a, 1, 3, 1), unfold(o.a, -1, 2, 2))),
      with_dims(RESULT(diagonal, diagonal(o.a), diagonal(o.a, 2, 1, 0))),
      with_dims(RESULT(linalg_diagonal, linalg_diagonal(o.a, -1))),
      RESULT(ravel, ravel(o.a)),
      with_dims(RESULT(unflatten, unflatten(o.a, 1, {5, 1}))),
      with_dims(Call{"split_with_sizes",
                     [](const Operands& o) {
                       return split_with_sizes(o.a, {2, 3}, 1);
                     }}),
      with_dims(Call{"unsafe_split", [](const Operands& o) { return unsafe_split(o.a, 2, 1); }}),
      with_dims(Call{"unsafe_split_with_sizes",
                     [](const Operands& o) {
                       return unsafe_split_with_sizes(o.a, {2, 3}, 1);
                     }}),
      with_dims(Call{"unsafe_chunk", [](const Operands& o) { return unsafe_chunk(o.a, 2, 1); }}),
      with_dims(Call{"tensor_split", [](const Operands& o) { return tensor_split(o.a, 3, 1); }}),
      with_dims(Call{"hsplit", [](const Operands& o) { return hsplit(o.a, 5); }}),
      with_dims(Call{"vsplit",
                     [](const Operands& o) {
                       return vsplit(o.a, {1, 2});
                     }}),
      with_dims(Call{"dsplit", [](const Operands& o) { return dsplit(o.a.unsqueeze(2), 1); }}),
      with_dims(RESULT(concat, concat({o.a, o.n}, 1))),
      with_dims(RESULT(concatenate, concatenate({o.a, o.n}))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
