#pragma once

#include <cstddef>
#include <memory>

namespace normlab {

// Buffers of doubles, aligned to 64 bytes (a cache line, and the widest SIMD register) and
// recycled.
//
// A training step allocates the same sizes again and again. Handing large blocks back to the system
// makes the next step page-fault on every one of them, which can cost as much as the arithmetic, so
// a released buffer goes to a free list of its size class and the next request takes it from there:
// after the first steps nothing is asked of the system any more. A request may also get a buffer up
// to half as large again as it needs.
//
// Batches of uneven sizes would fill the lists with sizes that never return. Before a thread asks
// the system for more, it therefore gives back the buffers that lay idle longest, until what it
// uses and what lies idle are together at most 1.5 times the most it ever used, or 1 MiB.
//
// Each thread has its own free lists, so no lock is taken; a buffer released on another thread than
// it came from joins that thread's lists. Buffers are not cleared.
using Buffer = std::shared_ptr<double[]>;
// Throws std::bad_alloc if there is not so much memory.
Buffer acquire_buffer(std::size_t doubles);

struct PoolStatistics {
  std::size_t system_allocations = 0;  // requests of this thread that had to go to the system
  std::size_t reused = 0;              // requests of this thread served from a free list
  std::size_t idle_bytes = 0;          // waiting in this thread's free lists
  std::size_t peak_bytes = 0;          // the most that this thread's requests had in use at once
};
PoolStatistics pool_statistics();

// Returns this thread's idle buffers to the system.
void trim_pool();

}  // namespace normlab
