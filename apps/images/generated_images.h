// Synthetic images for machines without data: ten classes of coloured shapes that are easy to
// recognise, with enough variation of position, size, angle, colour and noise to require learning.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace images {

/// The classes: five shapes in warm and in cold colours.
inline constexpr std::array<const char*, 10> kGeneratedClasses{
    "warm disc",  "cold disc", "warm ring", "cold ring", "warm cross",
    "cold cross", "warm bar",  "cold bar",  "warm pole", "cold pole"};

/// Return images first to first + count - 1 of the infinite sequence given by `seed`, in the format
/// of CIFAR-10's binary files; image i has class i % 10.
std::vector<uint8_t> generate_images(uint64_t seed, uint64_t first, uint64_t count);

}  // namespace images
