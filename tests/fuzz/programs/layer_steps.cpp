// Reductions, products, layers and losses.
#include <ambit/ops/conv.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "generator.h"

namespace fuzz {

using namespace ambit;

namespace {
Tensor& slot(State& s, int i) { return s.slots[static_cast<size_t>(i)]; }
}  // namespace

void Generator::reduce() {
  const int x = pick(usable(), nullptr);
  if (x < 0) return;
  const int64_t dim = dim_of(at(x).dim());
  const bool keep = random_.one_in(2);
  const std::string where = fmt::format("r[{}], {}, keepdim={})", x, dim, bool_text(keep));
  switch (random_.between(0, 6)) {
    case 0:
      add(fmt::format("torch.sum(r[{}])", x), [=](State& s) { return sum(slot(s, x)); },
          Kind::exact, {x});
      break;
    case 1:
      add("torch.sum(" + where, [=](State& s) { return sum(slot(s, x), {dim}, keep); }, Kind::exact,
          {x});
      break;
    case 2:
      add("torch.mean(" + where, [=](State& s) { return mean(slot(s, x), {dim}, keep); },
          Kind::smooth, {x});
      break;
    case 3: {
      const bool unbiased = random_.one_in(2);
      add(fmt::format("torch.var(r[{}], [{}], {}, {})", x, dim, bool_text(unbiased),
                      bool_text(keep)),
          [=](State& s) { return var(slot(s, x), {dim}, unbiased, keep); }, Kind::smooth, {x});
      break;
    }
    case 4:
      add(fmt::format("torch.logsumexp(r[{}], [{}], {})", x, dim, bool_text(keep)),
          [=](State& s) { return logsumexp(slot(s, x), {dim}, keep); }, Kind::smooth, {x});
      break;
    case 5:
      add(fmt::format("torch.softmax(r[{}], {})", x, dim),
          [=](State& s) { return softmax(slot(s, x), dim); }, Kind::smooth, {x});
      break;
    default:
      add(fmt::format("torch.log_softmax(r[{}], {})", x, dim),
          [=](State& s) { return log_softmax(slot(s, x), dim); }, Kind::smooth, {x});
  }
}

void Generator::reduce_exact() {
  const int x = pick(exact(), nullptr);
  if (x < 0) return;
  const int64_t dim = dim_of(at(x).dim());
  const bool keep = random_.one_in(2);
  const std::string where = fmt::format("r[{}], {}, {})", x, dim, bool_text(keep));
  switch (random_.between(0, 8)) {
    case 0:
      add(fmt::format("torch.max(r[{}])", x), [=](State& s) { return max(slot(s, x)); },
          Kind::exact, {x});
      break;
    case 1:
      add("torch.min(" + where + "[0]",
          [=](State& s) { return std::get<0>(min(slot(s, x), dim, keep)); }, Kind::exact, {x});
      break;
    case 2:
      add("torch.argmax(" + where, [=](State& s) { return argmax(slot(s, x), dim, keep); },
          Kind::exact, {x});
      break;
    case 3:
      add("torch.any(" + where, [=](State& s) { return any(slot(s, x), dim, keep); }, Kind::exact,
          {x});
      break;
    case 4:
      add(fmt::format("torch.all(r[{}])", x), [=](State& s) { return all(slot(s, x)); },
          Kind::exact, {x});
      break;
    case 5:
      add(fmt::format("torch.prod(r[{}], {}, {})", x, dim, bool_text(keep)),
          [=](State& s) { return prod(slot(s, x), dim, keep); }, Kind::smooth, {x});
      break;
    case 6: {
      const double p = random_.choose(std::vector<double>{0, 1, 2, 3, 1.5});
      add(fmt::format("torch.norm(r[{}], {}, [{}], {})", x, p, dim, bool_text(keep)),
          [=](State& s) { return norm(slot(s, x), p, {dim}, keep); }, Kind::smooth, {x});
      break;
    }
    case 7:
      add(fmt::format("torch.isfinite(r[{}])", x), [=](State& s) { return isfinite(slot(s, x)); },
          Kind::exact, {x});
      break;
    default:
      add(fmt::format("torch.min(r[{}])", x), [=](State& s) { return min(slot(s, x)); },
          Kind::exact, {x});
  }
}

void Generator::scan() {
  const int x = pick(usable(), nullptr);
  if (x < 0) return;
  const int64_t dim = dim_of(at(x).dim());
  add(fmt::format("torch.cumsum(r[{}], {})", x, dim),
      [=](State& s) { return cumsum(slot(s, x), dim); }, Kind::smooth, {x});
}

void Generator::product() {
  const int a = pick(usable(), [&](int i) { return at(i).dim() > 0; });
  if (a < 0) return;
  const auto rows = [](const Tensor& t) { return t.size(t.dim() > 1 ? -2 : -1); };
  const int b = pick(usable(), [&](int i) {
    return at(i).dim() > 0 && at(i).dtype() == at(a).dtype() && at(a).dim() > 0 &&
           rows(at(i)) == at(a).size(-1);
  });
  if (b < 0) return;
  add(fmt::format("torch.matmul(r[{}], r[{}])", a, b),
      [=](State& s) { return matmul(slot(s, a), slot(s, b)); }, Kind::smooth, {a, b});
}

void Generator::layer() {
  const Pick few = exact();
  const int x = pick([&](int i) { return few(i) && at(i).is_floating_point(); },
                     [&](int i) { return at(i).dim() >= 1; });
  if (x < 0 || at(x).dim() == 0) return;
  if (random_.one_in(2)) {
    const int64_t n = at(x).size(-1);
    add(fmt::format("F.layer_norm(r[{}], [{}])", x, n),
        [=](State& s) { return layer_norm(slot(s, x), {n}); }, Kind::smooth, {x});
  } else if (random_.one_in(2)) {
    const int w = pick(usable(), [&](int i) {
      return at(i).dim() == 2 && at(i).dtype() == at(x).dtype() && at(i).size(1) == at(x).size(-1);
    });
    if (w < 0) return;
    add(fmt::format("F.linear(r[{}], r[{}])", x, w),
        [=](State& s) { return linear(slot(s, x), slot(s, w)); }, Kind::smooth, {x, w});
  } else {
    add(fmt::format("F.gelu(r[{}])", x), [=](State& s) { return gelu(slot(s, x)); }, Kind::smooth,
        {x});
  }
}

void Generator::image() {
  // With infinite or NaN weights the results at padding differ between libraries: 0 * inf or
  // nothing.
  const Pick few = exact();
  const auto finite = [&](int i) { return all(isfinite(at(i))).item<bool>(); };
  const int x = pick(
      [&](int i) { return few(i) && at(i).is_floating_point() && at(i).numel() > 8 && finite(i); },
      nullptr);
  if (x < 0) return;
  // As an image with one or two channels.
  const int64_t n = at(x).numel(), C = n % 2 == 0 ? 2 : 1, W = n / C % 3 == 0 ? 3 : 1;
  const Dims as{1, C, n / C / W, W};
  const int image = add(fmt::format("r[{}].reshape({})", x, list_text(as)),
                        [=](State& s) { return slot(s, x).reshape(as); }, Kind::exact, {x});
  if (random_.one_in(2)) {
    PoolParams p;
    p.kernel = {random_.between(1, 3), random_.between(1, 2)};
    p.stride = {random_.between(1, 2), 1};
    const std::string text = fmt::format("_pool2d(r[{}], ({}, {}), ({}, {}))", image, p.kernel[0],
                                         p.kernel[1], p.stride[0], p.stride[1]);
    if (random_.one_in(2)) {
      add("F.max" + text, [=](State& s) { return max_pool2d(slot(s, image), p); }, Kind::exact,
          {image});
    } else {
      add("F.avg" + text, [=](State& s) { return avg_pool2d(slot(s, image), p); }, Kind::smooth,
          {image});
    }
    return;
  }
  const Pick safe = usable();
  const int w = pick([&](int i) { return safe(i) && finite(i); },
                     [&](int i) {
                       return at(i).dtype() == at(x).dtype() && at(i).numel() > 0 &&
                              at(i).numel() % (C * 2) == 0 && at(i).numel() <= 64;
                     });
  if (w < 0 || at(w).numel() == 0) return;
  const Dims weights{at(w).numel() / (C * 2), C, 2, 1};
  ConvParams p;
  p.padding = {random_.between(0, 1), random_.between(0, 1)};
  p.stride = {random_.between(1, 2), random_.between(1, 2)};
  add(fmt::format("F.conv2d(r[{}], r[{}].reshape({}), None, ({}, {}), ({}, {}))", image, w,
                  list_text(weights), p.stride[0], p.stride[1], p.padding[0], p.padding[1]),
      [=](State& s) { return conv2d(slot(s, image), slot(s, w).reshape(weights), {}, p); },
      Kind::smooth, {image, w});
}

void Generator::loss() {
  const Pick few = exact();
  const int x = pick([&](int i) { return few(i) && at(i).is_floating_point(); },
                     [&](int i) { return at(i).dim() == 2; });
  if (x < 0) return;
  if (random_.one_in(2)) {
    const int y = pick(few, [&](int i) {
      return at(i).sizes() == at(x).sizes() && at(i).dtype() == at(x).dtype();
    });
    if (y < 0 || at(y).dtype() != at(x).dtype()) return;
    add(fmt::format("F.mse_loss(r[{}], r[{}])", x, y),
        [=](State& s) { return mse_loss(slot(s, x), slot(s, y)); }, Kind::smooth, {x, y});
    return;
  }
  const int t = pick(of_dtype(kInt64), [&](int i) {
    return at(i).dim() == 1 && at(x).dim() > 0 && at(i).size(0) == at(x).size(0);
  });
  if (t < 0) return;
  add(fmt::format("F.cross_entropy(r[{}], r[{}])", x, t),
      [=](State& s) { return cross_entropy(slot(s, x), slot(s, t)); }, Kind::smooth, {x, t});
}

}  // namespace fuzz
