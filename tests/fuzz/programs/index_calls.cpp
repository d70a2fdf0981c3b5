// Indexing, scattering, and rearranging of elements, in place and through views too: a table of
// calls, one row each, so the file is long.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;

namespace {

using Fill = Generator::Fill;
using indexing::Slice;
using indexing::TensorIndex;

// A shape without dims of size 0.
Sizes full_sizes(Generator& g, int64_t least, int64_t most) {
  return draw(g, static_cast<size_t>(g.random().between(least, most)), 1, 4);
}

struct Place {
  std::string python;
  std::function<TensorIndex(const Tensors&)> make;
};

void advanced(Generator& g) {
  Random& r = g.random();
  const Sizes shape = full_sizes(g, 1, 4);
  std::vector<int> operands{g.operand(shape)};
  std::vector<Place> places;
  const Sizes common = r.one_in(3) ? Sizes{} : draw(g, static_cast<size_t>(r.between(1, 2)), 1, 3);
  bool dots = false;
  for (size_t d = 0; d < shape.size() && !(places.size() > 0 && r.one_in(6)); ++d) {
    const int64_t n = shape[d];
    const int64_t which = r.between(0, 7);
    if (which == 0) {
      const int64_t i = r.between(-n, n - 1);
      places.push_back({std::to_string(i), [i](const Tensors&) { return TensorIndex(i); }});
    } else if (which <= 2) {
      const int64_t a = r.between(-n - 1, n), b = r.between(-n - 1, n + 1), s = r.between(1, 3);
      places.push_back({fmt::format("{}:{}:{}", a, b, s),
                        [=](const Tensors&) { return TensorIndex(Slice(a, b, s)); }});
    } else if (which == 3) {
      places.push_back({"None", [](const Tensors&) { return TensorIndex(indexing::None); }});
      --d;
    } else if (which == 4 && !dots) {
      dots = true;
      places.push_back({"...", [](const Tensors&) { return TensorIndex("..."); }});
      break;
    } else if (which == 5) {
      const size_t i = operands.size();
      operands.push_back(g.integers({n}, 0, 1, kBool));
      places.push_back(
          {fmt::format("${}", i), [i](const Tensors& t) { return TensorIndex(t[i]); }});
    } else {
      const size_t i = operands.size();
      operands.push_back(
          g.integers(g.broadcastable(common), -n, n - 1, r.one_in(4) ? kInt32 : kInt64));
      places.push_back(
          {fmt::format("${}", i), [i](const Tensors& t) { return TensorIndex(t[i]); }});
    }
    if (places.size() > 6) break;
  }
  if (places.empty()) {
    places.push_back({"...", [](const Tensors&) { return TensorIndex("..."); }});
  }
  std::string text;
  for (const Place& p : places) text += p.python + ", ";
  const auto make = [places](const Tensors& t) {
    std::vector<TensorIndex> all;
    for (const Place& p : places) all.push_back(p.make(t));
    return all;
  };
  const int64_t which = r.between(0, 3);
  if (which <= 1) {
    g.call(
        fmt::format("$0[{}]", text), operands,
        [=](const Tensors& t) { return t[0].index(make(t)); }, 0);
  } else if (which == 2) {
    g.call(
        fmt::format("put($0, S[{}], 1.5)", text), operands,
        [=](const Tensors& t) {
          const Tensor y = t[0].clone();
          index_put_(y, make(t), 1.5);
          return y;
        },
        0);
  } else {
    const size_t v = operands.size();
    operands.push_back(g.operand({}));
    g.call(
        fmt::format("put($0, S[{}], ${} * 2)", text, v), operands,
        [=](const Tensors& t) {
          const Tensor y = t[0].clone();
          index_put_(y, make(t), t[v] * 2);
          return y;
        },
        0);
  }
}

void by_index(Generator& g) {
  Random& r = g.random();
  const Sizes shape = full_sizes(g, 1, 3);
  const auto ndim = static_cast<int64_t>(shape.size());
  const int64_t d = r.between(-ndim, ndim - 1);
  const auto dim = static_cast<size_t>(d < 0 ? d + ndim : d);
  Sizes part = shape;
  part[dim] = r.one_in(8) ? 0 : r.between(1, 4);
  const int64_t n = shape[dim], most = r.one_in(60) ? n : n - 1;
  const int x = g.operand(shape);
  const int list = g.integers({part[dim]}, 0, most), whole = g.integers(part, 0, most),
            source = g.operand(part);
  static const char* const kReduce[] = {"sum", "prod", "mean", "amax", "amin"};
  const std::string how = kReduce[r.between(0, 4)];
  // If self is not included, PyTorch shares the gradient of the largest with an equal self.
  const bool self = how[0] == 'a' || r.one_in(2);
  switch (r.between(0, 12)) {
    case 0:
      g.call(
          fmt::format("torch.index_add($0, {}, $1, $2, alpha=2)", d), {x, list, source},
          [=](const Tensors& t) { return index_add(t[0], d, t[1], t[2], 2); }, 8);
      break;
    case 1:
      g.call(
          fmt::format("torch.index_select($0, {}, $1)", d), {x, list},
          [=](const Tensors& t) { return index_select(t[0], d, t[1]); }, 0);
      break;
    case 2:
      g.call(
          fmt::format("torch.index_fill($0, {}, $1, 2.0)", d), {x, list},
          [=](const Tensors& t) { return index_fill(t[0], d, t[1], 2.); }, 0);
      break;
    case 3: {
      // Each index once, because the result of several writes to one element is unspecified.
      Sizes all = shape;
      const int s = g.operand(all);
      g.call(
          fmt::format("torch.index_copy($0, {}, torch.arange({}).flip([0]), $1)", d, n), {x, s},
          [=](const Tensors& t) {
            const TensorOptions o = TensorOptions(kInt64).device(t[0].device());
            return index_copy(t[0], d, arange(n, o).flip({0}), t[1]);
          },
          0);
      break;
    }
    case 4:
      g.call(
          fmt::format("torch.gather($0, {}, $1)", d), {x, whole},
          [=](const Tensors& t) { return gather(t[0], d, t[1]); }, 0);
      break;
    case 5:
      g.call(
          fmt::format("torch.scatter_add($0, {}, $1, $2)", d), {x, whole, source},
          [=](const Tensors& t) { return scatter_add(t[0], d, t[1], t[2]); }, 8);
      break;
    case 6: {
      // mean, and the gradients of prod at 0, divide.
      const int y = g.operand(shape, Fill::positive), z = g.operand(part, Fill::positive);
      g.call(
          fmt::format("torch.scatter_reduce($0, {}, $1, $2, '{}', include_self={})", d, how,
                      bool_text(self)),
          {y, whole, z},
          [=](const Tensors& t) { return scatter_reduce(t[0], d, t[1], t[2], how, self); }, 64);
      break;
    }
    case 7: {
      const std::string what = how == "sum" ? "prod" : how;
      const int y = g.operand(shape, Fill::positive), z = g.operand(part, Fill::positive);
      g.call(
          fmt::format("torch.index_reduce($0, {}, $1, $2, '{}', include_self={})", d, what,
                      bool_text(self)),
          {y, list, z},
          [=](const Tensors& t) { return index_reduce(t[0], d, t[1], t[2], what, self); }, 64);
      break;
    }
    case 8:
      g.call(
          fmt::format("torch.scatter($0, {}, $1, 1.5)", d), {x, whole},
          [=](const Tensors& t) { return scatter(t[0], d, t[1], 1.5); }, 0);
      break;
    case 9:
      g.call(
          fmt::format("torch.scatter($0.detach(), {}, $1, 1.5, reduce='{}')", d,
                      self ? "add" : "multiply"),
          {x, whole},
          [=](const Tensors& t) {
            return scatter(t[0].detach(), d, t[1], 1.5, self ? "add" : "multiply");
          },
          64);
      break;
    case 10:
      g.call(
          "torch.take($0, $1)", {x, g.integers(g.small_sizes(0, 2), -1, 0)},
          [=](const Tensors& t) { return take(t[0], t[1]); }, 0);
      break;
    case 11:
      g.call(
          fmt::format("torch.take_along_dim($0, $1, {})", d), {x, whole},
          [=](const Tensors& t) { return take_along_dim(t[0], t[1], d); }, 0);
      break;
    default:
      g.call(
          fmt::format("$0.put($1, $2, {})", bool_text(true)), {x, whole, source},
          [=](const Tensors& t) { return put(t[0], t[1], t[2], true); }, 8);
  }
}

void by_mask(Generator& g) {
  Random& r = g.random();
  const Sizes shape = g.small_sizes(0, 3);
  const int x = g.operand(shape), m = g.integers(g.broadcastable(shape), 0, 1, kBool);
  switch (r.between(0, 5)) {
    case 0:
      g.call(
          "torch.masked_select($0, $1)", {x, m},
          [=](const Tensors& t) { return masked_select(t[0], t[1]); }, 0);
      break;
    case 1:
      g.call(
          "torch.masked_fill($0, $1, $2)", {x, m, g.operand({})},
          [=](const Tensors& t) { return masked_fill(t[0], t[1], t[2]); }, 0);
      break;
    case 2: {
      Sizes more = shape;
      more.insert(more.begin(), 2);
      g.call(
          "torch.masked_scatter($0, $1, $2)", {x, m, g.operand(more)},
          [=](const Tensors& t) { return masked_scatter(t[0], t[1], t[2]); }, 0);
      break;
    }
    case 3:
      g.call(
          "torch.where($1, $0, $2)", {x, m, g.operand(g.broadcastable(shape))},
          [=](const Tensors& t) { return where(t[1], t[0], t[2]); }, 0);
      break;
    case 4:
      g.call(
          "torch.argwhere($0)", {x}, [=](const Tensors& t) { return argwhere(t[0]); }, 0);
      break;
    default:
      g.call(
          "torch.isin($0, $1)", {x, g.operand(g.small_sizes(0, 2))},
          [=](const Tensors& t) { return isin(t[0], t[1]); }, 0);
  }
}

// Functions that write a part of a copy: their gradients pass through a view.
void through_view(Generator& g) {
  Random& r = g.random();
  const Sizes shape = full_sizes(g, 2, 3);
  const auto ndim = static_cast<int64_t>(shape.size());
  const int64_t d = r.between(-ndim, ndim - 1), i = r.between(-1, 0);
  struct View {
    std::string python;
    std::function<Tensor(const Tensor&)> run;
  };
  const std::vector<View> views{
      {fmt::format("select({}, {})", d, i), [=](const Tensor& t) { return t.select(d, i); }},
      {"transpose(0, 1)", [](const Tensor& t) { return t.transpose(0, 1); }},
      {"diagonal()", [](const Tensor& t) { return t.diagonal(); }},
      {fmt::format("narrow({}, 0, 1)", d), [=](const Tensor& t) { return t.narrow(d, 0, 1); }},
      {fmt::format("unsqueeze({})", d), [=](const Tensor& t) { return t.unsqueeze(d); }},
      {fmt::format("unfold({}, 1, 2)", d), [=](const Tensor& t) { return t.unfold(d, 1, 2); }},
  };
  struct Write {
    const char* python;
    Tensor (*run)(const Tensor& v, const Tensor& s);
  };
#define AMBIT_ROW(python, ...)                                                                  \
  {                                                                                             \
    python,                                                                                     \
        [](const Tensor& v, [[maybe_unused]] const Tensor& s) -> Tensor { return __VA_ARGS__; } \
  }
  static const std::vector<Write> kWrites{
      AMBIT_ROW("mul_($1)", v.mul_(s)),
      AMBIT_ROW("add_($1, alpha=2)", v.add_(s, 2)),
      AMBIT_ROW("copy_($1)", v.copy_(s)),
      AMBIT_ROW("fill_(1.5)", v.fill_(1.5)),
      AMBIT_ROW("zero_()", v.zero_()),
      AMBIT_ROW("sigmoid_()", v.sigmoid_()),
      AMBIT_ROW("exp_()", v.exp_()),
      AMBIT_ROW("clamp_(-1, 1)", v.clamp_(-1, 1)),
      AMBIT_ROW("relu_()", v.relu_()),
      AMBIT_ROW("sub_($1)", v.sub_(s)),
      AMBIT_ROW("addcmul_($1, $1)", v.addcmul_(s, s)),
      AMBIT_ROW("lerp_($1, 0.25)", v.lerp_(s, 0.25)),
      AMBIT_ROW("tanh_().mul_($1)", v.tanh_().mul_(s)),
      AMBIT_ROW("fill_($1)", v.fill_(s)),
      AMBIT_ROW("neg_().add_(1)", v.neg_().add_(1)),
      AMBIT_ROW("cumsum_(0)", v.cumsum_(0)),
      AMBIT_ROW("tril_() if v.dim() > 1 else v", v.dim() > 1 ? v.tril_() : v),
      AMBIT_ROW("masked_fill_(v.detach() > 0, 2.0)", v.masked_fill_(v.detach() > 0, 2.)),
      AMBIT_ROW(
          "index_fill_(0, torch.tensor([0]), 2.0)",
          v.index_fill_(0, tensor({int64_t{0}}, TensorOptions(kInt64).device(v.device())), 2.)),
  };
#undef AMBIT_ROW
  const View& a = r.choose(views);
  const Write& w = r.choose(kWrites);
  const bool twice = r.one_in(3);
  const std::string python = fmt::format("through($0, lambda t: t.{}{}, lambda v: v.{})", a.python,
                                         twice ? ".unsqueeze(0)" : "", w.python);
  g.call(
      python, {g.operand(shape), g.operand({})},
      [=, view = a.run, write = w.run](const Tensors& t) {
        const Tensor base = t[0] * 1;
        Tensor v = view(base);
        if (twice) v = v.unsqueeze(0);
        write(v, t[1]);
        return base * v.sum();
      },
      256);
}

void arrangement(Generator& g) {
  Random& r = g.random();
  const Sizes shape = g.small_sizes(1, 4);
  const auto ndim = static_cast<int64_t>(shape.size());
  const int64_t d = g.dim_of(ndim), e = g.dim_of(ndim), n = r.between(-2, 3);
  const int x = g.operand(shape);
  const auto same = [&](const std::string& python,
                        const std::function<Tensor(const Tensor&)>& run) {
    g.call(
        python, {x}, [run](const Tensors& t) { return run(t[0]); }, 0);
  };
  switch (r.between(0, 21)) {
    case 0:
      return same(fmt::format("torch.roll($0, {}, {})", n, d),
                  [=](const Tensor& t) { return roll(t, n, d); });
    case 1:
      return same(fmt::format("torch.rot90($0, {}, [{}, {}])", n, d, e), [=](const Tensor& t) {
        return rot90(t, n, {d, e});
      });
    case 2:
      return same(fmt::format("torch.tril($0, {})", n),
                  [=](const Tensor& t) { return tril(t, n); });
    case 3:
      return same(fmt::format("torch.triu($0, {})", n),
                  [=](const Tensor& t) { return triu(t, n); });
    case 4:
      return same(fmt::format("torch.diagonal($0, {}, {}, {})", n, d, e),
                  [=](const Tensor& t) { return diagonal(t, n, d, e); });
    case 5:
      return same(fmt::format("torch.diag_embed($0, {}, {}, {})", n, d, e),
                  [=](const Tensor& t) { return diag_embed(t, n, d, e); });
    case 6:
      return same(fmt::format("torch.diag($0, {})", n),
                  [=](const Tensor& t) { return diag(t, n); });
    case 7:
      return same(fmt::format("torch.movedim($0, {}, {})", d, e),
                  [=](const Tensor& t) { return movedim(t, d, e); });
    case 8:
      return same(fmt::format("flat(torch.tensor_split($0, {}, {}))", n, d),
                  [=](const Tensor& t) { return flat(tensor_split(t, n, d)); });
    case 9:
      return same(fmt::format("flat(torch.tensor_split($0, [1, {}], {}))", n, d),
                  [=](const Tensor& t) {
                    return flat(tensor_split(t, IntArrayRef{1, n}, d));
                  });
    case 10:
      return same(fmt::format("flat(torch.split($0, {}, {}))", n, d),
                  [=](const Tensor& t) { return flat(split(t, n, d)); });
    case 11:
      return same(fmt::format("$0.unfold({}, {}, 1)", d, n),
                  [=](const Tensor& t) { return unfold(t, d, n, 1); });
    case 12: {
      const int64_t times = r.between(0, 3);
      return same(fmt::format("torch.repeat_interleave($0, {}, {})", times, d),
                  [=](const Tensor& t) { return repeat_interleave(t, times, d); });
    }
    case 13: {
      const Sizes by = draw(g, static_cast<size_t>(r.between(0, 4)), 0, 2);
      return same(fmt::format("torch.tile($0, {})", list_text(by)),
                  [=](const Tensor& t) { return tile(t, by); });
    }
    case 14:
      return same(fmt::format("torch.flip($0, [{}, {}])", d, e), [=](const Tensor& t) {
        return flip(t, {d, e});
      });
    case 15:
      return same(fmt::format("$0.swapaxes({}, {}).squeeze().unsqueeze({})", d, e, d),
                  [=](const Tensor& t) { return t.swapaxes(d, e).squeeze().unsqueeze(d); });
    case 16:
      return same(fmt::format("torch.as_strided($0.contiguous().clone(), [2, {}], [1, 2], 1)", n),
                  [=](const Tensor& t) {
                    return as_strided(t.clone(), {2, n}, {1, 2}, 1);
                  });
    case 17:
      return same("torch.combinations($0.reshape(-1)[:5], 2, True)", [=](const Tensor& t) {
        return combinations(t.reshape({-1}).slice(0, 0, 5), 2, true);
      });
    case 18: {
      // Next to an empty tensor, PyTorch 1.13's gradient has another position.
      const auto sizes = [&] { return draw(g, static_cast<size_t>(r.between(0, 2)), 1, 4); };
      const int y = g.operand(sizes()), z = g.operand(sizes());
      g.call(
          "torch.block_diag($0, $1)", {y, z}, [=](const Tensors& t) { return block_diag(t); }, 0);
      return;
    }
    case 19: {
      const int64_t which = r.between(0, 3);
      static const char* const kNames[] = {"hstack", "vstack", "dstack", "column_stack"};
      g.call(
          fmt::format("torch.{}([$0, $1])", kNames[which]), {x, g.operand(shape)},
          [=](const Tensors& t) {
            return which == 0   ? hstack(t)
                   : which == 1 ? vstack(t)
                   : which == 2 ? dstack(t)
                                : column_stack(t);
          },
          0);
      return;
    }
    case 20: {
      Sizes other = shape;
      if (!other.empty()) other[static_cast<size_t>(r.between(0, ndim - 1))] = r.between(0, 2);
      g.call(
          fmt::format("torch.cat([$0, $1, $0], {})", d), {x, g.operand(other)},
          [=](const Tensors& t) {
            return cat({t[0], t[1], t[0]}, d);
          },
          0);
      return;
    }
    default:
      return same(fmt::format("torch.select_scatter($0, $0.select({}, 0) * 2, {}, -1)", d, d),
                  [=](const Tensor& t) { return select_scatter(t, t.select(d, 0) * 2, d, -1); });
  }
}

}  // namespace

const std::vector<Call> kIndexCalls{advanced,     advanced,     by_index,    by_index,   by_mask,
                                    through_view, through_view, arrangement, arrangement};

}  // namespace fuzz
