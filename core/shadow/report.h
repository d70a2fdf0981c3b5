// The report of a wrong kernel call, and the program that repeats it.
#pragma once

#include <cstdint>
#include <string>

#include "call.h"

namespace ambit::shadow {

/// Identifies a call in the run of the program.
struct Place {
  uint64_t calls = 0;            ///< calls of all kernels of the process so far
  uint64_t calls_of_op = 0;      ///< calls of this op so far
  uint64_t optimizer_calls = 0;  ///< calls of sgd_step and adam_step so far
  std::string module;            ///< module of the call's parameter, else a text with the last one
};

/// Return the dotted path of the first operand that is a parameter or buffer, or a view of one;
/// empty if there is none.
std::string parameter_of(const Call& call);

/// Return "linear on cuda:0", or the function of a family: "binary add on cuda:0".
std::string name_of(const Call& call);

/// Return the operands and parameters of a call, a line for each.
std::string describe(const Call& call);

/// Return the whole report.
std::string report_of(const Call& call, const std::string& fault, const Place& place,
                      const std::string& reproducer);

/// Write the call's program and data to the folder $AMBIT_SHADOW_DIR, by default ambit_shadow.
/// Return the program's path, or the reason why it could not be written.
std::string write_reproducer(const Call& call, const std::string& fault);

}  // namespace ambit::shadow
