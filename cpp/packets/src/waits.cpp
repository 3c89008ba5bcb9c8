#include "waits.hpp"

#include <tuple>

namespace contend::packets {

void Waits::end(const Buffers& buffers, Time begin, Time until) {
  std::vector<std::uint8_t> leaves(buffers.queues(), 0);
  for (std::uint32_t c = 0; c < buffers.size(); ++c) {
    const std::uint32_t cable = routes_.cable(c);
    const bool injects = cable >= routes_.first_injection() && cable < routes_.first_ejection();
    if (!injects && buffers[c].carries != kNone) leaves[buffers[c].carries] = 1;
    for (std::uint32_t q = buffers[c].waiting.first; q != kNone; q = buffers.queue(q).behind) {
      const Queue& queue = buffers.queue(q);
      first_[queue.choice] += until - std::min(until, std::max(queue.since, begin));
    }
  }
  if (!watches()) return;
  // All that is in buffers but what is leaving.
  for (std::uint32_t q = 0; q < buffers.queues(); ++q) {
    const Queue& queue = buffers.queue(q);
    const Time last = std::max(until, begin);
    if (queue.choice != kNone && leaves[q] == 0) leave(queue.choice, last);
    buffers.for_each_behind(queue, [&](std::uint32_t packet) { held_[packet] += last; });
  }
}

void Waits::tell(double time, PacketFlows& found) {
  if (routes_.detours == nullptr) {
    routes_.for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
      const Time held = watches() ? held_for(step, choice) : 0;
      if (first_[choice] == 0 && held == 0) return;
      keep(routes_.message[step], routes_.channel[step], routes_.channel_by(choice), first_[choice],
           held);
    });
  }
  join(waits_);
  const std::size_t messages = found.share.size();
  const auto channels = static_cast<std::uint32_t>(routes_.channels);
  std::vector<std::uint8_t> watched(channels, 0);
  for (const std::uint32_t channel : watched_) watched[channel] = 1;
  found.held_up.assign(messages, channels);
  found.waited.assign(messages, 0);
  found.then.assign(channels, channels);
  std::vector<Time> longest(messages, 0);
  for (const Wait& wait : waits_) {
    if (routes_.detours != nullptr &&
        (found.crossed.empty() || found.crossed.back() != wait.wanted ||
         found.crossed_by.back() != wait.message)) {
      found.crossed.push_back(wait.wanted);
      found.crossed_by.push_back(wait.message);
    }
    if (wait.held != 0 && (watched[wait.over] != 0 || watched[wait.wanted] != 0)) {
      found.waits.push_back({wait.message, wait.over, wait.wanted,
                             static_cast<double>(wait.time) / time,
                             static_cast<double>(wait.held) / time});
    }
    if (wait.time <= longest[wait.message]) continue;
    longest[wait.message] = wait.time;
    found.held_up[wait.message] = wait.wanted;
    found.waited[wait.message] = static_cast<double>(wait.time) / time;
  }
  // What all messages waited together, over one channel and on by another.
  for (Wait& wait : waits_) wait.message = 0;
  join(waits_);
  std::vector<Time> most(channels, 0);
  for (const Wait& wait : waits_) {
    if (wait.time <= most[wait.over]) continue;
    most[wait.over] = wait.time;
    found.then[wait.over] = wait.wanted;
  }
}

/// How long packets that chose so were in buffers. Where a packet in one queue chooses when it is
/// the first, those behind count for its message's choices as the first ones waited for these.
Time Waits::held_for(std::uint32_t step, std::uint32_t choice) const {
  if (by_output_) return held_[choice];
  const std::uint32_t begin = routes_.choice_of(step);
  const std::uint32_t end = routes_.choices_end(step);
  if (end - begin < 2) return held_[step];
  Time all = 0;
  for (std::uint32_t at = begin; at < end; ++at) all += first_[at];
  const double part = all > 0 ? static_cast<double>(first_[choice]) / static_cast<double>(all) : 0;
  return static_cast<Time>(part * static_cast<double>(held_[step]));
}

/// Sorts them by message and channel, and makes one of those that have all in common.
void Waits::join(std::vector<Wait>& waits) {
  const auto key = [](const Wait& wait) { return std::tie(wait.message, wait.wanted, wait.over); };
  std::sort(waits.begin(), waits.end(),
            [&](const Wait& one, const Wait& other) { return key(one) < key(other); });
  std::size_t last = 0;
  for (std::size_t at = 1; at < waits.size(); ++at) {
    if (key(waits[at]) == key(waits[last])) {
      waits[last].time += waits[at].time;
      waits[last].held += waits[at].held;
    } else {
      waits[++last] = waits[at];
    }
  }
  if (!waits.empty()) waits.resize(last + 1);
}

}  // namespace contend::packets
