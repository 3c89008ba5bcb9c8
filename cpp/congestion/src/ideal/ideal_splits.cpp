#include "ideal_splits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contend/base/interruption.hpp"

namespace contend {

namespace {

/// Visits every arc with its number and the node that it leaves, nodes in order.
template <class Visit>
void for_each_arc(const IdealGraph& graph, const Visit& visit) {
  const std::span<const IdealGraph::Arc> arcs = graph.arcs();
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    for (std::size_t k = graph.first_arc(node); k < graph.first_arc(node + 1); ++k) {
      visit(node, k, arcs[k]);
    }
  }
}

}  // namespace

void IdealSplits::begin() {
  even_.resize(graph_.arcs().size());
  for (std::size_t node = 0; node < graph_.nodes(); ++node) {
    double sum = 0;
    for (const IdealGraph::Arc& arc : graph_.arcs_of(node)) sum += capacity_[arc.trunk];
    std::size_t k = graph_.first_arc(node);
    for (const IdealGraph::Arc& arc : graph_.arcs_of(node)) even_[k++] = capacity_[arc.trunk] / sum;
  }
  found_ = even_;
  distance_.assign(graph_.nodes(), 0);
  cost_.assign(graph_.nodes(), 0);
  path_is_ = Path::unknown;
}

double IdealSplits::raise(IdealDemand& demand, double least, double most) {
  const auto lower_fixed = [&](double slack) {
    for (double& each : demand.fixed) each *= 1 - slack;
  };
  lower_fixed(kTightSlack);
  low_ = carried(demand, even_);
  if (path_is_ != Path::dear && low_ < most * (1 - kClose)) {
    if (path_is_ == Path::unknown) {
      path_is_ = path_.prepare(kMostCost) ? Path::cheap : Path::dear;
    }
  }
  if (path_is_ == Path::dear) {
    lower_fixed(kSlack);
    low_ = carried(demand, even_);
  }
  const bool exact = path_is_ != Path::dear;
  if (low_ >= most * (1 - (exact ? kClose : kNear))) {
    found_ = even_;
    return most;
  }
  if (low_ > least) {
    found_ = even_;
  } else {
    low_ = least;
  }
  high_ = std::numeric_limits<double>::infinity();
  if (!exact || !follow_path(demand, most)) play(demand, most);
  high_ = std::min(high_, most);
  return low_ >= most * (1 - (exact ? kClose : kNear)) ? most : low_;
}

bool IdealSplits::follow_path(const IdealDemand& demand, double most) {
  averaged_ = even_;
  price_sum_.assign(capacity_.size(), 0);
  path_.begin(demand, even_, low_, most);
  for (int step = 0; step < kMostSteps; ++step) {
    check_interruption();
    if (!path_.step()) break;
    path_.tell(averaged_, price_sum_);
    if (bound(demand, most, kClose)) return true;
  }
  return high_ <= low_ * (1 + kNear);
}

void IdealSplits::play(const IdealDemand& demand, double most) {
  restart();
  for (int pass = 1; pass <= kMostPasses; ++pass) {
    check_interruption();
    const double high = std::min(high_, most);
    flow(demand, std::sqrt(std::max(low_, high * kNear) * high));
    average(pass);
    price();
    regret();
    if (pass % kBetweenBounds != 0) continue;
    average_splits();
    if (bound(demand, most, kNear)) return;
  }
}

std::vector<double> IdealSplits::carry(std::span<const double> inflow) const {
  std::vector<double> load(capacity_.size(), 0);
  std::vector<double> in(inflow.begin(), inflow.end());
  for_each_arc(graph_, [&](std::size_t node, std::size_t k, const IdealGraph::Arc& arc) {
    const double on = in[node] * found_[k];
    load[arc.trunk] += on;
    in[arc.to] += on;
  });
  return load;
}

void IdealSplits::restart() {
  const std::size_t arcs = graph_.arcs().size();
  split_ = even_;
  arc_regret_.assign(arcs, 0);
  arc_sum_.assign(arcs, 0);
  trunk_regret_.assign(capacity_.size(), 0);
  price_sum_.assign(capacity_.size(), 0);
  price_.assign(capacity_.size(), 0);
}

void IdealSplits::flow(const IdealDemand& demand, double rate) {
  in_.resize(graph_.nodes());
  for (std::size_t node = 0; node < in_.size(); ++node) {
    in_[node] = demand.fixed[node] + rate * demand.free[node];
  }
  load_.assign(capacity_.size(), 0);
  for_each_arc(graph_, [&](std::size_t node, std::size_t k, const IdealGraph::Arc& arc) {
    const double on = in_[node] * split_[k];
    load_[arc.trunk] += on;
    in_[arc.to] += on;
  });
}

void IdealSplits::average(int pass) {
  const double weight = static_cast<double>(pass) * pass;
  for_each_arc(graph_, [&](std::size_t node, std::size_t k, const IdealGraph::Arc&) {
    arc_sum_[k] += weight * in_[node] * split_[k];
  });
  for (std::size_t trunk = 0; trunk < price_.size(); ++trunk) {
    price_sum_[trunk] += weight * price_[trunk];
  }
}

void IdealSplits::price() {
  // A price is the part of the bets on a trunk over its capacity, so that what a flow costs is how
  // full the bets find what it crosses.
  double mean = 0;
  double fullest = 0;
  for (std::size_t trunk = 0; trunk < price_.size(); ++trunk) {
    mean += price_[trunk] * load_[trunk];
    fullest = std::max(fullest, load_[trunk] / capacity_[trunk]);
  }
  // The first bets are on the fullest alone: what is on others would take long to average out.
  if (mean == 0) mean = kFull * fullest;
  double sum = 0;
  for (std::size_t trunk = 0; trunk < price_.size(); ++trunk) {
    double& regret = trunk_regret_[trunk];
    const double now = load_[trunk] / capacity_[trunk] - mean;
    regret = std::max(0.0, regret + now);
    price_[trunk] = std::max(0.0, regret + now);
    sum += price_[trunk];
  }
  for (std::size_t trunk = 0; trunk < price_.size(); ++trunk) {
    price_[trunk] = sum > 0 ? price_[trunk] / sum / capacity_[trunk] : 0;
  }
}

void IdealSplits::regret() {
  for (std::size_t node = graph_.nodes(); node-- > 0;) {
    const std::span<const IdealGraph::Arc> arcs = graph_.arcs_of(node);
    const std::size_t first = graph_.first_arc(node);
    double mean = 0;
    for (std::size_t k = 0; k < arcs.size(); ++k) {
      mean += split_[first + k] * (price_[arcs[k].trunk] + cost_[arcs[k].to]);
    }
    cost_[node] = mean;
    if (arcs.size() < 2) continue;
    double sum = 0;
    for (std::size_t k = 0; k < arcs.size(); ++k) {
      double& regret = arc_regret_[first + k];
      const double now = mean - price_[arcs[k].trunk] - cost_[arcs[k].to];
      regret = std::max(0.0, regret + now);
      split_[first + k] = std::max(0.0, regret + now);
      sum += split_[first + k];
    }
    for (std::size_t k = first; k < first + arcs.size(); ++k) {
      split_[k] = sum > 0 ? split_[k] / sum : even_[k];
    }
  }
}

void IdealSplits::average_splits() {
  averaged_.resize(arc_sum_.size());
  for (std::size_t node = 0; node < graph_.nodes(); ++node) {
    double sum = 0;
    for (std::size_t k = graph_.first_arc(node); k < graph_.first_arc(node + 1); ++k) {
      sum += arc_sum_[k];
    }
    for (std::size_t k = graph_.first_arc(node); k < graph_.first_arc(node + 1); ++k) {
      averaged_[k] = sum > 0 ? arc_sum_[k] / sum : even_[k];
    }
  }
}

bool IdealSplits::bound(const IdealDemand& demand, double most, double near) {
  const double rate = carried(demand, averaged_);
  if (rate > low_) {
    found_.swap(averaged_);
    low_ = rate;
  }
  upper(demand);
  return low_ >= most * (1 - near) || high_ <= low_ * (1 + near);
}

void IdealSplits::upper(const IdealDemand& demand) {
  double all = 0;
  for (std::size_t trunk = 0; trunk < price_sum_.size(); ++trunk) {
    all += price_sum_[trunk] * capacity_[trunk];
  }
  if (all <= 0) return;
  double fixed = 0;
  double free = 0;
  least_.resize(graph_.nodes());
  for (std::size_t node = graph_.nodes(); node-- > 0;) {
    double least = graph_.arcs_of(node).empty() ? 0 : std::numeric_limits<double>::infinity();
    for (const IdealGraph::Arc& arc : graph_.arcs_of(node)) {
      least = std::min(least, price_sum_[arc.trunk] / all + least_[arc.to]);
    }
    least_[node] = least;
    fixed += demand.fixed[node] * least;
    free += demand.free[node] * least;
  }
  if (!((1 - fixed) / free < high_)) return;
  high_ = std::max((1 - fixed) / free, low_);
  for (double& each : least_) each /= free;
  distance_.swap(least_);
}

double IdealSplits::carried(const IdealDemand& demand, const std::vector<double>& split) {
  in_fixed_ = demand.fixed;
  in_ = demand.free;
  load_fixed_.assign(capacity_.size(), 0);
  load_.assign(capacity_.size(), 0);
  for_each_arc(graph_, [&](std::size_t node, std::size_t k, const IdealGraph::Arc& arc) {
    const double fixed = in_fixed_[node] * split[k];
    const double free = in_[node] * split[k];
    load_fixed_[arc.trunk] += fixed;
    load_[arc.trunk] += free;
    in_fixed_[arc.to] += fixed;
    in_[arc.to] += free;
  });
  double rate = std::numeric_limits<double>::infinity();
  for (std::size_t trunk = 0; trunk < load_.size(); ++trunk) {
    const double left = capacity_[trunk] - load_fixed_[trunk];
    if (load_[trunk] > 0) {
      rate = std::min(rate, left / load_[trunk]);
    } else if (left < 0) {
      return 0;
    }
  }
  return std::max(rate, 0.0);
}

}  // namespace contend
