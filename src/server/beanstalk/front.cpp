#include "server/beanstalk/front.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <random>
#include <utility>

#include "base/threads/boot_clock.h"
#include "server/beanstalk/connection.h"

namespace tarry::beanstalk {
namespace {

template <typename Clock>
std::int64_t ms_of() {
  const auto since = Clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

// beanstalkd's id of an instance has this form.
std::string instance_id() {
  std::random_device random;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%08x%08x", random(), random());
  return text.data();
}

}  // namespace

Front::Front(session::ServerContext& context, FrontOptions options, std::shared_ptr<Shared> shared)
    : session::Front(context, "beanstalk"),
      options_(std::move(options)),
      shared_(std::move(shared)) {}

std::shared_ptr<session::Connection> Front::connect(listening::Stream stream) {
  return std::make_shared<Connection>(*this, std::move(stream));
}

session::MakeFront make_front(FrontOptions options) {
  Clocks& clocks = options.clocks;
  if (!clocks.elapsed_ms) clocks.elapsed_ms = ms_of<base::BootClock>;
  if (!clocks.wall_ms) clocks.wall_ms = ms_of<std::chrono::system_clock>;
  auto shared = std::make_shared<Shared>();
  shared->started_ms = clocks.wall_ms();
  shared->id = instance_id();
  return [options = std::move(options), shared](session::ServerContext& context) {
    return std::make_unique<Front>(context, options, shared);
  };
}

}  // namespace tarry::beanstalk
