// DeviceMismatchError in backward (for given gradients, gradients returned by hooks and custom
// functions, or earlier ones), and in the optimizers.
#include <ambit/autograd.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

#include "mismatch.h"

using namespace ambit;
using namespace mismatch;

namespace {

using Tensors = std::vector<Tensor>;

// Check an error whose arguments the test cannot access: similar tensors represent them.
void check_says(const std::function<void()>& call, const Complaint& complaint) {
  try {
    call();
    FAIL_CHECK("no error");
  } catch (const DeviceMismatchError& e) {
    check_words(e, complaint);
  }
}

Tensor leaf(Device device) { return ones({2}).to(device).requires_grad_(); }

void for_each_pair(const std::function<void(Device here, Device there)>& body) {
  const CountingDevices counting;
  for (const TwoDevices& pair : device_pairs()) {
    INFO(pair.here.str(), " and ", pair.there.str());
    body(pair.here, pair.there);
  }
}

// A function whose backward returns a gradient on another device.
struct Misleading : autograd::Function<Misleading> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x, Device) { return x * 1; }
  static std::vector<Tensor> backward(autograd::AutogradContext*, std::vector<Tensor> g) {
    return {g[0].to(elsewhere), Tensor()};
  }
  static inline Device elsewhere;
};

}  // namespace

TEST_CASE("backward refuses a gradient on another device before it computes anything") {
  for_each_pair([](Device here, Device there) {
    const Tensor x = leaf(here), y = x * 2, g = ones({2}).to(there);
    check_refused([&] { y.backward(g); }, {"backward", {"tensor", "gradient"}, {y, g}, 0, 1}, {x});
    check_refused([&] { autograd::grad({y}, {x}, {g}); },
                  {"grad", {"tensor", "gradient"}, {y, g}, 0, 1}, {x});
    const Tensor loss = x.sum();  // its default gradient is created only after the check
    check_refused(
        [&] {
          autograd::backward({loss, y}, {Tensor(), g});
        },
        {"backward", {"tensor", "gradient"}, {y, g}, 0, 1}, {x});
    CHECK_FALSE(x.grad().defined());
  });
}

TEST_CASE("a hook that returns a gradient on another device is refused, and no .grad changes") {
  for_each_pair([](Device here, Device there) {
    const Tensor misplaced = ones({2}).to(there), g = ones({2}).to(here);
    const Complaint complaint{"backward", {"gradient", "hook's result"}, {g, misplaced}, 0, 1};
    const auto wrong_hook = [&](const Tensor&) { return misplaced; };
    const Tensor x = leaf(here), z = leaf(here), sum = x + z;
    sum.register_hook(wrong_hook);
    check_says([&] { (sum * 2).backward(g); }, complaint);
    x.register_hook(wrong_hook);
    check_says([&] { (x + z).backward(g); }, complaint);
    CHECK_FALSE(x.grad().defined());
    CHECK_FALSE(z.grad().defined());
  });
}

TEST_CASE("a custom function that returns a gradient on another device is refused") {
  for_each_pair([](Device here, Device there) {
    if (here.is_meta()) return;  // data of meta cannot be copied
    const Tensor x = leaf(here);
    Misleading::elsewhere = there;
    const Tensor y = Misleading::apply(x, there);
    check_says(
        [&] { y.backward(ones({2}).to(here)); },
        {"Misleading", {"inputs[0]", "gradients[0]"}, {x.detach(), ones({2}).to(there)}, 0, 1});
    CHECK_FALSE(x.grad().defined());
  });
}

TEST_CASE("an earlier .grad on another device is refused before any leaf gets its gradient") {
  for_each_pair([](Device here, Device there) {
    const Tensor x = leaf(here), z = leaf(here), left = ones({2}).to(there);
    z.mutable_grad() = left;
    check_says([&] { (x + z).backward(ones({2}).to(here)); },
               {"backward", {"tensor", "gradient", "grad"}, {z.detach(), z.detach(), left}, 0, 2});
    CHECK_FALSE(x.grad().defined());
    CHECK(z.grad().is_same(left));
  });
}

TEST_CASE("a leaf that moved since forward refuses a gradient on its old device") {
  for_each_pair([](Device here, Device there) {
    if (here.is_meta()) return;  // data of meta cannot be copied
    const Tensor x = leaf(here), y = x + 1;
    x.set_data(x.detach().to(there));
    check_says([&] { y.backward(ones({2}).to(here)); }, {"backward",
                                                         {"tensor", "gradient", "grad"},
                                                         {x.detach(), ones({2}).to(here), Tensor()},
                                                         0,
                                                         1});
    CHECK_FALSE(x.grad().defined());
  });
}

TEST_CASE("optimizers refuse a gradient on another device before the first update") {
  for_each_pair([](Device here, Device there) {
    const auto check = [&](const char* op, auto make) {
      const Tensor first = leaf(here), second = leaf(here);
      const auto optimizer = make(Tensors{first, second});
      first.mutable_grad() = ones({2}).to(here);
      second.mutable_grad() = ones({2}).to(here);
      optimizer->step();  // with state
      second.mutable_grad() = ones({2}).to(there);
      Tensors others{first, first.grad()};
      for (const auto& [name, state] : optimizer->state_dict()) others.push_back(state);
      check_refused([&] { optimizer->step(); },
                    {op, {"param", "grad"}, {second, second.grad()}, 0, 1}, others);
    };
    check("sgd_step", [](const Tensors& p) {
      return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1).momentum(0.9));
    });
    check("adam_step", [](const Tensors& p) { return std::make_unique<optim::Adam>(p, 0.1); });
    check("adamw_step", [](const Tensors& p) { return std::make_unique<optim::AdamW>(p, 0.1); });
  });
}
