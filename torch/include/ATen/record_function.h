// RECORD_FUNCTION etc.: user-defined scopes in ambit's profiler. The profiler records the shapes of
// kernel operands itself, so the inputs of a scope are ignored.
#pragma once

#include <ambit/profiler.h>
#include <torch/namespaces.h>

#define AMBIT_TORCH_JOINED(a, b) a##b
#define AMBIT_TORCH_NAMED(a, b) AMBIT_TORCH_JOINED(a, b)

/// Record the rest of the block under a name.
#define RECORD_USER_SCOPE(name) \
  const ::ambit::profiler::RecordFunction AMBIT_TORCH_NAMED(ambit_scope_, __COUNTER__)(name)
#define RECORD_USER_SCOPE_WITH_INPUTS(name, ...) RECORD_USER_SCOPE(name)
#define RECORD_FUNCTION(name, ...) RECORD_USER_SCOPE(name)
