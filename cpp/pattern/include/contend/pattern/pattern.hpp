#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "contend/pattern/choices.hpp"

namespace contend {

using Rank = std::uint32_t;

/// Messages of one round, or of one piece of it: rank source[i] sends to rank target[i].
/// `weight` is empty, or says for each message how much it counts in the averages (its bytes).
struct Messages {
  std::vector<Rank> source;
  std::vector<Rank> target;
  std::vector<std::uint64_t> weight;

  std::size_t size() const { return source.size(); }
  void resize(std::size_t count) {
    source.resize(count);
    target.resize(count);
  }
  void clear() {
    source.clear();
    target.clear();
    weight.clear();
  }
  void add(Rank from, Rank to) {
    source.push_back(from);
    target.push_back(to);
  }
};

/// Ranks that each send a message to every other one that is not of their own block.
struct Exchange {
  std::vector<Rank> rank;            ///< each once
  std::vector<std::uint32_t> block;  ///< of each; those of a block stand together
};

/// A traffic pattern: rounds of simultaneous messages between ranks 0 .. ranks - 1.
///
/// A round may come in several pieces, so that an all-to-all never stands in memory at once.
/// A pattern that draws from its choices is random; all pieces of a round draw from the same ones,
/// one after the other.
class Pattern {
 public:
  explicit Pattern(Rank ranks) : ranks_(ranks) {}
  virtual ~Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  Rank ranks() const { return ranks_; }
  virtual std::uint32_t rounds() const { return 1; }
  virtual std::uint32_t pieces(std::uint32_t /*round*/) const { return 1; }

  /// About how many messages a sample has in all its rounds: what the work is planned by.
  virtual std::uint64_t messages_expected() const { return std::uint64_t{ranks_} * rounds(); }
  /// Whether rounds differ from sample to sample.
  virtual bool random() const { return false; }
  /// Whether renaming the ranks changes nothing, so that a random placement need not be drawn.
  virtual bool symmetric() const { return false; }
  /// Whether a rank sends or receives more than one message in a round.
  virtual bool shares_ends() const { return false; }
  /// Whether a rank may send to itself, which crosses no channel.
  virtual bool sends_to_itself() const { return false; }
  /// Whether the rounds consist of pairs: every rank sends to the one that it receives from, and as
  /// much, or to itself, or is silent. Random patterns say so where it holds for all that is drawn;
  /// others are looked through up to the first rank without a partner. None without messages is.
  virtual bool paired() const;
  /// Whether messages count by their weights; either all of a pattern's do or none.
  virtual bool weighted() const { return false; }
  /// Number of equally likely outcomes, when it is below 2^63; 1 for a pattern that is not random.
  virtual std::optional<std::uint64_t> outcomes() const { return 1; }

  /// The exchanges that a round consists of; none where it has other messages, too.
  virtual std::vector<Exchange> exchanges(std::uint32_t /*round*/) const { return {}; }

  /// What the first `senders` ranks send, where every rank of a round sends to the one that is at
  /// the same distance, counted on from the last rank to the first; null for other patterns.
  virtual std::unique_ptr<Pattern> of_first(Rank /*senders*/) const { return nullptr; }

  /// Writes a piece of a round to `out`, which is cleared first.
  virtual void fill(std::uint32_t round, std::uint32_t piece, RandomChoices& choices,
                    Messages& out) const = 0;
  /// The same with enumerated choices; only called when outcomes() is known.
  virtual void fill(std::uint32_t round, std::uint32_t piece, EnumeratedChoices& choices,
                    Messages& out) const = 0;

 private:
  Rank ranks_;
};

/// A pattern whose rounds never change: choices are ignored.
class FixedPattern : public Pattern {
 public:
  using Pattern::Pattern;

  virtual void fill(std::uint32_t round, std::uint32_t piece, Messages& out) const = 0;

  void fill(std::uint32_t round, std::uint32_t piece, RandomChoices&, Messages& out) const final {
    fill(round, piece, out);
  }
  void fill(std::uint32_t round, std::uint32_t piece, EnumeratedChoices&,
            Messages& out) const final {
    fill(round, piece, out);
  }
};

}  // namespace contend
