// Names of functions, for reports.
#pragma once

#include <string>

namespace ambit::cuda::host {

/// Return the name of the function that begins at `address` or around it, from the symbol table of
/// its file, hidden ones too; "a function" with its place in the file where that was stripped.
std::string function_name(const void* address);

}  // namespace ambit::cuda::host
