// Gradients of views, joins and indexing, first and second, compared with finite differences.
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>

#include "gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
using indexing::None;
using indexing::Slice;

namespace {

// Each function is applied to x * x, so that the second gradient is not zero.
void check_views(const Tensor& x, const std::vector<std::function<Tensor(const Tensor&)>>& views) {
  for (size_t i = 0; i < views.size(); ++i) {
    INFO("function ", i);
    const TensorFn f = [&](const auto& in) { return views[i](in[0] * in[0]); };
    gradcheck(f, {x});
    gradgradcheck(f, {x});
  }
}

void check_both(TensorFnRef f, const std::vector<Tensor>& inputs) {
  gradcheck(f, inputs);
  gradgradcheck(f, inputs);
}

}  // namespace

TEST_CASE("views pass gradients back to the elements' positions") {
  for_each_device([](Device d) {
    check_views(wave(d, {2, 3, 2}), {[](const Tensor& t) {
                                       return t.view({6, 2});
                                     },
                                     [](const Tensor& t) {
                                       return t.permute({2, 0, 1}).reshape({-1});
                                     },
                                     [](const Tensor& t) { return t.transpose(0, -1); },
                                     [](const Tensor& t) { return t.unsqueeze(1).squeeze(1); },
                                     [](const Tensor& t) { return t.flatten(1); },
                                     [](const Tensor& t) {
                                       return t.expand({2, 2, 3, 2});
                                     },
                                     [](const Tensor& t) { return t.select(1, -1); },
                                     [](const Tensor& t) { return t.slice(1, 0, 3, 2); },
                                     [](const Tensor& t) { return t.narrow(2, 1, 1); },
                                     [](const Tensor& t) {
                                       return t.as_strided({3, 3}, {1, 3}, 2);
                                     },
                                     [](const Tensor& t) {
                                       return t.as_strided({4, 3}, {2, 1});
                                     },  // overlapping
                                     [](const Tensor& t) {
                                       return t.permute({2, 0, 1}).as_strided({2, 2}, {3, 1});
                                     },
                                     [](const Tensor& t) { return t.unbind(1)[2]; },
                                     [](const Tensor& t) { return t.split(2, 1)[0]; },
                                     [](const Tensor& t) { return t.chunk(2, 1)[1]; },
                                     [](const Tensor& t) { return t.contiguous().clone(); },
                                     [](const Tensor& t) {
                                       return t.permute({2, 1, 0}).contiguous();
                                     },
                                     [](const Tensor& t) {
                                       return t.repeat({2, 1, 1, 2});
                                     },
                                     [](const Tensor& t) {
                                       return t.flip({0, 2});
                                     }});
  });
}

TEST_CASE("cat and stack pass each tensor its part") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 2}), b = wave(d, {1, 2}, 1.3), none = zeros({0}, a.options());
    check_both(
        [](const auto& in) {
          return cat({square(in[0]), exp(in[1]), in[2]});
        },
        {a, b, none});
    check_both([](const auto& in) { return stack({square(in[0]), exp(in[1])}, 1); }, {a[0], b[0]});
    const Tensor f = ones({1}, TensorOptions(kFloat32).device(d).requires_grad(true));
    cat({f, a.view({-1})}).sum().backward();
    CHECK(f.grad().dtype() == kFloat32);
  });
}

TEST_CASE("index passes gradients to the selected elements; repeated ones are summed") {
  for_each_device([](Device d) {
    const Tensor i = tensor({0, 2, 0}, d), j = tensor({1, -1, 1}, d);
    check_views(wave(d, {3, 2, 3}),
                {[&](const Tensor& t) { return t.index({i}); },
                 [&](const Tensor& t) {
                   return t.index({Slice(), 1, i});
                 },
                 [&](const Tensor& t) {
                   return t.index({i, j});
                 },
                 [&](const Tensor& t) {
                   return t.index({i, Slice(), j});
                 },
                 [&](const Tensor& t) {
                   return t.index({None, 0, Slice(0, 1)});
                 },
                 [&](const Tensor& t) { return t.index({t.detach() > 0.2}); },
                 [&](const Tensor& t) { return masked_select(t, t.detach() > 0.2); },
                 [&](const Tensor& t) { return index_select(t, 2, i); },
                 [&](const Tensor& t) {
                   return embedding(t.view({9, 2}), i.view({1, 3}));
                 },
                 [&](const Tensor& t) {
                   return gather(t, 0, i.view({3, 1, 1}));
                 },
                 [&](const Tensor& t) {
                   return gather(t, 2, i.view({1, 1, 3}).expand({2, 2, 3}));
                 }});
    check_views(wave(d, {}) + 2,
                {[&](const Tensor& t) {
                   return gather(t, 0, tensor({0, 0}, d));
                 },
                 [&](const Tensor& t) { return index_select(t, 0, tensor({0}, d)); }});
  });
}

TEST_CASE("rows of padding_idx get no gradient") {
  for_each_device([](Device d) {
    const Tensor w = ones({3, 2}, TensorOptions(d).requires_grad(true));
    embedding(w, tensor({{1, 2}, {1, 0}}, d), 1).sum().backward();
    check_values(w.grad(), {3, 2}, {1, 1, 0, 0, 1, 1});
  });
}

TEST_CASE("scatter and scatter_add have correct gradients of self and src") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}), src = wave(d, {3, 2}, 1.3);
    const Tensor distinct = tensor({{2, 0}, {1, 2}}, d), repeated = tensor({{0, 0}, {2, 2}}, d);
    check_both([&](const auto& in) { return scatter(exp(in[0]), 1, distinct, square(in[1])); },
               {x, src});
    check_both([&](const auto& in) { return scatter_add(exp(in[0]), 1, repeated, square(in[1])); },
               {x, src});
    check_both(
        [&](const auto& in) {
          const Tensor y = square(in[0]);
          y.scatter_(1, distinct, square(in[1])).scatter_add_(1, repeated, in[1]);
          return y;
        },
        {x, src});
  });
}

TEST_CASE("index_put_ has correct gradients of self and value, through views too") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 3}), i = tensor({2, 0}, d), j = tensor({1, -1}, d);
    using Write = std::function<void(const Tensor&, const Tensor&)>;
    const std::vector<Write> writes{
        [&](const Tensor& y, const Tensor& v) {
          y.index_put_({1, Slice(0, 2)}, v);
        },
        [&](const Tensor& y, const Tensor& v) {
          y.index_put_({i, j}, v);
        },
        [&](const Tensor& y, const Tensor& v) {
          index_put_(y, {i, j}, v, true);
        },
        [&](const Tensor& y, const Tensor& v) {
          index_put_(y, {tensor({1, 1}, d), 0}, v, true);
        },
        [&](const Tensor& y, const Tensor& v) {
          y.t().index_put_({i, j}, v);
        },
        [&](const Tensor& y, const Tensor& v) {
          y.index_put_({Slice(), i}, v);
        },
        [&](const Tensor& y, const Tensor& v) {
          y.slice(0, 1).index_put_({0, i}, v);
        },
        [&](const Tensor& y, const Tensor& v) { y.index_put_({y > 0.3}, 0.5).add_(v.sum()); },
    };
    for (size_t k = 0; k < writes.size(); ++k) {
      INFO("write ", k);
      check_both(
          [&](const auto& in) {
            const Tensor y = square(in[0]);
            writes[k](y, square(in[1]));
            return y * y;
          },
          {x, wave(d, {2}, 1.3)});
    }
  });
}

TEST_CASE("a view has the history of a write to its base") {
  for_each_device([](Device d) {
    check_both(
        [](const auto& in) {
          const Tensor y = in[0] * 1, row = y.select(0, 1), flat = y.view({-1});
          y.index_put_({Slice(), 0}, square(in[1]));
          row.mul_(3);
          return flat.narrow(0, 2, 3) * row.sum();
        },
        {wave(d, {2, 3}), wave(d, {2}, 1.3)});
  });
}
