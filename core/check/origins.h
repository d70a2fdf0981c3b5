// The origins of the operands of DeviceMismatchErrors.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/detail/check.h>
#include <ambit/error.h>

#include <span>

#include "stack.h"

namespace ambit::check {

/// Record that the next error of this thread is about these tensors.
void next_operands(std::span<const DeviceArg> args);
/// Keep the operands' origins and the calling thread's stack with the error.
void keep_origins(const DeviceMismatchError& error);
void copy_origins(const DeviceMismatchError& from, const DeviceMismatchError& to);
void drop_origins(const DeviceMismatchError& error);

/// Return the origins and the suggestion that explain() shows, for CheckLibrary::origins.
MismatchOrigins origins_of(const DeviceMismatchError& error,
                           std::span<const ArgumentInfo> arguments, size_t expected, size_t actual);
/// Return the stack that made the operand on the host; null: unknown, or there is none.
SharedStack maker_on_host(const DeviceMismatchError& error);

}  // namespace ambit::check
