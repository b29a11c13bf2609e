#include <csignal>

#include "app/app.h"
#include "app/system/descriptors.h"

int main(int argc, char** argv) {
  // If standard error is missing, the reason cannot be reported.
  if (!tarry::app::secure_standard_descriptors()) {
    return static_cast<int>(tarry::app::ExitCode::failed);
  }
  // The parent process may have made this process ignore SIGCHLD. Then the result of a command
  // could not be read.
  std::signal(SIGCHLD, SIG_DFL);
  // A write beyond the limit of a file's size (ulimit -f) should fail with an error instead of
  // ending the process. A handler that does nothing is used, because commands would inherit an
  // ignored signal.
  std::signal(SIGXFSZ, [](int) {});
  return static_cast<int>(tarry::app::run({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
