#pragma once

#include <cstdint>

namespace contend {

/// What carries the bytes of streams between places, packet by packet. Times are in seconds.
class Transport {
 public:
  struct Listener {
    virtual ~Listener() = default;
    /// So many of a stream's packets have come in order.
    virtual void come(std::uint32_t stream, std::uint32_t packets) = 0;
    /// So many of a stream's packets are known to have come.
    virtual void known(std::uint32_t stream, std::uint32_t packets) = 0;
  };

  virtual ~Transport() = default;
  virtual double now() const = 0;
  /// Writes bytes; they have come when so many of the stream's packets have.
  virtual std::uint32_t write(std::uint32_t stream, double bytes) = 0;
  /// Takes the next event; false, and it is `until`, where there is none by then.
  virtual bool step(double until) = 0;
};

}  // namespace contend
