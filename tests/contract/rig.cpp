#include "rig.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <stdexcept>

#include "command_line.h"
#include "http_server.h"
#include "rabbit_server.h"
#include "rabbitmq_part.h"

namespace tarry::contract {
namespace {

// In RAM where there is room: what is tested here is not the disk, and a thousand tests that each
// wait for it would be tested seldom. TARRY_TEST_DIR names another place.
std::filesystem::path base_directory() {
  if (const char* chosen = std::getenv("TARRY_TEST_DIR")) return chosen;
  std::error_code failed;
  std::filesystem::path ram = "/dev/shm";
  const std::filesystem::space_info space = std::filesystem::space(ram, failed);
  if (!failed && space.available >= (std::uintmax_t{2} << 30) && ::access(ram.c_str(), W_OK) == 0) {
    return ram;
  }
  return std::filesystem::temp_directory_path();
}

std::string make_directory() {
  std::string pattern = (base_directory() / "tarry-contract-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp: " + pattern);
  return pattern;
}

Store open_or_throw(const std::string& url, OpenOptions options) {
  Result<Store> store = tarry::open(url, std::move(options));
  if (!store) throw std::runtime_error("open " + url + ": " + store.error().message);
  return std::move(*store);
}

}  // namespace

void PrintTo(const EngineSpec& spec, std::ostream* out) { *out << spec.name; }

const std::vector<EngineSpec>& all_engines() {
  if (!command_line_engines().empty()) return command_line_engines();
  if (is_on_rabbitmq()) return rabbitmq_engines();
  static const std::vector<EngineSpec> engines = {
      {"memory", Kind::memory, 1},
      {"memory4", Kind::memory, 4},
      {"file", Kind::file, 1},
      {"file4", Kind::file, 4},
      {"http", Kind::memory, 1, RedisServers::one, By::http},
      {"https", Kind::memory, 1, RedisServers::one, By::https},
      {"http_redis", Kind::redis, 1, RedisServers::one, By::http},
      {"redis", Kind::redis, 1},
      {"redis4", Kind::redis, 4},
      {"cluster", Kind::redis, 4, RedisServers::cluster},
      {"sentinel", Kind::redis, 1, RedisServers::sentinel}};
  return engines;
}

const std::vector<EngineSpec>& durable_engines() {
  if (is_on_rabbitmq()) return rabbitmq_engines();
  static const std::vector<EngineSpec> engines = {
      {"file", Kind::file, 1},
      {"file4", Kind::file, 4},
      {"redis", Kind::redis, 1},
      {"redis4", Kind::redis, 4},
      {"cluster", Kind::redis, 4, RedisServers::cluster},
      {"sentinel", Kind::redis, 1, RedisServers::sentinel}};
  return engines;
}

const std::vector<EngineSpec>& command_line_engines() {
  static const std::vector<EngineSpec> none;
  static const std::vector<EngineSpec> engines = {
      {"command_line", Kind::memory, 1, RedisServers::one, By::command_line},
      {"command_line_redis", Kind::redis, 1, RedisServers::one, By::command_line}};
  return std::getenv("TARRY_TEST_COMMAND_LINE") == nullptr ? none : engines;
}

const std::vector<EngineSpec>& rabbitmq_engines() {
  static const std::vector<EngineSpec> engines = {
      {"rabbitmq", Kind::rabbitmq, 1},
      {"http_rabbitmq", Kind::rabbitmq, 1, RedisServers::one, By::http}};
  return engines;
}

Rig::Rig(const EngineSpec& spec, Executor executor, std::string file_options)
    : spec_(spec), executor_(std::move(executor)), file_options_(std::move(file_options)) {
  if (spec_.kind == Kind::file) path_ = make_directory();
  if (spec_.kind == Kind::redis) clear_redis(spec_.servers);
  if (spec_.kind == Kind::rabbitmq) clear_rabbit();
  open();
}

Rig::~Rig() {
  close();
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

std::optional<Time> Rig::kept_push_time(std::optional<std::int64_t> pushed_ms) const {
  constexpr std::int64_t kRedisFrom = 1'577'836'800'000;
  constexpr std::int64_t kMinute = 60'000;
  if (!pushed_ms) return std::nullopt;
  if (spec_.kind != Kind::redis) return Time(Millis(*pushed_ms));
  if (*pushed_ms < kRedisFrom) return std::nullopt;
  return Time(Millis(*pushed_ms / kMinute * kMinute));
}

std::int64_t Rig::now_ms() const { return clock_.now().time_since_epoch().count(); }

std::string Rig::url(const std::string& options) const {
  if (spec_.kind == Kind::redis) return redis_url(spec_.servers, spec_.shards);
  if (spec_.kind == Kind::rabbitmq) return rabbit_url();
  const std::string shards = "shards=" + std::to_string(spec_.shards);
  if (spec_.kind == Kind::memory) return "memory:?" + shards;
  return "file:" + path_ + "/store?" + (options.empty() ? shards + file_options_ : options);
}

void Rig::close() {
  if (store_) store_->close();
  store_.reset();
  server_.reset();
  if (backing_) backing_->close();
  backing_.reset();
}

Store Rig::open_kept(Executor executor) const {
  if (spec_.kind == Kind::rabbitmq) return rabbitmq_store(std::move(executor));
  return open_or_throw(url(), {.executor = std::move(executor), .clock = clock_});
}

void Rig::open() {
  if (spec_.by == By::library) {
    store_ = open_kept(executor_);
    return;
  }
  backing_ = open_kept({});
  server_ = TestServer::start(backing_->engine(), spec_.by == By::https);
  store_ = spec_.by == By::command_line ? command_line_store(server_->url(), executor_)
                                        : open_or_throw(server_->url(), {.executor = executor_});
}

}  // namespace tarry::contract
