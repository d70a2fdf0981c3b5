// The kind of a file of weights and its tensors, for `ambit info FILE`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

/// Errors: SerializationError for a file that cannot be read.
nlohmann::ordered_json gather_file_info(const std::string& path);
std::string text_of_file_info(const nlohmann::ordered_json& info);
