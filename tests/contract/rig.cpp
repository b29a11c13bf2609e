#include "rig.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <stdexcept>

#include "http_server.h"

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
  static const std::vector<EngineSpec> engines = {
      {"memory", Kind::memory, 1},
      {"memory4", Kind::memory, 4},
      {"file", Kind::file, 1},
      {"file4", Kind::file, 4},
      {"http", Kind::http, 1},
      {"redis", Kind::redis, 1},
      {"redis4", Kind::redis, 4},
      {"cluster", Kind::redis, 4, RedisServers::cluster},
      {"sentinel", Kind::redis, 1, RedisServers::sentinel}};
  return engines;
}

const std::vector<EngineSpec>& durable_engines() {
  static const std::vector<EngineSpec> engines = {
      {"file", Kind::file, 1},
      {"file4", Kind::file, 4},
      {"redis", Kind::redis, 1},
      {"redis4", Kind::redis, 4},
      {"cluster", Kind::redis, 4, RedisServers::cluster},
      {"sentinel", Kind::redis, 1, RedisServers::sentinel}};
  return engines;
}

const std::vector<EngineSpec>& one_shard_engines() {
  static const std::vector<EngineSpec> engines = {
      {"memory", Kind::memory, 1},
      {"file", Kind::file, 1},
      {"http", Kind::http, 1},
      {"redis", Kind::redis, 1},
      {"sentinel", Kind::redis, 1, RedisServers::sentinel}};
  return engines;
}

Rig::Rig(const EngineSpec& spec, Executor executor, std::string file_options)
    : spec_(spec), executor_(std::move(executor)), file_options_(std::move(file_options)) {
  if (spec_.kind == Kind::file) path_ = make_directory();
  if (spec_.kind == Kind::redis) clear_redis(spec_.servers);
  open();
}

Rig::~Rig() {
  close();
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

std::int64_t Rig::now_ms() const { return clock_.now().time_since_epoch().count(); }

std::string Rig::url(const std::string& options) const {
  if (spec_.kind == Kind::redis) {
    return redis_url(spec_.servers, spec_.shards);
  }
  const std::string own = "shards=" + std::to_string(spec_.shards) + file_options_;
  return "file:" + path_ + "/store?" + (options.empty() ? own : options);
}

void Rig::close() {
  if (store_) store_->close();
  store_.reset();
  server_.reset();
  if (backing_) backing_->close();
  backing_.reset();
}

void Rig::open() {
  const std::string shards = "shards=" + std::to_string(spec_.shards);
  switch (spec_.kind) {
    case Kind::memory:
      store_ = open_or_throw("memory:?" + shards, {.executor = executor_, .clock = clock_});
      break;
    case Kind::redis:
    case Kind::file: store_ = open_or_throw(url(), {.executor = executor_, .clock = clock_}); break;
    case Kind::http:
      backing_ = open_or_throw("memory:?" + shards, {.clock = clock_});
      server_ = TestServer::start(backing_->engine());
      store_ = open_or_throw("http://127.0.0.1:" + std::to_string(server_->port()),
                             {.executor = executor_});
      break;
  }
}

}  // namespace tarry::contract
