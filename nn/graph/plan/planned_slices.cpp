#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "planned.h"

namespace ambit::graph {
namespace {

// Return an uninitialised tensor for the results of all images, whose strides have the same order
// as those of `part`, the results of a slice.
Tensor whole(const Tensor& part, int64_t images) {
  Dims sizes(part.sizes()), order(sizes.size());
  sizes[0] = images;
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return part.strides()[static_cast<size_t>(a)] > part.strides()[static_cast<size_t>(b)];
  });
  return empty_permuted(sizes, order, part.options());
}

}  // namespace

PlannedSlices::PlannedSlices(BatchProgram program, const PlannedState& state, TensorList inputs,
                             const Mode& mode, int64_t images, int64_t slice)
    : program_(std::make_shared<const Program>(std::move(program.program))),
      mode_(mode),
      expected_(*program_, inputs),
      images_(images),
      slice_(slice),
      is_batch_input_(std::move(program.is_batch_input)),
      is_batch_output_(std::move(program.is_batch_output)),
      outputs_(mode.device) {
  const auto plan = [&](int64_t count) {
    return std::make_unique<PlannedCalls>(program_, state, inputs_of(inputs, 0, count), mode);
  };
  body_ = plan(slice);
  if (images % slice != 0) rest_ = plan(images % slice);
  std::vector<Tensor> first = body_->run(inputs_of(inputs, 0, slice)), outputs;
  {
    PlannedMemory::Run run(outputs_);
    run.step(0);
    outputs = allocate(first);
  }
  outputs_.arrange();
}

std::vector<Tensor> PlannedSlices::inputs_of(TensorList inputs, int64_t first,
                                             int64_t count) const {
  std::vector<Tensor> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    out.push_back(is_batch_input_[i] ? inputs[i].narrow(0, first, count) : inputs[i]);
  }
  return out;
}

std::vector<Tensor> PlannedSlices::allocate(const std::vector<Tensor>& part) const {
  std::vector<Tensor> out;
  for (size_t i = 0; i < part.size(); ++i) {
    out.push_back(is_batch_output_[i] ? whole(part[i], images_) : part[i]);
  }
  return out;
}

std::vector<Tensor> PlannedSlices::run(TensorList inputs) {
  expected_.check(inputs);
  const std::lock_guard lock(mutex_);
  const NoGradGuard no_grad;
  return typed_memory_errors("plan", [&] {
    std::vector<Tensor> outputs;
    for (int64_t first = 0; first < images_; first += slice_) {
      const int64_t count = std::min(slice_, images_ - first);
      PlannedCalls& calls = count == slice_ ? *body_ : *rest_;
      const std::vector<Tensor> part = calls.run(inputs_of(inputs, first, count));
      if (first == 0) {
        PlannedMemory::Run run(outputs_);
        run.step(0);
        outputs = allocate(part);
      }
      for (size_t i = 0; i < part.size(); ++i) {
        if (is_batch_output_[i]) outputs[i].narrow(0, first, count).copy_(part[i]);
      }
    }
    return outputs;
  });
}

size_t PlannedSlices::memory_bytes() const {
  return body_->memory_bytes() + (rest_ ? rest_->memory_bytes() : 0);
}

std::string PlannedSlices::memory_text() const {
  return fmt::format("{} of {} images at a time: {}", slice_, images_, body_->memory_text());
}

}  // namespace ambit::graph
