// Counts runs of the reference loops, to distinguish a device's own kernels from borrowed ones,
// however they are wrapped.
#pragma once

namespace ambit::reference {

void count_run();

}  // namespace ambit::reference
