// Pooling of every kind, in one to three dims.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;
namespace F = nn::functional;

namespace {

using Fill = Generator::Fill;

void pooling(Generator& g) {
  Random& r = g.random();
  const auto D = static_cast<size_t>(r.between(1, 3));
  const int64_t most = D == 3 ? 2 : 3;
  PoolParams p;
  const Sizes kernel = draw(g, D, 1, most), stride = draw(g, D, 1, 3);
  Sizes padding(D), in(D);
  const bool takes_max = r.one_in(2);
  const Sizes dilation = takes_max ? draw(g, D, 1, 2) : Sizes(D, 1);
  for (size_t i = 0; i < D; ++i) {
    padding[i] = r.between(0, kernel[i] / 2);
    in[i] = std::max<int64_t>(1, dilation[i] * (kernel[i] - 1) + 1 - 2 * padding[i]) +
            r.between(0, most + 1);
  }
  p.kernel = kernel;
  p.stride = stride;
  p.padding = padding;
  p.dilation = dilation;
  p.ceil_mode = r.one_in(2);
  const Sizes sizes = image_sizes(g, r.between(1, 3), in);
  if (takes_max) {
    g.call(fmt::format("flat({}($0, {}, {}, {}, {}, {}, return_indices=True))",
                       spatial("max_pool", D), list_text(kernel), list_text(stride),
                       list_text(padding), list_text(dilation), bool_text(p.ceil_mode)),
           {g.operand(sizes, Fill::distinct)}, [=](const Tensors& t) {
             return flat(D == 1   ? max_pool1d_with_indices(t[0], p)
                         : D == 2 ? max_pool2d_with_indices(t[0], p)
                                  : max_pool3d_with_indices(t[0], p));
           });
    return;
  }
  p.count_include_pad = r.one_in(2);
  std::string divisor;
  if (D > 1 && r.one_in(2)) {
    p.divisor = r.between(1, 5);
    divisor = fmt::format(", {}", p.divisor);
  }
  g.call(fmt::format("{}($0, {}, {}, {}, {}, {}{})", spatial("avg_pool", D), list_text(kernel),
                     list_text(stride), list_text(padding), bool_text(p.ceil_mode),
                     bool_text(p.count_include_pad), divisor),
         {g.operand(sizes)}, [=](const Tensors& t) {
           return D == 1 ? avg_pool1d(t[0], p) : D == 2 ? avg_pool2d(t[0], p) : avg_pool3d(t[0], p);
         });
}

void adaptive_pooling(Generator& g) {
  Random& r = g.random();
  const auto D = static_cast<size_t>(r.between(1, 3));
  const Sizes in = draw(g, D, 1, D == 3 ? 3 : 6), out = draw(g, D, r.one_in(10) ? 0 : 1, 4);
  const Sizes sizes = image_sizes(g, r.between(1, 3), in);
  if (r.one_in(2)) {
    g.call(fmt::format("{}($0, {})", spatial("adaptive_avg_pool", D), list_text(out)),
           {g.operand(sizes)}, [=](const Tensors& t) {
             return D == 1   ? adaptive_avg_pool1d(t[0], out)
                    : D == 2 ? adaptive_avg_pool2d(t[0], out)
                             : adaptive_avg_pool3d(t[0], out);
           });
  } else {
    g.call(fmt::format("flat({}($0, {}, True))", spatial("adaptive_max_pool", D), list_text(out)),
           {g.operand(sizes, Fill::distinct)}, [=](const Tensors& t) {
             return flat(D == 1   ? adaptive_max_pool1d(t[0], out)
                         : D == 2 ? adaptive_max_pool2d(t[0], out)
                                  : adaptive_max_pool3d(t[0], out));
           });
  }
}

void other_pooling(Generator& g) {
  Random& r = g.random();
  const int64_t k = r.between(1, 3), s = r.between(1, 3), C = r.between(1, 3);
  const Sizes in = draw(g, 2, k, k + 4);
  const int64_t p = r.between(1, 3);
  switch (r.between(0, 6)) {
    case 0:
      g.call(fmt::format("F.lp_pool2d($0, {}.0, {}, {}, {})", p, k, s, bool_text(p == 2)),
             {g.operand({2, C, in[0], in[1]}, Fill::positive)}, [=](const Tensors& t) {
               return F::lp_pool2d(
                   t[0],
                   F::LPPool2dFuncOptions(static_cast<double>(p), k).stride(s).ceil_mode(p == 2));
             });
      break;
    case 1:
      g.call(fmt::format("F.lp_pool1d($0, {}.0, {}, {})", p, k, s),
             {g.operand({2, C, in[0]}, Fill::positive)}, [=](const Tensors& t) {
               return F::lp_pool1d(t[0],
                                   F::LPPool1dFuncOptions(static_cast<double>(p), k).stride(s));
             });
      break;
    case 2:
      g.call(fmt::format("F.max_unpool2d(*F.max_pool2d($0, {}, {}, return_indices=True), {}, {})",
                         k, std::max(k, s), k, std::max(k, s)),
             {g.operand({2, C, in[0], in[1]}, Fill::distinct)}, [=](const Tensors& t) {
               const auto both = max_pool2d_with_indices(t[0], k, std::max(k, s));
               return F::max_unpool2d(std::get<0>(both), std::get<1>(both),
                                      F::MaxUnpool2dFuncOptions(k).stride(std::max(k, s)));
             });
      break;
    case 3:
      g.call(fmt::format("F.max_unpool1d(*F.max_pool1d($0, {}, return_indices=True), {})", k, k),
             {g.operand({2, C, in[0]}, Fill::distinct)}, [=](const Tensors& t) {
               const auto both = max_pool1d_with_indices(t[0], k);
               return F::max_unpool1d(std::get<0>(both), std::get<1>(both),
                                      F::MaxUnpool1dFuncOptions(k));
             });
      break;
    case 4: {
      const Sizes deep = draw(g, 3, k, k + 2);
      g.call(fmt::format("F.max_unpool3d(*F.max_pool3d($0, {}, return_indices=True), {})", k, k),
             {g.operand({2, C, deep[0], deep[1], deep[2]}, Fill::distinct)}, [=](const Tensors& t) {
               const auto both = max_pool3d_with_indices(t[0], k);
               return F::max_unpool3d(std::get<0>(both), std::get<1>(both),
                                      F::MaxUnpool3dFuncOptions(k));
             });
      break;
    }
    case 5: {
      const Sizes deep = draw(g, 3, k, k + 2);
      const int64_t out = r.between(1, deep[0] - k + 1);
      g.call(fmt::format("flat(torch._C._nn.fractional_max_pool3d($0, [{}, {}, {}], [{}, 1, 1], "
                         "in_rows($1.detach())))",
                         k, k, k, out),
             {g.operand({2, C, deep[0], deep[1], deep[2]}, Fill::distinct),
              g.operand({2, C, 3}, Fill::unit)},
             [=](const Tensors& t) {
               return flat(fractional_max_pool3d(t[0], {k, k, k}, {out, 1, 1}, t[1].detach()));
             });
      break;
    }
    default: {
      const int64_t out = r.between(1, in[0] - k + 1 > 3 ? 3 : in[0] - k + 1);
      g.call(fmt::format("flat(torch._C._nn.fractional_max_pool2d($0, [{}, {}], [{}, 1], "
                         "in_rows($1.detach())))",
                         k, k, out),
             {g.operand({2, C, in[0], in[1]}, Fill::distinct), g.operand({2, C, 2}, Fill::unit)},
             [=](const Tensors& t) {
               return flat(fractional_max_pool2d(t[0], {k, k}, {out, 1}, t[1].detach()));
             });
    }
  }
}

}  // namespace

const std::vector<Call> kPoolCalls{pooling, pooling, adaptive_pooling, other_pooling};

}  // namespace fuzz
