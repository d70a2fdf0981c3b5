// Parameters of kernels as expressions in C++, for reports and reproducers.
#pragma once

#include <ambit/backend/kernels.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>

namespace ambit::shadow {

std::string source_text(bool value);
std::string source_text(int64_t value);
std::string source_text(double value);
std::string source_text(const Scalar& value);
std::string source_text(const std::optional<Scalar>& value);
std::string source_text(const ScalarOperand& p);
std::string source_text(const RandomParams& p);
std::string source_text(const ScanParams& p);
std::string source_text(const ActivationParams& p);
std::string source_text(const ConvParams& p);
std::string source_text(const PoolParams& p);
std::string source_text(const InterpolateParams& p);
std::string source_text(const EmbeddingBagParams& p);
std::string source_text(const BatchNormParams& p);
std::string source_text(const AttentionParams& p);
std::string source_text(const TriangularParams& p);
std::string source_text(const SgdParams& p);
std::string source_text(const AdamParams& p);

inline const char* family(UnaryOp) { return "UnaryOp"; }
inline const char* family(BinaryOp) { return "BinaryOp"; }
inline const char* family(TernaryOp) { return "TernaryOp"; }
inline const char* family(CompareOp) { return "CompareOp"; }
inline const char* family(ReduceOp) { return "ReduceOp"; }
inline const char* family(ScanOp) { return "ScanOp"; }
inline const char* family(ScatterOp) { return "ScatterOp"; }

template <class Function>
requires std::is_enum_v<Function> std::string source_text(Function f) {
  return fmt::format("{}::{}", family(f), name(f));
}

}  // namespace ambit::shadow
