#include "central_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "contend/base/vectorise.hpp"

namespace contend {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// Eliminates the first rows of a symmetric matrix, of which the upper half is looked at.
CONTEND_VECTORISE void eliminate(double* matrix, std::size_t size, std::size_t rows) {
  for (std::size_t k = 0; k < rows; ++k) {
    const double* const pivot = matrix + k * size;
    for (std::size_t i = k + 1; i < size; ++i) {
      const double part = pivot[i] / pivot[k];
      if (part == 0) continue;
      double* const row = matrix + i * size;
      for (std::size_t j = i; j < size; ++j) row[j] -= part * pivot[j];
    }
  }
}

/// What was done to the rows, done to the right side.
void carry_down(const double* matrix, std::size_t size, std::size_t rows, double* x) {
  for (std::size_t k = 0; k < rows; ++k) {
    const double part = x[k] / matrix[k * size + k];
    for (std::size_t i = k + 1; i < size; ++i) x[i] -= part * matrix[k * size + i];
  }
}

void carry_up(const double* matrix, std::size_t size, std::size_t rows, double* x) {
  for (std::size_t k = rows; k-- > 0;) {
    double left = x[k];
    for (std::size_t i = k + 1; i < size; ++i) left -= matrix[k * size + i] * x[i];
    x[k] = left / matrix[k * size + k];
  }
}

}  // namespace

bool CentralPath::prepare(double most_cost) {
  node_.assign(graph_.nodes(), kNone);
  trunk_number_.assign(capacity_.size(), kNone);
  trunk_.clear();
  nodes_ = 0;
  for (std::size_t node = 0; node < node_.size(); ++node) {
    if (graph_.arcs_of(node).size() > 1) node_[node] = nodes_++;
  }
  for (const IdealGraph::Arc& arc : graph_.arcs()) {
    if (trunk_number_[arc.trunk] != kNone) continue;
    trunk_number_[arc.trunk] = trunk_.size();
    trunk_.push_back(arc.trunk);
  }
  const auto trunks = static_cast<double>(trunk_.size());
  double cost = trunks * trunks * trunks / 3;
  ways_.clear();
  row_.clear();
  blocks_.clear();
  place_.clear();
  std::size_t first = 0;
  for (std::size_t node = 0; node < node_.size() && cost <= most_cost; ++node) {
    // The last node of a class has no arcs.
    if (!graph_.arcs_of(node).empty()) continue;
    add_block(first, node);
    first = node + 1;
    const auto size = static_cast<double>(blocks_.back().size);
    cost += static_cast<double>(blocks_.back().nodes) * size * size / 2;
  }
  return cost <= most_cost;
}

void CentralPath::add_block(std::size_t first_node, std::size_t end_node) {
  Block block{ways_.size(), 0, place_.size(), 0, 0, 0};
  for (std::size_t node = first_node; node < end_node; ++node) {
    if (node_[node] != kNone) place_.push_back(node_[node]);
  }
  block.nodes = place_.size() - block.first_place;
  std::vector<std::size_t> row_of_trunk(trunk_.size(), kNone);
  for (std::size_t node = first_node; node < end_node; ++node) {
    if (node_[node] == kNone) continue;
    std::size_t number = graph_.first_arc(node);
    for (IdealGraph::Arc arc : graph_.arcs_of(node)) {
      ways_.push_back({number++, row_.size(), 0});
      row_.push_back(node_[node] - place_[block.first_place]);
      for (;;) {
        std::size_t& row = row_of_trunk[trunk_number_[arc.trunk]];
        if (row == kNone) {
          row = place_.size() - block.first_place;
          place_.push_back(nodes_ + trunk_number_[arc.trunk]);
        }
        row_.push_back(row);
        if (graph_.arcs_of(arc.to).size() != 1) break;
        arc = graph_.arcs_of(arc.to)[0];
      }
      if (node_[arc.to] != kNone) row_.push_back(node_[arc.to] - place_[block.first_place]);
      ways_.back().end = row_.size();
    }
  }
  block.end_way = ways_.size();
  block.size = place_.size() - block.first_place;
  if (!blocks_.empty()) {
    block.matrix = blocks_.back().matrix + blocks_.back().size * blocks_.back().size;
  }
  blocks_.push_back(block);
}

void CentralPath::begin(const IdealDemand& demand, const std::vector<double>& split, double rate,
                        double most) {
  const std::size_t places = nodes_ + trunk_.size();
  matrix_.resize(blocks_.back().matrix + blocks_.back().size * blocks_.back().size);
  trunk_matrix_.resize(trunk_.size() * trunk_.size());
  unit_ = 0;
  for (const std::uint32_t trunk : trunk_) unit_ = std::max(unit_, capacity_[trunk]);
  most_ = most / unit_;
  rate_ = 0.9 * std::min(rate / unit_, most_);
  // What comes in where there is no choice goes on to where there is.
  fixed_.assign(places, 0);
  free_.assign(places, 0);
  std::vector<double> fixed = demand.fixed, free = demand.free;
  for (std::size_t node = 0; node < node_.size(); ++node) {
    const std::span<const IdealGraph::Arc> arcs = graph_.arcs_of(node);
    if (arcs.size() == 1) {
      const std::size_t trunk = nodes_ + trunk_number_[arcs[0].trunk];
      fixed_[trunk] += fixed[node] / unit_;
      free_[trunk] += free[node];
      fixed[arcs[0].to] += fixed[node];
      free[arcs[0].to] += free[node];
    } else if (node_[node] != kNone) {
      fixed_[node_[node]] += fixed[node] / unit_;
      free_[node_[node]] += free[node];
    }
  }
  for (std::size_t k = 0; k < trunk_.size(); ++k) {
    fixed_[nodes_ + k] -= capacity_[trunk_[k]] / unit_;
  }
  // The flows of the splits, and what they leave. Nodes come before those that they lead to.
  const std::size_t ways = ways_.size();
  value_.assign(ways + trunk_.size() + 1, 0);
  std::vector<double> in(places);
  for (std::size_t k = 0; k < places; ++k) in[k] = fixed_[k] + rate_ * free_[k];
  for (const Block& block : blocks_) {
    for (std::size_t way = block.first_way; way < block.end_way; ++way) {
      const std::size_t node = place_[block.first_place + row_[ways_[way].first]];
      value_[way] = split[ways_[way].arc] * in[node];
      for (std::size_t k = ways_[way].first + 1; k < ways_[way].end; ++k) {
        in[place_[block.first_place + row_[k]]] += value_[way];
      }
    }
  }
  for (std::size_t k = 0; k < trunk_.size(); ++k) {
    value_[ways + k] = std::max(-in[nodes_ + k], kLeft * capacity_[trunk_[k]] / unit_);
  }
  value_.back() = most_ - rate_;
  price_.resize(value_.size());
  const double product = kFar * rate_ / static_cast<double>(value_.size());
  for (std::size_t k = 0; k < value_.size(); ++k) price_[k] = product / value_[k];
  distance_.assign(nodes_, 0);
  distance_.insert(distance_.end(), price_.begin() + static_cast<std::ptrdiff_t>(ways),
                   price_.end() - 1);
}

bool CentralPath::step() {
  factorise();
  std::vector<double> product(value_.size());
  double mean = 0;
  for (std::size_t k = 0; k < product.size(); ++k) {
    product[k] = -value_[k] * price_[k];
    mean -= product[k] / static_cast<double>(product.size());
  }
  find_direction(product);
  double step = longest(value_, value_change_);
  double dual_step = longest(price_, price_change_);
  double then = 0;
  for (std::size_t k = 0; k < product.size(); ++k) {
    then += (value_[k] + step * value_change_[k]) * (price_[k] + dual_step * price_change_[k]) /
            static_cast<double>(product.size());
  }
  // The better the first try went, the nearer to the end all may be.
  const double aim = mean * std::pow(then / mean, 3);
  for (std::size_t k = 0; k < product.size(); ++k) {
    product[k] += aim - value_change_[k] * price_change_[k];
  }
  find_direction(product);
  step = kNearly * longest(value_, value_change_);
  dual_step = kNearly * longest(price_, price_change_);
  if (!std::isfinite(rate_change_) || step < kLeast || dual_step < kLeast) return false;
  rate_ += step * rate_change_;
  for (std::size_t k = 0; k < product.size(); ++k) {
    value_[k] += step * value_change_[k];
    price_[k] += dual_step * price_change_[k];
  }
  for (std::size_t k = 0; k < change_.size(); ++k) distance_[k] += dual_step * change_[k];
  return true;
}

void CentralPath::tell(std::vector<double>& split, std::vector<double>& price) const {
  std::fill(price.begin(), price.end(), 0.0);
  for (std::size_t k = 0; k < trunk_.size(); ++k) price[trunk_[k]] = price_[ways_.size() + k];
  std::size_t way = 0;
  for (std::size_t node = 0; node < node_.size(); ++node) {
    if (node_[node] == kNone) continue;
    // Its ways are in the order of its arcs, and those of nodes in the order of nodes.
    const std::size_t arcs = graph_.arcs_of(node).size();
    const auto flow = value_.begin() + static_cast<std::ptrdiff_t>(way);
    const double sum = std::accumulate(flow, flow + static_cast<std::ptrdiff_t>(arcs), 0.0);
    for (std::size_t k = 0; k < arcs; ++k, ++way) split[ways_[way].arc] = value_[way] / sum;
  }
}

void CentralPath::add(const Block& block, const Way& way, double amount,
                      std::vector<double>& to) const {
  to[place_[block.first_place + row_[way.first]]] -= amount;
  for (std::size_t k = way.first + 1; k < way.end; ++k) {
    to[place_[block.first_place + row_[k]]] += amount;
  }
}

double CentralPath::sum(const Block& block, const Way& way, const std::vector<double>& of) const {
  double sum = -of[place_[block.first_place + row_[way.first]]];
  for (std::size_t k = way.first + 1; k < way.end; ++k) {
    sum += of[place_[block.first_place + row_[k]]];
  }
  return sum;
}

void CentralPath::factorise() {
  const std::size_t trunks = trunk_.size();
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  std::fill(trunk_matrix_.begin(), trunk_matrix_.end(), 0.0);
  for (std::size_t k = 0; k < trunks; ++k) {
    trunk_matrix_[k * trunks + k] = value_[ways_.size() + k] / price_[ways_.size() + k];
  }
  for (const Block& block : blocks_) {
    double* const matrix = matrix_.data() + block.matrix;
    for (std::size_t number = block.first_way; number < block.end_way; ++number) {
      const Way& way = ways_[number];
      const double weight = value_[number] / price_[number];
      for (std::size_t a = way.first; a < way.end; ++a) {
        for (std::size_t b = way.first; b < way.end; ++b) {
          if (row_[a] > row_[b]) continue;
          matrix[row_[a] * block.size + row_[b]] +=
              (a == way.first) == (b == way.first) ? weight : -weight;
        }
      }
    }
    eliminate(matrix, block.size, block.nodes);
    const std::size_t* const place = place_.data() + block.first_place;
    for (std::size_t i = block.nodes; i < block.size; ++i) {
      for (std::size_t j = i; j < block.size; ++j) {
        const std::size_t row = std::min(place[i], place[j]) - nodes_;
        const std::size_t column = std::max(place[i], place[j]) - nodes_;
        trunk_matrix_[row * trunks + column] += matrix[i * block.size + j];
      }
    }
  }
  eliminate(trunk_matrix_.data(), trunks, trunks);
  of_free_ = free_;
  solve(of_free_);
}

void CentralPath::solve(std::vector<double>& x) {
  std::vector<double> local;
  const auto gather = [&](const Block& block) {
    local.resize(block.size);
    for (std::size_t k = 0; k < block.size; ++k) local[k] = x[place_[block.first_place + k]];
  };
  for (const Block& block : blocks_) {
    gather(block);
    carry_down(matrix_.data() + block.matrix, block.size, block.nodes, local.data());
    for (std::size_t k = 0; k < block.size; ++k) x[place_[block.first_place + k]] = local[k];
  }
  carry_down(trunk_matrix_.data(), trunk_.size(), trunk_.size(), x.data() + nodes_);
  carry_up(trunk_matrix_.data(), trunk_.size(), trunk_.size(), x.data() + nodes_);
  for (const Block& block : blocks_) {
    gather(block);
    carry_up(matrix_.data() + block.matrix, block.size, block.nodes, local.data());
    for (std::size_t k = 0; k < block.nodes; ++k) x[place_[block.first_place + k]] = local[k];
  }
}

void CentralPath::find_direction(const std::vector<double>& product) {
  const std::size_t ways = ways_.size();
  const double* const left = product.data() + ways;
  change_.resize(fixed_.size());
  for (std::size_t k = 0; k < change_.size(); ++k) change_[k] = fixed_[k] + rate_ * free_[k];
  for (std::size_t k = 0; k < trunk_.size(); ++k) {
    change_[nodes_ + k] += value_[ways + k] + left[k] / price_[ways + k];
  }
  too_dear_.resize(ways);
  for (const Block& block : blocks_) {
    for (std::size_t way = block.first_way; way < block.end_way; ++way) {
      too_dear_[way] = price_[way] - sum(block, ways_[way], distance_);
      add(block, ways_[way],
          value_[way] + (product[way] + value_[way] * too_dear_[way]) / price_[way], change_);
    }
  }
  solve(change_);
  // What raises all, beside what corrects the rest.
  double missing = 1 - price_.back();
  double now = 0;
  double more = price_.back() / value_.back();
  for (std::size_t k = 0; k < change_.size(); ++k) {
    missing -= free_[k] * distance_[k];
    now += free_[k] * change_[k];
    more += free_[k] * of_free_[k];
  }
  const double room = most_ - rate_ - value_.back();
  rate_change_ = (missing - (product.back() - price_.back() * room) / value_.back() - now) / more;
  for (std::size_t k = 0; k < change_.size(); ++k) change_[k] += rate_change_ * of_free_[k];
  value_change_.resize(value_.size());
  price_change_.resize(value_.size());
  for (const Block& block : blocks_) {
    for (std::size_t way = block.first_way; way < block.end_way; ++way) {
      price_change_[way] = sum(block, ways_[way], change_) - too_dear_[way];
    }
  }
  for (std::size_t k = 0; k < trunk_.size(); ++k) price_change_[ways + k] = change_[nodes_ + k];
  for (std::size_t k = 0; k + 1 < value_.size(); ++k) {
    value_change_[k] = (product[k] - value_[k] * price_change_[k]) / price_[k];
  }
  value_change_.back() = room - rate_change_;
  price_change_.back() = (product.back() - price_.back() * value_change_.back()) / value_.back();
}

double CentralPath::longest(const std::vector<double>& value, const std::vector<double>& change) {
  double longest = 1;
  for (std::size_t k = 0; k < value.size(); ++k) {
    if (value[k] + longest * change[k] < 0) longest = -value[k] / change[k];
  }
  return longest;
}

}  // namespace contend
