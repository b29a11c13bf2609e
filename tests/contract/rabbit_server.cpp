#include "rabbit_server.h"

#include <stdexcept>

#ifdef TARRY_WITH_RABBITMQ
#include <mutex>
#include <set>
#include <utility>

#include "engines/rabbitmq/ladder/ladder.h"
#include "engines/rabbitmq/ladder/names.h"
#include "net/rabbit/link.h"
#include "support/rabbit_server.h"

namespace tarry::contract {
namespace {

constexpr std::uint16_t kChannel = 1;

struct Broker {
  tarry::testing::RabbitServer server;
  std::mutex mutex;
  std::set<std::string> queues;
};

Broker& broker() {
  static Broker started;
  return started;
}

void must_work(const Result<void>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

}  // namespace

std::string rabbit_url() {
  return "amqp://127.0.0.1:" + std::to_string(broker().server.port()) + "/";
}

void note_rabbit_queue(const std::string& queue) {
  const std::lock_guard lock(broker().mutex);
  broker().queues.insert(queue);
}

void clear_rabbit() {
  std::set<std::string> queues;
  {
    const std::lock_guard lock(broker().mutex);
    queues.swap(broker().queues);
  }
  if (queues.empty()) return;
  net::RabbitAddress address;
  address.port = broker().server.port();
  net::rabbit::RabbitLink link(address);
  must_work(link.open(address));
  must_work(link.open_channel(kChannel, false));
  // From the top, because messages go down: none gets past the purge, and none falls into a queue
  // that the next test declares.
  for (int rung = rabbitmq::Ladder::kRungs - 1; rung >= 0; --rung) {
    const std::string name = rabbitmq::rung_name(rabbitmq::Ladder::kDefaultBaseMs, rung);
    amqp_queue_purge(link.state(), kChannel, net::rabbit::amqp_view(name));
    must_work(link.answered());
  }
  for (const std::string& queue : queues) {
    for (const std::string& name : {rabbitmq::ready_name(queue), rabbitmq::dead_name(queue)}) {
      amqp_queue_delete(link.state(), kChannel, net::rabbit::amqp_view(name), 0, 0);
      must_work(link.answered());
    }
  }
}

}  // namespace tarry::contract

#else

namespace tarry::contract {

std::string rabbit_url() { throw std::runtime_error("this build has no RabbitMQ"); }
void note_rabbit_queue(const std::string& /*queue*/) {}
void clear_rabbit() {}

}  // namespace tarry::contract

#endif
