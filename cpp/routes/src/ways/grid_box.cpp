#include "grid_box.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace contend {

namespace {

/// Steps from a coordinate to another.
std::uint32_t steps(const Grid::Dimension& dimension, std::uint32_t from, std::uint32_t to) {
  if (dimension.line == Grid::Line::full) return from == to ? 0 : 1;
  const std::uint32_t apart = from < to ? to - from : from - to;
  return dimension.line == Grid::Line::ring ? std::min(apart, dimension.size - apart) : apart;
}

}  // namespace

template <class Later>
void GridBox::add(const Grid::Dimension& dimension, std::uint32_t at, std::uint32_t to,
                  const Later& later) {
  const Grid::Slots slots = Grid::towards(dimension, at, to);
  Stand stand{at * dimension.stride, slots.first, slots.count, 0, 0};
  if (slots.count > 0) {
    const std::uint32_t ahead = at + 1 < dimension.size ? at + 1 : 0;
    const std::uint32_t back = at > 0 ? at - 1 : dimension.size - 1;
    const bool full = dimension.line == Grid::Line::full;
    stand.next = later(full ? to : slots.first == dimension.first ? ahead : back);
    stand.other = slots.count == 1 || full ? stand.next : later(back);
  }
  stands_.push_back(stand);
}

void GridBox::lead(SwitchId from, SwitchId to) {
  stands_.clear();
  for (std::size_t d = 0; d < grid_->dimensions().size(); ++d) {
    const Grid::Dimension& dimension = grid_->dimensions()[d];
    lines_[d].first = stands_.size();
    met_.assign(1, grid_->at(from)[d]);
    for (std::size_t k = 0; k < met_.size(); ++k) {
      // Two at most come later so far.
      const auto later = [&](std::uint32_t coordinate) {
        const auto next = met_.begin() + static_cast<std::ptrdiff_t>(k) + 1;
        const auto place =
            static_cast<std::uint32_t>(std::find(next, met_.end(), coordinate) - next);
        if (next + place == met_.end()) met_.push_back(coordinate);
        return place + 1;
      };
      add(dimension, met_[k], grid_->at(to)[d], later);
    }
  }
  end_lines();
}

void GridBox::lead(SwitchId to) {
  stands_.clear();
  for (std::size_t d = 0; d < grid_->dimensions().size(); ++d) {
    const Grid::Dimension& dimension = grid_->dimensions()[d];
    const std::uint32_t end = grid_->at(to)[d];
    lines_[d].first = stands_.size();
    met_.resize(dimension.size);
    std::iota(met_.begin(), met_.end(), 0U);
    std::ranges::sort(met_, std::greater<>(),
                      [&](std::uint32_t at) { return steps(dimension, at, end); });
    place_.resize(dimension.size);
    for (std::uint32_t k = 0; k < dimension.size; ++k) place_[met_[k]] = k;
    for (const std::uint32_t at : met_) {
      add(dimension, at, end, [&](std::uint32_t next) { return place_[next] - place_[at]; });
    }
  }
  end_lines();
}

void GridBox::end_lines() {
  switches_ = 1;
  std::size_t end = stands_.size();
  for (std::size_t d = grid_->dimensions().size(); d-- > 0;) {
    lines_[d].count = end - lines_[d].first;
    lines_[d].stride = switches_;
    switches_ *= lines_[d].count;
    end = lines_[d].first;
  }
}

std::size_t GridBox::channels() const {
  std::size_t channels = 0;
  for (std::size_t d = 0; d < grid_->dimensions().size(); ++d) {
    const Line& line = lines_[d];
    std::size_t along = 0;
    for (std::size_t k = 0; k < line.count; ++k) along += stands_[line.first + k].count;
    channels += switches_ / line.count * along;
  }
  return channels;
}

}  // namespace contend
