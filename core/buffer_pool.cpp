#include "core/buffer_pool.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <unordered_map>
#include <vector>

namespace normlab {

namespace {

constexpr std::size_t kAlignment = 64;

// Size classes grow by at most an eighth: little is wasted, and sizes that differ by a few elements
// share their buffers.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  const std::size_t step = std::max(kAlignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

double* system_allocate(std::size_t bytes) {
  return static_cast<double*>(::operator new (bytes, std::align_val_t{kAlignment}));
}

void system_free(double* data) { ::operator delete (data, std::align_val_t{kAlignment}); }

struct FreeLists {
  std::unordered_map<std::size_t, std::vector<double*>> by_size;
  PoolStatistics statistics;

  void trim() {
    for (auto& [bytes, list] : by_size) {
      for (double* data : list) system_free(data);
      list.clear();
    }
    statistics.idle_bytes = 0;
  }
};

// A buffer may be released while its thread is ending, after the thread's free lists are gone; the
// flag (which needs no destructor and so is still there) says so, and it goes to the system
// instead.
thread_local bool lists_are_gone = false;

struct ThreadFreeLists : FreeLists {
  ~ThreadFreeLists() {
    trim();
    lists_are_gone = true;
  }
};

FreeLists& free_lists() {
  thread_local ThreadFreeLists lists;
  return lists;
}

void release(double* data, std::size_t bytes) {
  if (lists_are_gone) {
    system_free(data);
    return;
  }
  FreeLists& lists = free_lists();
  lists.by_size[bytes].push_back(data);
  lists.statistics.idle_bytes += bytes;
}

double* acquire(std::size_t bytes) {
  if (lists_are_gone) return system_allocate(bytes);
  FreeLists& lists = free_lists();
  std::vector<double*>& list = lists.by_size[bytes];
  if (list.empty()) {
    ++lists.statistics.system_allocations;
    return system_allocate(bytes);
  }
  double* data = list.back();
  list.pop_back();
  ++lists.statistics.reused;
  lists.statistics.idle_bytes -= bytes;
  return data;
}

}  // namespace

Buffer acquire_buffer(std::size_t doubles) {
  const std::size_t bytes = size_class(doubles * sizeof(double));
  return Buffer(acquire(bytes), [bytes](double* data) { release(data, bytes); });
}

PoolStatistics pool_statistics() { return free_lists().statistics; }

void trim_pool() { free_lists().trim(); }

}  // namespace normlab
