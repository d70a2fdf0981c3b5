// Functions of programs: indexing, sorting and embeddings.
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/index.h>
#include <ambit/ops/sort.h>

#include "call.h"

namespace ambit::graph {
namespace {

#define AMBIT_BAG                                                        \
  "weight indices offsets scale_grad_by_freq=False mode=0 sparse=False " \
  "per_sample_weights=None include_last_offset=False padding_idx=-1"

void embedding_bag_of(Call& c) {
  const int64_t padding = c.integer(8);
  c.give(embedding_bag(c.tensor(0), c.tensor(1), c.tensor(2), c.flag(3), c.integer(4), c.flag(5),
                       c.optional_tensor(6), c.flag(7),
                       padding < 0 ? std::nullopt : std::optional(padding)));
}

constexpr Function kRows[] = {
    // clang-format off
    {"index.Tensor", "self indices", one([](Call& c) {
       return index(c.tensor(0), c.indices(1)); })},
    {"index_put.default", "self indices values accumulate=False", one([](Call& c) {
       return index_put(c.tensor(0), c.indices(1), c.tensor(2), c.flag(3)); })},
    {"index_put_.default", "self indices values accumulate=False", one([](Call& c) -> Tensor {
       return index_put_(c.tensor(0), c.indices(1), c.tensor(2), c.flag(3)); })},
    {"index_select.default", "self dim index", one([](Call& c) {
       return index_select(c.tensor(0), c.integer(1), c.tensor(2)); })},
    {"gather.default", "self dim index sparse_grad=False", one([](Call& c) {
       return gather(c.tensor(0), c.integer(1), c.tensor(2)); })},
    {"scatter.src", "self dim index src", one([](Call& c) {
       return scatter(c.tensor(0), c.integer(1), c.tensor(2), c.tensor(3)); })},
    {"scatter.value", "self dim index value", one([](Call& c) {
       return scatter(c.tensor(0), c.integer(1), c.tensor(2), c.scalar(3)); })},
    {"scatter_.src", "self dim index src", one([](Call& c) -> Tensor {
       return scatter_(c.tensor(0), c.integer(1), c.tensor(2), c.tensor(3)); })},
    {"scatter_add.default", "self dim index src", one([](Call& c) {
       return scatter_add(c.tensor(0), c.integer(1), c.tensor(2), c.tensor(3)); })},
    {"select_scatter.default", "self src dim index", one([](Call& c) {
       return select_scatter(c.tensor(0), c.tensor(1), c.integer(2), c.integer(3)); })},
    {"slice_scatter.default", "self src dim=0 start=None end=None step=1", one([](Call& c) {
       return slice_scatter(c.tensor(0), c.tensor(1), c.integer(2), c.optional_integer(3),
                            c.optional_integer(4), c.integer(5)); })},
    {"masked_select.default", "self mask", tensors(masked_select)},
    {"nonzero.default", "self", unary(nonzero)},
    {"one_hot.default", "self num_classes=-1", one([](Call& c) {
       return one_hot(c.tensor(0), c.integer(1)); })},
    {"topk.default", "self k dim=-1 largest=True sorted=True", many([](Call& c) {
       c.give(topk(c.tensor(0), c.integer(1), c.integer(2), c.flag(3), c.flag(4))); })},
    {"sort.default", "self dim=-1 descending=False", many([](Call& c) {
       c.give(sort(c.tensor(0), c.integer(1), c.flag(2))); })},
    {"sort.stable", "self stable dim=-1 descending=False", many([](Call& c) {
       c.give(sort(c.tensor(0), c.integer(2), c.flag(3))); })},
    {"argsort.default", "self dim=-1 descending=False", one([](Call& c) {
       return argsort(c.tensor(0), c.integer(1), c.flag(2)); })},
    {"histc.default", "self bins=100 min=0 max=0", one([](Call& c) {
       return histc(c.tensor(0), c.integer(1), c.scalar(2), c.scalar(3)); })},
    {"bincount.default", "self weights=None minlength=0", one([](Call& c) {
       return bincount(c.tensor(0), c.optional_tensor(1), c.integer(2)); })},
    {"searchsorted.Tensor", "sorted_sequence self out_int32=False right=False side=None "
     "sorter=None", one([](Call& c) {
       return searchsorted(c.tensor(0), c.tensor(1), c.flag(2),
                           c.has(4) ? c.text(4) == "right" : c.flag(3), {},
                           c.optional_tensor(5)); })},
    {"embedding.default", "weight indices padding_idx=-1 scale_grad_by_freq=False sparse=False",
     one([](Call& c) {
       return embedding(c.tensor(0), c.tensor(1), c.integer(2), c.flag(3), c.flag(4)); })},
    {"embedding_renorm_.default", "self indices max_norm norm_type", one([](Call& c) -> Tensor {
       return embedding_renorm_(c.tensor(0), c.tensor(1), c.real(2), c.real(3)); })},
    {"embedding_bag.padding_idx", "weight indices offsets scale_grad_by_freq mode sparse "
     "per_sample_weights include_last_offset padding_idx", many([](Call& c) {
       c.give(embedding_bag(c.tensor(0), c.tensor(1), c.tensor(2), c.flag(3), c.integer(4),
                            c.flag(5), c.optional_tensor(6), c.flag(7),
                            c.optional_integer(8))); })},
    {"_embedding_bag.default", AMBIT_BAG, many(embedding_bag_of)},
    {"_embedding_bag_forward_only.default", AMBIT_BAG, many(embedding_bag_of)},
    // clang-format on
};

}  // namespace

constinit const std::span<const Function> kIndexFunctions = kRows;

}  // namespace ambit::graph
