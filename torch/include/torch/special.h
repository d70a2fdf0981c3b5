// torch::special: functions of ambit under their names there.
#pragma once

#include <torch/types.h>
