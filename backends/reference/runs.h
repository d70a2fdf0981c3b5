// Every loop counts its runs, so that whoever shows what a device runs can tell kernels of its own
// from borrowed ones, however they are wrapped.
#pragma once

namespace ambit::reference {

void count_run();

}  // namespace ambit::reference
