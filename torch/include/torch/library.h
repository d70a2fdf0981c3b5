// Not supported by ambit: libtorch's operator registry.
#pragma once

#error "ambit has its own way to add kernels: see ambit/backend/registry.h, and README of backends"
