#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>

#include "columns.hpp"
#include "contend/base/large_array.hpp"
#include "contend/base/mixed.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/ways/in_tree.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

namespace {

/// Channels of a route: the first two are told by the ports that they leave from, so that leaves
/// alike tell their routes alike, and the others by their numbers, which many leaves share.
constexpr std::size_t kHops = 4;
/// Targets whose routes are told together: leaves that send to all of them alike share a block.
constexpr std::size_t kBlock = 2 * ForwardingBlock::kBlock;
constexpr unsigned kBlockBits = 6;
static_assert(kBlock == std::size_t{1} << kBlockBits);

/// A route from any of the leaves that share it: two numbers of ports, 8 bits each, and two of
/// channels, 24 bits each.
using Word = std::uint64_t;
constexpr std::size_t kMostPorts = 0xFF;
constexpr std::size_t kMostChannels = std::size_t{1} << 24;

constexpr Word word(std::size_t first, std::size_t second, std::size_t third, std::size_t fourth) {
  return Word{first} | Word{second} << 8 | Word{third} << 16 | Word{fourth} << 40;
}
constexpr std::size_t first_port(Word route) { return route & 0xFF; }
constexpr std::size_t second_port(Word route) { return route >> 8 & 0xFF; }
constexpr std::uint32_t third(Word route) { return route >> 16 & 0xFFFFFF; }
constexpr std::uint32_t fourth(Word route) { return static_cast<std::uint32_t>(route >> 40); }

/// Every switch's hops, numbered from 1 by port. Number 0 of every switch stands for no channel,
/// and stays.
struct Hops {
  std::vector<std::uint32_t> begin;    ///< by switch
  std::vector<std::uint8_t> number;    ///< by channel
  LargeArray<std::uint32_t> channels;  ///< of every hop
  LargeArray<std::uint32_t> onward;    ///< where those of the switch begin that a hop leads to

  /// False where a switch has too many ports.
  bool list(const Fabric& fabric) {
    number.resize(fabric.switch_channels());
    for (SwitchId s = 0; s < fabric.switches(); ++s) {
      const std::size_t first = channels.size();
      begin.push_back(static_cast<std::uint32_t>(first));
      channels.push_back(static_cast<std::uint32_t>(fabric.switch_channels() + s % kPads));
      for (PortNumber port = 0; port <= fabric.switch_ports(s); ++port) {
        const ChannelId channel = fabric.out(s, port);
        if (channel == kNoChannel || !fabric.is_switch_channel(channel)) continue;
        const std::size_t next = channels.size() - first;
        if (next > kMostPorts) return false;
        number[channel] = static_cast<std::uint8_t>(next);
        channels.push_back(channel);
      }
    }
    for (SwitchId s = 0; s < fabric.switches(); ++s) {
      onward.push_back(begin[s]);
      const std::size_t end = s + 1 < fabric.switches() ? begin[s + 1] : channels.size();
      while (onward.size() < end) {
        onward.push_back(begin[fabric.channel_to(channels[onward.size()])]);
      }
    }
    return true;
  }
};

/// The routes to a block of targets, each told once.
struct Block {
  std::vector<Word> words;          ///< kBlock for every set of routes
  std::vector<std::uint32_t> sets;  ///< by row, the number of its set
};

/// Tells the routes to blocks of targets; one thread's.
class BlockTeller {
 public:
  BlockTeller(const Fabric& fabric, const TableView& tables, const PlaceColumns& columns,
              const Hops& hops, std::span<const std::size_t> order)
      : fabric_(fabric),
        columns_(columns),
        hops_(hops),
        order_(order),
        tree_(fabric.switches()),
        next_(fabric, tables) {
    next_.begin_at(columns.leaves());
  }

  Block tell(std::size_t block) {
    const std::size_t first = block * kBlock;
    const std::size_t size = std::min(kBlock, order_.size() - first);
    const std::size_t rows = columns_.leaves().size();
    words_.assign(rows * kBlock, 0);
    own_.assign(rows, 0);
    for (std::size_t begin = 0; begin < size; begin += ForwardingBlock::kBlock) {
      look_up(first, begin, std::min(size - begin, ForwardingBlock::kBlock));
    }
    return share();
  }

 private:
  void look_up(std::size_t first, std::size_t begin, std::size_t count) {
    destinations_.clear();
    for (std::size_t i = begin; i < begin + count; ++i) {
      const std::size_t column = order_[first + i];
      destinations_.push_back({columns_.address(column), columns_.host(column)});
    }
    next_.look_up(destinations_);
    for (std::size_t i = 0; i < count; ++i) {
      tree_.clear();
      for (std::size_t row = 0; row < columns_.leaves().size(); ++row) {
        const SwitchId leaf = columns_.leaves()[row];
        if (leaf == fabric_.host_switch(destinations_[i].host)) {
          // Two places of a leaf: no channel between switches. Any leaf's words do.
          own_[row] |= Word{1} << (begin + i);
          continue;
        }
        tree_.reach(leaf, [&](SwitchId from) { return next_.next(i, from); });
        words_[row * kBlock + begin + i] = follow(leaf, next_.steps(i), first + begin + i);
      }
    }
  }

  Word follow(SwitchId at, std::span<const Step> steps, std::size_t slot) const {
    std::size_t channel[kHops];
    std::size_t hops = 0;
    for (; hops < kHops && !steps[at].onward.ends(); ++hops) {
      channel[hops] = steps[at].channel;
      at = steps[at].onward.to();
    }
    const std::size_t first = hops > 0 ? hops_.number[channel[0]] : 0;
    const std::size_t second = hops > 1 ? hops_.number[channel[1]] : 0;
    for (; hops < kHops; ++hops) {
      channel[hops] = fabric_.switch_channels() + (hops + 5 * slot) % kPads;
    }
    return word(first, second, channel[2], channel[3]);
  }

  /// Rows with the same words get the same set; those that own some of the targets last, as these
  /// words of theirs may be anything.
  Block share() {
    Block block;
    const std::size_t rows = own_.size();
    block.sets.resize(rows);
    known_.clear();
    for (std::size_t row = 0; row < rows; ++row) {
      if (own_[row] != 0) continue;
      const Word* const words = words_.data() + row * kBlock;
      std::uint64_t key = 0;
      for (std::size_t i = 0; i < kBlock; ++i) key = mixed(key ^ words[i]) + 1;
      const auto [begin, end] = known_.equal_range(key);
      const auto same = std::find_if(
          begin, end, [&](const auto& each) { return alike(block, each.second, words, 0); });
      if (same != end) {
        block.sets[row] = same->second;
      } else {
        block.sets[row] = add(block, words);
        known_.emplace(key, block.sets[row]);
      }
    }
    for (std::size_t row = 0; row < rows; ++row) {
      if (own_[row] == 0) continue;
      const Word* const words = words_.data() + row * kBlock;
      std::uint32_t set = 0;
      while (set * kBlock < block.words.size() && !alike(block, set, words, own_[row])) ++set;
      block.sets[row] = set * kBlock < block.words.size() ? set : add(block, words);
    }
    return block;
  }

  static bool alike(const Block& block, std::uint32_t set, const Word* words, Word own) {
    const Word* const others = block.words.data() + set * kBlock;
    for (std::size_t i = 0; i < kBlock; ++i) {
      if (others[i] != words[i] && (own >> i & 1) == 0) return false;
    }
    return true;
  }

  static std::uint32_t add(Block& block, const Word* words) {
    const auto set = static_cast<std::uint32_t>(block.words.size() / kBlock);
    block.words.insert(block.words.end(), words, words + kBlock);
    return set;
  }

  const Fabric& fabric_;
  const PlaceColumns& columns_;
  const Hops& hops_;
  std::span<const std::size_t> order_;
  InTree tree_;
  ForwardingBlock next_;
  std::vector<Destination> destinations_;
  std::vector<Word> words_;  ///< by row and target of the block
  std::vector<Word> own_;    ///< by row, a bit for each target of its own
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;
};

class FactoredResolver final : public WrittenResolver<FactoredResolver> {
 public:
  FactoredResolver(const Fabric& fabric, const TableView& tables, const AddressView& addresses,
                   const Places& places, std::size_t stride)
      : WrittenResolver(places.hosts.size(), fabric.switch_channels(), stride) {
    if (!places.spread) trees_.emplace(fabric, tables, addresses, places);
  }

  /// False where that cannot be done or takes more bytes.
  bool factor(const Fabric& fabric, const TableView& tables, PlaceColumns columns, bool spread,
              std::size_t most_bytes) {
    Hops hops;
    if (!hops.list(fabric)) return false;
    // By address: switches spread those that follow one another in the same way.
    std::vector<std::size_t> order(columns.columns());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t c) { return columns.address(c); });
    std::vector<Block> blocks((order.size() + kBlock - 1) / kBlock);
    std::atomic<std::size_t> bytes = 0;
    in_parallel(thread_count(), blocks.size(), 1, [&](const Pieces& pieces) {
      BlockTeller teller(fabric, tables, columns, hops, order);
      for (const std::size_t block : pieces) {
        if (bytes > most_bytes) continue;
        blocks[block] = teller.tell(block);
        bytes += blocks[block].words.size() * sizeof(Word);
      }
    });
    if (bytes > most_bytes) return false;
    const std::vector<std::uint32_t> rows = join(blocks, columns.leaves().size());
    for (Place place = 0; place < columns.places(); ++place) {
      const std::uint32_t row = columns.row(place);
      leaves_.push_back({rows[row], hops.begin[columns.leaves()[row]]});
    }
    slots_.resize(order.size());
    for (std::uint32_t slot = 0; slot < order.size(); ++slot) slots_[order[slot]] = slot;
    if (!spread && std::ranges::is_sorted(order)) slots_.clear();
    // No port, and any padding: for two places of one leaf.
    words_.push_back(word(0, 0, fabric.switch_channels(), fabric.switch_channels() + 1));
    channels_ = std::move(hops.channels);
    onward_ = std::move(hops.onward);
    if (spread) place_columns_ = std::make_unique<PlaceColumns>(std::move(columns));
    return this->bytes() <= most_bytes;
  }

  bool tabled() const override { return true; }
  const RouteTrees* trees() const override { return trees_ ? &*trees_ : nullptr; }
  std::size_t bytes() const override {
    return words_.size() * sizeof(Word) + sets_.size() * sizeof(std::uint32_t) +
           (channels_.size() + onward_.size()) * sizeof(std::uint32_t) +
           leaves_.size() * sizeof(Leaf) + slots_.size() * sizeof(std::uint32_t);
  }

 private:
  friend WrittenResolver<FactoredResolver>;

  /// What a leaf's places share.
  struct Leaf {
    std::uint32_t sets;  ///< where its sets begin
    std::uint32_t hops;  ///< where its hops begin
  };

  /// Lays the blocks one after the other; returns where each row's sets begin. Leaves with the same
  /// sets share them.
  std::vector<std::uint32_t> join(const std::vector<Block>& blocks, std::size_t rows) {
    std::vector<std::uint32_t> first;
    for (const Block& block : blocks) {
      first.push_back(static_cast<std::uint32_t>(words_.size()));
      words_.insert(words_.end(), block.words.begin(), block.words.end());
    }
    std::vector<std::uint32_t> begin(rows);
    std::vector<std::uint32_t> sets(blocks.size());
    std::unordered_map<std::string, std::uint32_t> known;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        sets[b] = first[b] + static_cast<std::uint32_t>(blocks[b].sets[row] * kBlock);
      }
      std::string key(reinterpret_cast<const char*>(sets.data()), sets.size() * sizeof sets[0]);
      const auto [found, fresh] =
          known.try_emplace(std::move(key), static_cast<std::uint32_t>(sets_.size()));
      if (fresh) sets_.insert(sets_.end(), sets.begin(), sets.end());
      begin[row] = found->second;
    }
    return begin;
  }

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t,
             Out* out) const {
    if (stride() == kHops) return write_hops<kHops>(source, target, out);
    write_hops<2>(source, target, out);
  }

  /// Three passes over a few messages: what a load of one waits for, loads of others hide.
  template <std::size_t Stride, class Out>
  void write_hops(std::span<const Place> source, std::span<const Place> target, Out* out) const {
    constexpr std::size_t kTogether = 128;
    std::uint32_t at[kTogether];    // where the word stands
    std::uint32_t hops[kTogether];  // where those of the leaf begin, then which comes second
    const std::uint32_t* const channels = channels_.data();
    const std::uint32_t* const onward = onward_.data();
    for (std::size_t begin = 0; begin < source.size(); begin += kTogether) {
      const std::size_t count = std::min(kTogether, source.size() - begin);
      find_words(source.subspan(begin, count), target.subspan(begin, count), at, hops);
      for (std::size_t m = 0; m < count; ++m) {
        const Word route = words_[at[m]];
        const std::size_t hop = hops[m] + first_port(route);
        out[m * Stride] = static_cast<Out>(channels[hop]);
        hops[m] = static_cast<std::uint32_t>(onward[hop] + second_port(route));
        if constexpr (Stride == 2) continue;
        out[m * Stride + 2] = static_cast<Out>(third(route));
        out[m * Stride + 3] = static_cast<Out>(fourth(route));
      }
      for (std::size_t m = 0; m < count; ++m, out += Stride) {
        out[1] = static_cast<Out>(channels[hops[m]]);
      }
    }
  }

  void find_words(std::span<const Place> source, std::span<const Place> target, std::uint32_t* at,
                  std::uint32_t* hops) const {
    if (place_columns_) {
      const auto slot = [this](Place from, Place to) {
        return slots_[place_columns_->column(from, to)];
      };
      find_words(source, target, slot, at, hops);
    } else if (!slots_.empty()) {
      find_words(source, target, [this](Place, Place to) { return slots_[to]; }, at, hops);
    } else {
      find_words(source, target, [](Place, Place to) { return to; }, at, hops);
    }
  }
  /// Asks for the words, so that they are there when the next pass reads them.
  template <class SlotOf>
  void find_words(std::span<const Place> source, std::span<const Place> target,
                  const SlotOf& slot_of, std::uint32_t* at, std::uint32_t* hops) const {
    const Leaf* const leaf = leaves_.data();
    const std::uint32_t* const sets = sets_.data();
    const Word* const words = words_.data();
    const auto nowhere = static_cast<std::uint32_t>(words_.size() - 1);
    for (std::size_t m = 0; m < source.size(); ++m) {
      const std::uint32_t slot = slot_of(source[m], target[m]);
      const Leaf from = leaf[source[m]];
      std::uint32_t word = sets[from.sets + (slot >> kBlockBits)] + slot % kBlock;
      __builtin_prefetch(words + word);
      if (from.hops == leaf[target[m]].hops) [[unlikely]]
        word = nowhere;
      at[m] = word;
      hops[m] = from.hops;
    }
  }

  LargeArray<Word> words_;
  std::vector<std::uint32_t> sets_;
  LargeArray<std::uint32_t> channels_;  ///< as Hops has them
  LargeArray<std::uint32_t> onward_;
  std::vector<Leaf> leaves_;  ///< by place
  std::vector<std::uint32_t>
      slots_;  ///< of columns, in the order of addresses; none if all have theirs
  std::unique_ptr<PlaceColumns> place_columns_;  ///< where messages spread over addresses
  std::optional<RouteTrees> trees_;
};

}  // namespace

std::unique_ptr<Resolver> make_factored_resolver(const Fabric& fabric, const TableView& tables,
                                                 const AddressView& addresses, const Places& places,
                                                 std::size_t longest, std::size_t most_bytes) {
  if (longest > kHops || fabric.switch_channels() + kPads > kMostChannels) return nullptr;
  PlaceColumns columns(fabric, addresses, places);
  auto resolver = std::make_unique<FactoredResolver>(fabric, tables, addresses, places,
                                                     longest <= 2 ? 2 : kHops);
  if (!resolver->factor(fabric, tables, std::move(columns), places.spread, most_bytes)) {
    return nullptr;
  }
  return resolver;
}

}  // namespace contend
