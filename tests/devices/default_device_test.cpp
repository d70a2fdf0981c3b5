// The device of new tensors without a device option, and the device that "cuda" means.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <thread>

#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;

TEST_CASE("factories create tensors on the default device") {
  for_each_device([](Device device) {
    const DefaultDeviceGuard guard(device);
    CHECK(get_default_device() == device);
    const Tensor like = ones({2}, kCPU);
    for (const Tensor& t :
         {empty({2}), zeros(3), ones({2}), full({2}, 7), arange(3), linspace(0, 1, 4), eye(2),
          tensor({1, 2}), scalar_tensor(1), rand({2}), randn({2}), randint(5, {2}), randperm(4)}) {
      CHECK(t.device() == device);
    }
    CHECK(ones({2}, kFloat64).device() == device);
    CHECK(TensorOptions().requires_grad(true).device() == device);
    CHECK(nn::Linear(2, 2)->weight.device() == device);
    CHECK(nn::BatchNorm2d(2)->num_batches_tracked.device() == device);
    // Calls with a device option, with another tensor's options, or for host memory.
    CHECK(ones({2}, kCPU).is_cpu());
    CHECK(ones_like(like).is_cpu());
    CHECK(like.to(kFloat64).is_cpu());
    CHECK(like.to(TensorOptions(kFloat64)).is_cpu());
    CHECK((like * 2 + 1).is_cpu());
    float numbers[2] = {1, 2};
    CHECK(from_blob(numbers, {2}).is_cpu());
    CHECK(from_blob(numbers, {2}, TensorOptions(kFloat)).is_cpu());
    const Tensor copy = arange(6.).view({2, 3}).cpu();
    CHECK(copy.index({tensor({1, 0}, kCPU), 1}).equal(tensor({4., 1.}, kCPU)));
    CHECK(copy.index({true}).sizes() == IntArrayRef{1, 2, 3});
    const TemporaryFolder folder;
    for (const char* name : {"t.safetensors", "t.pth"}) {
      save(StateDict{{"t", copy}}, folder / name);
      CHECK(load(folder / name)[0].second.equal(copy));
    }
  });
  CHECK(get_default_device().is_cpu());
  CHECK(ones({1}).is_cpu());
}

TEST_CASE("training works with any default device") {
  for_each_device([](Device device) {
    const DefaultDeviceGuard guard(device);
    nn::Linear fc(3, 2);
    optim::Adam adam(fc->parameters(), 0.1);
    optim::RMSprop rmsprop(fc->parameters());
    optim::LBFGS lbfgs(fc->parameters());
    const Tensor x = ones({4, 3}), y = zeros({4, 2});
    const auto closure = [&] {
      fc->zero_grad();
      Tensor loss = nn::functional::mse_loss(fc(x), y);
      loss.backward();
      return loss;
    };
    const double before = closure().item<double>();
    for (optim::Optimizer* o :
         {static_cast<optim::Optimizer*>(&adam), static_cast<optim::Optimizer*>(&rmsprop),
          static_cast<optim::Optimizer*>(&lbfgs)}) {
      o->step(closure);
      o->load_checkpoint(o->checkpoint());
      o->step(closure);
      o->load_state_dict(o->state_dict());
    }
    CHECK(closure().item<double>() < before);
  });
}

TEST_CASE("the default device belongs to the thread, and must exist") {
  const DefaultDeviceGuard guard("reference");
  std::thread([] { CHECK(get_default_device().is_cpu()); }).join();
  CHECK_THROWS_AS(set_default_device("reference:7"), BackendError);
  CHECK(get_default_device() == Device("reference"));
}

TEST_CASE("a device guard selects the device of its kind, and has no other effect") {
  const Device second("sim:1");
  if (device_count("sim") < 2) return;
  {
    DeviceGuard guard(second);
    CHECK(Device("sim") == second);
    CHECK(Device(DeviceType("sim")) == second);
    CHECK(Device("sim:0").index() == 0);
    CHECK(ones({1}).is_cpu());
    CHECK(ones({1}).to("sim").device() == second);
    CHECK(guard.original_device() == Device("sim:0"));
    CHECK(guard.current_device() == second);
    {
      const DeviceGuard inner(Device("sim:0"));
      CHECK(Device("sim").index() == 0);
    }
    CHECK(Device("sim") == second);
    std::thread([] { CHECK(Device("sim").index() == 0); }).join();
    guard.set_index(0);
    CHECK(Device("sim").index() == 0);
    guard.set_index(1);
    guard.reset_device(Device("reference"));
    CHECK(Device("sim").index() == 0);
  }
  CHECK(Device("sim").index() == 0);
  CHECK_THROWS_AS(DeviceGuard(Device("sim:99")), BackendError);
  CHECK(Device("sim").index() == 0);
  CHECK(Device(kCPU) == Device());
  CHECK(Device(kCPU, -1) == Device());
}
