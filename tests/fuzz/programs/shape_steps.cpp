// Views, writes through them, joining, indexing and scattering, and moves between devices.
#include <ambit/autograd.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <numeric>

#include "generator.h"

namespace fuzz {

using namespace ambit;

namespace {
Tensor& slot(State& s, int i) { return s.slots[static_cast<size_t>(i)]; }
}  // namespace

void Generator::view() {
  const int x = pick_any();
  if (x < 0) return;
  const std::string me = slot_text(x);
  const int64_t ndim = at(x).dim(), a = dim_of(ndim), b = dim_of(ndim);
  const bool valid = ndim > 0 && a >= -ndim && a < ndim;
  const int64_t length = valid ? at(x).size(a) : 1;
  switch (random_.between(0, 8)) {
    case 0:
      add(fmt::format("{}.transpose({}, {})", me, a, b),
          [=](State& s) { return transpose(slot(s, x), a, b); }, Kind::exact, {x});
      break;
    case 1:
      add(fmt::format("{}.unsqueeze({})", me, a),
          [=](State& s) { return unsqueeze(slot(s, x), a); }, Kind::exact, {x});
      break;
    case 2:
      add(fmt::format("{}.squeeze({})", me, a), [=](State& s) { return squeeze(slot(s, x), a); },
          Kind::exact, {x});
      break;
    case 3: {
      const int64_t i = random_.between(-length, random_.one_in(20) ? length : length - 1);
      add(fmt::format("{}.select({}, {})", me, a, i),
          [=](State& s) { return select(slot(s, x), a, i); }, Kind::exact, {x});
      break;
    }
    case 4: {
      const int64_t from = random_.between(-length, length), to = random_.between(-length, length),
                    step = random_.between(random_.one_in(20) ? 0 : 1, 3);
      add(fmt::format("torch.ops.aten.slice({}, {}, {}, {}, {})", me, a, from, to, step),
          [=](State& s) { return slice(slot(s, x), a, from, to, step); }, Kind::exact, {x});
      break;
    }
    case 5: {
      const int64_t from = random_.between(0, length), n = random_.between(0, length);
      add(fmt::format("{}.narrow({}, {}, {})", me, a, from, n),
          [=](State& s) { return narrow(slot(s, x), a, from, n); }, Kind::exact, {x});
      break;
    }
    case 6: {
      Dims to = sizes(1);
      for (const int64_t size : at(x).sizes()) {
        to.push_back(size == 1 ? random_.between(1, 3) : random_.one_in(3) ? -1 : size);
      }
      add(fmt::format("{}.expand({})", me, list_text(to)),
          [=](State& s) { return expand(slot(s, x), to); }, Kind::exact, {x});
      break;
    }
    case 7: {
      Dims order(static_cast<size_t>(ndim));
      std::iota(order.begin(), order.end(), 0);
      for (size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1],
                  order[static_cast<size_t>(random_.between(0, static_cast<int64_t>(i) - 1))]);
      }
      add(fmt::format("{}.permute({})", me, list_text(order)),
          [=](State& s) { return permute(slot(s, x), order); }, Kind::exact, {x});
      break;
    }
    default: {
      const int64_t pieces = random_.between(1, 3);
      add(fmt::format("{}.chunk({}, {})[-1]", me, pieces, a),
          [=](State& s) { return chunk(slot(s, x), pieces, a).back(); }, Kind::exact, {x});
    }
  }
}

void Generator::reshape() {
  const int x = pick_any();
  if (x < 0) return;
  const std::string me = slot_text(x);
  Dims to;
  int64_t rest = at(x).numel();
  while (rest > 1 && random_.one_in(2)) {
    const int64_t part = random_.choose(std::vector<int64_t>{2, 3, 4, 5, 17});
    if (rest % part != 0) break;
    to.push_back(part);
    rest /= part;
  }
  to.push_back(random_.one_in(3) && rest > 0 ? -1 : rest);
  if (random_.one_in(30)) to.push_back(3);
  switch (random_.between(0, 5)) {
    case 0:
      add(fmt::format("{}.view({})", me, list_text(to)),
          [=](State& s) { return slot(s, x).view(to); }, Kind::exact, {x});
      break;
    case 1:
      add(fmt::format("{}.reshape({})", me, list_text(to)),
          [=](State& s) { return slot(s, x).reshape(to); }, Kind::exact, {x});
      break;
    case 2: {
      const int64_t a = dim_of(at(x).dim()), b = dim_of(at(x).dim());
      add(fmt::format("{}.flatten({}, {})", me, a, b),
          [=](State& s) { return flatten(slot(s, x), a, b); }, Kind::exact, {x});
      break;
    }
    case 3:
      add(me + ".contiguous()", [=](State& s) { return slot(s, x).contiguous(); }, Kind::exact,
          {x});
      break;
    case 4: {
      const int64_t a = dim_of(at(x).dim());
      add(fmt::format("{}.flip([{}])", me, a), [=](State& s) { return flip(slot(s, x), {a}); },
          Kind::exact, {x});
      break;
    }
    default: {
      if (at(x).numel() > 200) return;
      Dims times(static_cast<size_t>(at(x).dim()), 1);
      for (int64_t& t : times) t = random_.between(0, 2);
      add(fmt::format("{}.repeat({})", me, list_text(times)),
          [=](State& s) { return repeat(slot(s, x), times); }, Kind::exact, {x});
    }
  }
}

void Generator::join() {
  const int a = pick_any();
  if (a < 0) return;
  const int b = pick(usable(), [&](int i) { return at(i).sizes() == at(a).sizes(); });
  if (b < 0) return;
  const int64_t dim = dim_of(at(a).dim());
  const bool stacks = random_.one_in(2);
  add(fmt::format("torch.{}([r[{}], r[{}]], {})", stacks ? "stack" : "cat", a, b, dim),
      [=](State& s) {
        const std::vector<Tensor> both{slot(s, a), slot(s, b)};
        return stacks ? stack(both, dim) : cat(both, dim);
      },
      Kind::exact, {a, b});
}

// Writes that are visible in views: copy_, fill_, masked_fill_ and arithmetic with a number.
void Generator::write_view() {
  const int x = pick(exact(), nullptr);
  if (x < 0) return;
  const std::string me = slot_text(x);
  const double v = number();
  switch (random_.between(0, 5)) {
    case 0:
      add_in_place(fmt::format("{}.fill_({})", me, number_text(v)),
                   [=](State& s) { return slot(s, x).fill_(v); }, Kind::exact, x, {});
      break;
    case 1: {
      const int y = pick(exact(), [&](int i) { return at(i).sizes() == at(x).sizes(); });
      if (y < 0) return;
      add_in_place(fmt::format("{}.copy_(r[{}])", me, y),
                   [=](State& s) { return slot(s, x).copy_(slot(s, y)); }, Kind::exact, x, {y});
      break;
    }
    case 2: {
      const int m = pick(of_dtype(kBool), [&](int i) { return at(i).sizes() == at(x).sizes(); });
      if (m < 0) return;
      add_in_place(fmt::format("{}.masked_fill_(r[{}], {})", me, m, number_text(v)),
                   [=](State& s) { return slot(s, x).masked_fill_(slot(s, m), v); }, Kind::exact, x,
                   {});
      break;
    }
    case 3:
      add_in_place(fmt::format("{}.mul_(2)", me), [=](State& s) { return slot(s, x).mul_(2); },
                   Kind::exact, x, {});
      break;
    case 4:
      add_in_place(fmt::format("with torch.no_grad(): {}.sub_(1)", me),
                   [=](State& s) {
                     const NoGradGuard no_grad;
                     return slot(s, x).sub_(1);
                   },
                   Kind::exact, x, {});
      break;
    default: {
      const int64_t i = random_.between(0, 2);
      add_in_place(fmt::format("{}[{}] = {}", me, i, number_text(v)),
                   [=](State& s) {
                     slot(s, x).select(0, i).fill_(v);
                     return slot(s, x);
                   },
                   Kind::exact, x, {});
    }
  }
}

void Generator::index() {
  // For a tensor without elements only the cpu checks the index.
  const Pick any = usable();
  const int x = pick([&](int k) { return any(k) && at(k).numel() > 0; },
                     [&](int k) { return at(k).dim() > 0; });
  const int i =
      pick(of_dtype(kInt64), [&](int k) { return at(k).dim() > 0 && at(k).numel() < 50; });
  if (x < 0 || i < 0) return;
  const std::string me = slot_text(x), by = slot_text(i);
  const int64_t dim = dim_of(at(x).dim());
  const int m = pick(of_dtype(kBool), [&](int k) { return at(k).sizes() == at(x).sizes(); });
  switch (random_.between(0, 4)) {
    case 0:
      add(fmt::format("torch.index_select({}, {}, {})", me, dim, by),
          [=](State& s) { return index_select(slot(s, x), dim, slot(s, i)); }, Kind::exact, {x, i});
      break;
    case 1:
      add(fmt::format("torch.gather({}, {}, {})", me, dim, by),
          [=](State& s) { return gather(slot(s, x), dim, slot(s, i)); }, Kind::exact, {x, i});
      break;
    case 2:
      add(fmt::format("{}[{}]", me, by), [=](State& s) { return slot(s, x)[slot(s, i)]; },
          Kind::exact, {x, i});
      break;
    case 3:
      if (m < 0) return;
      add(fmt::format("torch.masked_select({}, r[{}])", me, m),
          [=](State& s) { return masked_select(slot(s, x), slot(s, m)); }, Kind::exact, {x});
      break;
    default:
      if (!values_[static_cast<size_t>(x)].exact) return;
      add(fmt::format("torch.nonzero({})", me), [=](State& s) { return nonzero(slot(s, x)); },
          Kind::exact, {x});
  }
}

void Generator::scatter() {
  const Pick precise = exact();
  const int x = pick([&](int i) { return precise(i) && at(i).numel() > 0; },
                     [&](int i) { return at(i).dim() > 0; });
  if (x < 0) return;
  const int src = pick(
      exact(), [&](int k) { return at(k).dtype() == at(x).dtype() && at(k).dim() == at(x).dim(); });
  const int i = pick(of_dtype(kInt64), [&](int k) {
    return at(k).dim() == at(x).dim() && (src < 0 || at(k).sizes() == at(src).sizes());
  });
  if (i < 0 || src < 0) return;
  const int64_t dim = dim_of(at(x).dim());
  if (random_.one_in(2)) {
    add(fmt::format("torch.scatter_add(r[{}], {}, r[{}], r[{}])", x, dim, i, src),
        [=](State& s) { return scatter_add(slot(s, x), dim, slot(s, i), slot(s, src)); },
        Kind::exact, {x, i, src});
  } else {
    add_in_place(fmt::format("r[{}].scatter_add_({}, r[{}], r[{}])", x, dim, i, src),
                 [=](State& s) { return scatter_add_(slot(s, x), dim, slot(s, i), slot(s, src)); },
                 Kind::exact, x, {i, src});
  }
}

// A move to another device and back, which is a copy with a history.
void Generator::move() {
  const int x = pick_any();
  if (x < 0) return;
  add(slot_text(x) + ".clone()",
      [=](State& s) { return slot(s, x).to(s.other).to(s.device, false, true); }, Kind::exact, {x});
}

}  // namespace fuzz
