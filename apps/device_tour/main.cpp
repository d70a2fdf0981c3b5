// The lesson "Training PyTorch code on the GPU" in C++: how tensors and networks move between
// devices, and the errors if they are on different ones. It prints each statement, then its result.
// Without a GPU a simulated one is used, and the tour says so.
#include <ambit/ambit.h>
#include <ambit/backend/backend.h>
#include <ambit/backend/registry.h>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "terminal/program.h"

namespace {

using namespace ambit;
namespace F = nn::functional;

// The network of the lesson's series, for Fashion-MNIST: grey images of 28 x 28 pixels, ten
// classes.
struct NetworkImpl : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(1, 6, 5))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(6, 12, 5))};
  nn::Linear fc1{register_module("fc1", nn::Linear(12 * 4 * 4, 120))};
  nn::Linear fc2{register_module("fc2", nn::Linear(120, 60))};
  nn::Linear out{register_module("out", nn::Linear(60, 10))};

  Tensor forward(Tensor t) {
    t = F::max_pool2d(F::relu(conv1(t)), 2, 2);
    t = F::max_pool2d(F::relu(conv2(t)), 2, 2);
    t = t.reshape({-1, 12 * 4 * 4});
    t = F::relu(fc1(t));
    t = F::relu(fc2(t));
    return out(t);
  }
};
AMBIT_MODULE(Network);

void heading(const char* text) { fmt::print("\n# {}\n", text); }

void show(const std::string& statement, const std::string& value) {
  fmt::print("> {}\n{}\n", statement, value);
}

void show(const std::string& statement, const std::function<Tensor()>& function) {
  try {
    show(statement, fmt::to_string(fmt::streamed(function())));
  } catch (const DeviceMismatchError& e) {
    show(statement, e.what());
  }
}

void show_parameter_devices(const Network& network) {
  for (const auto& parameter : network->named_parameters()) {
    fmt::print("{}  {}\n", parameter.value().device().str(), parameter.key());
  }
}

// The simulator provides a cuda device only if no other backend does.
void find_cuda() {
  ::setenv("AMBIT_SIM", "cuda:1", /*overwrite=*/1);
  const Device cuda("cuda");
  const std::string name = backend_of(cuda).properties(cuda.index()).name;
  const bool simulated = name == "simulated on the host";
  fmt::print("{}{} is {}.\n", simulated ? "There is no CUDA GPU here: " : "", cuda.str(), name);
}

void move_tensor_and_network() {
  heading("A tensor and a network go to the GPU and back");
  Tensor t = ones({1, 1, 28, 28});
  Network network;

  t = t.cuda();
  network = network.cuda();
  const Tensor gpu_pred = network(t);
  show("gpu_pred.device().repr()", gpu_pred.device().repr());

  t = t.cpu();
  network = network.cpu();
  const Tensor cpu_pred = network(t);
  show("cpu_pred.device().repr()", cpu_pred.device().repr());
}

void add_across_devices() {
  heading("Operations on tensors of different devices");
  Tensor t1 = tensor({{1, 2}, {3, 4}});
  Tensor t2 = tensor({{5, 6}, {7, 8}});
  show("t1.device().repr()", t1.device().repr());
  show("t2.device().repr()", t2.device().repr());

  t1 = t1.to("cuda");
  show("t1.device().repr()", t1.device().repr());
  show("t1 + t2", [&] { return t1 + t2; });
  show("t2 + t1", [&] { return t2 + t1; });

  t2 = t2.to("cuda");
  show("t1 + t2", [&] { return t1 + t2; });
}

void move_parameters() {
  heading("A network is where its parameters are");
  Network network;
  fmt::print("> network->named_parameters()\n");
  for (const auto& parameter : network->named_parameters()) {
    fmt::print("{}  {}\n", parameter.key(), fmt::streamed(parameter.value().sizes()));
  }
  fmt::print("> their devices\n");
  show_parameter_devices(network);

  network->to("cuda");
  fmt::print("> after network->to(\"cuda\")\n");
  show_parameter_devices(network);
}

void write_device_agnostic_code() {
  heading("The device as a variable");
  for (const Device device : {Device("cpu"), Device("cuda")}) {
    const Network network = Network().to(device);
    const Tensor t = ones({1, 1, 28, 28}).to(device);
    show(fmt::format("network(t).device().repr() where device is {}", device.str()),
         network(t).device().repr());
  }
}

int tour() {
  find_cuda();
  move_tensor_and_network();
  add_across_devices();
  move_parameters();
  write_device_agnostic_code();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("device_tour", [&] {
    CLI::App app(
        "Show how tensors and networks move between cpu and cuda, and the errors of mixed "
        "devices.\n"
        "Without a GPU a simulated one is used.",
        "device_tour");
    terminal::parse_command_line(app, argc, argv);
    return tour();
  });
}
