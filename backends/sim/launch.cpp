#include "launch.h"

#include <ambit/backend/alias.h>

namespace ambit::sim {

// The alias is a CPU tensor that owns nothing: memory is reused in queue order, so the bytes
// outlive the work.
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
