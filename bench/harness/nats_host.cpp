#include "harness/nats_host.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>

#include "harness/must.h"
#include "harness/wall.h"
#include "support/redis_server.h"

namespace tarry::bench {
namespace {

constexpr const char* kProgram = "TARRY_NATS_SERVER";

// One connection that asks the server for the stream and the consumer.
class Setup {
 public:
  explicit Setup(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Setup() { ::close(fd_); }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  [[nodiscard]] bool is_connected() const noexcept { return connected_; }

  void ask(std::string_view subject, std::string_view body) {
    std::string text = "CONNECT {\"verbose\":false}\r\nSUB _INBOX.setup 1\r\nPUB ";
    text.append(subject).append(" _INBOX.setup ").append(std::to_string(body.size()));
    text.append("\r\n").append(body).append("\r\n");
    must(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()),
         "nats-server is asked");
    std::string heard;
    // The server may ask for a sign of life behind its answer.
    while (heard.find("}\r\n", heard.find("MSG _INBOX.setup")) == std::string::npos) {
      char piece[4096];
      const ssize_t got = ::recv(fd_, piece, sizeof piece, 0);
      must(got > 0, "nats-server answers");
      heard.append(piece, static_cast<std::size_t>(got));
    }
    if (heard.find("\"error\"") != std::string::npos) give_up("nats-server does as asked", heard);
  }

 private:
  const int fd_;
  bool connected_ = false;
};

std::string configured(const std::string& directory, std::uint16_t port, const std::string& sync) {
  const std::string path = directory + "/nats.conf";
  std::ofstream(path) << "listen: \"127.0.0.1:" << port << "\"\njetstream {\n  store_dir: \""
                      << directory << "/store\"\n  sync_interval: \"" << sync << "\"\n}\n";
  return path;
}

}  // namespace

bool NatsHost::is_there() { return std::getenv(kProgram) != nullptr; }

NatsHost::NatsHost(const std::string& parent, const std::string& sync)
    : scratch_(parent),
      port_(testing::RedisServer::free_port()),
      server_(std::make_unique<ServerProcess>(
          std::vector<std::string>{std::getenv(kProgram), "-c",
                                   configured(scratch_.path(), port_, sync)},
          ServerProcess::Options{.log = scratch_.path() + "/output"})) {
  const Stopwatch watch;
  while (!Setup(port_).is_connected()) {
    must(watch.seconds() < 20, "nats-server starts");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  // With this retention an acked message is gone, as in a queue.
  Setup(port_).ask("$JS.API.STREAM.CREATE.bench",
                   R"({"name":"bench","subjects":["schedules.>","due"],"retention":"workqueue",)"
                   R"("storage":"file","allow_msg_schedules":true})");
  Setup(port_).ask("$JS.API.CONSUMER.DURABLE.CREATE.bench.work",
                   R"({"stream_name":"bench","config":{"durable_name":"work",)"
                   R"("ack_policy":"explicit","filter_subject":"due","ack_wait":60000000000}})");
}

}  // namespace tarry::bench
