// Reinforcement learning (REINFORCE): the network learns to push a cart left or right so that the
// pole on it does not fall. Its only input besides the state is the time until the fall. Source:
// Williams 1992, "Simple statistical gradient-following algorithms"; the cart of Barto, Sutton &
// Anderson 1983, with the constants of Gym's CartPole-v1.
#include <ambit/ambit.h>

#include <fmt/format.h>

#include <numbers>
#include <vector>

#include "terminal/program.h"
#include "training/steps.h"

namespace {

using namespace ambit;
namespace F = nn::functional;

constexpr int64_t kLongest = 500;  // steps of an episode; a step is 0.02 s
constexpr double kDiscount = 0.99;

// Simulates N carts at once. The state is position, speed, angle and angular speed, float32 [4,N],
// in m and rad.
struct Carts {
  Tensor state;

  explicit Carts(int64_t n, Device device) : state((rand({4, n}) * 0.1 - 0.05).to(device)) {}

  /// Push each cart with 10 N, actions int64 [N]: 0 left, 1 right; return whether its pole stands:
  /// bool [N].
  Tensor push(const Tensor& actions) {
    constexpr double kGravity = 9.8, kCart = 1, kPole = 0.1, kHalfLength = 0.5, kForce = 10;
    constexpr double kTotal = kCart + kPole, kSeconds = 0.02;
    const Tensor position = state[0], speed = state[1], angle = state[2], turning = state[3];
    const Tensor cosine = angle.cos(), sine = angle.sin();
    const Tensor push = (actions.to(kFloat32) * (2 * kForce) - kForce +
                         kPole * kHalfLength * turning.square() * sine) /
                        kTotal;
    const Tensor turning_up = (kGravity * sine - cosine * push) /
                              (kHalfLength * (4. / 3 - kPole * cosine.square() / kTotal));
    const Tensor speed_up = push - kPole * kHalfLength / kTotal * turning_up * cosine;
    state = stack({position + kSeconds * speed, speed + kSeconds * speed_up,
                   angle + kSeconds * turning, turning + kSeconds * turning_up});
    return (state[0].abs() < 2.4).logical_and(state[2].abs() < 12 * std::numbers::pi / 180);
  }
};

struct PolicyImpl : nn::Module {
  nn::Linear fc1{register_module("fc1", nn::Linear(4, 64))};
  nn::Linear fc2{register_module("fc2", nn::Linear(64, 2))};
  /// States [N,4] -> logits of the two actions [N,2].
  Tensor forward(const Tensor& x) { return fc2(F::relu(fc1(x))); }
};
AMBIT_MODULE(Policy);

struct Episodes {
  Tensor loss;       // its gradient is the policy gradient
  double steps = 0;  // mean number of steps until the pole falls
};

// Run `n` carts in parallel until all poles have fallen.
Episodes play(Policy& policy, int64_t n, Device device) {
  Carts carts(n, device);
  std::vector<Tensor> log_chances, standing{ones({n}, device)};  // [N] for each step
  for (int64_t t = 0; t < kLongest; ++t) {
    const Tensor chances = F::log_softmax(policy(carts.state.t()), 1);
    const Tensor actions = multinomial(chances.detach().exp().cpu(), 1).to(device);  // [N,1]
    log_chances.push_back(chances.gather(1, actions).squeeze(1));
    const Tensor stands = carts.push(actions.squeeze(1));
    standing.push_back(standing.back() * stands.to(kFloat32));
    if (standing.back().sum().item<double>() == 0) break;
  }
  standing.erase(standing.begin());
  // Discounted returns, with reward 1 for each step that the pole stands, minus their mean.
  std::vector<Tensor> returns(standing.size());
  Tensor sum = zeros({n}, device);
  for (size_t t = standing.size(); t-- > 0;) returns[t] = sum = standing[t] + kDiscount * sum;
  const Tensor all = stack(returns), advantages = all - all.mean({1}, true);  // [T,N]
  const Tensor moved = cat({ones({1, n}, device), stack(standing).narrow(0, 0, all.size(0) - 1)});
  return {-(stack(log_chances) * advantages * moved).sum() / moved.sum() / all.std(),
          stack(standing).sum().item<double>() / static_cast<double>(n)};
}

int run(const training::StepOptions& options) {
  const Device device = options.chosen_device();
  Policy policy = Policy().to(device);
  optim::Adam optimizer(policy->parameters(), optim::AdamOptions(options.lr));

  training::Steps steps(options, *policy, {&optimizer});
  while (steps.next()) {
    const Episodes episodes = play(policy, options.batch_size, device);
    optimizer.zero_grad();
    episodes.loss.backward();
    optimizer.step();
    steps.done(episodes.loss, options.batch_size);
    if (steps.count() % options.log_every == 0) steps.report("standing", episodes.steps);
  }

  const NoGradGuard no_grad;
  steps.report("standing at the end", play(policy, 64, device).steps);
  return steps.finish();
}

}  // namespace

int main(int argc, char** argv) {
  return terminal::run_program("cart_pole", [&] {
    training::StepOptions options{
        .name = "cart_pole",
        .about = "Learn to keep a pole on a cart upright, for 500 steps at most.",
        .unit = "episodes",
        .batch = "episodes",
        .steps = 150,
        .batch_size = 32,
        .lr = 1e-2,
        .log_every = 10};
    options.parse(argc, argv);
    return run(options);
  });
}
