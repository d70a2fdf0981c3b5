// Autocast: what each op of the table runs in, and what gradients come of it. Where a region begins
// and ends: autocast_region_test.cpp.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

constexpr DType kLow = kBFloat16;

// One op on operands of a dtype: two squares [4,4], whose elements are in (0, 1).
struct OpCall {
  const char* name;
  std::function<Tensor(const Tensor& a, const Tensor& b)> call;
};

Tensor square_of(Device device, DType dtype, double from = 0.1) {
  return linspace(from, 0.9, 16).view({4, 4}).to(device, dtype).clone();  // no view
}
Tensor labels(const Tensor& like) { return arange(4).to(like.device()); }

// Every row of the table that is not as_is; convolutions by one each.
const std::vector<OpCall> kReducedCalls = {
    {"matmul", [](auto& a, auto& b) { return matmul(a, b); }},
    {"mm", [](auto& a, auto& b) { return mm(a, b); }},
    {"bmm", [](auto& a, auto& b) { return bmm(a.unsqueeze(0), b.unsqueeze(0)); }},
    {"mv", [](auto& a, auto& b) { return mv(a, b[0]); }},
    {"linear", [](auto& a, auto& b) { return linear(a, b, b[0]); }},
    {"linear_map", [](auto& a, auto& b) { return linear_map(a, b, b[0], UnaryOp::relu); }},
    {"_addmm_activation", [](auto& a, auto& b) { return _addmm_activation(b[0], a, b); }},
    {"addmm", [](auto& a, auto& b) { return addmm(a, a, b); }},
    {"addmv", [](auto& a, auto& b) { return addmv(a[0], a, b[0]); }},
    {"addr", [](auto& a, auto& b) { return addr(a, a[0], b[0]); }},
    {"baddbmm", [](auto& a, auto& b) { return baddbmm(a, a.unsqueeze(0), b.unsqueeze(0)); }},
    {"addbmm", [](auto& a, auto& b) { return addbmm(a, a.unsqueeze(0), b.unsqueeze(0)); }},
    {"einsum",
     [](auto& a, auto& b) {
       return einsum("ij,kj->ik", {a, b});
     }},
    {"einsum of products",
     [](auto& a, auto& b) {
       return einsum("ij,ij->ij", {a, b});
     }},
    {"conv1d", [](auto& a, auto& b) { return conv1d(a.unsqueeze(0), b.unsqueeze(2)); }},
    {"conv2d",
     [](auto& a, auto& b) {
       return conv2d(a.view({1, 1, 4, 4}), b.view({4, 1, 2, 2}), b[0]);
     }},
    {"convolution_map",
     [](auto& a, auto& b) {
       return convolution_map(a.view({1, 1, 4, 4}), b.view({4, 1, 2, 2}), b[0], {}, UnaryOp::relu);
     }},
    {"cudnn_convolution_add_relu",
     [](auto& a, auto& b) {
       return cudnn_convolution_add_relu(a.view({1, 1, 4, 4}), b.view({4, 1, 2, 2}),
                                         ones({1, 4, 3, 3}, a.options()), {}, b[0], 1, 0, 1, 1);
     }},
    {"conv_transpose2d",
     [](auto& a, auto& b) {
       return conv_transpose2d(a.view({1, 1, 4, 4}), b.view({1, 4, 2, 2}), b[0]);
     }},
    {"attention",
     [](auto& a, auto& b) {
       const Tensor q = a.view({1, 1, 4, 4});
       return scaled_dot_product_attention(q, b.view({1, 1, 4, 4}), q);
     }},
    {"lstm_cell",
     [](auto& a, auto& b) {
       nn::LSTMCell cell(4, 4);
       cell->to(a.device());
       return std::get<0>(cell(a, std::tuple(b, b)));
     }},
    {"gru_cell",
     [](auto& a, auto& b) {
       nn::GRUCell cell(4, 4);
       cell->to(a.device());
       return cell(a, b);
     }},
    {"prelu", [](auto& a, auto& b) { return F::prelu(neg(a), b[0]); }},
};

const std::vector<OpCall> kFloat32Calls = {
    {"acos", [](auto& a, auto&) { return acos(a); }},
    {"asin", [](auto& a, auto&) { return asin(a); }},
    {"cosh", [](auto& a, auto&) { return cosh(a); }},
    {"erfinv", [](auto& a, auto&) { return erfinv(a); }},
    {"exp", [](auto& a, auto&) { return exp(a); }},
    {"expm1", [](auto& a, auto&) { return expm1(a); }},
    {"log", [](auto& a, auto&) { return log(a); }},
    {"log10", [](auto& a, auto&) { return log10(a); }},
    {"log1p", [](auto& a, auto&) { return log1p(a); }},
    {"log2", [](auto& a, auto&) { return log2(a); }},
    {"reciprocal", [](auto& a, auto&) { return reciprocal(a); }},
    {"rsqrt", [](auto& a, auto&) { return rsqrt(a); }},
    {"sinh", [](auto& a, auto&) { return sinh(a); }},
    {"square", [](auto& a, auto&) { return square(a); }},
    {"tan", [](auto& a, auto&) { return tan(a); }},
    {"pow", [](auto& a, auto& b) { return pow(a, b); }},
    {"pow of a number", [](auto& a, auto&) { return pow(a, 3); }},
    {"pow with a number", [](auto& a, auto&) { return pow(2, a); }},
    {"softplus", [](auto& a, auto&) { return F::softplus(a); }},
    {"sum", [](auto& a, auto&) { return sum(a); }},
    {"sum along a dim", [](auto& a, auto&) { return sum(a, {1}); }},
    {"prod", [](auto& a, auto&) { return prod(a); }},
    {"prod along a dim", [](auto& a, auto&) { return prod(a, 1); }},
    {"cumsum", [](auto& a, auto&) { return cumsum(a, 0); }},
    {"cumprod", [](auto& a, auto&) { return cumprod(a, 0); }},
    {"logsumexp", [](auto& a, auto&) { return logsumexp(a, {1}); }},
    {"norm", [](auto& a, auto&) { return norm(a); }},
    {"linalg_vector_norm", [](auto& a, auto&) { return linalg_vector_norm(a); }},
    {"linalg_matrix_norm", [](auto& a, auto&) { return linalg_matrix_norm(a); }},
    {"linalg_norm", [](auto& a, auto&) { return linalg_norm(a); }},
    {"dist", [](auto& a, auto& b) { return dist(a, b); }},
    {"renorm", [](auto& a, auto&) { return renorm(a, 2, 0, 1); }},
    {"cdist", [](auto& a, auto& b) { return cdist(a, b); }},
    {"pdist", [](auto& a, auto&) { return pdist(a); }},
    {"softmax", [](auto& a, auto&) { return softmax(a, 1); }},
    {"log_softmax", [](auto& a, auto&) { return log_softmax(a, 1); }},
    {"layer_norm", [](auto& a, auto& b) { return layer_norm(a, {4}, b[0], b[1]); }},
    {"rms_norm", [](auto& a, auto& b) { return rms_norm(a, {4}, b[0]); }},
    {"group_norm", [](auto& a, auto& b) { return group_norm(a, 2, b[0], b[1]); }},
    {"nll_loss", [](auto& a, auto&) { return nll_loss(a, labels(a)); }},
    {"cross_entropy", [](auto& a, auto&) { return cross_entropy(a, labels(a)); }},
    {"mse_loss", [](auto& a, auto& b) { return mse_loss(a, b); }},
    {"ctc_loss",
     [](auto& a, auto&) {
       return ctc_loss(a.unsqueeze(1), tensor({{1, 2}}).to(a.device()), IntArrayRef{4},
                       IntArrayRef{2});
     }},
    {"l1_loss", [](auto& a, auto& b) { return F::l1_loss(a, b); }},
    {"smooth_l1_loss", [](auto& a, auto& b) { return F::smooth_l1_loss(a, b); }},
    {"huber_loss", [](auto& a, auto& b) { return F::huber_loss(a, b); }},
    {"kl_div", [](auto& a, auto& b) { return F::kl_div(a, b); }},
    {"poisson_nll_loss", [](auto& a, auto& b) { return F::poisson_nll_loss(a, b); }},
    {"soft_margin_loss", [](auto& a, auto& b) { return F::soft_margin_loss(a, b); }},
    {"multi_margin_loss", [](auto& a, auto&) { return F::multi_margin_loss(a, labels(a)); }},
    {"multilabel_margin_loss",
     [](auto& a, auto&) {
       return F::multilabel_margin_loss(a, labels(a).unsqueeze(0).expand({4, 4}));
     }},
    {"margin_ranking_loss", [](auto& a, auto& b) { return F::margin_ranking_loss(a, b, sign(a)); }},
    {"hinge_embedding_loss", [](auto& a, auto& b) { return F::hinge_embedding_loss(a, sign(b)); }},
    {"cosine_embedding_loss",
     [](auto& a, auto& b) { return F::cosine_embedding_loss(a, b, ones_like(a[0])); }},
    {"triplet_margin_loss", [](auto& a, auto& b) { return F::triplet_margin_loss(a, b, b.t()); }},
    {"cosine_similarity", [](auto& a, auto& b) { return F::cosine_similarity(a, b); }},
    {"binary_cross_entropy", [](auto& a, auto& b) { return F::binary_cross_entropy(a, b); }},
    {"binary_cross_entropy_with_logits",
     [](auto& a, auto& b) { return F::binary_cross_entropy_with_logits(a, b); }},
};

// Of operands that would not go together otherwise.
const std::vector<OpCall> kWidestCalls = {
    {"cross", [](auto& a, auto& b) { return cross(a.slice(1, 0, 3), b.slice(1, 0, 3), 1); }},
    {"dot", [](auto& a, auto& b) { return dot(a[0], b[0]); }},
    {"vdot", [](auto& a, auto& b) { return vdot(a[0], b[0]); }},
    {"bilinear",
     [](auto& a, auto& b) {
       return F::bilinear(a, a, b.view({1, 4, 4}), b[0].slice(0, 0, 1));
     }},
    {"tensordot", [](auto& a, auto& b) { return tensordot(a, b, {1}, {0}); }},
    {"scatter_add",
     [](auto& a, auto& b) { return scatter_add(a, 0, labels(a).unsqueeze(0), b.slice(0, 0, 1)); }},
    {"index_put", [](auto& a, auto& b) { return index_put(a, {labels(a)}, b); }},
    {"index_add", [](auto& a, auto& b) { return index_add(a, 0, labels(a), b); }},
    {"index_copy", [](auto& a, auto& b) { return index_copy(a, 0, labels(a), b); }},
    {"grid_sampler",
     [](auto& a, auto& b) {
       return grid_sampler(a.view({1, 1, 4, 4}), b.view({1, 2, 4, 2}), 0, 0, false);
     }},
};

// In what they are given, or in what that promotes to.
const std::vector<OpCall> kAsIsCalls = {
    {"add", [](auto& a, auto& b) { return a + b; }},
    {"mul", [](auto& a, auto& b) { return a * b; }},
    {"relu", [](auto& a, auto&) { return relu(a); }},
    {"tanh", [](auto& a, auto&) { return tanh(a); }},
    {"gelu", [](auto& a, auto&) { return gelu(a); }},
    {"mean", [](auto& a, auto&) { return mean(a); }},
    {"cat",
     [](auto& a, auto& b) {
       return cat({a, b});
     }},
    {"max_pool2d",
     [](auto& a, auto&) {
       return max_pool2d(a.view({1, 1, 4, 4}), 2);
     }},
    {"addcmul", [](auto& a, auto& b) { return addcmul(a, a, b); }},
    {"exp in place", [](auto& a, auto&) { return a.clone().exp_(); }},
};

void check_calls(const std::vector<OpCall>& calls, DType of_a, DType of_b, DType expected) {
  for_each_device([&](Device device) {
    for (const OpCall& c : calls) {
      INFO(std::string(c.name));
      const Tensor a = square_of(device, of_a), b = square_of(device, of_b, 0.2);
      const AutocastGuard guard(device, kLow);
      CHECK(name(c.call(a, b).dtype()) == std::string(name(expected)));
    }
  });
}

}  // namespace

TEST_CASE("products run in 16 bits") {
  check_calls(kReducedCalls, kFloat32, kFloat32, kLow);
  check_calls(kReducedCalls, kLow, kFloat32, kLow);
  check_calls(kReducedCalls, kFloat32, kLow, kLow);
}

TEST_CASE("what needs range or precision runs in float32") {
  check_calls(kFloat32Calls, kLow, kLow, kFloat32);
  check_calls(kFloat32Calls, kFloat32, kLow, kFloat32);
  check_calls(kFloat32Calls, kFloat16, kFloat16, kFloat32);
}

TEST_CASE("what refuses to mix dtypes takes the widest") {
  check_calls(kWidestCalls, kLow, kFloat32, kFloat32);
  check_calls(kWidestCalls, kFloat32, kLow, kFloat32);
  check_calls(kWidestCalls, kLow, kLow, kLow);
}

TEST_CASE("all else runs in what it is given") {
  check_calls(kAsIsCalls, kLow, kLow, kLow);
  check_calls(kAsIsCalls, kFloat32, kFloat32, kFloat32);
}

TEST_CASE("float64 and integers are left alone") {
  const AutocastGuard guard(kCPU, kLow);
  const Tensor d = square_of(kCPU, kFloat64), i = ones({4, 4}, kInt64);
  for (const auto* calls : {&kReducedCalls, &kFloat32Calls, &kWidestCalls, &kAsIsCalls}) {
    for (const OpCall& c : *calls) {
      const std::string op = c.name;
      if (op == "lstm_cell" || op == "gru_cell") continue;  // of float32 weights
      INFO(op);
      CHECK(c.call(d, d).dtype() == kFloat64);
    }
  }
  CHECK(matmul(i, i).dtype() == kInt64);
  CHECK(sum(i).dtype() == kInt64);
}

TEST_CASE("each op gives what its operands cast by hand give, forward and backward") {
  for_each_device([](Device device) {
    for (const auto* calls : {&kReducedCalls, &kFloat32Calls, &kWidestCalls}) {
      const bool reduced = calls == &kReducedCalls;
      for (const OpCall& c : *calls) {
        INFO(std::string(c.name));
        const DType given = reduced ? kFloat32 : kLow, run_in = reduced ? kLow : kFloat32;
        const Tensor a = square_of(device, given).requires_grad_();
        const Tensor b = square_of(device, calls == &kWidestCalls ? kFloat32 : given, 0.2);
        const Tensor by_hand = a.detach().to(run_in).requires_grad_();
        if (std::string(c.name).find("_cell") != std::string::npos) continue;  // random weights
        Tensor y;
        {
          const AutocastGuard guard(device, kLow);
          y = c.call(a, b);
        }
        const Tensor expected = c.call(by_hand, b.to(run_in));
        CHECK(y.dtype() == expected.dtype());
        CHECK(equal(y, expected));
        if (!expected.requires_grad()) continue;
        y.sum().backward();
        expected.sum().backward();
        CHECK(a.grad().dtype() == given);
        // Where a is used twice its gradients are added in float32, by hand in 16 bits: a rounding
        // or two of 2^-8 of numbers below 4.
        CHECK(a.grad().allclose(by_hand.grad().to(given), 0x1p-7, 0x1p-7));
      }
    }
  });
}

TEST_CASE("batch_norm takes float32 statistics beside 16-bit images, and gives 16 bits") {
  for_each_device([](Device device) {
    nn::BatchNorm1d norm(4);
    norm->to(device);
    const Tensor x = square_of(device, kLow).requires_grad_();
    Tensor y;
    {
      const AutocastGuard guard(device, kLow);
      y = norm(x);
    }
    CHECK(y.dtype() == kLow);
    CHECK(norm->running_mean.dtype() == kFloat32);
    nn::BatchNorm1d other(4);
    other->to(device);
    CHECK(equal(y, other(x.to(kFloat32)).to(kLow)));
    CHECK(equal(norm->running_mean, other->running_mean));
    y.sum().backward();
    CHECK(x.grad().dtype() == kLow);
    CHECK(norm->weight.grad().dtype() == kFloat32);
  });
}

TEST_CASE("gradients have the dtype of parameters and inputs") {
  for_each_device([](Device device) {
    nn::Linear layer(4, 3);
    layer->to(device);
    const Tensor x = square_of(device, kFloat32).requires_grad_();
    Tensor loss;
    {
      const AutocastGuard guard(device, kLow);
      const Tensor y = layer(x);
      CHECK(y.dtype() == kLow);
      loss = mse_loss(y, zeros({4, 3}, device));
      CHECK(loss.dtype() == kFloat32);
    }
    loss.backward();
    for (const Tensor& t : {x, layer->weight, layer->bias}) CHECK(t.grad().dtype() == kFloat32);
    // As casts by hand have them.
    const Tensor w = layer->weight.detach().requires_grad_(), b = layer->bias.detach();
    mse_loss(linear(x.detach().to(kLow), w.to(kLow), b.to(kLow)).to(kFloat32),
             zeros({4, 3}, device))
        .backward();
    CHECK(equal(w.grad(), layer->weight.grad()));
  });
}

// x, w1, b1, w2, t = wave(3,4), wave(5,4,k=.3), wave(5,k=.9), wave(2,5,k=.5), wave(3,2,k=1.1), in
// float32, w1, b1 and w2 with requires_grad_(); then in PyTorch 1.13
//   with torch.autocast('cpu', torch.bfloat16):
//     y = F.linear(torch.tanh(F.linear(x, w1, b1)), w2); loss = F.mse_loss(y, t)
//   loss.backward()
TEST_CASE("PyTorch's autocast has the same dtypes and numbers") {
  for_each_device([](Device device) {
    const auto of = [&](IntArrayRef sizes, double k) {
      return wave(device, sizes, k).to(kFloat32);
    };
    const Tensor x = of({3, 4}, 0.7), w1 = of({5, 4}, 0.3).requires_grad_();
    const Tensor b1 = of({5}, 0.9).requires_grad_(), w2 = of({2, 5}, 0.5).requires_grad_();
    Tensor y, loss;
    {
      const AutocastGuard guard(device, kBFloat16);
      y = linear(tanh(linear(x, w1, b1)), w2);
      loss = mse_loss(y, of({3, 2}, 1.1));
    }
    CHECK(y.dtype() == kBFloat16);
    CHECK(loss.dtype() == kFloat32);
    loss.backward();
    // Two roundings to bfloat16 may fall to the other side, 2^-8 each.
    constexpr double kTwoRoundings = 0x1p-7;
    check_values(y, {3, 2}, {-0.63671875, 2.046875, 1.8671875, -2.28125, -0.5, 1.671875},
                 kTwoRoundings);
    check_values(loss, {}, {2.2045204639434814}, kTwoRoundings);
    CHECK(w1.grad().dtype() == kFloat32);
    check_values(
        w1.grad(), {5, 4},
        {-0.130859375,     0.06689453125,     0.232421875,      0.2890625,     -0.0035400390625,
         -0.0108642578125, -0.01300048828125, -0.0091552734375, 0.1455078125,  -0.1298828125,
         -0.34375,         -0.396484375,      0.1650390625,     -0.0576171875, -0.251953125,
         -0.328125,        0.40234375,        -0.23046875,      -0.75,         -0.921875},
        kTwoRoundings);
    check_values(b1.grad(), {5},
                 {0.1064453125, 0.052978515625, -0.0068359375, -0.2578125, 0.2578125},
                 kTwoRoundings);
    check_values(w2.grad(), {2, 5},
                 {-0.376953125, -0.33203125, 0.169921875, 0.439453125, 0.328125, 1.609375,
                  1.6484375, 0.123046875, -1.6015625, -1.390625},
                 kTwoRoundings);
  });
}
