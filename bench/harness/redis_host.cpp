#include "harness/redis_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "harness/figure.h"
#include "harness/must.h"
#include "harness/wall.h"
#include "support/redis_server.h"

namespace tarry::bench {
namespace {

constexpr double kLongestRestS = 20;

std::string_view line_of(std::string_view info, std::string_view field) {
  const std::size_t at = info.find(std::string("\n") + std::string(field) + ":");
  must(at != std::string_view::npos, "INFO tells " + std::string(field));
  const std::size_t from = at + field.size() + 2;
  return info.substr(from, info.find('\r', from) - from);
}

}  // namespace

RedisHost::RedisHost(std::vector<std::string> arguments) {
  try {
    server_ = std::make_unique<testing::RedisServer>(std::move(arguments));
  } catch (const std::exception& error) {
    give_up("redis-server", error.what());
  }
}

RedisHost::~RedisHost() = default;

std::string RedisHost::socket_path() const { return server_->socket_path(); }
std::uint16_t RedisHost::port() const { return server_->port(); }

void RedisHost::clear() const {
  must(server_->ask({"FLUSHALL"}) == "+OK\r\n", "redis-server removes all data");
}

double RedisHost::number(std::string_view section, std::string_view field) const {
  const std::string info = server_->ask({"INFO", std::string(section)});
  return std::strtod(std::string(line_of(info, field)).c_str(), nullptr);
}

double RedisHost::bytes_at_rest() const {
  const Stopwatch watch;
  double before = 0;
  for (;;) {
    const bool alone = number("clients", "connected_clients") == 1;  // the asking client itself
    const double bytes = number("memory", "used_memory");
    if (alone && std::abs(bytes - before) < 4096) return bytes;
    before = bytes;
    must(watch.seconds() < kLongestRestS, "redis-server comes to rest");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

double RedisHost::cpu_seconds() const {
  return number("cpu", "used_cpu_user") + number("cpu", "used_cpu_sys");
}

void RedisHost::begin_work() {
  must(server_->ask({"CONFIG", "RESETSTAT"}) == "+OK\r\n", "statistics begin anew");
  cpu_before_ = cpu_seconds();
}

std::vector<RedisHost::Command> RedisHost::commands() const {
  const std::string info = server_->ask({"INFO", "commandstats"});
  std::vector<Command> commands;
  constexpr std::string_view kStat = "\ncmdstat_";
  for (std::size_t at = info.find(kStat); at != std::string::npos; at = info.find(kStat, at + 1)) {
    const std::size_t name = at + kStat.size();
    const std::size_t colon = info.find(':', name);
    char* behind = nullptr;
    const double calls =
        std::strtod(info.c_str() + colon + std::string_view(":calls=").size(), &behind);
    const double us = std::strtod(behind + std::string_view(",usec=").size(), nullptr);
    if (info.compare(name, colon - name, "info") == 0) continue;  // this command is ours
    commands.push_back({calls, us, info.substr(name, colon - name)});
  }
  return commands;
}

double RedisHost::commands_done() const {
  double all = 0;
  for (const Command& command : commands()) all += command.calls;
  return all;
}

std::string RedisHost::work_done(std::uint64_t lifecycles) const {
  const auto each = static_cast<double>(lifecycles);
  const double cpu_us = cpu_done() * 1e6 / each;
  std::vector<Command> commands = this->commands();
  double all = 0;
  for (Command& command : commands) {
    command.calls /= each;
    command.us /= each;
    all += command.calls;
  }
  std::ranges::sort(commands, std::ranges::greater(), &Command::us);
  std::string told;
  for (const auto& [calls, us, name] : commands) {
    if (calls < 0.001) continue;
    told += fmt::format("{}{} {:.3f} in {:.2f} us", told.empty() ? "" : ", ", name, calls, us);
  }
  return fmt::format("{:.2f} us of the server's CPU, {} commands ({})", cpu_us, short_number(all),
                     told);
}

}  // namespace tarry::bench
