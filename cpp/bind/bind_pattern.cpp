#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

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
      .def_prop_ro("weighted", &Pattern::weighted)
      .def_prop_ro("messages_expected", &Pattern::messages_expected)
      .def_prop_ro("outcomes", &Pattern::outcomes)
      .def("messages", &round_messages, nb::arg("round"), nb::arg("seed"), nb::arg("sample"));

  const auto ranks = nb::arg("ranks"), pattern = nb::arg("pattern");
  m.def("make_bisect", &make_bisect, ranks, nb::arg("two_way"));
  m.def("make_permutation", &make_permutation, ranks);
  m.def("make_uniform", &make_uniform, ranks);
  m.def("make_localised", &make_localised, ranks, nb::arg("width"), nb::arg("percent"));
  m.def("make_hot_spot_traffic", &make_hot_spot_traffic, ranks, nb::arg("spots"),
        nb::arg("percent"));
  m.def("make_shift", &make_shift, ranks, nb::arg("distance"));
  m.def(
      "make_shifts",
      [](Rank p, const Vector<Rank>& distances) { return make_shifts(p, as_vector(distances)); },
      ranks, nb::arg("distances"));
  m.def("make_all_shifts", &make_all_shifts, ranks);
  m.def("make_dissemination", &make_dissemination, ranks);
  m.def("make_pipeline", &make_pipeline, ranks);
  m.def("make_tornado", &make_tornado, ranks);
  m.def("make_recursive_doubling", &make_recursive_doubling, ranks);
  m.def("make_tree", &make_tree, ranks);
  m.def("make_double_tree", &make_double_tree, ranks);
  m.def("make_scatter", &make_scatter, ranks);
  m.def("make_gather", &make_gather, ranks);
  m.def("make_hot_spot", &make_hot_spot, ranks, nb::arg("receivers"));
  m.def("make_all_to_all", &make_all_to_all, ranks, nb::arg("block"));
  m.def("make_all_to_all_within", &make_all_to_all_within, ranks, nb::arg("block"));
  m.def("make_neighbour", &make_neighbour, ranks, nb::arg("neighbours"));
  m.def(
      "make_halo",
      [](Rank p, const Vector<Rank>& extents, bool periodic) {
        return make_halo(p, as_span(extents), periodic);
      },
      ranks, nb::arg("extents"), nb::arg("periodic"));
  m.def("make_transpose", &make_transpose, ranks);
  m.def("make_bit_reversal", &make_bit_reversal, ranks);
  m.def("make_bit_complement", &make_bit_complement, ranks);
  m.def(
      "make_rounds",
      [](Rank p, const Vector<std::uint64_t>& begin, const Vector<Rank>& source,
         const Vector<Rank>& target, const Vector<std::uint64_t>& weight) {
        return make_rounds(p, as_vector(begin), as_vector(source), as_vector(target),
                           as_vector(weight));
      },
      ranks, nb::arg("round_begin"), nb::arg("source"), nb::arg("target"), nb::arg("weight"));
  m.def("make_parts", &make_parts, nb::arg("first"), nb::arg("second"));
  m.def("make_copies", &make_copies, nb::arg("copies"), pattern);
  m.def(
      "make_rest",
      [](Shared whole, const Vector<std::uint8_t>& gone) {
        return make_rest(std::move(whole), as_vector(gone));
      },
      pattern, nb::arg("gone"));
  m.def(
      "make_without_pairs",
      [](Shared whole, const Vector<std::uint32_t>& row, const Vector<std::uint32_t>& column,
         const Matrix<std::uint8_t>& cut) {
        return make_without_pairs(std::move(whole), as_vector(row), as_vector(column),
                                  {cut.data(), cut.data() + cut.size()}, cut.shape(1));
      },
      pattern, nb::arg("row"), nb::arg("column"), nb::arg("cut"));
}

}  // namespace contend::bind
