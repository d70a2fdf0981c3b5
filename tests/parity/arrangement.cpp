// Rearranging, splitting and joining; products; parts of matrices.
#include "calls.h"

using namespace parity;

PARITY(arrangement) {
  const Call calls[] = {
      {"movedim", OP(torch::movedim(a[0], 0, -1)), {x({2, 3, 4})}},
      {"swapaxes", OP(a[0].swapaxes(0, 1)), {x()}},
      {"roll", OP(torch::roll(a[0], {1, -1}, {0, 1})), {x()}},
      {"roll flat", OP(torch::roll(a[0], 2)), {x()}},
      {"rot90", OP(torch::rot90(a[0], 1, {0, 1})), {x()}},
      {"repeat_interleave", OP(torch::repeat_interleave(a[0], 2, 1)), {x()}},
      {"tile", OP(a[0].tile({2, 2})), {x()}},
      {"unfold", OP(a[0].unfold(1, 2, 1)), {x({2, 4})}},
      {"diagonal", OP(a[0].diagonal(1)), {x({3, 4})}},
      {"diag", OP(torch::diag(a[0], -1)), {x({3})}},
      {"diag_embed", OP(torch::diag_embed(a[0])), {x()}},
      {"tril", OP(a[0].tril(1)), {x({3, 4})}},
      {"triu", OP(a[0].triu(-1)), {x({4, 3})}},
      {"tril_indices", OP(torch::tril_indices(3, 4)), {}},
      {"meshgrid", OP(torch::meshgrid({a[0], a[1]}, "ij")[1]), {x({2}), y({3})}},
      {"tensor_split", OP(torch::tensor_split(a[0], 3, 1)[1]), {x({2, 5})}},
      {"hstack", OP(torch::hstack({a[0], a[1]})), {x(), y({2, 1})}},
      {"vstack", OP(torch::vstack({a[0], a[1]})), {x(), y({1, 3})}},
      {"dstack", OP(torch::dstack({a[0], a[1]})), {x(), y()}},
      {"block_diag", OP(torch::block_diag({a[0], a[1]})), {x(), y({1, 2})}},
      {"cartesian_prod", OP(torch::cartesian_prod({a[0], a[1]})), {x({2}), y({3})}},
      {"combinations", OP(torch::combinations(a[0], 2)), {x({4})}},
      {"broadcast_tensors", OP(torch::broadcast_tensors({a[0], a[1]})[1]), {x(), y({3})}},
      {"unflatten", OP(a[0].unflatten(1, {3, 2})), {x({2, 6})}},
      {"fliplr", OP(torch::fliplr(a[0])), {x()}},
      {"ravel", OP(a[0].t().ravel()), {x()}},
      {"trace", OP(a[0].trace()), {x({3, 3})}},
  };
  for (const Call& call : calls) run(call);
}

PARITY(products) {
  const Call calls[] = {
      {"outer", OP(torch::outer(a[0], a[1])), {x({2}), y({3})}},
      {"inner", OP(torch::inner(a[0], a[1])), {x(), y({4, 3})}, 16},
      {"vdot", OP(torch::vdot(a[0], a[1])), {x({3}), y({3})}, 16},
      {"addmm", OP(torch::addmm(a[0], a[1], a[2], 0.5, 2)), {x({2, 2}), x(), y({3, 2})}, 16},
      {"baddbmm",
       OP(torch::baddbmm(a[0], a[1], a[2])),
       {x({2, 2, 2}), x({2, 2, 3}), y({2, 3, 2})},
       16},
      {"addmv", OP(torch::addmv(a[0], a[1], a[2])), {x({2}), x(), y({3})}, 16},
      {"addr", OP(torch::addr(a[0], a[1], a[2])), {x(), x({2}), y({3})}},
      {"einsum", OP(torch::einsum("bij,bjk->bik", {a[0], a[1]})), {x({2, 2, 3}), y({2, 3, 2})}, 16},
      {"einsum trace", OP(torch::einsum("ii->i", {a[0]})), {x({3, 3})}},
      {"tensordot",
       OP(torch::tensordot(a[0], a[1], {1, 0}, {0, 2})),
       {x({2, 3}), y({3, 4, 2})},
       32},
      {"kron", OP(torch::kron(a[0], a[1])), {x(), y({2, 2})}},
      {"cross", OP(torch::cross(a[0], a[1], 1)), {x(), y()}},
      {"matrix_power", OP(torch::matrix_power(a[0], 3)), {x({3, 3})}, 64},
      {"chain_matmul", OP(torch::chain_matmul({a[0], a[1], a[0]})), {x(), y({3, 2})}, 64},
  };
  for (const Call& call : calls) run(call);
}
