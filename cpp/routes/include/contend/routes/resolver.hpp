#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/tables.hpp"

namespace contend {

/// A host that takes part, numbered from 0 in the order of `Places::hosts`.
using Place = std::uint32_t;

/// The hosts that take part, and which of their addresses are used.
struct Places {
  std::vector<HostId> hosts;
  /// Spread messages over all addresses of a host with LMC > 0 (address number (source + target)
  /// mod 2^lmc) instead of always using the first.
  bool spread = false;
};

/// Padding of routes that are shorter than the stride: channel numbers first_pad() ..
/// first_pad() + kPads - 1 stand for no channel. Several, so that counting them does not wait for
/// one memory cell.
inline constexpr std::size_t kPads = 16;

class EvenTree;
class RouteTrees;
class Ways;
struct IdealWays;

/// Turns messages between places into the channels they cross; the only way in which the congestion
/// floor sees routes, whatever they are made of. Channels of hosts are not included.
class Resolver {
 public:
  Resolver(std::size_t places, std::size_t switch_channels, std::size_t stride,
           std::uint32_t unit = 1)
      : places_(places), switch_channels_(switch_channels), stride_(stride), unit_(unit) {}
  virtual ~Resolver() = default;
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  std::size_t places() const { return places_; }
  /// Channels between switches; also the first number used for padding.
  std::size_t switch_channels() const { return switch_channels_; }
  /// Channels written per message.
  std::size_t stride() const { return stride_; }
  /// What a message counts for on a channel that all of it crosses. Where it splits into as many
  /// parts, resolve() writes the channels of all, and each counts for one.
  std::uint32_t unit() const { return unit_; }
  /// How messages split that resolve() cannot tell the ways of; null where it can.
  virtual const Ways* ways() const { return nullptr; }
  /// The tree over which all messages spread evenly, where that is a formula; null elsewhere.
  virtual const EvenTree* even_tree() const { return nullptr; }
  /// Whether ways() is not null.
  virtual bool splits() const { return ways() != nullptr; }
  /// How messages may split where each does as is best beside all the others; null elsewhere.
  virtual const IdealWays* ideal_ways() const { return nullptr; }
  /// The trees of all routes to each target; null where a route depends on more than the leaf of
  /// the source and the target.
  virtual const RouteTrees* trees() const { return nullptr; }
  /// What a round costs beside its messages, in channels looked at.
  virtual std::uint64_t work_of_round() const { return 0; }
  /// What a thread keeps of a round, where it needs more than some words for each channel.
  virtual std::size_t bytes_of_round() const { return 0; }
  /// Whether channel numbers, padding included, fit 16 bits.
  bool narrow() const { return switch_channels_ + kPads <= 0x10000; }
  /// Whether routes are looked up in a table of their own rather than walked.
  virtual bool tabled() const = 0;
  /// Bytes held for route lookup.
  virtual std::size_t bytes() const = 0;

  /// Writes stride() channels for each message to `channels`. Source and target differ and are
  /// below places(). The 16-bit form may be called only when narrow(). Where routes are drawn every
  /// number `draw` stands for one drawing of them all; tables have nothing to draw.
  virtual void resolve_drawn(std::span<const Place> source, std::span<const Place> target,
                             std::uint64_t draw, std::uint16_t* channels) const = 0;
  virtual void resolve_drawn(std::span<const Place> source, std::span<const Place> target,
                             std::uint64_t draw, std::uint32_t* channels) const = 0;
  /// The same by drawing number 0.
  template <class Out>
  void resolve(std::span<const Place> source, std::span<const Place> target, Out* channels) const {
    resolve_drawn(source, target, 0, channels);
  }

 private:
  std::size_t places_;
  std::size_t switch_channels_;
  std::size_t stride_;
  std::uint32_t unit_;
};

/// A resolver that writes channels of either width by one function of its own,
/// `write(source, target, draw, channels)`.
template <class Self>
class WrittenResolver : public Resolver {
 public:
  using Resolver::Resolver;

  void resolve_drawn(std::span<const Place> source, std::span<const Place> target,
                     std::uint64_t draw, std::uint16_t* channels) const final {
    self().write(source, target, draw, channels);
  }
  void resolve_drawn(std::span<const Place> source, std::span<const Place> target,
                     std::uint64_t draw, std::uint32_t* channels) const final {
    self().write(source, target, draw, channels);
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

/// A resolver of messages that all split: there is no one way to write.
class SplittingResolver : public Resolver {
 public:
  using Resolver::Resolver;

  bool tabled() const final { return false; }
  void resolve_drawn(std::span<const Place>, std::span<const Place>, std::uint64_t,
                     std::uint16_t*) const final {
    refuse();
  }
  void resolve_drawn(std::span<const Place>, std::span<const Place>, std::uint64_t,
                     std::uint32_t*) const final {
    refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error("routes that take one way at a time, got some that split messages");
  }
};

/// resolve_drawn() for any number of messages, which can be interrupted.
void resolve_many(const Resolver& resolver, std::span<const Place> source,
                  std::span<const Place> target, std::uint64_t draw, std::uint32_t* channels);

/// Looks routes up in a table of (leaf switch of the source, target address): one memory access a
/// message. Built by walking every entry once, in parallel. Borrows fabric and tables. `longest` is
/// what longest_route() gives; it is called where that is not known.
/// Throws Error, naming the pair and the switch, when a place cannot be reached from another.
std::unique_ptr<Resolver> make_tabled_resolver(const Fabric& fabric, const TableView& tables,
                                               const AddressView& addresses, const Places& places,
                                               std::optional<std::size_t> longest = {});

/// Walks the forwarding tables for every message, many messages in step so that their memory
/// accesses overlap. Needs no memory of its own; for fabrics whose route table would not fit.
/// Borrows fabric and tables. `longest` and errors as above.
std::unique_ptr<Resolver> make_walking_resolver(const Fabric& fabric, const TableView& tables,
                                                const AddressView& addresses, const Places& places,
                                                std::optional<std::size_t> longest = {});

/// Looks routes of at most four channels up in a table that is factored: the first two channels by
/// the ports that they leave from, the others by their numbers, and leaves that send to a block of
/// targets in the same way share what tells it. Five memory accesses a message, but to 1 MB where
/// the table has 500. Null where routes or rows of ports are longer, or it takes more than
/// `most_bytes`. Borrows fabric and tables.
std::unique_ptr<Resolver> make_factored_resolver(const Fabric& fabric, const TableView& tables,
                                                 const AddressView& addresses, const Places& places,
                                                 std::size_t longest, std::size_t most_bytes);

/// The fastest of these that holds at most `most_bytes` for routes; 0 lets all be walked. `longest`
/// is what longest_route() gives.
std::unique_ptr<Resolver> make_stored_resolver(const Fabric& fabric, const TableView& tables,
                                               const AddressView& addresses, const Places& places,
                                               std::size_t longest, std::size_t most_bytes);

/// Bytes that make_tabled_resolver would need for routes of up to `hops` channels.
std::size_t tabled_bytes(const Fabric& fabric, const AddressView& addresses, const Places& places,
                         std::size_t hops);

/// Longest route, in channels between switches, among all pairs of places; checks on the way that
/// every pair is connected. Cost: every switch once per target address.
std::size_t longest_route(const Fabric& fabric, const TableView& tables,
                          const AddressView& addresses, const Places& places);

}  // namespace contend
