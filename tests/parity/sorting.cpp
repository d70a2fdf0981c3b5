// Sorting, searching, counting, scans, and indexed writes.
#include "calls.h"

using namespace parity;

PARITY(sorting) {
  const Call calls[] = {
      {"sort", OP(std::get<0>(a[0].sort())), {x()}},
      {"sort's places", OP(std::get<1>(a[0].sort(0, true))), {x({4, 3})}},
      {"sort stable",
       OP(std::get<1>(a[0].sort(c10::optional<bool>(true), int64_t{0}))),
       {integers({8}) / 4}},
      {"sort corners", OP(std::get<0>(a[0].detach().sort())), {corners()}},
      {"argsort", OP(a[0].argsort(int64_t{1})), {x()}},
      {"topk", OP(std::get<0>(a[0].topk(2))), {x()}},
      {"topk least", OP(std::get<0>(a[0].topk(2, 0, false))), {x({4, 3})}},
      {"kthvalue", OP(std::get<0>(a[0].kthvalue(2))), {x()}},
      {"msort", OP(torch::msort(a[0])), {x({4, 3})}},
      {"median", OP(a[0].median()), {x()}},
      {"median dim", OP(std::get<0>(a[0].median(1))), {x()}},
      {"unique", OP(std::get<0>(torch::_unique2(a[0]))), {integers({9})}},
      {"unique inverse", OP(std::get<1>(torch::_unique2(a[0], true, true))), {integers({9})}},
      {"unique_consecutive",
       OP(std::get<0>(torch::unique_consecutive(a[0]))),
       {torch::tensor({1, 1, 2, 2, 1})}},
      {"searchsorted",
       OP(torch::searchsorted(a[0].detach(), a[1].detach())),
       {torch::arange(5).to(torch::kDouble), x() * 4}},
      {"bucketize",
       OP(torch::bucketize(a[1].detach(), a[0].detach(), false, true)),
       {torch::arange(5).to(torch::kDouble), x() * 4}},
      {"bincount", OP(torch::bincount(a[0])), {torch::tensor({0, 3, 3, 1})}},
      {"histc", OP(torch::histc(a[0].detach(), 4, -1, 1)), {x({9})}},
      {"cumprod", OP(a[0].cumprod(1)), {y()}, 16},
      {"cummax", OP(std::get<0>(torch::cummax(a[0], 1))), {x()}},
      {"cummin's places", OP(std::get<1>(torch::cummin(a[0], 0))), {x()}},
      {"logcumsumexp", OP(torch::logcumsumexp(a[0], 1)), {x()}, 32},
      {"diff", OP(torch::diff(a[0])), {x({5})}},
  };
  for (const Call& call : calls) run(call);
  report_refusal("topk beyond", [] { x().topk(4); });
  report_refusal("kthvalue 0", [] { x().kthvalue(0); });
  report_refusal("bincount of negatives", [] { torch::bincount(torch::tensor({-1})); });
}

PARITY(writes_by_index) {
  const Tensor places = torch::tensor({2, 0, 2});
  const Call calls[] = {
      {"index_add", OP(a[0].index_add(1, a[2], a[1], 2)), {x(), y(), places}},
      {"index_copy", OP(a[0].index_copy(1, a[2], a[1])), {x(), y({2, 2}), torch::tensor({2, 0})}},
      {"index_fill", OP(a[0].index_fill(1, a[1], 3)), {x(), torch::tensor({2, 0})}},
      {"index_put",
       OP((a[0] * 1).index_put_({a[2]}, a[1], true)),
       {x({4}), y({3}), torch::tensor({1, 1, 3})}},
      {"take", OP(a[0].take(a[1])), {x(), torch::tensor({5, 0, -1})}},
      {"put_", OP((a[0] * 1).put_(a[1], a[2])), {x(), torch::tensor({5, 0}), y({2})}},
      {"take_along_dim",
       OP(torch::take_along_dim(a[0], a[1], 1)),
       {x(), torch::tensor({{0}, {2}})}},
      {"masked_scatter", OP(a[0].masked_scatter(a[0].detach() > 0, a[1])), {x(), y()}},
      {"scatter_reduce",
       OP(torch::scatter_reduce(a[0], 1, a[1], a[2], "amax")),
       {x(), torch::tensor({{0, 0, 1}, {2, 1, 1}}), y()}},
  };
  for (const Call& call : calls) run(call);
  report_refusal("take outside", [] { x().take(torch::tensor({6})); });
}
