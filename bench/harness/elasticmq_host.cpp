#include "harness/elasticmq_host.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "harness/must.h"
#include "harness/wall.h"
#include "support/redis_server.h"

namespace tarry::bench {
namespace {

constexpr const char* kClassPath = "TARRY_ELASTICMQ_CLASSPATH";

std::vector<std::string> words_of(std::uint16_t port) {
  const std::string number = std::to_string(port);
  return {"/usr/bin/java",
          "-Drest-sqs.bind-hostname=127.0.0.1",
          "-Drest-sqs.bind-port=" + number,
          "-Dnode-address.port=" + number,
          "-Drest-stats.enabled=false",
          "-cp",
          std::getenv(kClassPath),
          "org.elasticmq.server.Main"};
}

bool has_started(const std::string& output) {
  std::ifstream in(output);
  std::string line;
  while (std::getline(in, line)) {
    if (line.find("=== ElasticMQ server") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

bool ElasticMqHost::is_there() { return std::getenv(kClassPath) != nullptr; }

ElasticMqHost::ElasticMqHost(const std::string& parent)
    : scratch_(parent),
      port_(testing::RedisServer::free_port()),
      server_(std::make_unique<ServerProcess>(
          words_of(port_), ServerProcess::Options{.log = scratch_.path() + "/output"})) {
  const Stopwatch watch;
  while (!has_started(scratch_.path() + "/output")) {
    must(watch.seconds() < 120, "ElasticMQ starts");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace tarry::bench
