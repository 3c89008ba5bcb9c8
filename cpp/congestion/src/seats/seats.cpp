#include "contend/congestion/seats.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/philox.hpp"
#include "halves.hpp"
#include "phase_loads.hpp"
#include "rank_messages.hpp"

namespace contend {

namespace {

/// Random numbers in the order in which they are asked for.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t sample) : stream_{seed, sample, kPurpose} {}

  /// Below a bound; its bias is below bound / 2^32.
  std::uint32_t below(std::size_t bound) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(next()) * bound) >> 32);
  }
  /// From 0 to below 1.
  double share() { return static_cast<double>(next()) * 0x1p-32; }

 private:
  static constexpr std::uint32_t kPurpose = 0x5EA75;

  std::uint32_t next() {
    if (at_ == words_.size()) {
      philox_fill(stream_, group_++, words_);
      at_ = 0;
    }
    return words_[at_++];
  }

  PhiloxStream stream_;
  std::uint32_t group_ = 0;
  std::array<std::uint32_t, kPhiloxGroup> words_{};
  std::size_t at_ = kPhiloxGroup;
};

/// Of every server's ranks the server's place, or of its places its seats.
std::vector<std::uint32_t> by_server(std::span<const std::uint32_t> each, std::size_t together,
                                     std::uint32_t unit) {
  std::vector<std::uint32_t> found;
  for (std::size_t n = 0; n < each.size(); n += together) found.push_back(each[n] / unit);
  return found;
}

/// Who sits at every place, and exchanges that keep to the seats.
class Sitters {
 public:
  Sitters(std::span<const Place> places, std::vector<std::uint32_t> seats)
      : seats_(std::move(seats)), at_(seats_.size()) {
    for (std::uint32_t rank = 0; rank < places.size(); ++rank) at_[places[rank]].push_back(rank);
  }

  /// An exchange between two places: of all that they hold, or of a rank for another or for a free
  /// seat; empty where none fits. A place that holds nobody takes all or nothing.
  void propose(std::uint32_t rank, Place from, Place to, Draws& draws,
               std::vector<RankMove>& moves) const {
    moves.clear();
    if (from == to) return;
    const auto& here = at_[from];
    const auto& there = at_[to];
    const bool alone = here.size() == 1 && there.size() <= 1;
    if (there.empty() || alone || draws.below(4) == 0) {
      if (here.size() > seats_[to] || there.size() > seats_[from]) return;
      for (const std::uint32_t moved : here) moves.push_back({moved, to});
      for (const std::uint32_t moved : there) moves.push_back({moved, from});
      return;
    }
    const std::uint32_t seat = draws.below(seats_[to]);
    moves.push_back({rank, to});
    if (seat < there.size()) {
      moves.push_back({there[seat], from});
    } else if (here.size() == 1) {
      // Whoever sits alone would leave a place empty: that is for whole places.
      moves.clear();
    }
  }

  void apply(std::span<const RankMove> moves, std::span<const RankMove> back) {
    for (const RankMove& moved : back) std::erase(at_[moved.to], moved.rank);
    for (const RankMove& moved : moves) at_[moved.to].push_back(moved.rank);
  }

 private:
  std::vector<std::uint32_t> seats_;
  std::vector<std::vector<std::uint32_t>> at_;
};

/// Descent and annealing from one start. Ranks and places are servers' where they move together.
class Search {
 public:
  Search(const Resolver& resolver, const RankMessages& messages, const SeatSearch& terms,
         std::span<const Place> start, std::uint64_t sample)
      : messages_(messages),
        loads_(resolver, messages, terms.seconds_per_byte, start),
        together_(terms.together),
        ranks_(start.size() / together_),
        sitters_(by_server(start, together_, static_cast<std::uint32_t>(together_)),
                 by_server(terms.seats, together_, 1)),
        draws_(terms.seed, sample),
        places_(terms.seats.size() / together_) {}

  std::span<const Place> places() const { return loads_.places(); }
  std::uint64_t spent() const { return loads_.changes(); }

  /// Exchanges that lower the norm, until the effort is spent or too few of them do.
  void descend(unsigned squarings, std::uint64_t effort) {
    const std::uint64_t end = loads_.changes() + effort;
    do {
      loads_.set_power(squarings);
      list_hot_ranks();
    } while (sweep(0.0, end) > ranks_ / 500 && loads_.changes() < end);
  }

  /// Annealing from `heat` times the mean loss of random exchanges down to nothing.
  void anneal(unsigned squarings, double heat, std::uint64_t effort) {
    loads_.set_power(squarings);
    list_hot_ranks();
    const double hot = heat * mean_loss();
    const std::uint64_t begin = loads_.changes();
    const std::uint64_t end = begin + effort;
    while (loads_.changes() < end) {
      const double done =
          static_cast<double>(loads_.changes() - begin) / static_cast<double>(effort);
      const std::uint64_t before = loads_.changes();
      loads_.set_power(squarings);
      list_hot_ranks();
      sweep(hot * std::pow(kCoolest, done), end);
      // Nothing can be changed at all.
      if (loads_.changes() == before) return;
    }
  }

 private:
  static constexpr double kCoolest = 1e-3;
  /// A channel is full from this share of its phase's longest time on.
  static constexpr double kFull = 0.9;

  void list_hot_ranks() {
    hot_.clear();
    loads_.ranks_on_full_channels(kFull, hot_);
  }

  /// As many proposals as there are ranks; returns how many that lower the norm were taken.
  std::size_t sweep(double temperature, std::uint64_t end) {
    std::size_t better = 0;
    for (std::size_t n = 0; n < ranks_ && loads_.changes() < end; ++n) {
      check_interruption();
      const double growth = propose();
      if (moves_.empty()) continue;
      const bool lower = growth < -1e-12;
      better += lower ? 1U : 0U;
      if (lower || (temperature > 0 && draws_.share() < std::exp(-growth / temperature))) {
        sitters_.apply(moves_, way_back_);
      } else {
        loads_.undo();
      }
    }
    return better;
  }

  /// Draws an exchange, and counts what it would do. Half of the ranks drawn use a full channel;
  /// half of the places drawn are near a rank that it exchanges messages with, the others near its
  /// own.
  double propose() {
    const bool hot = !hot_.empty() && draws_.below(2) == 0;
    const std::uint32_t sender =
        hot ? hot_[draws_.below(hot_.size())] : draws_.below(messages_.ranks());
    const Place from = place_of(sender);
    const auto own = messages_.of(sender);
    Place near = from;
    if (!own.empty() && draws_.below(2) == 0) {
      near = place_of(own[draws_.below(own.size())].other);
    }
    const auto rank = static_cast<std::uint32_t>(sender / together_);
    sitters_.propose(rank, from, nearby(near), draws_, moves_);
    if (moves_.empty()) return 0;
    way_back_.clear();
    each_.clear();
    for (const RankMove& moved : moves_) {
      const auto first = static_cast<std::uint32_t>(moved.rank * together_);
      way_back_.push_back({moved.rank, place_of(first)});
      for (std::uint32_t k = 0; k < together_; ++k) {
        each_.push_back({first + k, static_cast<Place>(moved.to * together_ + k)});
      }
    }
    return loads_.move(each_);
  }

  Place place_of(std::uint32_t rank) const {
    return static_cast<Place>(loads_.places()[rank] / together_);
  }

  /// A place by its distance in numbers, every power of two as likely as any other.
  Place nearby(Place centre) {
    const unsigned scales = static_cast<unsigned>(std::bit_width(places_));
    const std::size_t reach = std::size_t{1} << draws_.below(scales);
    const std::size_t step = 1 + draws_.below(reach);
    const std::size_t forward = draws_.below(2) == 0 ? step % places_ : places_ - step % places_;
    return static_cast<Place>((centre + forward) % places_);
  }

  double mean_loss() {
    double sum = 0;
    std::size_t losses = 0;
    for (int n = 0; n < 200; ++n) {
      const double growth = propose();
      if (moves_.empty()) continue;
      loads_.undo();
      if (growth > 0) {
        sum += growth;
        ++losses;
      }
    }
    return losses > 0 ? sum / static_cast<double>(losses) : 0.0;
  }

  const RankMessages& messages_;
  PhaseLoads loads_;
  std::size_t together_;
  std::size_t ranks_;
  Sitters sitters_;
  Draws draws_;
  std::size_t places_;
  std::vector<std::uint32_t> hot_;
  std::vector<RankMove> moves_;
  std::vector<RankMove> way_back_;
  std::vector<RankMove> each_;  ///< moves of single ranks
};

/// How many ranks every place holds.
/// Throws Error where these are more than it has seats, or a place does not exist.
std::vector<std::uint32_t> taken(std::span<const Place> places,
                                 std::span<const std::uint32_t> seats) {
  std::vector<std::uint32_t> count(seats.size(), 0);
  for (const Place place : places) {
    if (place >= seats.size()) throw Error("places below the number of places");
    if (++count[place] > seats[place]) throw Error("no more ranks at a place than it has seats");
  }
  return count;
}

std::size_t used(std::span<const Place> places, std::span<const std::uint32_t> seats) {
  const std::vector<std::uint32_t> count = taken(places, seats);
  return seats.size() - static_cast<std::size_t>(std::ranges::count(count, 0U));
}

/// Throws Error where a start does not seat servers whole.
void check_servers(std::span<const Place> start, const SeatSearch& search) {
  const std::size_t together = search.together;
  if (together == 0 || start.size() % together != 0 || search.seats.size() % together != 0) {
    throw Error("whole servers");
  }
  for (std::size_t rank = 0; rank < start.size(); ++rank) {
    if (start[rank] != start[rank - rank % together] + rank % together ||
        start[rank] % together != rank % together) {
      throw Error("ranks of a server on its places, in their order");
    }
  }
}

}  // namespace

std::vector<Place> seat_ranks(const Resolver& resolver, const PhasedTraffic& traffic,
                              const SeatSearch& search,
                              const std::vector<std::vector<Place>>& starts) {
  if (starts.empty()) throw Error("a start");
  if (search.seats.size() != resolver.places()) throw Error("seats for every place");
  const RankMessages messages(traffic);
  const std::size_t most = used(starts[0], search.seats);
  std::vector<Place> best;
  SeatFigures figures;
  const auto consider = [&](std::span<const Place> places) {
    const SeatFigures these = judge_seats(resolver, traffic, search.seconds_per_byte, places);
    if (!best.empty() && !these.better_than(figures)) return false;
    best.assign(places.begin(), places.end());
    figures = these;
    return true;
  };
  for (const std::vector<Place>& start : starts) {
    check_servers(start, search);
    if (used(start, search.seats) > most) throw Error("no more places than the first start uses");
    consider(start);
  }
  if (messages.size() == 0) return best;
  std::vector<std::vector<Place>> begun = starts;
  if (search.together == 1) {
    begun.push_back(halve(resolver, messages, taken(best, search.seats)));
    consider(begun.back());
  }
  // A tenth for the descents of all starts, the rest for annealing from the best of them.
  std::uint64_t sample = 0;
  for (const std::vector<Place>& start : begun) {
    Search descent(resolver, messages, search, start, sample++);
    descent.descend(3, search.effort / (10 * begun.size()));
    consider(descent.places());
  }
  constexpr std::array<double, 3> kHeats{0.03, 0.1, 0.3};
  const std::uint64_t each = search.effort / (10 * kHeats.size());
  for (const double heat : kHeats) {
    Search annealing(resolver, messages, search, best, sample++);
    annealing.anneal(3, heat, 7 * each);
    annealing.descend(3, each);
    consider(annealing.places());
    annealing.descend(5, each);
    consider(annealing.places());
  }
  return best;
}

}  // namespace contend
