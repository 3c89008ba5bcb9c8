#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/packets/detours.hpp"
#include "contend/routes/drawn/hashed_resolver.hpp"
#include "contend/routes/ways/next_hops.hpp"

namespace contend {

/// Which of several channels a switch, or a host, sends a packet on by.
enum class Choice : std::uint8_t {
  kDrawn,
  kShortest,  ///< where fewest others wait
  kInTurn,    ///< of each message, as flows of its own
};

/// Where the packets of messages may go. A step is a message on a channel that it may cross; those
/// of a message stand together, the first on its host's channel into the network.
struct PacketRoutes {
  std::size_t channels = 0;  ///< between switches, then injection and ejection by place
  std::size_t places = 0;
  /// Virtual lanes, each with a buffer of its own at the far end of every channel.
  std::uint32_t lanes = 1;
  Choice rule = Choice::kDrawn;
  /// By step: the channel, and for each lane above the first the number of channels on top of it.
  /// A host takes in whatever comes, on the first.
  std::vector<std::uint32_t> channel;
  std::vector<std::uint32_t> message;  ///< by step
  /// The first step of every message, and where those of the last end. A message from a place to
  /// itself has none.
  std::vector<std::uint32_t> first;
  /// Where the choices of every step begin, and where those of the last end; and the step that each
  /// leads to. Both empty where every step leads to the one behind it.
  std::vector<std::uint32_t> first_choice;
  std::vector<std::uint32_t> then;
  /// What draws a way for every packet; then a message has steps on its hosts' channels alone.
  std::shared_ptr<const Detours> detours;

  // Choices are numbered: those of routes with one way by the step that they lead on from.

  bool chooses() const { return !first_choice.empty(); }
  std::size_t choices() const { return chooses() ? then.size() : channel.size(); }
  std::uint32_t choice_of(std::uint32_t step) const {
    return chooses() ? first_choice[step] : step;
  }
  std::uint32_t choices_end(std::uint32_t step) const {
    return chooses() ? first_choice[step + 1] : step + 1;
  }
  std::uint32_t step_by(std::uint32_t choice) const {
    return chooses() ? then[choice] : choice + 1;
  }
  std::uint32_t channel_by(std::uint32_t choice) const { return channel[step_by(choice)]; }
  /// The channel itself, whatever the lane.
  std::uint32_t cable(std::uint32_t of_lane) const {
    return of_lane < channels ? of_lane : of_lane % static_cast<std::uint32_t>(channels);
  }
  std::uint32_t first_injection() const {
    return static_cast<std::uint32_t>(channels - 2 * places);
  }
  std::uint32_t first_ejection() const { return static_cast<std::uint32_t>(channels - places); }
  bool ends(std::uint32_t step) const { return cable(channel[step]) >= first_ejection(); }
  /// The places that a message leaves and comes to.
  std::pair<std::uint32_t, std::uint32_t> ports(std::size_t m) const {
    const std::uint32_t in = cable(channel[first[m]]) - first_injection();
    std::uint32_t out = in;
    for (std::uint32_t step = first[m]; step < first[m + 1]; ++step) {
      if (ends(step)) out = cable(channel[step]) - first_ejection();
    }
    return {in, out};
  }
  bool travels(std::size_t m) const { return first[m] != first[m + 1]; }
  /// Calls look(step, choice) for every choice.
  template <class Look>
  void for_each_choice(const Look& look) const {
    for (std::uint32_t step = 0; step < channel.size(); ++step) {
      if (ends(step)) continue;
      for (std::uint32_t at = choice_of(step); at < choices_end(step); ++at) look(step, at);
    }
  }
  /// A channel and the one that a choice leads on to, as one number.
  std::uint64_t turn(std::uint32_t step, std::uint32_t choice) const {
    return std::uint64_t{channel[step]} << 32 | channel_by(choice);
  }
};

/// Routes that take one way at a time, or one for each flow of a message. `lane` of every message;
/// all are on one where there are none. Throws Error as check_messages does, and for 2^32 steps or
/// more.
PacketRoutes packet_routes(const Resolver& resolver, std::span<const Place> source,
                           std::span<const Place> target, std::uint64_t draw,
                           std::span<const std::uint8_t> lane = {});

/// Entries of tables by which a switch chooses for a whole message, by a hash: the group of every
/// entry, which of these are hashed, and the address of every host.
struct HashedEntries {
  const std::uint16_t* group_of_entry;
  std::size_t addresses;
  std::span<const std::uint8_t> hashed;
  std::span<const Address> address;
  std::uint64_t draw;
};

/// Routes on which every switch chooses for each packet among the next hops, but for entries that
/// are hashed. Places are the hosts that the next hops are for. Throws Error where a place does not
/// exist, or for 2^32 steps or more. Cost: one look at every channel on the ways of each message.
PacketRoutes packet_routes(const Fabric& fabric, const NextHops& next, const Places& places,
                           std::span<const Place> source, std::span<const Place> target,
                           Choice rule, const HashedEntries* hashed = nullptr);

/// Routes by detours between their places.
PacketRoutes packet_routes(std::shared_ptr<const Detours> detours, std::span<const Place> source,
                           std::span<const Place> target);

}  // namespace contend
