// Functions and methods of networks, one line for each call.
#include "calls.h"

using namespace parity;

PARITY(ops_unary) {
  using Unary = Tensor (*)(const Tensor&);
  const std::pair<const char*, Unary> maps[] = {
#define MAP(name)                                         \
  {                                                       \
#name, [](const Tensor& t) { return torch::name(t); } \
  }
      MAP(abs),   MAP(neg),     MAP(exp),    MAP(log),        MAP(sqrt),  MAP(rsqrt), MAP(sin),
      MAP(cos),   MAP(tan),     MAP(tanh),   MAP(asin),       MAP(acos),  MAP(atan),  MAP(sinh),
      MAP(cosh),  MAP(sigmoid), MAP(relu),   MAP(erf),        MAP(floor), MAP(ceil),  MAP(round),
      MAP(trunc), MAP(sign),    MAP(square), MAP(reciprocal), MAP(log1p), MAP(log2),  MAP(log10),
      MAP(expm1), MAP(isnan),   MAP(isinf),  MAP(isfinite),
#undef MAP
  };
  for (const auto& [name, map] : maps) {
    const auto call = [map = map](const List& a) { return map(a[0]); };
    run({name, call, {y()}});
    run({name, call, {x() * 0.9}});
    report(name, map(corners()), 8);
    report(name, map(empty_one()));
    report(name, map(no_dims()));
    report(name, map(wave({5}) * 0.9), 8);
    if (std::string(name) != "rsqrt") report(name, map(integers()), 8);
  }
}

PARITY(ops_binary) {
  const Call calls[] = {
      {"add", OP(a[0] + a[1]), {x(), y()}},
      {"add alpha", OP(torch::add(a[0], a[1], 0.5)), {x(), y()}},
      {"add broadcasts", OP(a[0] + a[1]), {x({2, 1, 3}), y({4, 1})}},
      {"add integers", OP(a[0] + a[1]), {integers(), integers({3})}},
      {"add mixed", OP(a[0] + a[1]), {integers(), x()}},
      {"add number", OP(a[0] + 2), {x()}},
      {"number minus", OP(2 - a[0]), {x()}},
      {"sub", OP(a[0].sub(a[1], 2)), {x(), y()}},
      {"mul", OP(a[0] * a[1]), {x(), y()}},
      {"mul itself", OP(a[0] * a[0]), {x()}},
      {"div", OP(a[0] / a[1]), {x(), y()}},
      {"div integers", OP(a[0] / 4), {integers()}},
      {"number over", OP(1 / a[0]), {y()}},
      {"div floor", OP(torch::div(a[0], a[1], "floor")), {x(), y()}},
      {"div trunc", OP(torch::div(a[0], a[1], "trunc")), {integers(), integers({3}) + 10}},
      {"floor_divide", OP(torch::floor_divide(a[0], 3)), {integers()}},
      {"remainder", OP(torch::remainder(a[0], a[1])), {x() * 5, y()}},
      {"remainder integers", OP(torch::remainder(a[0], -4)), {integers()}},
      {"fmod", OP(torch::fmod(a[0], a[1])), {x() * 5, y()}},
      {"pow", OP(torch::pow(a[0], a[1])), {y(), x()}},
      {"pow number", OP(a[0].pow(3)), {x()}},
      {"pow 0", OP(a[0].pow(0)), {x()}},
      {"number pow", OP(torch::pow(2, a[0])), {x()}},
      {"pow integers", OP(a[0].pow(2)), {integers()}},
      {"atan2", OP(torch::atan2(a[0], a[1])), {x(), y()}},
      {"maximum", OP(torch::maximum(a[0], a[1])), {x(), y() - 1.5}},
      {"minimum", OP(torch::minimum(a[0], a[1])), {x(), x({3})}},
      {"eq", OP(a[0] == a[1]), {integers(), integers({3})}},
      {"lt", OP(a[0] < a[1]), {x(), x({3})}},
      {"ge number", OP(a[0] >= 0), {x()}},
      {"logical_and", OP(torch::logical_and(a[0], a[1])), {integers(), integers({3})}},
      {"logical_xor", OP(torch::logical_xor(a[0], a[1])), {integers(), x({3})}},
      {"bitwise", OP((a[0] & 6) | (a[0] ^ 3)), {integers()}},
      {"clamp", OP(torch::clamp(a[0], -0.5, 0.5)), {x()}},
      {"clamp_min", OP(torch::clamp_min(a[0], 0.1)), {x()}},
      {"where", OP(torch::where(a[0] > 0, a[0], a[1])), {x(), y()}},
      {"masked_fill", OP(a[0].masked_fill(a[0] > 0, 3)), {x()}},
      {"in place", OP((a[0] * 1).add_(a[1]).mul_(2).sub_(1)), {x(), y({3})}},
      {"through a view",
       OP(
           [&] {
             Tensor t = a[0] * 1;
             t[0].mul_(a[1]);
             t.select(1, 1).fill_(2);
             return t;
           }()),
       {x(), y({3})}},
      {"corners add", OP(a[0] + a[0].flip({0})), {corners()}},
      {"corners maximum", OP(torch::maximum(a[0].detach(), a[0].detach().flip({0}))), {corners()}},
  };
  for (const Call& call : calls) run(call);
  parity::report_refusal("shapes", [] { x({2, 3}) + x({2}); });
  parity::report_refusal("in place grows", [] { x({3}).clone().add_(x({2, 3})); });
  parity::report_refusal("float into integers", [] { integers().add_(x()); });
  parity::report_refusal("integers to a negative power", [] { integers().pow(-1); });
}

PARITY(ops_reduce) {
  const Call calls[] = {
      {"sum", OP(a[0].sum()), {x()}},
      {"sum dim", OP(a[0].sum(1)), {x()}},
      {"sum dims", OP(a[0].sum({2, 1}, true)), {x({2, 3, 4})}},
      {"sum integers", OP(a[0].sum(0)), {integers()}},
      {"sum as", OP(torch::sum(a[0], torch::kFloat)), {integers()}},
      {"sum of none", OP(a[0].sum(0)), {empty_one()}},
      {"mean", OP(a[0].mean()), {x()}},
      {"mean dim", OP(a[0].mean(-1, true)), {x()}},
      {"mean of none", OP(a[0].mean()), {empty_one()}},
      {"prod", OP(a[0].prod()), {y()}},
      {"prod dim", OP(a[0].prod(1)), {y()}},
      {"var", OP(a[0].var()), {x()}},
      {"var dim", OP(a[0].var({1}, false)), {x()}},
      {"std", OP(a[0].std(0)), {x({4, 3})}},
      {"max", OP(a[0].max()), {x()}},
      {"min dim", OP(std::get<0>(a[0].min(1))), {x()}},
      {"max dim's places", OP(std::get<1>(a[0].max(0))), {x()}},
      {"argmax", OP(a[0].argmax()), {x()}},
      {"argmin dim", OP(a[0].argmin(1, true)), {x()}},
      {"any", OP((a[0] > 0.9).any(1)), {x()}},
      {"all", OP((a[0] > -2).all()), {x()}},
      {"norm", OP(a[0].norm()), {x()}},
      {"norm dim", OP(a[0].norm(1, {1}, true)), {y()}},
      {"logsumexp", OP(torch::logsumexp(a[0], {1})), {x()}},
      {"cumsum", OP(a[0].cumsum(1)), {x()}},
      {"softmax", OP(torch::softmax(a[0], 1)), {x()}},
      {"log_softmax", OP(a[0].log_softmax(0)), {x()}},
      {"of no dims", OP(a[0].sum(0)), {no_dims()}},
  };
  for (const Call& call : calls) run(call);
  parity::report_refusal("a dim too many", [] { x().sum(2); });
  parity::report_refusal("max of none", [] { empty_one().max(); });
  parity::report_refusal("mean of integers", [] { integers().mean(); });
}

PARITY(ops_shape) {
  const Call calls[] = {
      {"view", OP(a[0].view({3, -1})), {x({2, 6})}},
      {"reshape", OP(a[0].t().reshape({-1})), {x()}},
      {"transpose", OP(a[0].transpose(0, -1)), {x({2, 3, 4})}},
      {"permute", OP(a[0].permute({2, 0, 1})), {x({2, 3, 4})}},
      {"squeeze", OP(a[0].squeeze()), {x({1, 3, 1})}},
      {"squeeze dim", OP(a[0].squeeze(1)), {x({1, 3, 1})}},
      {"unsqueeze", OP(a[0].unsqueeze(-1)), {x()}},
      {"expand", OP(a[0].expand({4, -1, 3})), {x({2, 1})}},
      {"repeat", OP(a[0].repeat({2, 1, 2})), {x()}},
      {"flatten", OP(a[0].flatten(1)), {x({2, 3, 4})}},
      {"flip", OP(a[0].flip({0, 1})), {x()}},
      {"narrow", OP(a[0].narrow(1, 1, 2)), {x()}},
      {"slice", OP(a[0].slice(1, 0, 3, 2)), {x()}},
      {"cat", OP(torch::cat({a[0], a[1]}, 1)), {x(), y({2, 1})}},
      {"cat mixed", OP(torch::cat({a[0], a[1]})), {x(), integers()}},
      {"cat with nothing", OP(torch::cat({a[0], torch::zeros({0}, torch::kDouble)})), {x()}},
      {"stack", OP(torch::stack({a[0], a[1]}, -1)), {x(), y()}},
      {"chunk", OP(a[0].chunk(2, 1)[1]), {x({2, 5})}},
      {"split", OP(torch::split(a[0], 2, 1)[2]), {x({2, 5})}},
      {"unbind", OP(a[0].unbind(1)[2]), {x()}},
      {"as_strided", OP(a[0].as_strided({2, 2}, {1, 2}, 1)), {x()}},
      {"of none", OP(a[0].transpose(0, 1).reshape({3, 0})), {empty_one()}},
  };
  for (const Call& call : calls) run(call);
  parity::report_refusal("view of strides", [] { x().t().view({-1}); });
  parity::report_refusal("another count", [] { x().view({4}); });
  parity::report_refusal("two unknown", [] { x().view({-1, -1}); });
}

PARITY(ops_index) {
  const Tensor places = torch::tensor({2, 0, 2});
  const Tensor grid = torch::tensor({{0, 2}, {1, 0}});
  const Call calls[] = {
      {"index_select", OP(a[0].index_select(1, a[1])), {x(), places}},
      {"gather", OP(a[0].gather(1, a[1])), {x(), grid}},
      {"scatter",
       OP(a[0].scatter(1, a[1], a[2])),
       {x(), torch::tensor({{0, 2}, {1, 0}}), y({2, 2})}},
      {"scatter_add",
       OP(a[0].scatter_add(1, a[1], a[2])),
       {x(), torch::tensor({{0, 0}, {1, 1}}), y({2, 2})}},
      {"masked_select", OP(a[0].masked_select(a[0].detach() > 0)), {x()}},
      {"nonzero", OP(a[0].nonzero()), {integers()}},
      {"index", OP(a[0].index({a[1], a[2]})), {x(), torch::tensor({1, 0}), torch::tensor({2, 2})}},
      {"embedding", OP(torch::embedding(a[0], a[1])), {x({5, 2}), torch::tensor({{1, 4}, {1, 0}})}},
  };
  for (const Call& call : calls) run(call);
  parity::report_refusal("index outside", [] { x().index_select(1, torch::tensor({3})); });
  parity::report_refusal("gather of floats", [] { x().gather(1, x()); });
}

PARITY(ops_products_and_layers) {
  namespace F = torch::nn::functional;
  const Call calls[] = {
      {"mm", OP(a[0].mm(a[1])), {x(), y({3, 4})}, 16},
      {"matmul batch", OP(torch::matmul(a[0], a[1])), {x({2, 1, 2, 3}), y({3, 3, 2})}, 16},
      {"matmul vector", OP(torch::matmul(a[0], a[1])), {x(), y({3})}, 16},
      {"bmm", OP(a[0].bmm(a[1])), {x({2, 2, 3}), y({2, 3, 2})}, 16},
      {"mv", OP(a[0].mv(a[1])), {x(), y({3})}, 16},
      {"dot", OP(a[0].dot(a[1])), {x({4}), y({4})}, 16},
      {"linear", OP(F::linear(a[0], a[1], a[2])), {x(), y({4, 3}), x({4})}, 16},
      {"conv2d",
       OP(torch::conv2d(a[0], a[1], a[2], 1, 1)),
       {x({1, 2, 4, 5}), y({3, 2, 3, 3}), x({3})},
       64},
      {"conv2d strides",
       OP(torch::conv2d(a[0], a[1], {}, {2, 1}, {1, 0}, 1, 2)),
       {x({1, 4, 5, 4}), y({2, 2, 3, 2})},
       64},
      {"conv1d same",
       OP(torch::conv1d(a[0], a[1], a[2], 1, "same", 2)),
       {x({2, 3, 7}), y({4, 3, 4}), x({4})},
       64},
      {"conv3d",
       OP(torch::conv3d(a[0], a[1], a[2], {2, 1, 1}, {1, 0, 1}, 1, 2)),
       {x({1, 4, 5, 3, 4}), y({4, 2, 2, 3, 2}), x({4})},
       128},
      {"conv_transpose3d",
       OP(torch::conv_transpose3d(a[0], a[1], a[2], {2, 1, 1}, 1, {1, 0, 0}, 2)),
       {x({1, 4, 2, 3, 3}), y({4, 2, 2, 3, 2}), x({4})},
       128},
      {"convolution transposed",
       OP(torch::convolution(a[0], a[1], a[2], {2, 3}, {1, 0}, {1, 1}, true, {0, 1}, 1)),
       {x({1, 3, 4, 3}), y({3, 2, 3, 2}), x({2})},
       128},
      {"conv2d options",
       OP(F::conv2d(a[0], a[1], F::Conv2dFuncOptions().bias(a[2]).padding(torch::kSame))),
       {x({1, 2, 4, 5}), y({3, 2, 3, 4}), x({3})},
       64},
      {"conv_transpose1d options",
       OP(F::conv_transpose1d(
           a[0], a[1], F::ConvTranspose1dFuncOptions().stride(3).output_padding(2).groups(2))),
       {x({1, 4, 5}), y({4, 3, 3})},
       64},
      {"max_pool2d", OP(torch::max_pool2d(a[0], 2)), {x({1, 2, 4, 5})}},
      {"max_pool2d padded", OP(torch::max_pool2d(a[0], {3, 3}, {2, 2}, {1, 1})), {x({1, 2, 5, 5})}},
      {"max_pool2d of one list", OP(torch::max_pool2d(a[0], {2}, {}, 1)), {x({1, 2, 4, 5})}},
      {"avg_pool2d", OP(torch::avg_pool2d(a[0], 2, 2)), {x({1, 2, 4, 4})}},
      {"adaptive", OP(torch::adaptive_avg_pool2d(a[0], {1, 1})), {x({1, 2, 4, 4})}, 32},
      {"layer_norm", OP(torch::layer_norm(a[0], {3}, a[1], a[2])), {x(), y({3}), x({3})}, 64},
      {"mse", OP(F::mse_loss(a[0], a[1])), {x(), y()}},
      {"cross entropy", OP(F::cross_entropy(a[0], torch::tensor({2, 0}))), {x()}, 32},
      {"nll",
       OP(torch::nll_loss(a[0].log_softmax(1), torch::tensor({2, 0}), {}, torch::Reduction::None)),
       {x()},
       32},
      {"elu", OP(torch::elu(a[0])), {x()}},
      {"elu scaled", OP(torch::elu(a[0], 0.5, 1.5, 2)), {x()}},
      {"leaky_relu", OP(torch::leaky_relu(a[0], 0.2)), {x()}},
      {"softplus", OP(torch::softplus(a[0])), {x()}},
      {"silu", OP(torch::silu(a[0])), {x()}},
      {"hardtanh", OP(torch::hardtanh(a[0], -0.5, 0.7)), {x()}},
      {"smooth_l1", OP(torch::smooth_l1_loss(a[0], a[1])), {x(), y()}},
      {"bce", OP(torch::binary_cross_entropy(a[0].sigmoid(), a[1].detach())), {x(), y() / 4}, 32},
      {"bce with logits",
       OP(torch::binary_cross_entropy_with_logits(a[0], a[1].detach(), {}, a[2].detach())),
       {x(), y() / 4, y({3})},
       32},
      {"gelu", OP(torch::gelu(a[0])), {x()}},
  };
  for (const Call& call : calls) run(call);
  parity::report_refusal("mm of vectors", [] { x({3}).mm(x()); });
  parity::report_refusal("channels", [] { torch::conv2d(x({1, 3, 4, 4}), x({2, 2, 3, 3})); });
}
