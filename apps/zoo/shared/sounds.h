// Sounds of several classes, one second each: generated, or read from WAV files.
#pragma once

#include <ambit/ops/index.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace zoo {

struct Sounds {
  ambit::Tensor samples, labels;     // int16 [N,rate], int64 [N]; classes in order
  std::vector<std::string> classes;  // in alphabetical order
  int64_t rate = 0;                  // samples per second

  Sounds at(const ambit::Tensor& rows) const {
    return {samples.index_select(0, rows), labels.index_select(0, rows), classes, rate};
  }
};

/// Generate sounds with random pitch, time, length, loudness and background noise.
Sounds make_tones(int64_t per_class, uint64_t seed);

/// Read <folder>/<class>/*.wav with libsndfile, which is opened here. Channels are averaged; sounds
/// are cut or extended with zeros to one second. Folders whose names begin with '_' are skipped.
/// Errors: ambit::Error if libsndfile is missing, or naming the folder or file with the problem.
Sounds read_sounds(const std::string& folder);

}  // namespace zoo
