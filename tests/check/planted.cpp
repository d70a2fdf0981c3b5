// Programs with one device mistake each, and programs without mistakes: planted <name> [device]. A
// comment "mark: <name>" is on the line that `ambit check` must report. One file, because the test
// looks for all marks in it.
#include <ambit/ambit.h>
#include <ambit/testing.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>

using namespace ambit;

namespace {

Device the_device = kCPU;

Tensor batch() { return ones({4, 8}).to(the_device); }

// --- mismatches

struct Plain : nn::Module {
  Plain() { fc = register_module("fc", nn::Linear(8, 8)); }
  Tensor forward(const Tensor& x) {
    return fc(x);  // mark: input_not_moved
  }
  nn::Linear fc{nullptr};
};

void input_not_moved() {
  Plain net;
  net.to(the_device);
  net.forward(ones({4, 8}));
}

void target_not_moved() {
  const Tensor y = batch();
  mse_loss(y, zeros({4, 8}));  // mark: target_not_moved
}

void swallowed() {
  try {
    add(batch(), ones({4, 8}));  // mark: swallowed
  } catch (const Error&) {
  }
}

void two_devices() {
  if (the_device.is_cpu()) return;
  const Device second(the_device.type(), 1);
  matmul(batch(), ones({8, 8}).to(second));  // mark: two_devices
}

void cat_of_two() {
  cat({batch(), ones({4, 8})});  // mark: cat_of_two
}

void in_place() {
  Tensor x = batch();
  x.add_(ones({4, 8}));  // mark: in_place
}

void where_mask() {
  const Tensor x = batch();
  where(x > 0, x, zeros({4, 8}));  // mark: where_mask
}

struct Unregistered : nn::Module {
  Unregistered() : scale(ones({8})) {}
  Tensor forward(const Tensor& x) {
    return x * scale;  // mark: unregistered
  }
  Tensor scale;
};

struct UnregisteredLiteral : nn::Module {
  Tensor forward(const Tensor& x) {
    return x * scale;  // mark: unregistered_literal
  }
  Tensor scale = tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f});
};

void unregistered_literal() {
  UnregisteredLiteral net;
  net.to(the_device);
  net.forward(batch());
}

void unregistered() {
  Unregistered net;
  net.to(the_device);
  net.forward(batch());
}

struct UnregisteredModule : nn::Module {
  Tensor forward(const Tensor& x) {
    return fc(x);  // mark: unregistered_module
  }
  nn::Linear fc{8, 8};
};

void unregistered_module() {
  UnregisteredModule net;
  net.to(the_device);
  net.forward(batch());
}

struct Positions : nn::Module {
  Tensor forward(const Tensor& x) {
    return x + arange(8).to(kFloat32);  // mark: default_device
  }
};

void default_device() { Positions().forward(batch()); }

// --- tensors that each call copies

struct Noisy : nn::Module {
  Tensor forward(const Tensor& x) {
    return x + randn({4, 8}).to(x.device());  // mark: noise_on_cpu
  }
};

void noise_on_cpu() {
  Noisy net;
  for (int i = 0; i < 3; ++i) net.forward(batch());
}

struct ZeroState : nn::Module {
  Tensor forward(const Tensor& x) {
    Tensor state = zeros({4, 8});
    state = state.to(x.device());  // mark: state_on_cpu
    return x + state;
  }
};

void state_on_cpu() { ZeroState().forward(batch()); }

struct MovedMember : nn::Module {
  MovedMember() : mean(tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f})) {}
  Tensor forward(const Tensor& x) {
    return x - mean.to(x.device());  // mark: moved_member
  }
  Tensor mean;
};

void moved_member() {
  MovedMember net;
  net.to(the_device);
  for (int i = 0; i < 3; ++i) net.forward(batch());
}

struct Literal : nn::Module {
  Tensor forward(const Tensor& x) {
    const Tensor weights = tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f});
    return x * weights.to(x.device());  // mark: literal
  }
};

void literal() {
  Literal net;
  for (int i = 0; i < 3; ++i) net.forward(batch());
}

// --- names of devices

void hard_coded() {
  ones({2}).to("cuda:0");  // mark: hard_coded
}

void hard_coded_type() {
  const Tensor x = batch();
  x + ones({4, 8}, TensorOptions().device(kCUDA));  // mark: hard_coded_type
}

void hard_coded_caught() {
  try {
    batch().to(Device("cuda"));  // mark: hard_coded_caught
  } catch (const Error&) {
  }
}

struct Cuda : nn::Module {
  Tensor forward(const Tensor& x) {
    return x + ones({8}, TensorOptions().device("cuda"));  // mark: hard_coded_forward
  }
};

void hard_coded_forward() { Cuda().forward(batch()); }

void missing_index() {
  if (the_device.is_cpu()) return;
  batch().to(Device(the_device.type(), 5));  // mark: missing_index
}

void missing_name() {
  batch().to("xpu:0");  // mark: missing_name
}

void default_missing() {
  set_default_device(Device("cuda:7"));  // mark: default_missing
}

void checkpoint() {
  Plain net;
  const std::string file = std::string(std::getenv("CHECK_FOLDER")) + "/net.safetensors";
  save(net, file);
  load(net, file, Device("cuda:3"));  // mark: checkpoint
}

void other_exit_code() {
  batch();
  if (the_device.str().starts_with("npu")) std::exit(3);
}

// --- programs without a mistake

struct Good : nn::Module {
  Good() {
    fc = register_module("fc", nn::Linear(8, 8));
    mean = register_buffer("mean", ones({8}));
  }
  Tensor forward(const Tensor& x) {
    return fc(x - mean) + randn({4, 8}, x.options()) + arange(8, x.options()) * 2.f;
  }
  nn::Linear fc{nullptr};
  Tensor mean;
};

void training() {
  Good net;
  net.to(the_device);
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.1));
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    Tensor loss = net.forward(batch()).pow(2).mean();
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << '\n';  // mark: training
  }
}

struct TwoLayers : nn::Module {
  Tensor forward(const Tensor& x) { return second(first(x)); }
  nn::Linear first = register_module("first", nn::Linear(8, 8));
  nn::Linear second = register_module("second", nn::Linear(8, 8));
};

void inference() {
  const NoGradGuard no_grad;
  TwoLayers net;
  net.to(the_device);
  const Tensor x = batch();
  for (int i = 0; i < 4; ++i) {
    net.forward(x);
    synchronize(the_device);  // mark: inference
  }
}

void adam() {
  Plain net;
  net.to(the_device);
  optim::Adam optimizer(net.parameters(), optim::AdamOptions(0.1));
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    net.forward(batch()).sum().backward();
    optimizer.step();
  }
}

void copied_error() {
  std::exception_ptr copy;
  try {
    const Tensor x = batch();
    x + ones({4, 8});  // mark: copied_error
  } catch (const DeviceMismatchError& e) {
    copy = std::make_exception_ptr(e);
  }
  try {
    std::rethrow_exception(copy);
  } catch (const Error& e) {
    std::cout << e.explain() << '\n';
  }
}

void queries() {
  const Device chosen = is_available("cuda") ? Device(kCUDA) : kCPU;
  ones({2}).to(chosen);
  device_count("xpu");
}

struct TwoStage : nn::Module {
  Tensor forward(const Tensor& x) {
    const Tensor y = x + 1.f;
    return (the_device.is_cpu() ? y : y.to(Device(the_device.type(), 1))) * 2.f;
  }
};

void model_parallel() {
  for (int i = 0; i < 3; ++i) TwoStage().forward(batch());
}

void expected_mismatch() {
  if (the_device.is_cpu()) return;
  const Tensor x = batch(), y = ones({4, 8});
  CHECK_DEVICE_MISMATCH(x + y, the_device.str(), "cpu", x, y);
}

void in_child() {
  batch() + 1.f;
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  try {
    Tensor x = ones({2, 2}).to(Device(kCUDA, 6));  // mark: in_child
  } catch (const Error&) {
  }
  std::exit(0);
}

// The block of a tensor that forward made may later have other data.
struct ReusesMemory : nn::Module {
  Tensor forward(const Tensor& x) {
    { const Tensor made = ones({4, 8}); }
    const Tensor data = empty({4, 8});
    for (int64_t i = 0; i < 32; ++i) data.data_ptr<float>()[i] = static_cast<float>(i + ++calls_);
    return x + data.to(the_device);
  }

 private:
  int64_t calls_ = 0;
};

void reuses_memory() {
  ReusesMemory net;
  for (int i = 0; i < 3; ++i) net.forward(batch());
}

struct MovesItsInput : nn::Module {
  Tensor forward(const Tensor& x) { return x.to(the_device) * 2.f; }
};

void moves_its_input() {
  for (int i = 0; i < 3; ++i) MovesItsInput().forward(full({4, 8}, i + 1.f));
}

// The input is made by a factory function, too, but not in the forward.
struct DerivesFromInput : nn::Module {
  Tensor forward(const Tensor& x) { return (x * 2.f).to(the_device) + 1.f; }
};

void derives_from_input() {
  for (int i = 0; i < 3; ++i) DerivesFromInput().forward(full({4, 8}, i + 1.f));
}

void waits_for_copies() {
  if (the_device.is_cpu()) return;
  const Tensor halves = zeros({2, 8}).pin_memory(the_device);
  for (int i = 0; i < 4; ++i) {
    const Tensor half = halves[i % 2];  // the other one may still be copied
    if (i > 1) synchronize(the_device);
    half.fill_(i);
    const Tensor y = half.to(the_device, /*non_blocking=*/true) * 2.f;
    const Tensor host = y.to(kCPU, /*non_blocking=*/true);
    synchronize(the_device);
    std::cout << host.sum().item<float>() << '\n';
    half.to(the_device, /*non_blocking=*/true);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::map<std::string, void (*)()> programs{
#define PROGRAM(name) {#name, name}
      PROGRAM(input_not_moved),
      PROGRAM(target_not_moved),
      PROGRAM(swallowed),
      PROGRAM(two_devices),
      PROGRAM(cat_of_two),
      PROGRAM(in_place),
      PROGRAM(where_mask),
      PROGRAM(unregistered),
      PROGRAM(unregistered_literal),
      PROGRAM(unregistered_module),
      PROGRAM(default_device),
      PROGRAM(noise_on_cpu),
      PROGRAM(state_on_cpu),
      PROGRAM(moved_member),
      PROGRAM(literal),
      PROGRAM(hard_coded),
      PROGRAM(hard_coded_type),
      PROGRAM(hard_coded_caught),
      PROGRAM(hard_coded_forward),
      PROGRAM(missing_index),
      PROGRAM(missing_name),
      PROGRAM(default_missing),
      PROGRAM(checkpoint),
      PROGRAM(other_exit_code),
      PROGRAM(training),
      PROGRAM(inference),
      PROGRAM(adam),
      PROGRAM(copied_error),
      PROGRAM(queries),
      PROGRAM(model_parallel),
      PROGRAM(moves_its_input),
      PROGRAM(reuses_memory),
      PROGRAM(derives_from_input),
      PROGRAM(waits_for_copies),
      PROGRAM(in_child),
      PROGRAM(expected_mismatch),
#undef PROGRAM
  };
  const auto program = programs.find(argc > 1 ? argv[1] : "");
  if (program == programs.end()) return 4;
  if (argc > 2) the_device = Device(argv[2]);
  program->second();
} catch (const Error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
