// A random program: steps that make tensors from earlier ones, write in place, differentiate, and
// call with bad arguments. The same steps run on any device, and as lines of Python with PyTorch.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fuzz {

/// What a program works on: its device, another one for moves there and back, and the results of
/// its steps; undefined where a step threw, or gave nothing.
struct State {
  ambit::Device device, other;
  std::vector<ambit::Tensor> slots;
};

struct Step {
  std::string python;  ///< in terms of r, a list of tensors as State::slots
  std::function<ambit::Tensor(State&)> run;
  int slot = -1;         ///< where the result goes; -1: it is an operand, written in place
  double tolerance = 0;  ///< of float results, relative to the largest element or 1; 0: exact
};

struct Program {
  uint64_t seed = 0;
  std::vector<Step> steps;
};

/// Make the program of a seed; it has been run once, on `reference`, to make most calls good ones.
Program generate(uint64_t seed);

/// Run a step and store its result. Errors: what the step throws; then nothing is stored.
ambit::Tensor execute(const Step& step, State& state);

}  // namespace fuzz
