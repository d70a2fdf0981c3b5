// Further programs with one device mistake each, written with libtorch's names and compiled with
// optimisation: planted_torch <name> [device]. Marks as in planted.cpp.
#include <torch/torch.h>

#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

// Not an anonymous namespace: if one of its functions is inlined, addr2line does not print the
// function's class.
namespace planted {

torch::Device device = torch::kCPU;

torch::Tensor inputs() { return torch::randn({4, 8}).to(device); }

// --- operands on the CPU

void hidden_state() {
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(8, 8));
  lstm->to(device);
  const auto x = torch::randn({3, 4, 8}).to(device);
  const auto state = std::make_tuple(torch::zeros({1, 4, 8}), torch::zeros({1, 4, 8}));
  lstm->forward(x, state);  // mark: hidden_state
}

void class_weights() {
  const auto target = torch::zeros({4}, torch::dtype(torch::kInt64)).to(device);
  const auto weights = torch::ones({8});
  auto options = torch::nn::functional::CrossEntropyFuncOptions().weight(weights);
  torch::nn::functional::cross_entropy(inputs(), target, options);  // mark: class_weights
}

void criterion() {
  const auto target = torch::zeros({4}, torch::dtype(torch::kInt64)).to(device);
  torch::nn::CrossEntropyLoss loss(torch::nn::CrossEntropyLossOptions().weight(torch::ones({8})));
  loss(inputs(), target);  // mark: criterion
}

void running_total() {
  auto total = torch::zeros({1});
  for (int i = 0; i < 2; ++i) {
    total += inputs().sum().view({1});  // mark: running_total
  }
}

void raw_data() {
  std::vector<float> values(32, 1.f);
  const auto x = torch::from_blob(values.data(), {4, 8});
  torch::mm(x, torch::ones({8, 8}).to(device));  // mark: raw_data
}

void in_thread() {
  std::thread worker([] {
    try {
      torch::cat({inputs(), torch::zeros({1, 8})});  // mark: in_thread
    } catch (const c10::Error&) {
    }
  });
  worker.join();
}

// --- members that to() does not move

struct Bank : torch::nn::Module {
  Bank() {
    for (int i = 0; i < 2; ++i) scales.push_back(torch::full({8}, 2.f));
  }
  torch::Tensor forward(torch::Tensor x) {
    for (const auto& scale : scales) {
      x = x * scale;  // mark: list_of_tensors
    }
    return x;
  }
  std::vector<torch::Tensor> scales;
};

void list_of_tensors() {
  const auto net = std::make_shared<Bank>();
  net->to(device);
  net->forward(inputs());
}

struct Stack : torch::nn::Module {
  Stack() : layers(torch::nn::Linear(8, 8), torch::nn::ReLU()) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return layers->forward(x);  // mark: sequential
  }
  torch::nn::Sequential layers;
};

void sequential() {
  const auto net = std::make_shared<Stack>();
  net->to(device);
  net->forward(inputs());
}

struct Replaced : torch::nn::Module {
  Replaced() { head = register_module("head", torch::nn::Linear(8, 8)); }
  torch::Tensor forward(const torch::Tensor& x) {
    return head->forward(x);  // mark: replaced_head
  }
  torch::nn::Linear head{nullptr};
};

void replaced_head() {
  const auto net = std::make_shared<Replaced>();
  net->head = torch::nn::Linear(8, 2);
  net->to(device);
  net->forward(inputs());
}

// --- tensors made in forward

struct Causal : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    const auto mask = torch::ones({4, 8}).tril().to(torch::kBool);
    return x.masked_fill(mask, 0.f);  // mark: mask_in_forward
  }
};

void mask_in_forward() { Causal().forward(inputs()); }

struct Projected : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    return x.mm(torch::eye(8).to(x.device()));  // mark: eye_in_forward
  }
};

void eye_in_forward() {
  Projected net;
  for (int i = 0; i < 2; ++i) net.forward(inputs());
}

struct Normalized : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    static const torch::Tensor mean = torch::full({8}, 0.5f);
    return x - mean.to(x.device(), /*non_blocking=*/true);  // mark: static_constant
  }
};

void static_constant() {
  Normalized net;
  for (int i = 0; i < 2; ++i) net.forward(inputs());
}

// --- names of devices

void cuda_method() {
  inputs().cuda();  // mark: cuda_method
}

struct ToCuda : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    return x + torch::arange(8, torch::device(torch::kCUDA));  // mark: factory_on_cuda
  }
};

void factory_on_cuda() { ToCuda().forward(inputs()); }

void second_gpu() {
  torch::nn::Linear net(8, 8);
  net->to(torch::Device(torch::kCUDA, 2));  // mark: second_gpu
}

// --- without a mistake

struct Clean : torch::nn::Module {
  Clean() {
    lstm = register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(8, 8)));
    layers = register_module(
        "layers", torch::nn::Sequential(torch::nn::Linear(8, 8), torch::nn::Dropout(0.5)));
    mask = register_buffer("mask", torch::ones({8, 8}).tril());
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto h = torch::zeros({1, x.size(1), 8}, x.options());
    const auto y = std::get<0>(lstm->forward(x, std::make_tuple(h, torch::zeros_like(h))));
    return layers->forward(y.matmul(mask) * 0.5f + torch::tensor(1.f));
  }
  torch::nn::LSTM lstm{nullptr};
  torch::nn::Sequential layers{nullptr};
  torch::Tensor mask;
};

void clean() {
  torch::manual_seed(0);
  const auto net = std::make_shared<Clean>();
  net->to(device);
  torch::optim::Adam optimizer(net->parameters(), 1e-2);
  float total = 0;
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::randn({3, 4, 8}).to(device);
    optimizer.zero_grad();
    const auto loss = net->forward(x).pow(2).mean();
    loss.backward();
    optimizer.step();
    total += loss.item<float>();
  }
  std::cout << total << '\n' << net->mask << '\n';
}

}  // namespace planted

int main(int argc, char** argv) try {
  using namespace planted;
  const std::map<std::string, void (*)()> programs{
#define PROGRAM(name) {#name, name}
      PROGRAM(hidden_state),    PROGRAM(class_weights),   PROGRAM(criterion),
      PROGRAM(running_total),   PROGRAM(raw_data),        PROGRAM(in_thread),
      PROGRAM(list_of_tensors), PROGRAM(sequential),      PROGRAM(replaced_head),
      PROGRAM(mask_in_forward), PROGRAM(eye_in_forward),  PROGRAM(static_constant),
      PROGRAM(cuda_method),     PROGRAM(factory_on_cuda), PROGRAM(second_gpu),
      PROGRAM(clean),
#undef PROGRAM
  };
  const auto program = programs.find(argc > 1 ? argv[1] : "");
  if (program == programs.end()) return 4;
  if (argc > 2) device = torch::Device(argv[2]);
  program->second();
} catch (const c10::Error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
