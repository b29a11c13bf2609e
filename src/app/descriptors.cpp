#include "app/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

namespace tarry::app {

std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlimit raised = limit;
  raised.rlim_cur = raised.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

std::size_t connections_within(std::uint64_t limit, std::size_t wanted) noexcept {
  constexpr std::uint64_t kLeastReserve = 64;
  const std::uint64_t reserve = std::max(limit / 2, kLeastReserve);
  const std::uint64_t sockets = limit > reserve ? limit - reserve : 0;
  return std::clamp<std::uint64_t>(sockets / 5 * 4, 1, std::max<std::size_t>(wanted, 1));
}

}  // namespace tarry::app
