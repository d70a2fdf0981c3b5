// The calls that led to an event, as addresses in files, which source.h turns into lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ambit::check {

/// Return addresses, innermost first.
using Stack = std::vector<void*>;
/// One object per distinct stack, so that objects can be compared instead of stacks.
using SharedStack = std::shared_ptr<const Stack>;
/// A file of code and an address in it.
using Frame = std::pair<std::string, uint64_t>;

/// Return the calling thread's stack, at most 64 calls.
Stack current_stack();
SharedStack shared_stack();
/// Return the calls, innermost first, without those of this library.
std::vector<Frame> frames_of(const Stack& stack);
/// Return the exported functions of ambit, as "ambit::Tensor::to", from the innermost to that which
/// the program called.
std::vector<std::string> api_functions(const Stack& stack);
/// Return the name of the function of ambit that the program called, as "ambit::Tensor::to"; empty
/// if it is unknown.
std::string api_function(const SharedStack& stack);
std::string api_function(const Stack& stack);
/// Return "to" of "ambit::Tensor::to", "Linear" of "ambit::nn::LinearImpl::LinearImpl" and
/// "ambit::nn::LinearImpl::forward".
std::string short_name(const std::string& function);
/// Return true if a query such as is_available() made the call: its errors are an answer.
bool is_query(const Stack& stack);

}  // namespace ambit::check
