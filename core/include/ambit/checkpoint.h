// Checkpoints in PyTorch's file format, compatible with torch.save and
// torch.load(weights_only=True). For tensors alone, safetensors files (serialize.h) are simpler and
// faster.
#pragma once

#include <ambit/value.h>

#include <string>
#include <vector>

namespace ambit {

/// Write a file that `torch.load(path, weights_only=True)` reads (plain floats need PyTorch 2.0).
/// Tensors may be on any device; the file records none, so it opens everywhere. Tensors that share
/// memory share it in the file; a tensor that alone uses part of a storage is written without the
/// rest. `metadata` goes into files next to the pickle ("extra/<key>"), which PyTorch ignores.
/// Atomic, as save() of a state dict. Errors: SerializationError naming the path and the cause.
AMBIT_API void save_checkpoint(const Value& value, const std::string& path,
                               const Metadata& metadata = {});

/// Read a file of torch.save (also from before PyTorch 1.6), with all tensors on `map_location`; a
/// safetensors file gives a dict of its tensors. Tensors that shared memory share it again; no
/// tensor requires grad. No code in a file is run: objects that `torch.load(weights_only=True)`
/// allows and ambit cannot represent are opaque (Value::Opaque), other classes and functions are
/// refused by name. A TorchScript archive (archive.h) gives a dict of its attributes that are
/// tensors and plain values; its tensors keep requires_grad. No more memory is allocated than the
/// file's content needs. Errors: SerializationError naming the path and the cause.
AMBIT_API Value load_checkpoint(const std::string& path, Device map_location = {},
                                Metadata* metadata = nullptr);

/// Return the bytes of a checkpoint, as save_checkpoint() writes them: torch.load() reads them from
/// an io.BytesIO, libtorch by pickle_load(). Errors: those of save_checkpoint().
AMBIT_API std::vector<char> pickle_save(const Value& value);
/// Read the result of pickle_save() or torch.save() as load_checkpoint() does, with its errors.
AMBIT_API Value pickle_load(const std::vector<char>& data);

}  // namespace ambit
