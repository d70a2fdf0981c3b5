#include "launch.h"

#include <ambit/backend/alias.h>

namespace ambit::sim {

// The alias counts as a CPU tensor and owns nothing: memory is reused in the order of the queue,
// so the bytes outlast the work.
Tensor late(const Tensor& t) {
  return t.defined() ? alias(t, device_view(t.storage()->data())) : t;
}

std::vector<Tensor> late(TensorList list) {
  std::vector<Tensor> aliases;
  aliases.reserve(list.size());
  for (const Tensor& t : list) aliases.push_back(late(t));
  return aliases;
}

}  // namespace ambit::sim
