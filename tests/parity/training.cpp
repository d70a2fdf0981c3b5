// Programs in the style of libtorch's users: a regression, a classifier with a data loader, a
// generator and a discriminator, custom functions, optimizers and schedulers.
#include <cmath>
#include <tuple>

#include "parity.h"

using parity::fill;
using parity::report;
using parity::report_refusal;
using parity::report_text;
using parity::wave;

namespace nn = torch::nn;
namespace F = torch::nn::functional;

// A layer has as many roundings in sequence as it has terms, and training steps multiply them: each
// case states steps times terms, times 4 for the optimizer.

PARITY(regression) {
  // y = 3 x^2 - x + 0.5 by gradient descent on three numbers.
  const torch::Tensor x = torch::linspace(-1, 1, 64, torch::kDouble);
  const torch::Tensor y = 3 * x.pow(2) - x + 0.5;
  torch::Tensor w = torch::zeros({3}, torch::dtype(torch::kDouble).requires_grad(true));
  for (int step = 0; step < 50; ++step) {
    torch::Tensor loss = (w[0] * x * x + w[1] * x + w[2] - y).pow(2).mean();
    loss.backward();
    torch::NoGradGuard no_grad;
    w -= 0.1 * w.grad();
    w.grad().zero_();
  }
  report("w", w, 64 * 50 * 4);
}

namespace {

struct NetImpl : nn::Module {
  NetImpl(int64_t in, int64_t hidden, int64_t out)
      : fc1(register_module("fc1", nn::Linear(in, hidden))),
        fc2(nn::LinearOptions(hidden, out).bias(false)) {
    register_module("fc2", fc2);
    scale = register_parameter("scale", torch::ones({1}));
    register_buffer("steps", torch::zeros({}, torch::kLong));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1->forward(x));
    x = F::dropout(x, F::DropoutFuncOptions().p(0.5).training(false));
    return torch::log_softmax(fc2(x) * scale, /*dim=*/1);
  }
  nn::Linear fc1{nullptr}, fc2{nullptr};
  torch::Tensor scale;
};
TORCH_MODULE(Net);

class Waves : public torch::data::datasets::Dataset<Waves> {
 public:
  explicit Waves(int64_t n) : data_(wave({n, 6}, 0.9)), targets_(torch::arange(n) % 3) {}
  torch::data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {data_[i], targets_[i]};
  }
  torch::optional<size_t> size() const override { return data_.size(0); }

 private:
  torch::Tensor data_, targets_;
};

}  // namespace

PARITY(classifier_with_a_loader) {
  Net net(6, 8, 3);
  fill(*net);
  auto dataset = Waves(22).map(torch::data::transforms::Stack<>());
  report("size", static_cast<double>(dataset.size().value()));
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(dataset), torch::data::DataLoaderOptions().batch_size(4).workers(0));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.5));
  const torch::Device device = net->scale.device();
  net->train();
  for (size_t epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    int64_t batches = 0;
    for (auto& batch : *loader) {
      auto data = batch.data.to(device), targets = batch.target.to(device);
      optimizer.zero_grad();
      auto output = net->forward(data);
      auto loss = torch::nll_loss(output, targets);
      loss.backward();
      optimizer.step();
      sum += loss.template item<float>();
      ++batches;
    }
    report("batches", static_cast<double>(batches));
    report("loss", sum, 6 * 12 * 8 * 4 * 0x1p29);  // the unit of float is 2^29 times that of double
  }
  net->eval();
  torch::NoGradGuard no_grad;
  const torch::Tensor output = net->forward(wave({5, 6}, 0.31));
  report("output", output, 12 * 8 * 4 * 4);
  report("loss of sums",
         torch::nll_loss(output, torch::zeros({5}, torch::kLong), {}, torch::Reduction::Sum),
         12 * 8 * 4 * 4);
  report("classes", output.argmax(1));
  report("correct", output.argmax(1).eq(torch::zeros({5}, torch::kLong)).sum());
  std::vector<std::string> names;
  for (const auto& pair : net->named_parameters()) names.push_back(pair.key());
  for (const auto& pair : net->named_buffers()) names.push_back(pair.key());
  for (const auto& pair : net->named_children()) names.push_back(pair.key());
  report_text("names", c10::Join(" ", names));
}

namespace {

struct ConvNetImpl : nn::Module {
  ConvNetImpl()
      : conv1(nn::Conv2dOptions(1, 3, /*kernel_size=*/3).padding(1).bias(false)),
        conv2(nn::Conv2dOptions(3, 4, 3).stride({2, 1}).bias(false)),
        norm(3),
        fc(4 * 2 * 2, 5) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("norm", norm);
    register_module("drop", drop);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(norm(conv1(x)), 2));
    x = torch::tanh(conv2->forward(x));
    x = F::avg_pool2d(x, F::AvgPool2dFuncOptions({1, 2}));
    x = x.view({-1, 4 * 2 * 2});
    return fc(drop(x));
  }
  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d norm;
  nn::Dropout drop{nn::DropoutOptions(0.0)};
  nn::Linear fc;
};
TORCH_MODULE(ConvNet);

}  // namespace

PARITY(convolutional_network) {
  ConvNet net;
  fill(*net);
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(0.01).weight_decay(1e-3));
  const torch::Tensor x = wave({3, 1, 10, 12}, 0.37), target = torch::tensor({4, 0, 2});
  for (int step = 0; step < 3; ++step) {
    adam.zero_grad();
    F::cross_entropy(net(x), target).backward();
    if (step == 0) {
      for (const auto& p : net->named_parameters()) {
        // Sums over 3*10*12 positions and backward through four layers.
        report("gradient of " + p.key(), p.value().grad(), 4 * 360);
      }
    }
    adam.step();
  }
  report("running mean", net->norm->running_mean, 4 * 360);
  net->eval();
  // Adam divides by the root of squares, so for a gradient near 0 the error can be as large as the
  // step. The tolerance is therefore that of training steps, 3 * 360 * 16.
  report("output", net(x), 3 * 360 * 16);
}

PARITY(two_networks) {
  nn::Sequential generator(nn::Linear(4, 8), nn::Tanh(), nn::Linear(8, 2));
  nn::Sequential critic(nn::Linear(2, 8), nn::Functional(torch::relu), nn::Linear(8, 1),
                        nn::Sigmoid());
  fill(*generator);
  fill(*critic, 0.6);
  torch::optim::SGD g(generator->parameters(), 0.1), c(critic->parameters(), /*lr=*/0.1);
  const torch::Tensor real = wave({6, 2}, 1.3), noise = wave({6, 4}, 0.77);
  for (int step = 0; step < 4; ++step) {
    critic->zero_grad();
    torch::Tensor fake = generator->forward(noise);
    torch::Tensor loss = F::mse_loss(critic->forward(real), torch::ones({6, 1})) +
                         F::mse_loss(critic->forward(fake.detach()), torch::zeros({6, 1}));
    loss.backward();
    c.step();
    generator->zero_grad();
    F::mse_loss(critic->forward(fake), torch::ones({6, 1})).backward();
    g.step();
  }
  report("fake", generator->forward(noise), 4 * 32 * 8);
  report("critic", critic->forward(real), 4 * 32 * 8);
  report("layers", static_cast<double>(generator->size()));
  report("by index", generator[0]->as<nn::Linear>()->weight, 4 * 32 * 8);
}

namespace {

struct SumImpl : nn::Module {
  torch::Tensor forward(torch::Tensor a, torch::Tensor b) { return a + b; }
};
TORCH_MODULE(Sum);

struct SplitImpl : nn::Module {
  std::tuple<torch::Tensor, int> forward(torch::Tensor x) { return std::make_tuple(x[0], 3); }
};
TORCH_MODULE(Split);

template <typename M>
int64_t parameters_of(const nn::ModuleHolder<M>& module) {
  int64_t n = 0;
  for (const auto& p : module->parameters()) n += p.numel();
  return n;
}

}  // namespace

PARITY(modules) {
  nn::Sequential pair{Sum(), nn::ReLU(), Split()};
  auto [first, three] =
      pair->forward<std::tuple<torch::Tensor, int>>(wave({2, 3}), wave({2, 3}, 0.2));
  report("first", first);
  report("three", three);
  nn::AnyModule any(nn::Linear(3, 2));
  fill(*any.ptr());
  report("any", any.forward(wave({2, 3})), 8);
  report_refusal("another type", [&] { any.forward(3.5f); });
  report_refusal("too few", [&] { nn::AnyModule(Sum()).forward(wave({2})); });
  report("deduced", static_cast<double>(parameters_of(nn::Linear(3, 4))));
  nn::ModuleList list;
  for (int i = 0; i < 3; ++i) list->push_back(nn::Linear(2, 2));
  report("listed", static_cast<double>(list->parameters().size()));
  nn::Sequential named({{"a", nn::Linear(2, 3)}, {"b", nn::ReLU()}});
  report_text("named", named->named_parameters()[1].key());
  fill(*named);
  auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(named->clone());
  fill(*named, 0.1);
  report("the clone", copy->forward(wave({1, 2})), 8);
  report("the original", named->forward(wave({1, 2})), 8);
  report_refusal("a name twice", [&] { named->register_module("a", nn::Linear(1, 1)); });
  report_refusal("another shape", [] { nn::Linear(3, 2)->forward(torch::ones({2, 4})); });
  named->to(torch::kDouble);
  report("double", named->forward(wave({1, 2}, 0.7, torch::kDouble)), 8);
}

namespace {

struct Cube : torch::autograd::Function<Cube> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x, double by) {
    ctx->save_for_backward({x});
    ctx->saved_data["by"] = by;
    return x * x * x * by;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto x = ctx->get_saved_variables()[0];
    return {grads[0] * 3 * x * x * ctx->saved_data["by"].toDouble(), torch::Tensor()};
  }
};

}  // namespace

PARITY(gradients) {
  torch::Tensor x = wave({2, 2}).set_requires_grad(true);
  torch::Tensor y = x + 2, z = y * y * 3;
  z.mean().backward();
  report("tutorial", x.grad(), 8);
  torch::Tensor v = torch::tensor({0.1f, 1.0f, 0.001f, 2.0f}).view({2, 2});
  x.mutable_grad().reset();
  (x * 2).backward(v);
  report("weighted", x.grad());
  auto gradient = torch::autograd::grad({(x * x * x).sum()}, {x}, {}, /*retain_graph=*/true,
                                        /*create_graph=*/true)[0];
  report("first", gradient, 8);
  const torch::Tensor penalty = ((gradient.norm(2, /*dim=*/1) - 1).pow(2)).mean();
  report("penalty", penalty, 16);
  x.mutable_grad().reset();
  penalty.backward();
  report("second", x.grad(), 64);
  torch::Tensor u = wave({3}).set_requires_grad(true);
  Cube::apply(u, 2.0).sum().backward();
  report("custom", u.grad(), 8);
  report_refusal("backward twice", [&] {
    torch::Tensor e = (u * u).sum();
    e.backward();
    e.backward();
  });
  report_refusal("backward of many", [&] { (u * u).backward(); });
  report_refusal("in place of a leaf", [&] { u.add_(1); });
  report_refusal("saved and changed", [&] {
    torch::Tensor a = u.exp();
    a.add_(1);
    a.sum().backward();
  });
}

PARITY(optimizers) {
  const auto train = [](const char* name, auto make) {
    torch::Tensor w = wave({4}, 0.9).set_requires_grad(true);
    auto optimizer = make(std::vector<torch::Tensor>{w});
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      ((w - 0.3) * (w + 1) * (w - 2)).pow(2).sum().backward();
      optimizer.step();
    }
    report(name, w, 5 * 64);
  };
  using Params = std::vector<torch::Tensor>;
  namespace optim = torch::optim;
  train("sgd", [](Params p) { return optim::SGD(p, 0.01); });
  train("momentum", [](Params p) {
    return optim::SGD(p, optim::SGDOptions(0.01).momentum(0.9).nesterov(true).weight_decay(0.1));
  });
  train("adam", [](Params p) { return optim::Adam(p, 0.05); });
  train("betas", [](Params p) {
    return optim::Adam(p, optim::AdamOptions(0.05).betas(std::make_tuple(0.5, 0.9)).eps(1e-6));
  });
  train("adamw", [](Params p) { return optim::AdamW(p, optim::AdamWOptions(0.05)); });
}
