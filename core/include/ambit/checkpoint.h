// Checkpoints in PyTorch's file format: what torch.save writes and torch.load reads, with
// weights_only=True. For tensors alone, safetensors files (serialize.h) are simpler and faster.
#pragma once

#include <ambit/value.h>

#include <string>
#include <vector>

namespace ambit {

/// Write what `torch.load(path, weights_only=True)` reads, plain floats from PyTorch 2.0 on.
/// Tensors may be on any device; the file names none, so that it opens everywhere. Tensors that
/// share memory share it in the file; one that uses only a part of its memory is written alone.
/// `metadata` goes into files beside the pickle ("extra/<key>"), which PyTorch does not look at.
/// Atomic, as save() of a state dict. Errors: SerializationError naming the path and the cause.
AMBIT_API void save_checkpoint(const Value& value, const std::string& path,
                               const Metadata& metadata = {});

/// Read what torch.save wrote, before PyTorch 1.6 too, tensors onto `map_location`, wherever they
/// were; of a safetensors file, a dict of its tensors. Tensors that shared memory share it again;
/// no tensor requires a gradient. Nothing in a file is run: what `torch.load(weights_only=True)`
/// allows and ambit does not represent is opaque (Value::Opaque), other classes and functions are
/// refused by name. TorchScript's archives (archive.h) are dicts of their attributes, so far as
/// these are tensors and plain values; those of their tensors that required a gradient do. Memory
/// is allocated only for what the file holds. Errors: SerializationError naming the path and what
/// is wrong.
AMBIT_API Value load_checkpoint(const std::string& path, Device map_location = {},
                                Metadata* metadata = nullptr);

/// Return the bytes of a checkpoint, as save_checkpoint() writes them: torch.load() reads them from
/// an io.BytesIO, and libtorch's pickle_load(). Errors: those of save_checkpoint().
AMBIT_API std::vector<char> pickle_save(const Value& value);
/// Read what pickle_save() or torch.save() made, as load_checkpoint() does. Errors: those of it.
AMBIT_API Value pickle_load(const std::vector<char>& data);

}  // namespace ambit
