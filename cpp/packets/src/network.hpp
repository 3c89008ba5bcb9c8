#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buffers.hpp"
#include "contend/packets/packets.hpp"
#include "contend/packets/random.hpp"
#include "contend/packets/transfers.hpp"
#include "delay_lines.hpp"
#include "drawn_ways.hpp"
#include "exchanges.hpp"
#include "paces.hpp"
#include "senders.hpp"
#include "waits.hpp"

namespace contend::packets {

/// As a moment until which nothing happens: never.
inline constexpr Time kForGood = kNever - 1;

/// Hosts, channels and switches, and what moves between them: messages that the model gives
/// packets, or streams whose packets are written.
class Network {
 public:
  Network(const PacketRoutes& routes, std::span<const double> rate, const PacketModel& model)
      : Network(routes, rate, model, {}, false) {}
  /// Streams.
  Network(const PacketRoutes& routes, std::span<const double> rate, const PacketModel& model,
          const ShortStreams& shorts)
      : Network(routes, rate, model, shorts, true) {}

  void listen(Transport::Listener& listener) { listener_ = &listener; }
  Time now() const { return now_; }
  /// Messages of which the model tells how long they are.
  PacketFlows run();
  /// Takes the next event; false, and it is `until`, where there is none by then.
  bool step(Time until);
  /// A stream has so many packets more; returns how many it has had.
  std::uint32_t write(std::uint32_t stream, std::uint32_t packets);
  PacketFlows results();

 private:
  Network(const PacketRoutes& routes, std::span<const double> rate, const PacketModel& model,
          const ShortStreams& shorts, bool streams);

  /// What events soon need, each line by what is there by then: memory takes longer than an event.
  inline void fetch_ahead() const;

  inline bool leaves_buffer(const PacketEvent& event) const;
  inline bool injects(std::uint32_t number) const;

  /// From when to when it is measured what hosts get that send for ever.
  void set_span(double slowest);

  /// At moments of their own within the time of a packet, or all at once.
  void start_hosts();

  inline void begin_measuring();

  // What happens.

  inline void arrive(std::uint32_t over, std::uint32_t step);

  // Where packets go. Those of detours have steps of their own, which end with the packet.

  inline std::uint32_t channel_by(std::uint32_t choice) const;
  inline std::uint32_t step_by(std::uint32_t choice) const;

  inline std::uint32_t message_of(std::uint32_t step) const;

  /// The step of a packet that leaves its host.
  inline std::uint32_t first_step(std::uint32_t message);

  /// What becomes of the steps of a detour.
  auto end_step() {
    return [this](std::uint32_t message, std::uint32_t step) {
      waits_.end_step(message, channel_, step, measures_);
    };
  }

  inline std::uint32_t choose(std::uint32_t step);

  inline std::uint32_t among(std::uint32_t step, std::uint32_t begin, std::uint32_t end);

  /// The first packet of a queue wants to go on.
  inline void ask(std::uint32_t number, std::uint32_t what);

  inline void try_to_send(std::uint32_t number);

  inline void block(Channel& channel) const;

  std::uint32_t links() const { return static_cast<std::uint32_t>(routes_.channels); }

  /// Of the lanes of a channel with room for a packet that waits, the one whose packet has waited
  /// longest; kNone where packets wait, and none has room; the channel itself where none wait.
  inline std::uint32_t lane_to_send(std::uint32_t number) const;

  /// Of the fastest channel that a packet may go on by.
  inline std::uint32_t next_kind(std::uint32_t step) const;

  inline void sent(std::uint32_t number);

  /// The first packet of a queue has left the buffer.
  inline void leave_buffer(std::uint32_t number);

  inline void deliver(std::uint32_t message);

  // What is found.

  double share(std::size_t m, Time time) const;
  std::vector<std::uint8_t> still_coming();

  const PacketModel model_;
  const PacketRoutes& routes_;
  const bool chooses_;
  const bool counts_;  ///< packets that have chosen a channel
  const bool by_output_;
  const bool has_short_;
  const std::uint32_t first_ejection_;
  const std::uint32_t first_injection_;
  Buffers channels_;  ///< what is of all lanes by the first
  const bool far_;
  const std::uint32_t* channel_;  ///< by step
  Random random_;
  Senders senders_;
  Waits waits_;
  const bool watches_;
  std::vector<std::uint64_t> delivered_;  ///< packets of every message
  std::vector<Time> ended_;
  std::vector<std::uint32_t> turn_;  ///< by message
  std::optional<Exchanges> exchanges_;
  std::optional<DrawnWays> ways_;  ///< of detours
  DelayLines lines_;
  Paces paces_;
  std::span<const double> port_rate_;
  Time now_ = 0;
  Time begin_ = 0;
  Time end_ = kNever;
  bool measures_ = false;
  std::vector<Time> blocked_;
  std::uint32_t first_short_;
  std::optional<Paces> short_paces_;
  std::vector<Time> saved_;  ///< by channel, by packets that were short
  Transport::Listener* listener_ = nullptr;
  std::vector<std::uint32_t> written_;  ///< packets of every stream
  std::uint64_t hops_ = 0;
};

}  // namespace contend::packets
