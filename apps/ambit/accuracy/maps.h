// The maps that `ambit accuracy` measures, with their exact values.
#pragma once

#include <ambit/tensor.h>

#include <span>

namespace accuracy {

struct Map {
  const char* name;
  ambit::Tensor (*call)(const ambit::Tensor&);
  double (*exact)(double);
  long double (*exact_long)(long double);
  double (*derivative)(double);  ///< null if its gradient is not measured
  long double (*derivative_long)(long double);
  double low, high;  ///< the range of the function
  bool is_monotone, is_odd;
};

std::span<const Map> all_maps();

}  // namespace accuracy
