#include "harness/server_process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>  // NOLINT: kill is POSIX's
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "harness/must.h"

namespace tarry::bench {

pid_t ServerProcess::start(const std::vector<std::string>& words, const Options& options) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const passwd* const user =
      ::getuid() == 0 && !options.user.empty() ? ::getpwnam(options.user.c_str()) : nullptr;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  must(pid >= 0, "a process starts");
  if (pid > 0) return pid;
  const int null = ::open("/dev/null", O_RDWR);
  const int log = ::open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  if (user != nullptr && (::initgroups(user->pw_name, user->pw_gid) != 0 ||
                          ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  ::prctl(PR_SET_PDEATHSIG, options.stop_signal);  // after setuid, which would undo it
  if (::getppid() != parent) ::_exit(1);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

ServerProcess::ServerProcess(const std::vector<std::string>& words, Options options)
    : stop_signal_(options.stop_signal), pid_(start(words, options)) {}

ServerProcess::~ServerProcess() {
  ::kill(pid_, stop_signal_);
  ::waitpid(pid_, nullptr, 0);
}

bool ServerProcess::run(const std::vector<std::string>& words, const Options& options) {
  int status = 0;
  ::waitpid(start(words, options), &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

namespace {

// The number after a word of /proc's status files; 0 if it is not there.
double number_after(const std::string& path, std::string_view wanted) {
  std::ifstream in(path);
  std::string word;
  while (in >> word) {
    if (word != wanted) continue;
    double number = 0;
    in >> number;
    return number;
  }
  return 0;
}

}  // namespace

double anonymous_bytes_of(pid_t pid) {
  return 1024 * number_after("/proc/" + std::to_string(pid) + "/status", "RssAnon:");
}

ProcessEffort effort_of(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::ifstream stat(process + "/stat");
  std::string text;
  std::getline(stat, text);
  // Behind the name, which may hold spaces, utime and stime are the 12th and 13th (proc(5)).
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string passed_over;
  for (int i = 0; i < 11; ++i) fields >> passed_over;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  ProcessEffort effort;
  effort.cpu_seconds = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator(process + "/task", ignored)) {
    const std::string status = task.path().string() + "/status";
    effort.switches += number_after(status, "voluntary_ctxt_switches:") +
                       number_after(status, "nonvoluntary_ctxt_switches:");
  }
  return effort;
}

}  // namespace tarry::bench
