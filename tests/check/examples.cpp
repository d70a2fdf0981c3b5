// Small programs without a mistake, on the subjects of usual C++ examples for libtorch. They are in
// one file, because each has only a few lines: separate files would consist mostly of includes.
#include <cmath>
#include <deque>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <tuple>

#include "programs.h"

namespace planted {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

constexpr int kSteps = 2;

// --- gradients

void example_autograd() {
  const auto a = torch::ones({2, 2}, torch::device(device).requires_grad(true));
  const auto b = (a + 2).pow(2) * 3;
  b.mean().backward();
  std::cout << a.grad() << '\n';
  const auto x = torch::randn({3}, torch::device(device).requires_grad(true));
  auto y = x * 2;
  while (y.norm().item<double>() < 100) y = y * 2;
  y.backward(torch::tensor({0.1, 1.0, 0.01}, torch::device(device).dtype(torch::kFloat32)));
  const auto z = (x * x).sum();
  const auto g = torch::autograd::grad({z}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  (g.norm() - 1).pow(2).backward();
  std::cout << x.grad().sizes() << '\n';
}

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        const Tensor& weight) {
    context->save_for_backward({x, weight});
    return x.mm(weight.t());
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    return {grads[0].mm(saved[1]), grads[0].t().mm(saved[0])};
  }
};

void example_custom_function() {
  const auto x = torch::randn({2, 3}).to(device).requires_grad_();
  const auto weight = torch::randn({4, 3}).to(device).requires_grad_();
  LinearFunction::apply(x, weight).sum().backward();
  std::cout << weight.grad().sum().item<float>() << '\n';
}

// --- data sets

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t index) override {
    const auto x = torch::full({4}, static_cast<double>(index));
    return {x, torch::tensor(static_cast<int64_t>(index % 3))};
  }
  torch::optional<size_t> size() const override { return 12; }
};

struct SmallNetImpl : nn::Module {
  SmallNetImpl(int64_t in, int64_t out) {
    first = register_module("first", nn::Linear(in, 16));
    second = register_module("second", nn::Linear(16, out));
  }
  Tensor forward(const Tensor& x) { return second(torch::relu(first(x))); }
  nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(SmallNet);

void example_custom_dataset() {
  auto loader =
      torch::data::make_data_loader(Points()
                                        .map(torch::data::transforms::Normalize<>(5.0, 2.0))
                                        .map(torch::data::transforms::Stack<>()),
                                    torch::data::DataLoaderOptions().batch_size(4).workers(1));
  SmallNet net(4, 3);
  net->to(device);
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  for (auto& batch : *loader) {
    const auto data = batch.data.to(device), target = batch.target.to(device);
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(data.flatten(1)), target.view({-1}));
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
}

void example_pinned_loader() {
  SmallNet net(8, 1);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int step = 0; step < kSteps; ++step) {
    Tensor batch = torch::randn({4, 8});
    if (device.is_cuda()) batch = batch.pin_memory();
    const auto x = batch.to(device, /*non_blocking=*/true);
    optimizer.zero_grad();
    const auto loss = net(x).pow(2).mean();
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
}

// --- images

struct MnistNetImpl : nn::Module {
  MnistNetImpl()
      : conv1(nn::Conv2dOptions(1, 4, 3)),
        conv2(nn::Conv2dOptions(4, 8, 3)),
        fc1(8 * 5 * 5, 16),
        fc2(16, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  Tensor forward(Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1(x), 2));
    x = torch::relu(torch::max_pool2d(drop(conv2(x)), 1));
    x = x.narrow(2, 0, 5).narrow(3, 0, 5).reshape({x.size(0), 8 * 5 * 5});
    x = F::dropout(torch::relu(fc1(x)), F::DropoutFuncOptions().training(is_training()));
    return torch::log_softmax(fc2(x), 1);
  }
  nn::Conv2d conv1, conv2;
  nn::Dropout2d drop;
  nn::Linear fc1, fc2;
};
TORCH_MODULE(MnistNet);

void example_mnist() {
  MnistNet net;
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
  net->train();
  for (int step = 0; step < kSteps; ++step) {
    const auto data = torch::randn({4, 1, 16, 16}).to(device);
    const auto target = torch::randint(0, 10, {4}, torch::kInt64).to(device);
    optimizer.zero_grad();
    auto loss = torch::nll_loss(net(data), target);
    loss.backward();
    optimizer.step();
  }
  torch::NoGradGuard no_grad;
  net->eval();
  const auto data = torch::randn({4, 1, 16, 16}).to(device);
  const auto target = torch::randint(0, 10, {4}, torch::kInt64).to(device);
  const auto output = net(data);
  const double loss =
      torch::nll_loss(output, target, {}, torch::Reduction::Sum).template item<double>();
  const auto right = output.argmax(1).eq(target).sum().template item<int64_t>();
  std::cout << loss << ' ' << right << '\n';
}

struct GeneratorImpl : nn::Module {
  GeneratorImpl()
      : layers(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(8, 4, 4).bias(false)),
               nn::BatchNorm2d(4), nn::ReLU(),
               nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 1, 4).stride(2).padding(1)),
               nn::Tanh()) {
    register_module("layers", layers);
  }
  Tensor forward(const Tensor& noise) { return layers->forward(noise); }
  nn::Sequential layers;
};
TORCH_MODULE(Generator);

void example_dcgan() {
  Generator generator;
  generator->to(device);
  nn::Sequential discriminator(nn::Conv2d(nn::Conv2dOptions(1, 4, 4).stride(2).padding(1)),
                               nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                               nn::Conv2d(nn::Conv2dOptions(4, 1, 4)), nn::Sigmoid());
  discriminator->to(device);
  torch::optim::Adam g(generator->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.9}));
  torch::optim::Adam d(discriminator->parameters(), torch::optim::AdamOptions(2e-4));
  for (int step = 0; step < kSteps; ++step) {
    discriminator->zero_grad();
    const auto real = torch::randn({4, 1, 8, 8}).to(device);
    const auto real_labels = torch::empty({4}, device).uniform_(0.8, 1.0);
    const auto d_real =
        torch::binary_cross_entropy(discriminator->forward(real).view({4}), real_labels);
    d_real.backward();
    const auto noise = torch::randn({4, 8, 1, 1}, device);
    const auto fake = generator(noise);
    const auto fake_labels = torch::zeros({4}, device);
    const auto d_fake =
        torch::binary_cross_entropy(discriminator->forward(fake.detach()).view({4}), fake_labels);
    d_fake.backward();
    d.step();
    generator->zero_grad();
    const auto g_loss = torch::binary_cross_entropy(discriminator->forward(fake).view({4}),
                                                    torch::ones_like(fake_labels));
    g_loss.backward();
    g.step();
    std::cout << (d_real + d_fake).item<float>() << ' ' << g_loss.item<float>() << '\n';
  }
  std::stringstream checkpoint;
  torch::save(generator, checkpoint);
}

void example_transfer_learning() {
  nn::Sequential features(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding(1)), nn::BatchNorm2d(4),
                          nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten());
  std::stringstream file;
  torch::save(features, file);
  torch::load(features, file);
  for (auto& p : features->parameters()) p.requires_grad_(false);
  features->to(device);
  features->eval();
  nn::Linear head(4, 2);
  head->to(device);
  torch::optim::Adam optimizer(head->parameters(), 1e-2);
  for (int step = 0; step < kSteps; ++step) {
    const auto x = torch::rand({4, 3, 8, 8}).to(device);
    const auto target = torch::tensor({0, 1, 0, 1}).to(device);
    optimizer.zero_grad();
    const auto loss = F::cross_entropy(head(features->forward(x)), target);
    loss.backward();
    optimizer.step();
    std::cout << loss.item().toFloat() << '\n';
  }
}

struct VaeImpl : nn::Module {
  VaeImpl() {
    encoder = register_module("encoder", nn::Linear(16, 8));
    decoder = register_module("decoder", nn::Linear(4, 16));
  }
  std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& x) {
    const auto parts = encoder(x).chunk(2, 1);
    const auto z = parts[0] + torch::randn_like(parts[1]) * (parts[1] * 0.5).exp();
    return {torch::sigmoid(decoder(z)), parts[0], parts[1]};
  }
  nn::Linear encoder{nullptr}, decoder{nullptr};
};
TORCH_MODULE(Vae);

void example_vae() {
  Vae net;
  net->to(device);
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  for (int step = 0; step < kSteps; ++step) {
    const auto x = torch::rand({4, 16}).to(device);
    optimizer.zero_grad();
    const auto [y, mean, log_variance] = net(x);
    auto loss = F::binary_cross_entropy(y, x) -
                0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum();
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
  torch::NoGradGuard no_grad;
  std::cout << net->decoder(torch::randn({2, 4}).to(device)).cpu().sizes() << '\n';
}

// --- curves and sequences

void example_regression() {
  const Tensor weights = torch::randn({4, 1}), bias = torch::randn({1});
  SmallNet net(4, 1);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  float last = 0;
  for (int step = 0; step < kSteps; ++step) {
    const Tensor x = torch::randn({8, 1});
    const Tensor powers = torch::cat({x, x.pow(2), x.pow(3), x.pow(4)}, 1);
    const Tensor y = powers.mm(weights) + bias;
    optimizer.zero_grad();
    const auto loss = F::smooth_l1_loss(net(powers.to(device)), y.to(device));
    loss.backward();
    for (auto& p : net->parameters()) p.mutable_grad().clamp_(-1, 1);
    optimizer.step();
    last = loss.item<float>();
  }
  std::cout << last << '\n';
}

struct SequenceImpl : nn::Module {
  SequenceImpl() {
    first = register_module("first", nn::LSTMCell(1, 8));
    second = register_module("second", nn::LSTMCell(8, 8));
    linear = register_module("linear", nn::Linear(8, 1));
  }
  Tensor forward(const Tensor& x, int64_t future) {
    const auto zero = torch::zeros({x.size(0), 8}, x.options());
    std::tuple<Tensor, Tensor> s1{zero, zero}, s2{zero, zero};
    std::vector<Tensor> outputs;
    Tensor output;
    for (int64_t t = 0; t < x.size(1) + future; ++t) {
      s1 = first(t < x.size(1) ? x.narrow(1, t, 1) : output, s1);
      s2 = second(std::get<0>(s1), s2);
      output = linear(std::get<0>(s2));
      outputs.push_back(output);
    }
    return torch::cat(outputs, 1);
  }
  nn::LSTMCell first{nullptr}, second{nullptr};
  nn::Linear linear{nullptr};
};
TORCH_MODULE(Sequence);

void example_time_sequence() {
  Sequence net;
  net->to(device);
  const auto wave = torch::sin(torch::arange(10, torch::kFloat32) / 3).repeat({2, 1});
  const auto x = wave.slice(1, 0, 9).to(device), target = wave.slice(1, 1, 10).to(device);
  torch::optim::LBFGS optimizer(net->parameters(), torch::optim::LBFGSOptions(0.5).max_iter(3));
  const auto closure = [&] {
    optimizer.zero_grad();
    auto loss = F::mse_loss(net(x, 0), target);
    loss.backward();
    return loss;
  };
  optimizer.step(closure);
  torch::NoGradGuard no_grad;
  std::cout << net(x, 3).cpu() << '\n';
}

struct CharacterNetImpl : nn::Module {
  CharacterNetImpl() {
    letters = register_module("letters", nn::Embedding(20, 8));
    lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(8, 8).num_layers(2).dropout(0.1)));
    head = register_module("head", nn::Linear(8, 20));
  }
  Tensor forward(const Tensor& ids) { return head(std::get<0>(lstm(letters(ids)))).view({-1, 20}); }
  nn::Embedding letters{nullptr};
  nn::LSTM lstm{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(CharacterNet);

void example_language_model() {
  CharacterNet net;
  net->to(device);
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-3));
  torch::optim::StepLR schedule(optimizer, 1, 0.9);
  const auto text = torch::randint(0, 20, {30}, torch::kInt64).to(device);
  for (int step = 0; step < kSteps; ++step) {
    const auto x = text.slice(0, 0, 28).view({14, 2}), y = text.slice(0, 1, 29);
    optimizer.zero_grad();
    const auto loss = F::cross_entropy(net(x), y);
    loss.backward();
    nn::utils::clip_grad_norm_(net->parameters(), 0.5);
    optimizer.step();
    schedule.step();
    std::cout << std::exp(loss.item<float>()) << '\n';
  }
  torch::NoGradGuard no_grad;
  net->eval();
  auto next = torch::zeros({1, 1}, torch::device(device).dtype(torch::kInt64));
  for (int i = 0; i < 3; ++i) {
    next = torch::multinomial(torch::softmax(net(next), -1), 1);
    std::cout << next.item<int64_t>() << ' ';
  }
}

struct TranslatorImpl : nn::Module {
  TranslatorImpl() {
    words = register_module("words", nn::Embedding(12, 8));
    transformer = register_module(
        "transformer", nn::Transformer(nn::TransformerOptions(8, 2, 1, 1).dim_feedforward(16)));
    head = register_module("head", nn::Linear(8, 12));
    position = register_buffer("position", torch::randn({10, 1, 8}));
  }
  Tensor forward(const Tensor& source, const Tensor& target) {
    const auto mask =
        torch::full({target.size(0), target.size(0)}, -1e9, position.options()).triu(1);
    const auto s = words(source) + position.slice(0, 0, source.size(0));
    const auto t = words(target) + position.slice(0, 0, target.size(0));
    return head(transformer(s, t, Tensor(), mask));
  }
  nn::Embedding words{nullptr};
  nn::Transformer transformer{nullptr};
  nn::Linear head{nullptr};
  Tensor position;
};
TORCH_MODULE(Translator);

void example_transformer() {
  Translator net;
  net->to(device);
  torch::optim::RMSprop optimizer(net->parameters(), 1e-3);
  for (int step = 0; step < kSteps; ++step) {
    const auto source = torch::randint(0, 12, {6, 2}, torch::kInt64).to(device);
    const auto target = torch::randint(0, 12, {5, 2}, torch::kInt64).to(device);
    optimizer.zero_grad();
    const auto loss = F::cross_entropy(net(source, target).flatten(0, 1), target.flatten());
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
}

// --- games

void example_actor_critic() {
  SmallNet actor(4, 2), critic(4, 1);
  actor->to(device);
  critic->to(device);
  std::vector<Tensor> parameters = actor->parameters();
  for (const auto& p : critic->parameters()) parameters.push_back(p);
  torch::optim::Adam optimizer(parameters, 3e-2);
  for (int episode = 0; episode < kSteps; ++episode) {
    std::vector<Tensor> chances, values;
    std::deque<float> returns;
    auto state = torch::randn({4});
    for (int t = 0; t < 3; ++t) {
      const auto x = state.to(device);
      const auto probability = torch::softmax(actor(x), 0);
      const auto action = probability.multinomial(1).item<int64_t>();
      chances.push_back(probability[action].log());
      values.push_back(critic(x));
      state = state + (action == 0 ? -0.1 : 0.1);
      returns.push_front(1.f + 0.9f * (returns.empty() ? 0.f : returns.front()));
    }
    const auto gain = torch::tensor(std::vector<float>(returns.begin(), returns.end())).to(device);
    const auto value = torch::cat(values);
    const auto loss =
        -(torch::stack(chances) * (gain - value.detach())).sum() + F::smooth_l1_loss(value, gain);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void example_deep_q() {
  SmallNet online(4, 2), target(4, 2);
  online->to(device);
  target->to(device);
  {
    torch::NoGradGuard no_grad;
    const auto from = online->named_parameters();
    for (auto& p : target->named_parameters()) p.value().copy_(from[p.key()]);
  }
  torch::optim::Adam optimizer(online->parameters(), 1e-3);
  std::vector<Tensor> states, actions, rewards;
  for (int i = 0; i < 8; ++i) {
    states.push_back(torch::randn({4}));
    actions.push_back(torch::tensor({static_cast<int64_t>(i % 2)}));
    rewards.push_back(torch::tensor(0.1f * static_cast<float>(i)));
  }
  for (int step = 0; step < kSteps; ++step) {
    const auto s = torch::stack(states).to(device), a = torch::stack(actions).to(device);
    const auto r = torch::stack(rewards).to(device);
    const auto q = online(s).gather(1, a).squeeze(1);
    const auto best = std::get<0>(target(s).max(1)).detach();
    const auto loss = F::mse_loss(q, r + 0.99 * best);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
}

// --- pictures

void example_style() {
  nn::Conv2d features(nn::Conv2dOptions(3, 4, 3).padding(1));
  features->to(device);
  const auto content = torch::rand({1, 3, 8, 8}).to(device);
  const auto target = features(content).detach();
  const auto picture = content.clone().requires_grad_();
  torch::optim::Adam optimizer({picture}, 0.1);
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    const auto y = features(picture).flatten(2);
    const auto gram = y.matmul(y.transpose(1, 2));
    const auto loss = F::mse_loss(gram, gram.detach() * 0.5) + F::mse_loss(y, target.flatten(2));
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';
  }
  const auto out = picture.detach().clamp(0, 1).mul(255).to(torch::kUInt8).cpu();
  std::cout << static_cast<int>(out.data_ptr<uint8_t>()[0]) << '\n';
}

struct UpscalerImpl : nn::Module {
  UpscalerImpl() {
    conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)));
    shuffle = register_module("shuffle", nn::PixelShuffle(2));
  }
  Tensor forward(const Tensor& x) { return shuffle(torch::relu(conv(x))); }
  nn::Conv2d conv{nullptr};
  nn::PixelShuffle shuffle{nullptr};
};
TORCH_MODULE(Upscaler);

void example_super_resolution() {
  Upscaler net;
  net->to(device);
  torch::optim::Adagrad optimizer(net->parameters(), 1e-2);
  for (int step = 0; step < kSteps; ++step) {
    const auto large = torch::rand({2, 1, 8, 8});
    const auto small = F::interpolate(
        large, F::InterpolateFuncOptions().scale_factor(std::vector<double>{0.5, 0.5}));
    optimizer.zero_grad();
    const auto loss = F::mse_loss(net(small.to(device)), large.to(device));
    loss.backward();
    optimizer.step();
    std::cout << -10 * std::log10(loss.item<double>()) << '\n';
  }
}

}  // namespace

const Programs& examples() {
  static const Programs all{
#define PROGRAM(name) {#name, name}
      PROGRAM(example_autograd),
      PROGRAM(example_custom_function),
      PROGRAM(example_custom_dataset),
      PROGRAM(example_pinned_loader),
      PROGRAM(example_mnist),
      PROGRAM(example_dcgan),
      PROGRAM(example_transfer_learning),
      PROGRAM(example_vae),
      PROGRAM(example_regression),
      PROGRAM(example_time_sequence),
      PROGRAM(example_language_model),
      PROGRAM(example_transformer),
      PROGRAM(example_actor_critic),
      PROGRAM(example_deep_q),
      PROGRAM(example_style),
      PROGRAM(example_super_resolution),
#undef PROGRAM
  };
  return all;
}

}  // namespace planted
