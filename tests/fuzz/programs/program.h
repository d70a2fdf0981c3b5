// A random program: steps that make tensors from earlier ones, write in place, differentiate, and
// call with invalid arguments. The same steps run on any device, and as Python with PyTorch.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fuzz {

/// State of a program: its device, another one for moves in both directions, and the results of its
/// steps; undefined if a step threw or has no result.
struct State {
  ambit::Device device, other;
  std::vector<ambit::Tensor> slots;
};

struct Step {
  std::string python;  ///< r is the list of tensors, State::slots
  std::function<ambit::Tensor(State&)> run;
  int slot = -1;         ///< slot of the result; -1: an operand written in place
  double tolerance = 0;  ///< relative to the largest element or 1; 0: exact
};

struct Program {
  uint64_t seed = 0;
  std::vector<Step> steps;
};

/// Generate the program of a seed; it runs once on `reference`, so that most calls are valid.
Program generate(uint64_t seed);

/// Run a step and store its result. Errors: those of the step; then nothing is stored.
ambit::Tensor execute(const Step& step, State& state);

}  // namespace fuzz
