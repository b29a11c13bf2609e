// Counts the messages that a design loses and doubles when its consumer is killed. The consumer is
// a process of its own; SIGKILL ends it again and again while another process pushes. A message
// counts as handled when its handler has run. It is lost if its push was confirmed and its handler
// never ran, and doubled once for each further run.
#include <signal.h>  // NOLINT: kill is POSIX's
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "comparison/measures.h"
#include "comparison/stamp.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::uint64_t kKillMost = 100'000;
constexpr std::int64_t kHandlerUs = 200;
constexpr std::int64_t kLongestStartMs = 10'000;

void rest_us(std::int64_t us) {
  const timespec rest{us / 1'000'000, us % 1'000'000 * 1'000};
  ::nanosleep(&rest, nullptr);
}

// Shared by all processes; a killed process leaves here what it has written.
struct Tally {
  std::atomic<std::uint64_t> begun;  // numbers from here on were never pushed
  std::atomic<std::uint64_t> handled;
  std::atomic<bool> enough;  // the producer must stop
  std::atomic<bool> all_pushed;
  std::atomic<std::uint8_t> confirmed[kKillMost];
  std::atomic<std::uint8_t> times[kKillMost];
};

class Processes {
 public:
  ~Processes() {
    while (!running_.empty()) end(running_.back());
  }
  pid_t start(const std::function<void()>& body) {
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    must(pid >= 0, "a process starts");
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      body();
      ::_exit(0);
    }
    running_.push_back(pid);
    return pid;
  }
  void end(pid_t pid) {
    ::kill(pid, SIGKILL);
    (void)wait(pid);
  }
  /// Waits for the end of the process. True if it ended well.
  bool wait(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    std::erase(running_, pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  std::vector<pid_t> running_;
};

void push_all(Compared& producer, const Effort& effort, Tally& tally) {
  constexpr std::int64_t kSliceMs = 10;
  const std::uint64_t slice = effort.kill_per_second * kSliceMs / 1'000;
  std::mt19937_64 random(tally.begun + 5);
  StampedBatch batch;
  while (!tally.enough && tally.begun + slice <= kKillMost) {
    batch.clear();
    const std::uint64_t first = tally.begun.fetch_add(slice);
    for (std::uint64_t number = first; number < first + slice; ++number) {
      batch.add(number, now_ms() + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(
                                                                            effort.kill_delay_ms)));
    }
    producer.push(batch.messages());
    for (std::uint64_t number = first; number < first + slice; ++number) {
      tally.confirmed[number] = 1;
    }
    rest_us(kSliceMs * 1'000);
  }
  tally.all_pushed = true;
}

void consume(Compared& consumer, Tally& tally) {
  for (;;) {
    const auto got = consumer.await(100, 60'000);
    for (std::size_t i = 0; i < got->size(); ++i) {
      const Stamp stamp = stamp_of(got->payload(i));
      rest_us(kHandlerUs);  // takes the place of a handler
      ++tally.times[stamp.number];
      ++tally.handled;
    }
    if (got->size() > 0) consumer.settle(*got);
  }
}

void consume_and_push(const Job& job, Tally& tally) {
  const auto both = job.entry.open(job.place, Role::consumer);
  std::thread producer([&] { push_all(*both, job.effort, tally); });
  consume(*both, tally);
}

// Waits for a message, so that a consumer that starts slowly is not killed before it has had one.
void wait_for_a_message(const Tally& tally) {
  const std::uint64_t before = tally.handled;
  const std::int64_t end = now_ms() + kLongestStartMs;
  while (tally.handled == before && now_ms() < end) rest_us(1'000);
}

// Waits until all confirmed messages are handled, or none has come for a while.
void wait_for_the_rest(const Effort& effort, const Tally& tally) {
  std::uint64_t before = 0;
  std::int64_t since = now_ms();
  for (;;) {
    rest_us(10'000);
    std::uint64_t open = 0;
    for (std::uint64_t number = 0; number < tally.begun; ++number) {
      if (tally.confirmed[number] != 0 && tally.times[number] == 0) ++open;
    }
    if (tally.all_pushed && open == 0) return;
    if (tally.handled != before || !tally.all_pushed) since = now_ms();
    before = tally.handled;
    if (now_ms() - since > effort.kill_idle_ms) return;
  }
}

void report(const Tally& tally, double kills, Results& results) {
  double pushed = 0;
  double lost = 0;
  double doubled = 0;
  for (std::uint64_t number = 0; number < tally.begun; ++number) {
    const double times = tally.times[number];
    if (times > 1) doubled += times - 1;
    if (tally.confirmed[number] == 0) continue;
    ++pushed;
    if (times == 0) ++lost;
  }
  results["kills"] = kills;
  results["kill_pushed"] = pushed;
  results["kill_lost"] = lost;
  results["kill_doubled"] = doubled;
}

}  // namespace

void measure_kills(const Job& job, Results& results) {
  void* const shared =
      ::mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  must(shared != MAP_FAILED, "memory is shared");
  Tally& tally = *new (shared) Tally;
  Processes processes;
  const bool local = job.entry.in_process;
  if (!local) {
    must(processes.wait(processes.start([&] { make_queue(job.entry, job.place); })),
         "the queue is made");
    processes.start(
        [&] { push_all(*job.entry.open(job.place, Role::producer), job.effort, tally); });
  }
  const auto consumer = [&] {
    if (local) {
      consume_and_push(job, tally);
    } else {
      consume(*job.entry.open(job.place, Role::consumer), tally);
    }
  };
  std::mt19937_64 random(13);
  for (int kill = 0; kill < job.effort.kills; ++kill) {
    const pid_t pid = processes.start(consumer);
    wait_for_a_message(tally);
    rest_us(job.effort.kill_after_ms * 500 +
            static_cast<std::int64_t>(
                random() % static_cast<std::uint64_t>(job.effort.kill_after_ms * 1'000)));
    processes.end(pid);
  }
  const pid_t last = processes.start(consumer);
  wait_for_a_message(tally);
  tally.enough = true;
  wait_for_the_rest(job.effort, tally);
  processes.end(last);
  report(tally, job.effort.kills, results);
  ::munmap(shared, sizeof(Tally));
}

}  // namespace tarry::bench
