// As process 1 of a container a program inherits every process whose parent has ended: processes
// that our commands start and leave behind. No other process reaps them. So process 1 becomes an
// init that does only that, and its one child does the work.
#pragma once

namespace tarry::app {

/// In process 1: returns in a child, to which process 1 forwards SIGTERM, SIGINT, SIGHUP and
/// SIGQUIT. Process 1 reaps all processes, and ends as that child ends. Any other process: does
/// nothing. Call it while there is one thread, before anything is printed. If no child can be made,
/// process 1 goes on alone.
void leave_process_one_to_an_init();

}  // namespace tarry::app
