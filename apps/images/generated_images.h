// Images for a machine without data: ten classes of coloured shapes, easy to tell for who looks,
// and as varied in place, size, angle, colour and noise as it takes to need learning.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace images {

/// The classes: five shapes in warm and in cold colours.
inline constexpr std::array<const char*, 10> kGeneratedClasses{
    "warm disc",  "cold disc", "warm ring", "cold ring", "warm cross",
    "cold cross", "warm bar",  "cold bar",  "warm pole", "cold pole"};

/// Return images first to first + count - 1 of the endless row that `seed` defines, in the format
/// of CIFAR-10's binary files; image i is of class i % 10.
std::vector<uint8_t> generate_images(uint64_t seed, uint64_t first, uint64_t count);

}  // namespace images
