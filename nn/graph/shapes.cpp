// Functions of programs: views, copies and conversions.
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/shape.h>

#include "call.h"

namespace ambit::graph {
namespace {

Tensor clone_as(const Call& c, size_t format) { return c.tensor(0).clone(c.format(format)); }

// Call to() with the arguments at these positions as dtype, copy and memory format.
Tensor converted(const Call& c, Device device, size_t dtype, bool copy, size_t format) {
  const Tensor self = c.tensor(0);
  return self.to(device, c.dtype(dtype).value_or(self.dtype()), false, copy, c.format(format));
}

constexpr Function kRows[] = {
    // clang-format off
    {"view.default", "self size", one([](Call& c) { return c.tensor(0).view(c.integers(1)); })},
    {"_unsafe_view.default", "self size", one([](Call& c) {
       return c.tensor(0).reshape(c.integers(1)); })},
    {"reshape.default", "self shape", one([](Call& c) {
       return c.tensor(0).reshape(c.integers(1)); })},
    {"reshape_as.default", "self other", one([](Call& c) {
       return c.tensor(0).reshape(c.tensor(1).sizes()); })},
    {"view_as.default", "self other", one([](Call& c) {
       return c.tensor(0).view(c.tensor(1).sizes()); })},
    {"flatten.using_ints", "self start_dim=0 end_dim=-1", one([](Call& c) {
       return c.tensor(0).flatten(c.integer(1), c.integer(2)); })},
    {"unflatten.int", "self dim sizes", one([](Call& c) {
       return c.tensor(0).unflatten(c.integer(1), c.integers(2)); })},
    {"transpose.int", "self dim0 dim1", one([](Call& c) {
       return c.tensor(0).transpose(c.integer(1), c.integer(2)); })},
    {"swapaxes.default", "self axis0 axis1", one([](Call& c) {
       return c.tensor(0).transpose(c.integer(1), c.integer(2)); })},
    {"permute.default", "self dims", one([](Call& c) {
       return c.tensor(0).permute(c.integers(1)); })},
    {"movedim.int", "self source destination", one([](Call& c) {
       return movedim(c.tensor(0), c.integer(1), c.integer(2)); })},
    {"t.default", "self", one([](Call& c) { return c.tensor(0).t(); })},
    {"mT.default", "self", one([](Call& c) { return c.tensor(0).mT(); })},
    {"numpy_T.default", "self", one([](Call& c) { return c.tensor(0).numpy_T(); })},
    {"unsqueeze.default", "self dim", one([](Call& c) {
       return c.tensor(0).unsqueeze(c.integer(1)); })},
    {"unsqueeze_.default", "self dim", one([](Call& c) -> Tensor {
       return c.tensor(0).unsqueeze_(c.integer(1)); })},
    {"squeeze.default", "self", one([](Call& c) { return c.tensor(0).squeeze(); })},
    {"squeeze.dim", "self dim", one([](Call& c) { return c.tensor(0).squeeze(c.integer(1)); })},
    {"squeeze.dims", "self dim", one([](Call& c) {
       return c.tensor(0).squeeze(c.integers(1)); })},
    {"expand.default", "self size implicit=False", one([](Call& c) {
       return c.tensor(0).expand(c.integers(1)); })},
    {"expand_as.default", "self other", one([](Call& c) {
       return c.tensor(0).expand(c.tensor(1).sizes()); })},
    {"broadcast_to.default", "self size", one([](Call& c) {
       return c.tensor(0).expand(c.integers(1)); })},
    {"broadcast_tensors.default", "tensors", many([](Call& c) {
       c.give(broadcast_tensors(c.tensors(0))); })},
    {"meshgrid.indexing", "tensors indexing", many([](Call& c) {
       c.give(meshgrid(c.tensors(0), c.text(1))); })},
    {"meshgrid.default", "tensors", many([](Call& c) { c.give(meshgrid(c.tensors(0))); })},
    {"as_strided.default", "self size stride storage_offset=None", one([](Call& c) {
       return as_strided(c.tensor(0), c.integers(1), c.integers(2), c.optional_integer(3)); })},
    {"select.int", "self dim index", one([](Call& c) {
       return c.tensor(0).select(c.integer(1), c.integer(2)); })},
    {"slice.Tensor", "self dim=0 start=None end=None step=1", one([](Call& c) {
       return c.tensor(0).slice(c.integer(1), c.optional_integer(2), c.optional_integer(3),
                                c.integer(4)); })},
    {"narrow.default", "self dim start length", one([](Call& c) {
       return c.tensor(0).narrow(c.integer(1), c.integer(2), c.integer(3)); })},
    {"unfold.default", "self dimension size step", one([](Call& c) {
       return unfold(c.tensor(0), c.integer(1), c.integer(2), c.integer(3)); })},
    {"diagonal.default", "self offset=0 dim1=0 dim2=1", one([](Call& c) {
       return diagonal(c.tensor(0), c.integer(1), c.integer(2), c.integer(3)); })},
    {"unbind.int", "self dim=0", many([](Call& c) {
       c.give(c.tensor(0).unbind(c.integer(1))); })},
    {"chunk.default", "self chunks dim=0", many([](Call& c) {
       c.give(c.tensor(0).chunk(c.integer(1), c.integer(2))); })},
    {"split.Tensor", "self split_size dim=0", many([](Call& c) {
       c.give(c.tensor(0).split(c.integer(1), c.integer(2))); })},
    {"split_with_sizes.default", "self split_sizes dim=0", many([](Call& c) {
       c.give(c.tensor(0).split_with_sizes(c.integers(1), c.integer(2))); })},
    {"split.sizes", "self split_size dim=0", many([](Call& c) {
       c.give(c.tensor(0).split_with_sizes(c.integers(1), c.integer(2))); })},
    {"tensor_split.sections", "self sections dim=0", many([](Call& c) {
       c.give(c.tensor(0).tensor_split(c.integer(1), c.integer(2))); })},
    {"cat.default", "tensors dim=0", one([](Call& c) { return cat(c.tensors(0), c.integer(1)); })},
    {"stack.default", "tensors dim=0", one([](Call& c) {
       return stack(c.tensors(0), c.integer(1)); })},
    {"repeat.default", "self repeats", one([](Call& c) {
       return c.tensor(0).repeat(c.integers(1)); })},
    {"tile.default", "self dims", one([](Call& c) { return tile(c.tensor(0), c.integers(1)); })},
    {"repeat_interleave.self_int", "self repeats dim=None output_size=None", one([](Call& c) {
       return repeat_interleave(c.tensor(0), c.integer(1), c.optional_integer(2),
                                c.optional_integer(3)); })},
    {"flip.default", "self dims", one([](Call& c) { return flip(c.tensor(0), c.integers(1)); })},
    {"roll.default", "self shifts dims=[]", one([](Call& c) {
       return roll(c.tensor(0), c.integers(1), c.integers(2)); })},
    {"tril.default", "self diagonal=0", one([](Call& c) {
       return tril(c.tensor(0), c.integer(1)); })},
    {"triu.default", "self diagonal=0", one([](Call& c) {
       return triu(c.tensor(0), c.integer(1)); })},
    {"pad.default", "self pad mode=constant value=None", one([](Call& c) {
       return pad(c.tensor(0), c.integers(1), c.text(2), c.optional_real(3)); })},
    {"constant_pad_nd.default", "self pad value=0", one([](Call& c) {
       return constant_pad_nd(c.tensor(0), c.integers(1), c.scalar(2)); })},
    {"pixel_shuffle.default", "self upscale_factor", one([](Call& c) {
       return nn::functional::pixel_shuffle(c.tensor(0), c.integer(1)); })},
    {"pixel_unshuffle.default", "self downscale_factor", one([](Call& c) {
       return nn::functional::pixel_unshuffle(c.tensor(0), c.integer(1)); })},
    {"channel_shuffle.default", "self groups", one([](Call& c) {
       return channel_shuffle(c.tensor(0), c.integer(1)); })},
    // copies and conversions
    {"alias.default", "self", one([](Call& c) { return c.tensor(0); })},
    {"detach.default", "self", one([](Call& c) { return c.tensor(0).detach(); })},
    {"detach_.default", "self", one([](Call& c) -> Tensor { return c.tensor(0).detach_(); })},
    {"clone.default", "self memory_format=None", one([](Call& c) { return clone_as(c, 1); })},
    {"lift_fresh_copy.default", "self", one([](Call& c) { return c.tensor(0).clone(); })},
    {"contiguous.default", "self memory_format=None", one([](Call& c) {
       return c.tensor(0).contiguous(c.format(1).value_or(MemoryFormat::Contiguous)); })},
    {"to.dtype", "self dtype non_blocking=False copy=False memory_format=None", one([](Call& c) {
       return converted(c, c.tensor(0).device(), 1, c.flag(3), 4); })},
    {"to.dtype_layout", "self dtype=None layout=None device=None pin_memory=None "
     "non_blocking=False copy=False memory_format=None", one([](Call& c) {
       return converted(c, c.device(), 1, c.flag(6), 7); })},
    {"to.device", "self device dtype non_blocking=False copy=False memory_format=None",
     one([](Call& c) { return converted(c, c.device(), 2, c.flag(4), 5); })},
    {"to.other", "self other non_blocking=False copy=False memory_format=None", one([](Call& c) {
       return c.tensor(0).to(c.tensor(1), false, c.flag(3), c.format(4)); })},
    {"_to_copy.default", "self dtype=None layout=None device=None pin_memory=None "
     "non_blocking=False memory_format=None", one([](Call& c) {
       return converted(c, c.device(), 1, true, 6); })},
    {"type_as.default", "self other", one([](Call& c) {
       return c.tensor(0).to(c.tensor(1)); })},
    {"_assert_tensor_metadata.default", "a size=None stride=None dtype=None device=None "
     "layout=None", many([](Call&) {})},  // holds for the example; the program converts its inputs
    // clang-format on
};

}  // namespace

constinit const std::span<const Function> kShapeFunctions = kRows;

}  // namespace ambit::graph
