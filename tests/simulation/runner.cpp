#include "runner.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <new>
#include <sstream>

#include "base/assert.h"
#include "engines/embedded/recovery/recovery_rows.h"
#include "shrink.h"

namespace tarry::simulation {
namespace {

using Clock = std::chrono::steady_clock;

// What a process reports to its parent, in memory that both share.
struct Board {
  std::atomic<std::uint64_t> seed{0};  // the seed that it runs now
  std::atomic<std::uint64_t> lived{0};
  std::atomic<bool> found{false};
  std::uint64_t step = 0;
  int invariant = 0;
  std::array<char, 16 * 1024> what{};
  std::array<char, 64 * 1024> figures{};
};

class Boards {
 public:
  explicit Boards(std::size_t count) : bytes_(count * sizeof(Board)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TARRY_ASSERT(memory_ != MAP_FAILED);
    for (std::size_t i = 0; i < count; ++i) new (&at(i)) Board();
  }
  Boards(const Boards&) = delete;
  Boards& operator=(const Boards&) = delete;
  ~Boards() { munmap(memory_, bytes_); }
  [[nodiscard]] Board& at(std::size_t i) { return static_cast<Board*>(memory_)[i]; }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

template <std::size_t N>
void put(std::array<char, N>& into, const std::string& text) {
  const std::size_t size = std::min(text.size(), N - 1);
  std::memcpy(into.data(), text.data(), size);
  into[size] = '\0';
}

void put_figures(Board& board, const Figures& figures) {
  std::ostringstream out;
  for (const auto& [name, count] : figures) out << count << ' ' << name << '\n';
  put(board.figures, out.str());
}

void add_figures(const Board& board, Figures& to) {
  std::istringstream in(board.figures.data());
  std::uint64_t count = 0;
  std::string name;
  while (in >> count && in.get() == ' ' && std::getline(in, name)) to[name] += count;
}

bool live_seeds(const Plan& plan, unsigned worker, Board& board, Clock::time_point end) {
  Figures figures;
  for (std::uint64_t i = worker; i < plan.seeds; i += plan.jobs) {
    if (plan.seconds > 0 && Clock::now() >= end) break;
    const std::uint64_t seed = plan.first + i;
    board.seed.store(seed);
    const Options options = options_of(seed);
    Life life = World(options).live(script_of(options));
    for (const auto& [name, count] : life.figures) figures[name] += count;
    board.lived.fetch_add(1);
    if (life.failure) {
      board.step = life.failed_at;
      board.invariant = life.failure->invariant;
      put(board.what, life.failure->what);
      board.found.store(true);
      put_figures(board, figures);
      return false;
    }
    if (i / plan.jobs % 256 == 0) put_figures(board, figures);
  }
  put_figures(board, figures);
  return true;
}

std::string cause_of(int status) {
  if (WIFSIGNALED(status)) return std::string("the process died: ") + strsignal(WTERMSIG(status));
  return "the process ended with " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Report run(const Plan& plan) {
  const auto began = Clock::now();
  const auto end = began + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(plan.seconds));
  Boards boards(plan.jobs);
  sigset_t ended_child;
  sigemptyset(&ended_child);
  sigaddset(&ended_child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended_child, nullptr);
  std::vector<pid_t> workers;
  for (unsigned i = 0; i < plan.jobs; ++i) {
    const pid_t pid = fork();
    TARRY_ASSERT(pid >= 0);
    if (pid == 0) _exit(live_seeds(plan, i, boards.at(i), end) ? 0 : 1);
    workers.push_back(pid);
  }
  Report report;
  const auto lived = [&] {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < plan.jobs; ++i) sum += boards.at(i).lived.load();
    return sum;
  };
  std::vector<bool> ended(plan.jobs, false);
  while (std::find(ended.begin(), ended.end(), false) != ended.end()) {
    for (unsigned i = 0; i < plan.jobs; ++i) {
      int status = 0;
      if (ended[i] || waitpid(workers[i], &status, WNOHANG) != workers[i]) continue;
      ended[i] = true;
      Board& board = boards.at(i);
      if (board.found.load()) {
        report.finds.push_back({board.seed.load(), board.step, board.invariant, board.what.data()});
      } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        report.finds.push_back({board.seed.load(), 0, 0, cause_of(status)});
      }
    }
    if (plan.progress) plan.progress(lived());
    constexpr timespec kShowProgress{0, 200'000'000};
    sigtimedwait(&ended_child, nullptr, &kShowProgress);
  }
  report.lived = lived();
  report.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  for (unsigned i = 0; i < plan.jobs; ++i) add_figures(boards.at(i), report.figures);
  std::ranges::sort(report.finds, {}, &Find::seed);
  return report;
}

std::string explain(const Find& find) {
  const Options options = options_of(find.seed);
  std::ostringstream out;
  out << "seed " << find.seed << ": ";
  if (find.invariant != 0) out << "invariant " << find.invariant << ": ";
  out << find.what << "\n  " << to_string(options) << "\n";
  if (find.invariant == 0) return out.str();
  Boards boards(1);
  const pid_t pid = fork();
  TARRY_ASSERT(pid >= 0);
  if (pid == 0) {
    const std::vector<Step> script = script_of(options);
    const std::vector<std::size_t> indices = shrink(options, script, find.invariant);
    std::ostringstream text;
    text << "  shortened to " << indices.size() << " of " << script.size() << " steps:\n";
    for (const std::size_t i : indices) {
      text << "    " << i << "  " << to_string(script[i]) << "\n";
    }
    const Life life = World(options).live(kept(script, indices));
    if (life.failure) text << "  then: " << life.failure->what << "\n";
    put(boards.at(0).what, text.str());
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  out << boards.at(0).what.data();
  return out.str();
}

namespace {

using embedded::Row;

// Rows of recovery's table that even a long run of worlds need not meet. S7 and R1 concern bytes
// that pass their check and are still wrong, which neither a crash nor bit rot produces;
// recovery_damage_test.cpp tests them. The others are rare in worlds; recovery_segments_test.cpp
// tests them.
constexpr Row kNotAsked[] = {Row::s4_by_proof,  Row::s5_begun, Row::s5_before,      Row::s7,
                             Row::s7_newer,     Row::r1,       Row::r1_contradicts, Row::r1_above,
                             Row::r1_left_below};

}  // namespace

// Every other row, and every branch of cleaning. cleaner_test covers "cleaning.no-room" and
// "cleaning.again": in a world the shard always keeps enough space for a copy.
std::vector<std::string> missing_marks(const Figures& figures) {
  std::vector<std::string> wanted{
      "cleaning.dead-segment",    "cleaning.holds-off",    "cleaning.garbage",
      "cleaning.pressed-lightly", "cleaning.pressed-hard", "cleaning.press-ends",
      "cleaning.rests",           "cleaning.copy-carried", "cleaning.copy-remembered",
      "cleaning.slice-ends",      "cleaning.finished",     "cleaning.keeps-file",
      "cleaning.removes-file",    "time.amid-turn",
  };
  for (const embedded::RowText& row : embedded::kRows) {
    if (std::ranges::find(kNotAsked, row.row) == std::end(kNotAsked)) wanted.emplace_back(row.name);
  }
  std::erase_if(wanted, [&](const std::string& name) { return figures.contains("mark." + name); });
  return wanted;
}

}  // namespace tarry::simulation
