// A Kafka to try a relay with: kafka_cluster [BROKERS [TOPIC]]
//
// Prints the brokers' addresses in one line. With a TOPIC it then prints a line for each record
// that arrives: KEY ATTEMPT DUE_MS MADE_MS PARTITION. "down" or "up" on standard input stops or
// starts all brokers, and is printed when done. At the end of its input the program ends. It keeps
// nothing on disk, and only the last 5 MB of each partition.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "support/kafka_cluster.h"

namespace {

using tarry::testing::KafkaCluster;
using tarry::testing::KafkaConsumer;
using tarry::testing::KafkaRecord;

void show(const KafkaRecord& record) {
  const auto header = [&record](const char* name) {
    const auto found = record.headers.find(name);
    return found == record.headers.end() ? "-" : found->second.c_str();
  };
  std::printf("%s %s %s %lld %d\n", record.key.c_str(), header("tarry-attempt"),
              header("tarry-due-ms"), static_cast<long long>(record.made_ms), record.partition);
}

bool has_input(int patience_ms) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, patience_ms) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int brokers = argc > 1 ? std::atoi(argv[1]) : 1;
  if (brokers < 1 || brokers > 16) {
    std::cerr << "usage: kafka_cluster [BROKERS [TOPIC]], with 1 to 16 brokers\n";
    return 2;
  }
  KafkaCluster cluster(brokers);
  std::puts(cluster.brokers().c_str());
  std::fflush(stdout);
  std::unique_ptr<KafkaConsumer> consumer;
  if (argc > 2) {
    const std::string topic = argv[2];
    rd_kafka_mock_topic_create(cluster.mock(), topic.c_str(), KafkaCluster::kPartitions, 1);
    consumer = std::make_unique<KafkaConsumer>(cluster.brokers(), topic);
  }
  std::setvbuf(stdin, nullptr, _IONBF, 0);
  std::string command;
  for (;;) {
    if (consumer) {
      for (int i = 0; i < 1'000; ++i) {
        const auto record = consumer->next(std::chrono::milliseconds(0));
        if (!record) break;
        show(*record);
      }
      std::fflush(stdout);
    }
    if (!has_input(consumer ? 0 : -1)) continue;
    const int byte = std::getchar();
    if (byte == EOF) return 0;
    if (byte != '\n') {
      command.push_back(static_cast<char>(byte));
      continue;
    }
    if (command == "down") cluster.down();
    if (command == "up") cluster.up();
    std::puts(command.c_str());
    std::fflush(stdout);
    command.clear();
  }
}
