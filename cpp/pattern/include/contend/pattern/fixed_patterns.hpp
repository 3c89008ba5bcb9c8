#pragma once

#include <memory>
#include <span>
#include <vector>

#include "contend/pattern/pattern.hpp"

namespace contend {

// Shifts: every rank sends to the one a distance ahead.

/// Rank i sends to (i + distance) mod p.
std::unique_ptr<Pattern> make_shift(Rank ranks, Rank distance);
/// p - 1 rounds, in round k rank i sends to (i + k) mod p: the pairwise exchange of an all-to-all.
std::unique_ptr<Pattern> make_all_shifts(Rank ranks);
/// A round for each distance, which is as that of make_shift().
std::unique_ptr<Pattern> make_shifts(Rank ranks, std::vector<Rank> distances);
/// ceil(log2 p) rounds, in round r rank i sends to (i + 2^r) mod p.
std::unique_ptr<Pattern> make_dissemination(Rank ranks);
/// Rank i sends to i + 1, the last one is silent.
std::unique_ptr<Pattern> make_pipeline(Rank ranks);
/// Rank i sends to (i + ceil(p / 2) - 1) mod p, almost half way round.
std::unique_ptr<Pattern> make_tornado(Rank ranks);

// Trees.

/// Recursive doubling: partners i xor 2^r; ranks beyond the largest power of two first send to,
/// and at the end hear from, a rank below it.
std::unique_ptr<Pattern> make_recursive_doubling(Rank ranks);
/// Binomial tree from rank 0: in round r the ranks below 2^r send to i + 2^r.
std::unique_ptr<Pattern> make_tree(Rank ranks);
/// Two binary trees over the same ranks, an inner rank of one is a leaf of the other; two rounds in
/// which every rank sends at most one message and receives at most one (Sanders, Speck and
/// Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009).
std::unique_ptr<Pattern> make_double_tree(Rank ranks);

// Shared ends: many messages at one rank in the same round.

/// Rank 0 sends to all others at once.
std::unique_ptr<Pattern> make_scatter(Rank ranks);
/// All others send to rank 0 at once.
std::unique_ptr<Pattern> make_gather(Rank ranks);
/// Ranks 0 .. receivers - 1 receive, the others send to them in turn.
std::unique_ptr<Pattern> make_hot_spot(Rank ranks, Rank receivers);
/// Every pair at once, but for pairs within blocks of adjacent ranks; a piece of the round per
/// sending rank.
std::unique_ptr<Pattern> make_all_to_all(Rank ranks, Rank block = 1);
/// Only the pairs within these blocks.
std::unique_ptr<Pattern> make_all_to_all_within(Rank ranks, Rank block);
/// Every rank sends to its k nearest in rank order, at +1, -1, +2, -2, ... mod p.
std::unique_ptr<Pattern> make_neighbour(Rank ranks, Rank neighbours);

// Grids and bits.

/// Every rank sends to its two neighbours in each dimension of a grid (row-major, last dimension
/// fastest). A dimension of extent 2 that is periodic has one neighbour, not the same one twice.
std::unique_ptr<Pattern> make_halo(Rank ranks, std::span<const Rank> extents, bool periodic);
/// On the largest square grid q x q: (i, j) sends to (j, i); diagonal and left-over ranks are
/// silent.
std::unique_ptr<Pattern> make_transpose(Rank ranks);
/// Rank i sends to its bits reversed, within the largest power of two; palindromes are silent.
std::unique_ptr<Pattern> make_bit_reversal(Rank ranks);
/// Rank i sends to p - 1 - i: all bits complemented when p is a power of two.
std::unique_ptr<Pattern> make_bit_complement(Rank ranks);

// Built from others.

/// Rounds as given: round r is messages round_begin[r] .. round_begin[r + 1] - 1. `weight` is empty
/// or one number a message. Throws Error when the arrays do not fit or name ranks >= ranks.
std::unique_ptr<Pattern> make_rounds(Rank ranks, std::vector<std::uint64_t> round_begin,
                                     std::vector<Rank> source, std::vector<Rank> target,
                                     std::vector<std::uint64_t> weight);
/// Two patterns at once on disjoint parts: `first` on the ranks from 0, `second` on those that
/// follow. As many rounds as the longer one has; the shorter one starts again. Throws Error when a
/// part has weights, which would mean nothing beside the messages of the other.
std::unique_ptr<Pattern> make_parts(std::shared_ptr<const Pattern> first,
                                    std::shared_ptr<const Pattern> second);
/// So many copies of a pattern at once, copy k on the ranks k, k + copies, k + 2 copies, ...: where
/// ranks are numbered server by server, one on every rail. All draw alike, as the adapters of a
/// server send to those of the same other server. copies * pattern->ranks() must fit a Rank.
std::unique_ptr<Pattern> make_copies(Rank copies, std::shared_ptr<const Pattern> pattern);
/// A pattern's messages between ranks that are left; `gone` says of each whether it is not. Drawn
/// as of the whole pattern. Throws Error where it is not as long as there are ranks.
std::unique_ptr<Pattern> make_rest(std::shared_ptr<const Pattern> pattern,
                                   std::vector<std::uint8_t> gone);

/// A pattern without the messages that a table cuts: `cut` has `columns` for each row, `row` a row
/// for every target and `column` a column for every source. Drawn as of the whole pattern.
/// Throws Error where they do not fit.
std::unique_ptr<Pattern> make_without_pairs(std::shared_ptr<const Pattern> pattern,
                                            std::vector<std::uint32_t> row,
                                            std::vector<std::uint32_t> column,
                                            std::vector<std::uint8_t> cut, std::size_t columns);

}  // namespace contend
