#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "bind.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "contend/pattern/random_patterns.hpp"

namespace contend::bind {

namespace {

using Shared = std::shared_ptr<const Pattern>;

/// One round's messages: source, target and weight (empty: all alike), as sample `sample` draws it.
auto round_messages(const Pattern& pattern, std::uint32_t round, std::uint64_t seed,
                    std::uint64_t sample) {
  Messages all;
  Messages piece;
  RandomChoices choices({seed, sample, 1 + round});
  for (std::uint32_t p = 0; p < pattern.pieces(round); ++p) {
    pattern.fill(round, p, choices, piece);
    all.source.insert(all.source.end(), piece.source.begin(), piece.source.end());
    all.target.insert(all.target.end(), piece.target.begin(), piece.target.end());
    all.weight.insert(all.weight.end(), piece.weight.begin(), piece.weight.end());
  }
  return to_tuple(std::move(all.source), std::move(all.target), std::move(all.weight));
}

}  // namespace

void bind_pattern(nb::module_& m) {
  nb::class_<Pattern>(m, "Pattern")
      .def_prop_ro("ranks", &Pattern::ranks)
      .def_prop_ro("rounds", &Pattern::rounds)
      .def_prop_ro("random", &Pattern::random)
      .def_prop_ro("paired", &Pattern::paired)
      .def_prop_ro("symmetric", &Pattern::symmetric)
      .def_prop_ro("shares_ends", &Pattern::shares_ends)
      .def_prop_ro("shares_ends", &Pattern::shares_ends)
      .def_prop_ro("weighted", &Pattern::weighted)
      .def_prop_ro("messages_expected", &Pattern::messages_expected)
      .def_prop_ro("outcomes", &Pattern::outcomes)
      .def("messages", &round_messages, nb::arg("round"), nb::arg("seed"), nb::arg("sample"));

  const auto add = [&m](const char* name, auto make, auto... arguments) {
    m.def(name, make, arguments...);
  };
  const auto ranks = nb::arg("ranks");
  add(
      "make_bisect", [](Rank p, bool two_way) -> Shared { return make_bisect(p, two_way); }, ranks,
      nb::arg("two_way"));
  add("make_permutation", [](Rank p) -> Shared { return make_permutation(p); }, ranks);
  add("make_uniform", [](Rank p) -> Shared { return make_uniform(p); }, ranks);
  add(
      "make_localised",
      [](Rank p, Rank width, std::uint32_t percent) -> Shared {
        return make_localised(p, width, percent);
      },
      ranks, nb::arg("width"), nb::arg("percent"));
  add(
      "make_hot_spot_traffic",
      [](Rank p, Rank spots, std::uint32_t percent) -> Shared {
        return make_hot_spot_traffic(p, spots, percent);
      },
      ranks, nb::arg("spots"), nb::arg("percent"));
  add(
      "make_shift", [](Rank p, Rank distance) -> Shared { return make_shift(p, distance); }, ranks,
      nb::arg("distance"));
  add(
      "make_shifts",
      [](Rank p, const Vector<std::uint32_t>& distances) -> Shared {
        return make_shifts(p, as_vector(distances));
      },
      ranks, nb::arg("distances"));
  add("make_all_shifts", [](Rank p) -> Shared { return make_all_shifts(p); }, ranks);
  add("make_dissemination", [](Rank p) -> Shared { return make_dissemination(p); }, ranks);
  add("make_pipeline", [](Rank p) -> Shared { return make_pipeline(p); }, ranks);
  add("make_tornado", [](Rank p) -> Shared { return make_tornado(p); }, ranks);
  add(
      "make_recursive_doubling", [](Rank p) -> Shared { return make_recursive_doubling(p); },
      ranks);
  add("make_tree", [](Rank p) -> Shared { return make_tree(p); }, ranks);
  add("make_double_tree", [](Rank p) -> Shared { return make_double_tree(p); }, ranks);
  add("make_scatter", [](Rank p) -> Shared { return make_scatter(p); }, ranks);
  add("make_gather", [](Rank p) -> Shared { return make_gather(p); }, ranks);
  add(
      "make_hot_spot", [](Rank p, Rank receivers) -> Shared { return make_hot_spot(p, receivers); },
      ranks, nb::arg("receivers"));
  add(
      "make_all_to_all", [](Rank p, Rank block) -> Shared { return make_all_to_all(p, block); },
      ranks, nb::arg("block"));
  add(
      "make_neighbour",
      [](Rank p, Rank neighbours) -> Shared { return make_neighbour(p, neighbours); }, ranks,
      nb::arg("neighbours"));
  add(
      "make_halo",
      [](Rank p, const Vector<std::uint32_t>& extents, bool periodic) -> Shared {
        return make_halo(p, as_span(extents), periodic);
      },
      ranks, nb::arg("extents"), nb::arg("periodic"));
  add("make_transpose", [](Rank p) -> Shared { return make_transpose(p); }, ranks);
  add("make_bit_reversal", [](Rank p) -> Shared { return make_bit_reversal(p); }, ranks);
  add("make_bit_complement", [](Rank p) -> Shared { return make_bit_complement(p); }, ranks);
  add(
      "make_rounds",
      [](Rank p, const Vector<std::uint64_t>& begin, const Vector<std::uint32_t>& source,
         const Vector<std::uint32_t>& target, const Vector<std::uint64_t>& weight) -> Shared {
        return make_rounds(p, as_vector(begin), as_vector(source), as_vector(target),
                           as_vector(weight));
      },
      ranks, nb::arg("round_begin"), nb::arg("source"), nb::arg("target"), nb::arg("weight"));
  add(
      "make_parts",
      [](Shared first, Shared second) -> Shared {
        return make_parts(std::move(first), std::move(second));
      },
      nb::arg("first"), nb::arg("second"));
  add(
      "make_copies",
      [](Rank copies, Shared pattern) -> Shared { return make_copies(copies, std::move(pattern)); },
      nb::arg("copies"), nb::arg("pattern"));
  add(
      "make_rest",
      [](Shared pattern, const Vector<std::uint8_t>& gone) -> Shared {
        return make_rest(std::move(pattern), as_vector(gone));
      },
      nb::arg("pattern"), nb::arg("gone"));
  add(
      "make_without_pairs",
      [](Shared pattern, const Vector<std::uint32_t>& row, const Vector<std::uint32_t>& column,
         const Matrix<std::uint8_t>& cut) -> Shared {
        return make_without_pairs(std::move(pattern), as_vector(row), as_vector(column),
                                  {cut.data(), cut.data() + cut.size()}, cut.shape(1));
      },
      nb::arg("pattern"), nb::arg("row"), nb::arg("column"), nb::arg("cut"));
}

}  // namespace contend::bind
