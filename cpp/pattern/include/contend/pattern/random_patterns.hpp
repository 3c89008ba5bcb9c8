#pragma once

#include <memory>

#include "contend/pattern/pattern.hpp"

namespace contend {

/// Splits the ranks into two random halves and pairs them at random; one of each pair sends to the
/// other, or both do (`two_way`). With an odd number of ranks a random one sits out.
/// Hoefler et al. 2008, section 3: p! / (p/2)! outcomes one-way.
std::unique_ptr<Pattern> make_bisect(Rank ranks, bool two_way);

/// Rank i sends to s(i) for a random permutation s; who is mapped to itself is silent.
std::unique_ptr<Pattern> make_permutation(Rank ranks);

/// Every rank sends to another one, drawn uniformly: receivers collide.
std::unique_ptr<Pattern> make_uniform(Rank ranks);

/// Every rank sends, with the given probability in percent, to another rank of its own block of
/// `width` consecutive ranks, and otherwise to any other rank.
std::unique_ptr<Pattern> make_localised(Rank ranks, Rank width, std::uint32_t percent);

/// Every rank sends, with the given probability in percent, to one of `spots` hot ranks, which are
/// drawn anew for every sample, and otherwise to any other rank.
std::unique_ptr<Pattern> make_hot_spot_traffic(Rank ranks, Rank spots, std::uint32_t percent);

}  // namespace contend
