#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// What a processor is wanted for: a strand that goes on, or a part of a message to be looked at.
struct Job {
  enum class Kind : std::uint32_t { strand, ahead, answer };
  Kind kind;
  std::uint32_t index;
};

/// Groups of processors. Who wants one keeps it until giving it back; others stand in line.
class Processors {
 public:
  explicit Processors(std::span<const std::uint32_t> counts) : group_(counts.size()) {
    for (std::size_t g = 0; g < counts.size(); ++g) group_[g].idle = counts[g];
  }

  void want(std::uint32_t group, Job job) {
    group_[group].line.push_back(job);
    call(group);
  }
  void give_back(std::uint32_t group) {
    ++group_[group].idle;
    call(group);
  }

  /// Whether somebody has a processor now; then who.
  bool next(Job& job) {
    while (!called_.empty()) {
      Group& group = group_[called_.back()];
      if (group.idle > 0 && group.first < group.line.size()) {
        --group.idle;
        job = group.line[group.first++];
        if (group.first == group.line.size()) {
          group.line.clear();
          group.first = 0;
        }
        return true;
      }
      group.called = false;
      called_.pop_back();
    }
    return false;
  }

 private:
  struct Group {
    std::uint32_t idle = 0;
    bool called = false;
    std::size_t first = 0;
    std::vector<Job> line;
  };

  void call(std::uint32_t group) {
    if (group_[group].called) return;
    group_[group].called = true;
    called_.push_back(group);
  }

  std::vector<Group> group_;
  std::vector<std::uint32_t> called_;  ///< groups whose line may go on
};

/// Messages that are under way over every channel at once: what may pile up in front of it.
class Crowds {
 public:
  explicit Crowds(std::size_t channels) : now_(channels), most_(channels), most_bytes_(channels) {}

  void join(std::span<const std::uint32_t> channels, double bytes) {
    for (const std::uint32_t channel : channels) {
      Crowd& crowd = now_[channel];
      ++crowd.messages;
      crowd.bytes += bytes;
      if (crowd.bytes <= most_bytes_[channel]) continue;
      most_[channel] = crowd.messages;
      most_bytes_[channel] = crowd.bytes;
    }
  }
  void leave(std::span<const std::uint32_t> channels, double bytes) {
    for (const std::uint32_t channel : channels) {
      --now_[channel].messages;
      now_[channel].bytes -= bytes;
    }
  }

  /// How many there were when they had most bytes, and those bytes.
  const std::vector<std::uint32_t>& most() const { return most_; }
  const std::vector<double>& most_bytes() const { return most_bytes_; }

 private:
  struct Crowd {
    std::uint32_t messages = 0;
    double bytes = 0;
  };

  std::vector<Crowd> now_;
  std::vector<std::uint32_t> most_;
  std::vector<double> most_bytes_;
};

}  // namespace contend
