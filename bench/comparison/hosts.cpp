#include "comparison/hosts.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "designs/redisson_process.h"
#include "harness/beanstalk_host.h"
#include "harness/postgres_host.h"
#include "harness/rabbit_host.h"
#include "harness/redis_host.h"

namespace tarry::bench {

Hosts::Hosts(std::string directory) : directory_(std::move(directory)) {}
Hosts::~Hosts() = default;

std::string Hosts::missing(const Entry& entry) {
  if (entry.open == nullptr) return "its client library was not there when this was built";
  if ((entry.needs & kRedis) != 0 && ::access("/usr/bin/redis-server", X_OK) != 0) {
    return "redis-server is not installed";
  }
  if ((entry.needs & kRabbit) != 0 && !RabbitHost::is_installed()) {
    return "rabbitmq-server is not installed";
  }
  if ((entry.needs & kPostgres) != 0 && !PostgresHost::is_installed()) {
    return "postgresql is not installed";
  }
  if ((entry.needs & kBeanstalk) != 0 && !BeanstalkHost::is_installed()) {
    return "beanstalkd is not installed";
  }
  if ((entry.needs & kJava) != 0) return RedissonProcess::missing();
  return {};
}

Place Hosts::place(const Entry& entry) {
  redis_.reset();
  beanstalk_.reset();
  scratch_ = std::make_unique<Scratch>(directory_);
  Place place;
  place.directory = scratch_->path();
  if ((entry.needs & kRedis) != 0) {
    redis_ = std::make_unique<RedisHost>(
        std::vector<std::string>{"--appendonly", "yes", "--appendfsync", "everysec"});
    place.redis_socket = redis_->socket_path();
    place.redis_port = redis_->port();
  }
  if ((entry.needs & kBeanstalk) != 0) {
    beanstalk_ = std::make_unique<BeanstalkHost>(std::filesystem::temp_directory_path().string());
    place.beanstalk_port = beanstalk_->port();
  }
  if ((entry.needs & kRabbit) != 0) {
    if (!rabbit_) rabbit_ = std::make_unique<RabbitHost>();
    place.rabbit_port = rabbit_->port();
  }
  if ((entry.needs & kPostgres) != 0) {
    if (!postgres_) postgres_ = std::make_unique<PostgresHost>();
    place.postgres_directory = postgres_->socket_directory();
  }
  return place;
}

double Hosts::server_bytes(const Entry& entry) const {
  if ((entry.needs & kRedis) != 0) return redis_->bytes_at_rest();
  if ((entry.needs & kBeanstalk) != 0) return beanstalk_->bytes();
  return (entry.needs & kRabbit) != 0 ? rabbit_->bytes() : 0;
}

double Hosts::disk_bytes(const Entry& entry) const {
  if ((entry.needs & kPostgres) != 0) return postgres_->disk_bytes();
  return static_cast<double>(scratch_->disk_bytes());
}

void Hosts::begin_counting() const {
  if (redis_) redis_->begin_work();
}

double Hosts::redis_commands() const { return redis_ ? redis_->commands_done() : 0; }
double Hosts::redis_us() const { return redis_ ? redis_->cpu_done() * 1e6 : 0; }

}  // namespace tarry::bench
