#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "contend/congestion/flows.hpp"
#include "contend/schedule/carry_out.hpp"
#include "contend/schedule/schedule.hpp"
#include "events.hpp"
#include "processors.hpp"
#include "roads.hpp"

namespace contend {

/// Carries a schedule out, event by event. Its strands are in carrier_strands.cpp, what messages do
/// between them in carrier_messages.cpp.
class Carrier {
 public:
  Carrier(const Schedule& schedule, const Network& network, const Costs& costs);
  Outcome carry_out();

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// What travels of a message.
  enum class Part : std::uint32_t { ahead, answer };

  struct Message {
    const MessageClass* of_class = nullptr;
    std::uint32_t flow = kNone;
    std::uint32_t version = 0;
    double bytes = 0;  ///< its own
    double wire = 0;   ///< those that pass a cable for it
    double rest = 0;   ///< of what is under way
    double rate = 0;
    double updated = 0;
    /// Where it goes piece by piece: how many have come to its host's port, and are there; and its
    /// bytes that have not come to that port, and those that wait in front of it.
    std::uint32_t begun = 0;
    std::uint32_t there = 0;
    double to_come = 0;
    double in_line = 0;
    bool posted = false;   ///< its receive
    bool asked = false;    ///< the receiver knows that it wants to come
    bool allowed = false;  ///< the sender knows that it may
    bool arrived = false;
    bool sent = false;  ///< its send has ended
  };

  /// What crosses channels as a whole: part of a message, or one that is light.
  struct Piece {
    std::uint32_t message;
    Part part;
    std::uint32_t crossed;  ///< channels
    double bytes;
  };

  struct Strand {
    std::uint64_t next = 0;
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;
    bool waits = false;
    double since = 0;  ///< when it began to wait
    /// Parts of messages that have come while it did not look, first and last.
    std::uint32_t unseen = kNone;
    std::uint32_t last_unseen = kNone;
    bool spent = false;  ///< its next operation has had its processor for as long as it takes
  };

  void run(std::uint32_t strand);
  bool is_over(const Strand& strand, std::uint64_t first, std::uint64_t operation) const;
  bool spend(std::uint32_t strand, double seconds);
  void work(const Job& job);
  void emit(std::uint32_t message);
  void post(std::uint32_t message);
  void end_send(std::uint32_t message);
  void complete(std::uint64_t operation, std::uint32_t strand);

  void enter(std::uint32_t message, Part part);
  void depart(std::uint32_t road, bool behind);
  bool is_data(std::uint32_t message, Part part) const {
    return part == Part::ahead &&
           (messages_[message].of_class->eager || messages_[message].allowed);
  }
  bool is_light(std::uint32_t message, Part part) const;
  bool start(std::uint32_t message, Part part, bool behind);
  void begin_pieces(std::uint32_t message);
  void set_out(const Piece& piece);
  void line_up(std::uint32_t piece);
  void pass(std::uint32_t piece);
  void land(std::uint32_t message, Part part);
  void begin_flow(std::uint32_t message);
  void end_flow(std::uint32_t message);
  void end_crossing(std::uint32_t message);
  void arrive(std::uint32_t message, Part part);
  void look(Strand& strand);
  double next_look(std::uint32_t strand) const;
  void see(std::uint32_t message, Part part);
  void handle(std::uint32_t message, Part part);
  void bring_up(std::uint32_t flow);
  void share_out();

  const MessageClass& class_of(double bytes, bool within) const;
  std::uint32_t rank_of(std::uint32_t strand) const { return schedule_.rank_of_strand[strand]; }
  std::uint32_t group_of(std::uint32_t strand) const {
    return costs_.processor_of_rank[rank_of(strand)];
  }
  std::uint32_t strand_at(std::uint32_t message, Part part) const {
    return part == Part::ahead ? matches_[message].target : matches_[message].source;
  }
  std::size_t route_of(std::uint32_t message, Part part) const {
    return part == Part::ahead ? roads_.route(message) : roads_.route_back(message);
  }
  /// In order of travel.
  std::span<const std::uint32_t> channels_of(std::uint32_t message, Part part = Part::ahead) const {
    return roads_.crossings().of_message(route_of(message, part));
  }
  double rest_of(std::uint32_t flow) const {
    const Message& message = messages_[owner_[flow]];
    return std::max(message.rest - message.rate * (now_ - message.updated), 0.0);
  }
  [[noreturn]] void refuse_deadlock() const;

  const Schedule& schedule_;
  const Network& network_;
  const Costs& costs_;
  std::vector<Match> matches_;
  Roads roads_;
  Flows flows_;
  Buckets buckets_;
  Events events_;
  double now_ = 0;
  double touched_at_ = 0;
  std::vector<Message> messages_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> landed_;  ///< pieces whose place is free
  std::vector<Strand> strands_;
  std::vector<std::uint32_t> message_of_;  ///< by operation
  std::vector<std::uint8_t> done_;         ///< by operation
  std::vector<std::uint32_t> next_unseen_;
  std::vector<std::uint32_t> owner_;  ///< message of a flow
  std::vector<double> port_free_;     ///< by place
  Crowds crowds_;
  Processors processors_;
  std::uint64_t ended_ = 0;  ///< sends and receives
  Outcome outcome_;
};

}  // namespace contend
