// As process 1 of a container a program inherits every process whose parent has ended: those that
// our commands start and leave behind. Nobody else reaps them. So process 1 becomes an init that
// does only that, and its one child does the work.
#pragma once

namespace tarry::app {

/// In process 1: answers in a child, to which process 1 passes SIGTERM, SIGINT, SIGHUP and SIGQUIT
/// on; it reaps everybody, and ends as that child ends. Any other process: does nothing. To be
/// called while there is one thread, before anything is printed. Where no child can be made,
/// process 1 goes on alone.
void leave_process_one_to_an_init();

}  // namespace tarry::app
