// ska::flat_hash_map and flat_hash_set are the standard library's, with the same interface.
#pragma once

#include <unordered_map>
#include <unordered_set>

namespace ska {

template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using flat_hash_map = std::unordered_map<Key, Value, Hash, Equal>;
template <class Key, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using flat_hash_set = std::unordered_set<Key, Hash, Equal>;

}  // namespace ska
