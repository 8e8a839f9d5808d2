// Tested by tests/core/buffer_pool_test.cpp.
#include "core/buffer_pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace normlab {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kAlwaysKept = std::size_t{1} << 20;  // bytes
constexpr double kMostOverPeak = 1.5;

// Eight size classes to each doubling, so a buffer is at most an eighth larger than the request and
// sizes that differ by a few elements share their buffers.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  const std::size_t step = std::max(kAlignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

// The number of a size class: classes of larger buffers have larger numbers.
std::size_t class_index(std::size_t class_bytes) {
  const auto doublings = static_cast<std::size_t>(std::bit_width(class_bytes) - 1);
  return 8 * doublings +
         (class_bytes - std::bit_floor(class_bytes)) * 8 / std::bit_floor(class_bytes);
}
constexpr std::size_t kClasses = 8 * std::numeric_limits<std::size_t>::digits;
constexpr std::size_t kClassesAbove = 4;  // four eighths: half as large again

double* system_allocate(std::size_t bytes) {
  return static_cast<double*>(::operator new (bytes, std::align_val_t{kAlignment}));
}

void system_free(double* data) { ::operator delete (data, std::align_val_t{kAlignment}); }

// Bytes in use that one thread acquired; they may be released on any other.
using InUse = std::shared_ptr<std::atomic<std::size_t>>;

struct IdleBuffer {
  double* data;
  std::size_t bytes;
  std::uint64_t released;  // counts up
};

struct FreeLists {
  std::array<std::vector<IdleBuffer>, kClasses> by_class;  // the last of each is the newest
  InUse in_use = std::make_shared<std::atomic<std::size_t>>(0);
  std::uint64_t releases = 0;
  PoolStatistics statistics;

  // The newest buffer of the smallest class that serves, or none.
  IdleBuffer take(std::size_t bytes) {
    const std::size_t first = class_index(bytes);
    const std::size_t last = std::min(first + kClassesAbove + 1, kClasses);
    for (std::size_t index = first; index < last; ++index) {
      if (by_class[index].empty()) continue;
      const IdleBuffer buffer = by_class[index].back();
      by_class[index].pop_back();
      statistics.idle_bytes -= buffer.bytes;
      return buffer;
    }
    return {};
  }

  void put(double* data, std::size_t bytes) {
    by_class[class_index(bytes)].push_back({data, bytes, releases++});
    statistics.idle_bytes += bytes;
    keep_within_limit(0);
  }

  // Gives back what lay idle longest, so that `requested` more bytes stay within the limit.
  void keep_within_limit(std::size_t requested) {
    const std::size_t used = in_use->load(std::memory_order_relaxed) + requested;
    const auto peak = static_cast<double>(std::max(used, statistics.peak_bytes));
    const auto most = std::max(kAlwaysKept, static_cast<std::size_t>(kMostOverPeak * peak));
    while (statistics.idle_bytes > 0 && used + statistics.idle_bytes > most) free_oldest();
  }

  void free_oldest() {
    const auto oldest = std::min_element(
        by_class.begin(), by_class.end(),
        [](const std::vector<IdleBuffer>& a, const std::vector<IdleBuffer>& b) {
          return !a.empty() && (b.empty() || a.front().released < b.front().released);
        });
    statistics.idle_bytes -= oldest->front().bytes;
    system_free(oldest->front().data);
    oldest->erase(oldest->begin());
  }

  void trim() {
    for (std::vector<IdleBuffer>& list : by_class) {
      for (const IdleBuffer& buffer : list) system_free(buffer.data);
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

// What a Buffer calls at its end.
struct Release {
  std::size_t bytes;
  InUse in_use;  // of the thread that acquired it

  void operator()(double* data) const {
    if (in_use) in_use->fetch_sub(bytes, std::memory_order_relaxed);
    if (lists_are_gone) {
      system_free(data);
    } else {
      free_lists().put(data, bytes);
    }
  }
};

}  // namespace

Buffer acquire_buffer(std::size_t doubles) {
  if (doubles > std::numeric_limits<std::size_t>::max() / (2 * sizeof(double))) {
    throw std::bad_alloc();
  }
  const std::size_t bytes = size_class(doubles * sizeof(double));
  if (lists_are_gone) return Buffer(system_allocate(bytes), Release{bytes, nullptr});
  FreeLists& lists = free_lists();
  IdleBuffer buffer = lists.take(bytes);
  if (buffer.data != nullptr) {
    ++lists.statistics.reused;
  } else {
    lists.keep_within_limit(bytes);
    buffer = {system_allocate(bytes), bytes, 0};
    ++lists.statistics.system_allocations;
  }
  const std::size_t used =
      lists.in_use->fetch_add(buffer.bytes, std::memory_order_relaxed) + buffer.bytes;
  lists.statistics.peak_bytes = std::max(lists.statistics.peak_bytes, used);
  return Buffer(buffer.data, Release{buffer.bytes, lists.in_use});
}

PoolStatistics pool_statistics() { return free_lists().statistics; }

void trim_pool() { free_lists().trim(); }

}  // namespace normlab
