#include <csignal>

#include "app/app.h"
#include "app/system/descriptors.h"

int main(int argc, char** argv) {
  // Nobody can be told why, where standard error is what is missing.
  if (!tarry::app::secure_standard_descriptors()) {
    return static_cast<int>(tarry::app::ExitCode::failed);
  }
  // Whoever started us may have it ignored, and then nobody learns how a command ends.
  std::signal(SIGCHLD, SIG_DFL);
  // What is written beyond the limit of a file's size (ulimit -f) fails, which is told as what it
  // is. A handler that does nothing: commands that we run would inherit that it is ignored.
  std::signal(SIGXFSZ, [](int) {});
  return static_cast<int>(tarry::app::run({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
