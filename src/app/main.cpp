#include <csignal>

#include "app/app.h"
#include "app/descriptors.h"

int main(int argc, char** argv) {
  // Nobody can be told why, where standard error is what is missing.
  if (!tarry::app::secure_standard_descriptors()) {
    return static_cast<int>(tarry::app::ExitCode::failed);
  }
  // Whoever started us may have it ignored, and then nobody learns how a command ends.
  std::signal(SIGCHLD, SIG_DFL);
  return static_cast<int>(tarry::app::run({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
