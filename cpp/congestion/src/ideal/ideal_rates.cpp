#include "ideal_rates.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "../rounds/channel_rates.hpp"
#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/progress.hpp"

namespace contend {

PairsOfPlaces distinct_pairs(std::vector<std::uint64_t>& sent) {
  std::ranges::sort(sent);
  PairsOfPlaces pairs;
  for (std::size_t m = 0; m < sent.size(); ++m) {
    if (m > 0 && sent[m] == sent[m - 1]) {
      ++pairs.messages.back();
      continue;
    }
    pairs.source.push_back(static_cast<Place>(sent[m] >> 32));
    pairs.target.push_back(static_cast<Place>(sent[m] & 0xFFFF'FFFF));
    pairs.messages.push_back(1);
  }
  return pairs;
}

IdealRates::IdealRates(const Resolver& resolver, std::span<const double> rate)
    : ways_(*resolver.ideal_ways()),
      places_(resolver.places()),
      rate_of_(rates_or_ones(rate, resolver.switch_channels() + 2 * places_)),
      trunks_(ways_, between()),
      graph_(trunks_),
      splits_(graph_, trunks_.capacity()),
      load_(resolver.switch_channels(), 0.0) {}

void IdealRates::solve(const PairsOfPlaces& pairs) {
  rate_.assign(pairs.size(), 0);
  build_graph(pairs);
  splits_.begin();
  begin_ports(pairs);
  free_.resize(pairs.size());
  std::iota(free_.begin(), free_.end(), 0U);
  double level = 0;
  double more = 0;
  Progress known(pairs.size());
  while (!free_.empty()) {
    const std::size_t before = free_.size();
    const double port = std::max(level, least_port(pairs));
    const bool crosses = take_demand(pairs);
    level = crosses ? std::max(level, splits_.raise(demand_, level, port)) : port;
    if (level >= port) {
      stop_at_ports(pairs, port);
    } else {
      more += stop_in_network(pairs, level);
    }
    known.done(before - free_.size());
  }
  gap_ = 1;
  if (more > 0) {
    const double most = all(pairs) + more;
    raise_on(pairs);
    // Even splits may carry more than those that were stopped early.
    std::vector<double> rates(pairs.size(), 0);
    std::vector<double> splits = splits_.even();
    const double found = all(pairs);
    const auto exchange = [&] {
      rate_.swap(rates);
      splits_.exchange(splits);
    };
    exchange();
    raise_on(pairs);
    if (all(pairs) < found) exchange();
    gap_ = std::max(1.0, most / all(pairs));
  }
  count_load(pairs);
}

double IdealRates::all(const PairsOfPlaces& pairs) const {
  double all = 0;
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) all += rate_[pair] * pairs.messages[pair];
  return all;
}

double IdealRates::slowdown(const PairsOfPlaces& pairs, std::size_t pair) const {
  const double alone = std::min(ports()[pairs.source[pair]], ports()[places_ + pairs.target[pair]]);
  return std::max(1.0, alone / rate_[pair]);
}

std::vector<PartOnChannel> IdealRates::parts_of(std::size_t pair) const {
  std::vector<PartOnChannel> parts;
  const std::size_t first = node_[pair];
  if (first == kNone) return parts;
  // Nodes come before those that their arcs lead to.
  std::vector<double> in(end_[pair] - first, 0.0);
  std::map<std::uint32_t, double> on_trunk;
  in[0] = 1;
  for (std::size_t node = first; node < end_[pair]; ++node) {
    if (in[node - first] <= 0) continue;
    std::size_t k = graph_.first_arc(node);
    for (const IdealGraph::Arc& arc : graph_.arcs_of(node)) {
      const double on = in[node - first] * splits_.split(k++);
      if (on <= 0) continue;
      on_trunk[arc.trunk] += on;
      in[arc.to - first] += on;
    }
  }
  for (const auto& [trunk, part] : on_trunk) {
    const double each = part / trunks_.capacity()[trunk];
    for (const ChannelId channel : trunks_.channels_of(trunk)) {
      parts.push_back({channel, each * rate_of_[channel]});
    }
  }
  return parts;
}

std::vector<double> IdealRates::parts_across(ChannelId channel) const {
  std::size_t trunk = 0;
  const auto is_here = [&](ChannelId each) { return each == channel; };
  while (trunk < trunks_.size() && std::ranges::none_of(trunks_.channels_of(trunk), is_here)) {
    ++trunk;
  }
  std::vector<double> across(node_.size(), 0.0);
  if (trunk == trunks_.size()) return across;
  std::vector<double> from(graph_.nodes(), 0.0);
  for (std::size_t node = from.size(); node-- > 0;) {
    std::size_t k = graph_.first_arc(node);
    for (const IdealGraph::Arc& arc : graph_.arcs_of(node)) {
      from[node] += splits_.split(k++) * ((arc.trunk == trunk ? 1.0 : 0.0) + from[arc.to]);
    }
  }
  const double own = rate_of_[channel] / trunks_.capacity()[trunk];
  for (std::size_t pair = 0; pair < across.size(); ++pair) {
    if (node_[pair] != kNone) across[pair] = own * from[node_[pair]];
  }
  return across;
}

void IdealRates::build_graph(const PairsOfPlaces& pairs) {
  graph_.clear();
  node_.assign(pairs.size(), kNone);
  end_.assign(pairs.size(), kNone);
  std::vector<std::vector<std::uint32_t>> to_class(ways_.classes.classes());
  for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) {
    const std::uint32_t row = ways_.next.row_of[pairs.target[pair]];
    if (ways_.classes.leaf_of_class(row) != ways_.classes.leaf_of(pairs.source[pair])) {
      to_class[row].push_back(pair);
    }
  }
  std::vector<std::uint32_t> leaf;
  std::vector<std::uint32_t> node;
  for (std::size_t row = 0; row < to_class.size(); ++row) {
    if (to_class[row].empty()) continue;
    leaf.clear();
    for (const std::uint32_t pair : to_class[row]) {
      leaf.push_back(ways_.classes.leaf_of(pairs.source[pair]));
    }
    node.resize(leaf.size());
    check_interruption();
    graph_.add(row, leaf, node);
    if (graph_.arcs().size() > ways_.most_arcs) {
      throw Error("adaptive solves a round whose messages choose among at most " +
                  std::to_string(ways_.most_arcs) +
                  " channels at the switches on their ways, and these choose among more: take "
                  "fewer hosts, or spray");
    }
    for (std::size_t k = 0; k < node.size(); ++k) {
      node_[to_class[row][k]] = node[k];
      end_[to_class[row][k]] = static_cast<std::uint32_t>(graph_.nodes());
    }
  }
}

void IdealRates::begin_ports(const PairsOfPlaces& pairs) {
  port_.clear();
  for (const double capacity : ports()) port_.push_back({capacity});
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    port_[pairs.source[pair]].free += pairs.messages[pair];
    port_[places_ + pairs.target[pair]].free += pairs.messages[pair];
  }
}

double IdealRates::least_port(const PairsOfPlaces& pairs) const {
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t pair : free_) {
    least = std::min(
        {least, port_[pairs.source[pair]].level(), port_[places_ + pairs.target[pair]].level()});
  }
  return least;
}

bool IdealRates::take_demand(const PairsOfPlaces& pairs) {
  demand_.fixed.assign(graph_.nodes(), 0);
  demand_.free.assign(graph_.nodes(), 0);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    if (node_[pair] == kNone) continue;
    demand_.fixed[node_[pair]] += rate_[pair] * pairs.messages[pair];
  }
  bool crosses = false;
  for (const std::uint32_t pair : free_) {
    if (node_[pair] == kNone) continue;
    demand_.free[node_[pair]] += pairs.messages[pair];
    crosses = true;
  }
  return crosses;
}

void IdealRates::stop(const PairsOfPlaces& pairs, std::size_t pair, double rate) {
  rate_[pair] = rate;
  for (Port* const port : {&port_[pairs.source[pair]], &port_[places_ + pairs.target[pair]]}) {
    port->taken += rate * pairs.messages[pair];
    port->free -= pairs.messages[pair];
  }
}

void IdealRates::stop_at_ports(const PairsOfPlaces& pairs, double rate) {
  // Which ports are full is asked before any message leaves them.
  const double full = rate * (1 + 1e-9);
  const auto stopped = std::stable_partition(free_.begin(), free_.end(), [&](std::uint32_t pair) {
    return std::min(port_[pairs.source[pair]].level(),
                    port_[places_ + pairs.target[pair]].level()) > full;
  });
  for (auto pair = stopped; pair != free_.end(); ++pair) stop(pairs, *pair, rate);
  free_.erase(stopped, free_.end());
}

double IdealRates::stop_in_network(const PairsOfPlaces& pairs, double rate) {
  double dearest = 0;
  for (const std::uint32_t pair : free_) {
    if (node_[pair] != kNone) dearest = std::max(dearest, splits_.distance(node_[pair]));
  }
  const auto stopped = std::stable_partition(free_.begin(), free_.end(), [&](std::uint32_t pair) {
    return node_[pair] == kNone || (splits_.distance(node_[pair]) < kCostsLittle * dearest &&
                                    splits_.rise(node_[pair]) > kRisesLittle * rate);
  });
  double messages = 0;
  for (auto pair = stopped; pair != free_.end(); ++pair) {
    stop(pairs, *pair, rate);
    messages += pairs.messages[*pair];
  }
  free_.erase(stopped, free_.end());
  return splits_.gap() > kWide ? messages * rate * (splits_.gap() - 1) : 0;
}

void IdealRates::raise_on(const PairsOfPlaces& pairs) {
  const std::vector<double>& capacity = trunks_.capacity();
  std::vector<double> inflow(graph_.nodes());
  std::vector<double> rising(graph_.nodes());
  std::vector<std::uint8_t> is_full(trunks_.size());
  std::vector<std::uint8_t> stops(graph_.nodes());
  free_.resize(pairs.size());
  std::iota(free_.begin(), free_.end(), 0U);
  begin_ports(pairs);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    port_[pairs.source[pair]].taken += rate_[pair] * pairs.messages[pair];
    port_[places_ + pairs.target[pair]].taken += rate_[pair] * pairs.messages[pair];
  }
  while (!free_.empty()) {
    check_interruption();
    std::ranges::fill(inflow, 0);
    std::ranges::fill(rising, 0);
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      if (node_[pair] != kNone) inflow[node_[pair]] += rate_[pair] * pairs.messages[pair];
    }
    for (const std::uint32_t pair : free_) {
      if (node_[pair] != kNone) rising[node_[pair]] += pairs.messages[pair];
    }
    const std::vector<double> carried = splits_.carry(inflow);
    const std::vector<double> rises = splits_.carry(rising);
    double step = least_port(pairs);
    for (std::size_t trunk = 0; trunk < carried.size(); ++trunk) {
      if (rises[trunk] > 0)
        step = std::min(step, (capacity[trunk] - carried[trunk]) / rises[trunk]);
    }
    step = std::max(0.0, step);
    for (const std::uint32_t pair : free_) {
      rate_[pair] += step;
      port_[pairs.source[pair]].taken += step * pairs.messages[pair];
      port_[places_ + pairs.target[pair]].taken += step * pairs.messages[pair];
    }
    for (std::size_t trunk = 0; trunk < carried.size(); ++trunk) {
      const double left = capacity[trunk] - carried[trunk] - step * rises[trunk];
      is_full[trunk] = rises[trunk] > 0 && left <= kFull * capacity[trunk];
    }
    for (std::size_t node = graph_.nodes(); node-- > 0;) {
      stops[node] = 0;
      std::size_t k = graph_.first_arc(node);
      for (const IdealGraph::Arc& arc : graph_.arcs_of(node)) {
        if (splits_.split(k++) > 0 && (is_full[arc.trunk] || stops[arc.to])) stops[node] = 1;
      }
    }
    const auto has_room = [&](std::size_t port) {
      return port_[port].capacity - port_[port].taken > kFull * port_[port].capacity;
    };
    const auto stopped = std::stable_partition(free_.begin(), free_.end(), [&](std::uint32_t pair) {
      return has_room(pairs.source[pair]) && has_room(places_ + pairs.target[pair]) &&
             (node_[pair] == kNone || !stops[node_[pair]]);
    });
    for (auto pair = stopped; pair != free_.end(); ++pair) {
      port_[pairs.source[*pair]].free -= pairs.messages[*pair];
      port_[places_ + pairs.target[*pair]].free -= pairs.messages[*pair];
    }
    free_.erase(stopped, free_.end());
  }
}

void IdealRates::count_load(const PairsOfPlaces& pairs) {
  std::vector<double> inflow(graph_.nodes(), 0);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    if (node_[pair] != kNone) inflow[node_[pair]] += pairs.messages[pair];
  }
  const std::vector<double> carried = splits_.carry(inflow);
  std::fill(load_.begin(), load_.end(), 0);
  for (std::size_t trunk = 0; trunk < carried.size(); ++trunk) {
    const double part = carried[trunk] / trunks_.capacity()[trunk];
    for (const ChannelId channel : trunks_.channels_of(trunk))
      load_[channel] = part * rate_of_[channel];
  }
}

}  // namespace contend
