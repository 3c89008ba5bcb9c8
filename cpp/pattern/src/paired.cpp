#include "contend/pattern/pattern.hpp"

namespace contend {

bool Pattern::paired() const {
  if (random()) return false;
  struct Sent {
    Rank target;
    std::uint64_t weight;
  };
  RandomChoices unused({0, 0, 0});
  Messages messages;
  std::vector<Sent> sent;
  bool any = false;
  for (std::uint32_t round = 0; round < rounds(); ++round) {
    sent.clear();
    for (Rank rank = 0; rank < ranks(); ++rank) sent.push_back({rank, 0});
    for (std::uint32_t piece = 0; piece < pieces(round); ++piece) {
      fill(round, piece, unused, messages);
      for (std::size_t m = 0; m < messages.size(); ++m) {
        const Rank source = messages.source[m];
        if (messages.target[m] == source) continue;
        if (sent[source].target != source) return false;
        sent[source] = {messages.target[m], messages.weight.empty() ? 1 : messages.weight[m]};
        any = true;
      }
    }
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const Sent& back = sent[sent[rank].target];
      if (back.target != rank || back.weight != sent[rank].weight) return false;
    }
  }
  return any;
}

}  // namespace contend
