#include "harness/beanstalk_host.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "harness/must.h"
#include "harness/wall.h"
#include "support/redis_server.h"

namespace tarry::bench {
namespace {

constexpr const char* kBeanstalkd = "/usr/bin/beanstalkd";

bool answers(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool there =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return there;
}

std::vector<std::string> words_of(std::uint16_t port, const std::string& directory,
                                  std::optional<int> sync_ms) {
  std::vector<std::string> words{kBeanstalkd, "-l", "127.0.0.1", "-p", std::to_string(port)};
  if (sync_ms) words.insert(words.end(), {"-b", directory, "-f", std::to_string(*sync_ms)});
  return words;
}

}  // namespace

bool BeanstalkHost::is_installed() { return ::access(kBeanstalkd, X_OK) == 0; }

BeanstalkHost::BeanstalkHost(const std::string& parent, std::optional<int> sync_ms)
    : scratch_(parent),
      port_(testing::RedisServer::free_port()),
      server_(std::make_unique<ServerProcess>(
          words_of(port_, scratch_.path(), sync_ms),
          ServerProcess::Options{.log = scratch_.path() + "/output"})) {
  const Stopwatch watch;
  while (!answers(port_)) {
    must(watch.seconds() < 20, "beanstalkd starts");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace tarry::bench
