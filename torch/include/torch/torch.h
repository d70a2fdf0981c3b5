// The main header of libtorch programs: ambit under libtorch's names.
#pragma once

#include <torch/all.h>
