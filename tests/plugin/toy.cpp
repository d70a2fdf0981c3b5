// A complete backend in a plugin: TOY is its name and that of its one device, STAND_IN says if it
// simulates others. It is built several times with different names.
#include "toy.h"

#include <ambit/backend/plugin.h>

#include <memory>

namespace toy {

void load(ambit::Registry& registry) {
  namespace k = ambit::kernels;
  registry.add_backend(std::make_unique<ToyBackend>(AMBIT_STRINGIFY(TOY), 1));
  borrow<k::copy, k::fill, k::random, k::unary, k::binary, k::compare, k::where, k::reduce,
         k::arg_reduce, k::scan, k::gather, k::scatter, k::scatter_add, k::nonzero, k::matmul,
         k::convolution, k::max_pool, k::max_pool_grad>(registry);
}

}  // namespace toy

#ifndef STAND_IN
#define STAND_IN false
#endif
AMBIT_PLUGIN(toy, toy::load, .stand_in = STAND_IN)
