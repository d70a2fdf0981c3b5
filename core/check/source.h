// Source lines of addresses, by addr2line of binutils.
#pragma once

#include <ambit/detail/check.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stack.h"

namespace ambit::check {

/// Return the calls at each address of the file, innermost first, with inlined ones; empty for
/// files of ambit and of the C++ library. Errors: Error if addr2line cannot be started.
std::vector<std::vector<SourceCall>> source_calls(const std::string& file,
                                                  std::span<const uint64_t> addresses);
/// Return the program's calls of a stack, innermost first. Results are cached.
std::vector<SourceCall> program_calls(const SharedStack& stack);

/// Return "net.cpp:12"; empty if the line is unknown.
std::string line_text(const SourceCall& call);

}  // namespace ambit::check
