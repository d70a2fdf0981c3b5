// Names of functions, for reports.
#pragma once

#include <string>

namespace ambit::cuda::host {

/// Return the name of the function that contains `address`, from the symbol table of its file,
/// including hidden symbols; if stripped, "a function" with its offset in the file.
std::string function_name(const void* address);

}  // namespace ambit::cuda::host
