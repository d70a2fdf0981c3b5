// Parts of usual programs with one device mistake each. A comment "expect: <kind>" is on the line
// that `ambit check` must report. One file, because the test looks for all marks in it.
#include <cstring>
#include <filesystem>
#include <iostream>
#include <thread>

#include "programs.h"

namespace planted {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

Tensor images(int64_t count = 4) { return torch::randn({count, 1, 8, 8}).to(device); }
Tensor rows(int64_t count = 4, int64_t width = 8) {
  return torch::randn({count, width}).to(device);
}
Tensor labels(int64_t count = 4) { return torch::randint(0, 3, {count}, torch::kInt64); }

// --- a training loop forgets one tensor

struct ClassifierImpl : nn::Module {
  ClassifierImpl() {
    body = register_module("body", nn::Sequential(nn::Linear(8, 16), nn::ReLU()));
    head = register_module("head", nn::Linear(16, 3));
  }
  Tensor forward(const Tensor& x) { return torch::log_softmax(head(body->forward(x)), 1); }
  nn::Sequential body{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(Classifier);

void labels_stay() {
  Classifier net;
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 2; ++epoch) {
    optimizer.zero_grad();
    const Tensor output = net(rows());
    const Tensor loss = torch::nll_loss(output, labels());  // expect: device-mismatch
    loss.backward();
    optimizer.step();
  }
}

void accuracy() {
  Classifier net;
  net->to(device);
  torch::NoGradGuard no_grad;
  const Tensor predicted = net(rows()).argmax(1);
  const int64_t right = predicted.eq(labels()).sum().item<int64_t>();  // expect: device-mismatch
  std::cout << right << '\n';
}

void average_of_weights() {
  Classifier net;
  std::vector<Tensor> average;
  for (const Tensor& p : net->parameters()) average.push_back(p.detach().clone());
  net->to(device);
  torch::NoGradGuard no_grad;
  const auto parameters = net->parameters();
  for (size_t i = 0; i < average.size(); ++i) {
    average[i].mul_(0.9).add_(parameters[i], 0.1);  // expect: device-mismatch
  }
}

void normalised() {
  const Tensor mean = torch::full({1, 1, 1, 1}, 0.1307), deviation = torch::full({1, 1, 1, 1}, 0.3);
  const Tensor x = images();
  const Tensor centred = x - mean;  // expect: device-mismatch
  std::cout << (centred / deviation).sizes() << '\n';
}

void mixed_up() {
  const Tensor x = rows(), share = torch::rand({4, 1});
  const Tensor other = x.index({torch::randperm(4)});
  const Tensor mixed = share * x + (1 - share) * other;  // expect: device-mismatch
  std::cout << mixed.sizes() << '\n';
}

void one_hot_targets() {
  const Tensor target = labels().to(device);
  Tensor hot = torch::zeros({4, 3});
  hot.scatter_(1, target.unsqueeze(1), 1.0);  // expect: device-mismatch
}

void gradient_penalty() {
  const Tensor real = rows(), fake = rows();
  const Tensor alpha = torch::rand({4, 1});
  const Tensor between = (alpha * real + (1 - alpha) * fake)  // expect: device-mismatch
                             .requires_grad_();
  std::cout << between.sizes() << '\n';
}

// --- reinforcement learning

void chosen_actions() {
  nn::Linear q(8, 3);
  q->to(device);
  const Tensor actions = torch::randint(0, 3, {4, 1}, torch::kInt64);
  const Tensor values = q(rows()).gather(1, actions);  // expect: device-mismatch
  std::cout << values.sizes() << '\n';
}

void bootstrapped() {
  nn::Linear value(8, 1);
  value->to(device);
  std::vector<Tensor> rewards;
  for (int i = 0; i < 4; ++i) rewards.push_back(torch::tensor(1.f * static_cast<float>(i)));
  const Tensor reward = torch::stack(rewards);
  const Tensor target = reward + 0.99 * value(rows()).squeeze(1);  // expect: device-mismatch
  std::cout << target << '\n';
}

// --- sequences

struct TaggerImpl : nn::Module {
  TaggerImpl() {
    words = register_module("words", nn::Embedding(10, 8));
    gru = register_module("gru", nn::GRU(nn::GRUOptions(8, 8)));
  }
  Tensor forward(const Tensor& ids) {
    const Tensor embedded = words(ids);  // expect: device-mismatch
    return std::get<0>(gru(embedded));
  }
  nn::Embedding words{nullptr};
  nn::GRU gru{nullptr};
};
TORCH_MODULE(Tagger);

void word_ids() {
  Tagger net;
  net->to(device);
  net(torch::randint(0, 10, {5, 2}, torch::kInt64));
}

struct RecurrentImpl : nn::Module {
  RecurrentImpl() { gru = register_module("gru", nn::GRU(nn::GRUOptions(8, 8))); }
  Tensor forward(const Tensor& x) {
    const Tensor hidden = torch::zeros({1, x.size(1), 8});
    return std::get<0>(gru(x, hidden));  // expect: device-mismatch
  }
  nn::GRU gru{nullptr};
};
TORCH_MODULE(Recurrent);

void first_hidden_state() {
  Recurrent net;
  net->to(device);
  net(torch::randn({5, 2, 8}).to(device));
}

struct PositionsImpl : nn::Module {
  PositionsImpl() {
    const Tensor position = torch::arange(16, torch::kFloat32).unsqueeze(1);
    const Tensor rate = torch::exp(torch::arange(0, 8, 2, torch::kFloat32) * -0.1);
    table = torch::cat({torch::sin(position * rate), torch::cos(position * rate)}, 1);
  }
  Tensor forward(const Tensor& x) {
    return x + table.slice(0, 0, x.size(0));  // expect: unregistered-tensor
  }
  Tensor table;
};
TORCH_MODULE(Positions);

void positional_table() {
  Positions net;
  net->to(device);
  net(rows());
}

struct CausalImpl : nn::Module {
  Tensor forward(const Tensor& scores) {
    const Tensor later = torch::ones({4, 4}, torch::kBool).triu(1);
    return scores.masked_fill(later, -1e9).softmax(-1);  // expect: device-mismatch
  }
};
TORCH_MODULE(Causal);

void causal_mask() {
  Causal attention;
  attention(rows(4, 4));
}

struct ClassTokenImpl : nn::Module {
  ClassTokenImpl() : token(torch::randn({1, 8})) { fc = register_module("fc", nn::Linear(8, 8)); }
  Tensor forward(const Tensor& x) {
    const Tensor all = torch::cat({token, x});  // expect: unregistered-tensor
    return fc(all);
  }
  nn::Linear fc{nullptr};
  Tensor token;
};
TORCH_MODULE(ClassToken);

void class_token() {
  ClassToken net;
  net->to(device);
  net(rows());
}

// --- modules in containers of the standard library

struct TowerImpl : nn::Module {
  TowerImpl() {
    for (int i = 0; i < 2; ++i) layers.push_back(nn::Linear(8, 8));
  }
  Tensor forward(Tensor x) {
    for (auto& layer : layers) {
      x = torch::relu(layer(x));  // expect: unregistered-tensor
    }
    return x;
  }
  std::vector<nn::Linear> layers;
};
TORCH_MODULE(Tower);

void layers_in_vector() {
  Tower net;
  net->to(device);
  net(rows());
}

void masked_lambda() {
  const Tensor mask = torch::ones({8});
  nn::Sequential net(nn::Linear(8, 8), nn::Functional([mask](const Tensor& x) {
                       return x * mask;  // expect: device-mismatch
                     }));
  net->to(device);
  net->forward(rows());
}

struct FocalLoss {
  Tensor weight = torch::tensor({0.2f, 0.3f, 0.5f});
  Tensor operator()(const Tensor& logits, const Tensor& target) const {
    return F::cross_entropy(
        logits, target,
        F::CrossEntropyFuncOptions().weight(weight));  // expect: device-mismatch
  }
};

void loss_that_is_no_module() {
  const FocalLoss loss;
  loss(rows(4, 3), labels().to(device));
}

struct Scaled : torch::autograd::Function<Scaled> {
  static Tensor forward(torch::autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list grads) {
    const Tensor factor = torch::full({8}, 2.0);
    const Tensor grad = grads[0] * factor;  // expect: device-mismatch
    return {grad};
  }
};

void own_gradient() {
  const Tensor x = rows().requires_grad_();
  Scaled::apply(x).sum().backward();
}

// --- a mistake in part of the program that is allowed to fail

void optional_metric() {
  Classifier net;
  net->to(device);
  try {
    std::cout << F::mse_loss(net(rows()), torch::zeros({4, 3})) << '\n';  // expect: device-mismatch
  } catch (const c10::Error&) {
    std::cout << "no metric\n";
  }
}

void metric_thread() {
  const Tensor x = rows();
  std::thread worker([x] {
    try {
      torch::dot(x[0], torch::ones({8}));  // expect: device-mismatch
    } catch (const std::exception& e) {
      std::cout << e.what() << '\n';
    }
  });
  worker.join();
}

struct Style {
  Tensor gram(const Tensor& x) const {
    const Tensor flat = x.flatten(1);
    return flat.mm(flat.t());
  }
};

void style_target() {
  const Style style;
  const Tensor target = style.gram(torch::randn({4, 8}));
  F::mse_loss(style.gram(rows()), target);  // expect: device-mismatch
}

// --- tensors that each call makes on the CPU

struct EncoderImpl : nn::Module {
  EncoderImpl() { fc = register_module("fc", nn::Linear(8, 8)); }
  Tensor sample(const Tensor& mean) {
    const Tensor noise = torch::randn(mean.sizes());
    return mean + noise.to(mean.device());  // expect: made-on-cpu
  }
  Tensor forward(const Tensor& x) { return sample(fc(x)); }
  nn::Linear fc{nullptr};
};
TORCH_MODULE(Encoder);

void sampled() {
  Encoder net;
  net->to(device);
  for (int i = 0; i < 2; ++i) net(rows());
}

struct LearnedPositionsImpl : nn::Module {
  LearnedPositionsImpl() { table = register_module("table", nn::Embedding(16, 8)); }
  Tensor forward(const Tensor& x) {
    const Tensor places = torch::arange(x.size(0)).unsqueeze(0);
    return x + table(places.to(x.device())).squeeze(0);  // expect: made-on-cpu
  }
  nn::Embedding table{nullptr};
};
TORCH_MODULE(LearnedPositions);

void learned_positions() {
  LearnedPositions net;
  net->to(device);
  for (int i = 0; i < 2; ++i) net(rows());
}

struct PastOnlyImpl : nn::Module {
  Tensor forward(const Tensor& scores) {
    const int64_t n = scores.size(0);
    auto hidden = torch::ones({n, n}).tril() == 0;
    hidden = hidden.to(scores.device());  // expect: made-on-cpu
    return scores.masked_fill(hidden, -1e9);
  }
};
TORCH_MODULE(PastOnly);

void past_only() {
  PastOnly attention;
  for (int i = 0; i < 2; ++i) attention(rows(4, 4));
}

struct DropRowsImpl : nn::Module {
  Tensor forward(const Tensor& x) {
    return x * (torch::rand({x.size(0), 1}) > 0.5).to(x.device());  // expect: made-on-cpu
  }
};
TORCH_MODULE(DropRows);

void dropped_rows() {
  DropRows drop;
  for (int i = 0; i < 2; ++i) drop(rows());
}

struct GridImpl : nn::Module {
  Tensor forward(const Tensor& x) {
    const Tensor line = torch::linspace(-1, 1, 8);
    const Tensor grid = torch::stack({line.expand({8, 8}), line.unsqueeze(1).expand({8, 8})}, -1);
    const Tensor places = (grid * 0.9 + 0.05).expand({x.size(0), 8, 8, 2});
    return F::grid_sample(x, places.to(x.device()),  // expect: made-on-cpu
                          F::GridSampleFuncOptions().align_corners(false));
  }
};
TORCH_MODULE(Grid);

void sampling_grid() {
  Grid net;
  for (int i = 0; i < 2; ++i) net(images());
}

struct StandardisedImpl : nn::Module {
  Tensor forward(const Tensor& x) {
    const Tensor mean = torch::tensor({0.48f, 0.45f, 0.40f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f});
    return x - mean.to(x.device());  // expect: copied-each-call
  }
};
TORCH_MODULE(Standardised);

void standardised() {
  Standardised net;
  for (int i = 0; i < 3; ++i) net(rows());
}

struct TiedImpl : nn::Module {
  explicit TiedImpl(Tensor t) : table(std::move(t)) {}
  Tensor forward(const Tensor& x) {
    const Tensor weight = table.to(x.device());  // expect: copied-each-call
    return x.mm(weight.t());
  }
  Tensor table;
};
TORCH_MODULE(Tied);

void tied_table() {
  Tied net(torch::randn({3, 8}));
  net->to(device);
  for (int i = 0; i < 3; ++i) net(rows());
}

// --- names of devices

void load_to_cuda() {
  const auto file = std::filesystem::temp_directory_path() / "ambit_check_weights.pt";
  const Tensor weights = torch::ones({4});
  torch::save(weights, file.string());
  Tensor loaded;
  torch::load(loaded, file.string(), torch::kCUDA);  // expect: hard-coded-device
}

void options_of_cuda() {
  const auto options = torch::device({torch::kCUDA, 0});  // expect: hard-coded-device
  const Tensor bias = torch::zeros({8}, options);
  std::cout << (rows() + bias).sizes() << '\n';
}

void checkpoint_of_big_machine() {
  const auto file = std::filesystem::temp_directory_path() / "ambit_check_big.pt";
  nn::Linear net(8, 8);
  torch::save(net, file.string());
  torch::load(net, file.string(), torch::Device("cuda:4"));  // expect: missing-device
}

void one_replica_per_device() {
  if (device.is_cpu()) return;
  for (int i = 0; i < 4; ++i) {
    const auto index = static_cast<torch::DeviceIndex>(i);
    nn::Linear replica(8, 8);
    replica->to(torch::Device(device.type(), index));  // expect: missing-device
  }
}

// --- copies that the host does not wait for

void refilled_batch() {
  if (device.is_cpu()) return;
  Tensor batch = torch::zeros({4, 8}).pin_memory();
  Tensor total = torch::zeros({4, 8}, device);
  for (int i = 0; i < 2; ++i) {
    batch.fill_(i + 1);
    total += batch.to(device, /*non_blocking=*/true);  // expect: changed-during-copy
  }
  std::cout << total.sum().item<float>() << '\n';
}

void raw_bytes() {
  if (device.is_cpu()) return;
  const Tensor batch = torch::zeros({4, 8}).pin_memory();
  const Tensor sent = batch.to(device, true);  // expect: changed-during-copy
  std::memset(batch.data_ptr(), 1, batch.nbytes());
  std::cout << sent.sum().item<float>() << '\n';
}

void early_result() {
  const Tensor y = rows().relu();
  const Tensor host = y.to(torch::kCPU, /*non_blocking=*/true);  // expect: read-during-copy
  std::cout << host.data_ptr<float>()[0] << '\n';
}

void early_sum() {
  if (device.is_cpu()) return;
  const Tensor y = rows() * 2;
  Tensor host = torch::empty({4, 8}).pin_memory();
  host.copy_(y, /*non_blocking=*/true);  // expect: read-during-copy
  std::cout << host.sum().item<float>() << '\n';
}

const Programs& mistakes() {
  static const Programs all{
#define PROGRAM(name) {#name, name}
      PROGRAM(labels_stay),
      PROGRAM(accuracy),
      PROGRAM(average_of_weights),
      PROGRAM(normalised),
      PROGRAM(mixed_up),
      PROGRAM(one_hot_targets),
      PROGRAM(gradient_penalty),
      PROGRAM(chosen_actions),
      PROGRAM(bootstrapped),
      PROGRAM(word_ids),
      PROGRAM(first_hidden_state),
      PROGRAM(positional_table),
      PROGRAM(causal_mask),
      PROGRAM(class_token),
      PROGRAM(layers_in_vector),
      PROGRAM(masked_lambda),
      PROGRAM(loss_that_is_no_module),
      PROGRAM(own_gradient),
      PROGRAM(optional_metric),
      PROGRAM(metric_thread),
      PROGRAM(style_target),
      PROGRAM(sampled),
      PROGRAM(learned_positions),
      PROGRAM(past_only),
      PROGRAM(dropped_rows),
      PROGRAM(sampling_grid),
      PROGRAM(standardised),
      PROGRAM(tied_table),
      PROGRAM(load_to_cuda),
      PROGRAM(options_of_cuda),
      PROGRAM(checkpoint_of_big_machine),
      PROGRAM(one_replica_per_device),
      PROGRAM(refilled_batch),
      PROGRAM(raw_bytes),
      PROGRAM(early_result),
      PROGRAM(early_sum),
#undef PROGRAM
  };
  return all;
}

}  // namespace planted
