#include <array>

#include "contend/pattern/fixed_patterns.hpp"
#include "mapped_pattern.hpp"

namespace contend {

namespace {

constexpr Rank kNobody = 0xFFFFFFFF;

/// Parents in the binary tree over ranks 0 .. n - 1 in symmetric order: a rank with t trailing one
/// bits has its children 2^(t-1) below and above. The root is the largest 2^k - 1 within.
std::vector<Rank> in_order_parents(Rank n) {
  std::vector<Rank> parent(n, kNobody);
  const auto adopt = [&](auto&& self, Rank first, Rank last, Rank above) -> void {
    if (first >= last) return;
    const Rank root = first + power_of_two_within(last - first) - 1;
    parent[root] = above;
    self(self, first, root, root);
    self(self, root + 1, last, root);
  };
  adopt(adopt, 0, n, kNobody);
  return parent;
}

struct Edge {
  Rank from;
  Rank to;
};

/// Splits the edges of both trees into two rounds such that nobody sends or receives twice in a
/// round: senders and receivers form paths and even cycles, whose edges alternate.
std::array<std::vector<Edge>, 2> two_rounds(const std::vector<Edge>& edges, Rank ranks) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // Edges at a sender (node r) and at a receiver (node ranks + r), at most two each.
  std::vector<std::array<std::size_t, 2>> at(2 * std::size_t{ranks}, {kNone, kNone});
  const auto attach = [&](std::size_t node, std::size_t edge) {
    at[node][at[node][0] == kNone ? 0 : 1] = edge;
  };
  for (std::size_t e = 0; e < edges.size(); ++e) {
    attach(edges[e].from, e);
    attach(std::size_t{ranks} + edges[e].to, e);
  }
  std::vector<int> round(edges.size(), -1);
  const auto walk = [&](std::size_t edge, std::size_t node, int colour) {
    while (edge != kNone && round[edge] < 0) {
      round[edge] = colour;
      colour = 1 - colour;
      const std::size_t sender = edges[edge].from;
      const std::size_t receiver = std::size_t{ranks} + edges[edge].to;
      node = node == sender ? receiver : sender;
      edge = at[node][0] == edge ? at[node][1] : at[node][0];
    }
  };
  // Paths from their ends first, then what is left are cycles.
  for (std::size_t node = 0; node < at.size(); ++node) {
    if (at[node][0] != kNone && at[node][1] == kNone) walk(at[node][0], node, 0);
  }
  for (std::size_t e = 0; e < edges.size(); ++e) walk(e, edges[e].from, 0);
  std::array<std::vector<Edge>, 2> split;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    split[static_cast<std::size_t>(round[e])].push_back(edges[e]);
  }
  return split;
}

}  // namespace

std::unique_ptr<Pattern> make_recursive_doubling(Rank ranks) {
  need_ranks(ranks, 2);
  const Rank core = power_of_two_within(ranks);
  const std::uint32_t inner = log2_ceil(core);
  const std::uint32_t folds = core < ranks ? 1 : 0;
  return mapped(ranks, inner + 2 * folds, [=](std::uint32_t round, Rank i) {
    if (round < folds) return i >= core ? i - core : i;
    if (round == folds + inner) return i < ranks - core ? i + core : i;
    return i < core ? i ^ (Rank{1} << (round - folds)) : i;
  });
}

std::unique_ptr<Pattern> make_tree(Rank ranks) {
  need_ranks(ranks, 2);
  return mapped(ranks, log2_ceil(ranks), [=](std::uint32_t round, Rank i) {
    const Rank step = Rank{1} << round;
    return i < step && ranks - i > step ? i + step : i;
  });
}

std::unique_ptr<Pattern> make_double_tree(Rank ranks) {
  need_ranks(ranks, 3);
  // Rank 0 is the source and feeds both roots; the trees span ranks 1 .. n.
  const Rank n = ranks - 1;
  const std::vector<Rank> parent = in_order_parents(n);
  std::vector<Edge> edges;
  // In symmetric order all inner nodes stand at odd places, so renaming the places with the parity
  // changed (mirrored when n is even, moved on by one when it is odd) makes them leaves of the
  // second tree.
  const auto renamed = [n](Rank place) { return n % 2 == 0 ? n - 1 - place : (place + 1) % n; };
  for (Rank place = 0; place < n; ++place) {
    const bool root = parent[place] == kNobody;
    edges.push_back({root ? 0 : 1 + parent[place], 1 + place});
    edges.push_back({root ? 0 : 1 + renamed(parent[place]), 1 + renamed(place)});
  }
  const auto split = two_rounds(edges, ranks);
  std::vector<std::uint64_t> begin{0};
  std::vector<Rank> source;
  std::vector<Rank> target;
  for (const auto& round : split) {
    for (const Edge& edge : round) {
      source.push_back(edge.from);
      target.push_back(edge.to);
    }
    begin.push_back(source.size());
  }
  return make_rounds(ranks, std::move(begin), std::move(source), std::move(target), {});
}

}  // namespace contend
