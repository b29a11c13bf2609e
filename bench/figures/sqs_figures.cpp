// F18: tarry serve with SQS's protocol against ElasticMQ. One client of AWS's SDK for Java drives
// both (sqs_client/SqsRate.java). TARRY_SQS_CLIENT_CLASSPATH names what bench/java_classpath.py has
// built.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "figures/figures.h"
#include "harness/elasticmq_host.h"
#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/server_process.h"
#include "harness/tarry_host.h"

namespace tarry::bench {
namespace {

constexpr Figure kF18{"F18",
                      "SQS front, sync=always, against ElasticMQ in memory, AWS SDK, 16 threads by "
                      "tens",
                      "ratio",
                      Better::higher,
                      3,
                      10};
constexpr Figure kF18r{"F18r",  "RAM with 100k waiting of the SQS front against ElasticMQ's",
                       "ratio", Better::lower,
                       0.2,     0.05};

constexpr const char* kClient = "TARRY_SQS_CLIENT_CLASSPATH";

/// Runs the client against the port, and returns the number that it prints.
double run_client(const std::string& directory, std::uint16_t port,
                  const std::vector<std::string>& words) {
  const Scratch scratch(directory);
  const std::string said = scratch.path() + "/said";
  std::vector<std::string> all{"/usr/bin/java", "-cp", std::getenv(kClient), "SqsRate",
                               "http://127.0.0.1:" + std::to_string(port)};
  all.insert(all.end(), words.begin(), words.end());
  must(ServerProcess::run(all, {.log = said}), "the client of SQS ends well");
  std::ifstream in(said);
  double number = 0;
  must(static_cast<bool>(in >> number), "the client of SQS prints a number");
  return number;
}

const TarryHost::Options kFront{.store = "file:?sync=always", .flags = {"--sqs", "127.0.0.1:0"}};

}  // namespace

void measure_sqs(Run& run) {
  if (!ElasticMqHost::is_there() || std::getenv(kClient) == nullptr) {
    run.note("F18 is left out: Java, Maven, ElasticMQ or AWS's SDK is not there");
    return;
  }
  // Java is slow until it has compiled what is run often: client and rival warm up first.
  const std::string count = std::to_string(run.scaled(100'000));
  const std::vector<std::string> lives{"lives", count, count};
  std::vector<double> rates;
  std::vector<double> sizes;
  for (int round = 0; round < run.rounds(); ++round) {
    double we = 0;
    double our_bytes = 0;
    {
      const TarryHost tarry(run.directory(), kFront);
      we = run_client(run.directory(), tarry.front_port(), lives);
    }
    {
      const TarryHost tarry(run.directory(), kFront);
      (void)run_client(run.directory(), tarry.front_port(), {"fill", count});
      our_bytes = anonymous_bytes_of(tarry.pid());
    }
    double they = 0;
    double their_bytes = 0;
    {
      const ElasticMqHost elasticmq(run.directory());
      they = run_client(run.directory(), elasticmq.port(), lives);
    }
    {
      const ElasticMqHost elasticmq(run.directory());
      (void)run_client(run.directory(), elasticmq.port(), {"fill", count});
      their_bytes = anonymous_bytes_of(elasticmq.pid());
    }
    run.note(fmt::format("tarry {}/s and {} MiB, ElasticMQ {}/s and {} MiB", short_number(we),
                         short_number(our_bytes / 1048576), short_number(they),
                         short_number(their_bytes / 1048576)));
    rates.push_back(we / they);
    sizes.push_back(our_bytes / their_bytes);
  }
  run.add(kF18, median_of(rates));
  run.add(kF18r, median_of(sizes));
}

}  // namespace tarry::bench
