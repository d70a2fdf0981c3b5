// Trains the lessons' two networks from the parameters and on the images that PyTorch 1.13 used:
// logits, first gradients, every loss and the final parameters must agree. The numbers and their
// tolerances come from $AMBIT_REFERENCE/README.md, the images from $AMBIT_DATA/cifar-10-sample.
// The networks train on the device $AMBIT_TEST_DEVICE, by default the CPU.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

using namespace ambit;

namespace {

struct NetImpl : nn::Module {
  NetImpl() {
    conv1 = register_module("conv1", nn::Conv2d(3, 6, 5));
    conv2 = register_module("conv2", nn::Conv2d(6, 16, 5));
    fc1 = register_module("fc1", nn::Linear(16 * 5 * 5, 120));
    fc2 = register_module("fc2", nn::Linear(120, 84));
    fc3 = register_module("fc3", nn::Linear(84, 10));
  }
  Tensor forward(Tensor x) {
    x = pool(relu(conv1(x)));
    x = pool(relu(conv2(x)));
    x = x.view({-1, 16 * 5 * 5});
    x = relu(fc1(x));
    x = relu(fc2(x));
    return fc3(x);
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::MaxPool2d pool{2, 2};
  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};
AMBIT_MODULE(Net);

struct TuduiImpl : nn::Module {
  TuduiImpl() {
    model = register_module(
        "model",
        nn::Sequential(nn::Conv2d(3, 32, 5, 1, 2), nn::MaxPool2d(2), nn::Conv2d(32, 32, 5, 1, 2),
                       nn::MaxPool2d(2), nn::Conv2d(32, 64, 5, 1, 2), nn::MaxPool2d(2),
                       nn::Flatten(), nn::Linear(64 * 4 * 4, 64), nn::Linear(64, 10)));
  }
  Tensor forward(const Tensor& x) { return model->forward(x); }
  nn::Sequential model{nullptr};
};
AMBIT_MODULE(Tudui);

struct Images {
  Tensor pixels, labels;  // [N,3,32,32] float32 in [0,1]; [N] int64
};

// Records of CIFAR-10's binary layout: a label byte, then 3072 pixel bytes.
Images read_batches(const std::string& folder, const std::vector<std::string>& files) {
  std::vector<Tensor> pixels, labels;
  for (const std::string& file : files) {
    std::ifstream in(folder + "/" + file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const auto n = static_cast<int64_t>(bytes.size()) / 3073;
    REQUIRE(n > 0);
    const Tensor records = from_blob(bytes.data(), {n, 3073}, kUInt8);
    labels.push_back(records.select(1, 0).to(kInt64));
    pixels.push_back(records.slice(1, 1).to(kFloat32).reshape({n, 3, 32, 32}) / 255);
  }
  return {cat(pixels), cat(labels)};
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

void check_close(const Tensor& got, const Tensor& want, double rtol, double atol) {
  REQUIRE(got.sizes() == want.sizes());
  const double worst = ((got - want).abs() - (atol + rtol * want.abs())).max().item<double>();
  INFO("exceeds the tolerance by ", worst);
  CHECK(worst <= 0);
}

template <class Model>
void reproduce(const std::string& name, double learning_rate, double momentum) {
  const char *data = environment("AMBIT_DATA"), *reference = environment("AMBIT_REFERENCE");
  if (!data || !reference) {
    MESSAGE("skipped: no data");
    return;
  }
  const std::string prefix = std::string(reference) + "/" + name;
  const auto run = nlohmann::json::parse(std::ifstream(prefix + ".json"));
  const int64_t batch = run["batch_size"], steps = run["steps"];
  const char* device_name = environment("AMBIT_TEST_DEVICE");
  const Device device(device_name ? device_name : "cpu");
  // Other devices sum in another order, and their convolution algorithms round differently.
  const double rtol = device.is_cpu() ? 1e-4 : 1e-3;
  const auto prepare = [&](Images images) {
    if (run["normalize"]) images.pixels = (images.pixels - 0.5) / 0.5;
    return Images{images.pixels.to(device), images.labels.to(device)};
  };
  const std::string folder = std::string(data) + "/cifar-10-sample";
  const Images train =
      prepare(read_batches(folder, {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                    "data_batch_4.bin", "data_batch_5.bin"}));
  const Images test = prepare(read_batches(folder, {"test_batch.bin"}));

  Model net;
  net->load_state_dict(load(prefix + "_init.safetensors"));
  net->to(device);
  {
    const NoGradGuard no_grad;
    const auto logits = run["first_logits"].get<std::vector<std::vector<double>>>();
    std::vector<Tensor> rows;
    for (const auto& row : logits) rows.push_back(tensor(TensorData(row), kFloat32));
    check_close(net(test.pixels.narrow(0, 0, 8)).cpu(), stack(rows), rtol, 1e-6);
  }
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(learning_rate).momentum(momentum));
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t first = step * batch;
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(net(train.pixels.narrow(0, first, batch)),
                                      train.labels.narrow(0, first, batch));
    loss.backward();
    if (step == 0) {
      for (const auto& [key, gradient] : load(prefix + "_grad0.safetensors")) {
        INFO(name, " step-1 gradient of ", key);
        check_close(net->named_parameters()[key].grad().cpu(), gradient, rtol, 1e-6);
      }
    }
    const double want = run["losses"][static_cast<size_t>(step)];
    if (step < 100) {
      INFO(name, " step ", step, " loss ", loss.item<double>(), " PyTorch ", want);
      CHECK(std::abs(loss.item<double>() - want) <= rtol * want);
    }
    optimizer.step();
  }
  for (const auto& [key, value] : load(prefix + "_final.safetensors")) {
    INFO(name, " final ", key);
    check_close(net->named_parameters()[key].detach().cpu(), value, 2e-3, 1e-5);
  }
  const NoGradGuard no_grad;
  const double accuracy =
      (net(test.pixels).argmax(1) == test.labels).to(kFloat64).mean().template item<double>();
  // Two of the 2,000 test images may get another class: final logits differ in the 4th digit.
  CHECK(std::abs(accuracy - run["test_accuracy_after"].get<double>()) <= 0.001);
}

}  // namespace

TEST_CASE("net trains as in PyTorch") { reproduce<Net>("net", 0.001, 0.9); }
TEST_CASE("tudui trains as in PyTorch") { reproduce<Tudui>("tudui", 0.01, 0); }
