#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"
#include "contend/routes/split/ways.hpp"

namespace contend {

class IdealRates;

/// What messages get, and how they split.
struct IdealRound {
  /// Of the slower of both ports, by message.
  std::vector<double> share;
  /// Channels between switches with the part of the message there, by message; empty where they
  /// were not asked for.
  std::vector<std::vector<PartOnChannel>> parts;
};

/// Rounds of messages that split as is best for all of a round, see make_ideal_resolver().
class IdealRounds {
 public:
  /// `rate` by channel: between switches, then injection and ejection by place; all above 0.
  /// Throws Error for a resolver of other routes, or another number of rates. Borrows the resolver.
  /// Cost: a few sorts of all channels.
  IdealRounds(const Resolver& resolver, std::span<const double> rate);
  ~IdealRounds();
  IdealRounds(const IdealRounds&) = delete;
  IdealRounds& operator=(const IdealRounds&) = delete;

  /// Messages between places; source and target differ in each.
  /// Throws Error where a place does not exist. Cost: as IdealRates, and with parts for every leaf
  /// and target leaf one pass over the ways between them.
  IdealRound solve(std::span<const Place> source, std::span<const Place> target, bool parts);
  /// Messages on every channel between switches in the round that was solved last.
  std::span<const double> load() const;

 private:
  std::size_t places_;
  std::unique_ptr<IdealRates> rates_;
};

}  // namespace contend
