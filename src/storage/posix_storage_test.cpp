// Cases that only a real file system and a real process can show: rights, kinds of paths, locks
// across processes, room that runs out.
#include "storage/posix_storage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT: kill is POSIX's
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "storage/failure.h"
#include "storage/memory_storage.h"
#include "storage/posix_file.h"
#include "support/temp_directory.h"

namespace tarry::storage {
namespace {

namespace fs = std::filesystem;

template <typename T>
void expect_message(const Result<T>& outcome, ErrorCode code, std::string_view message) {
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(to_string(outcome.error().code), to_string(code));
  EXPECT_EQ(outcome.error().message, message);
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

class PosixStorageTest : public testing::Test {
 protected:
  TempDirectory temp;
  const std::string base = temp.path();
};

TEST_F(PosixStorageTest, AMissingDirectoryIsNotFound) {
  expect_message(open_directory(base + "/x/y", false), ErrorCode::not_found,
                 "cannot open directory " + base + "/x/y: No such file or directory");
}

TEST_F(PosixStorageTest, AFileWithTwoNamesIsOneFileAndShared) {
  auto here = open_directory(base + "/here", true).value();
  auto there = open_directory(base + "/there", true).value();
  auto file = here->open("f", OpenMode::create_new).value();
  EXPECT_FALSE(file->is_shared().value());
  ASSERT_TRUE(here->link("f", *there));
  EXPECT_TRUE(file->is_shared().value());
  EXPECT_TRUE(there->is_named("f", *file).value());
  ASSERT_TRUE(file->write_at(0, "both"));
  EXPECT_EQ(there->open("f", OpenMode::read_only).value()->size().value(), 4u);
  EXPECT_EQ(here->link("f", *there).error().code, ErrorCode::conflict);
  EXPECT_EQ(here->link("none", *there).error().code, ErrorCode::not_found);
  ASSERT_TRUE(here->rename("f", "g"));
  EXPECT_FALSE(here->is_named("f", *file).value());
  EXPECT_TRUE(here->is_named("g", *file).value());
  ASSERT_TRUE(here->remove("g"));
  EXPECT_FALSE(file->is_shared().value());
  ASSERT_TRUE(here->open("g", OpenMode::create_new));
  EXPECT_FALSE(here->is_named("g", *file).value()) << "another file by now";
}

TEST_F(PosixStorageTest, WhatIsOnNoDiskHasNoSecondNames) {
  auto here = open_directory(base, false).value();
  ASSERT_TRUE(here->open("f", OpenMode::create_new));
  const auto memory = memory_directory();
  EXPECT_EQ(here->link("f", *memory).error().code, ErrorCode::unsupported);
  EXPECT_EQ(memory->link("f", *here).error().code, ErrorCode::unsupported);
}

TEST_F(PosixStorageTest, AFileIsNoDirectory) {
  std::ofstream(base + "/file") << "x";
  expect_message(open_directory(base + "/file", false), ErrorCode::invalid_argument,
                 "cannot open directory " + base + "/file: Not a directory");
  expect_message(open_directory(base + "/file", true), ErrorCode::invalid_argument,
                 "cannot make directory " + base + "/file: Not a directory");
  expect_message(open_directory(base + "/file/below/it", true), ErrorCode::invalid_argument,
                 "cannot make directory " + base + "/file: Not a directory");
}

TEST_F(PosixStorageTest, PathsThatAreNone) {
  expect_message(open_directory("", true), ErrorCode::invalid_argument,
                 "cannot open directory \"\": a path must not be empty");
  expect_message(open_directory(std::string_view("a\0b", 3), true), ErrorCode::invalid_argument,
                 "cannot open directory \"a?b\": a path holds no zero byte");
  EXPECT_EQ(open_directory(std::string(5000, 'x'), true).error().code, ErrorCode::invalid_argument);
}

TEST_F(PosixStorageTest, CreateMakesAllThatIsMissing) {
  const mode_t old_mask = ::umask(0);
  auto made = open_directory(base + "//a/../a/./b/c//", true);
  const auto file = made ? made.value()->open("f", OpenMode::create_new)
                         : Result<std::unique_ptr<File>>(made.error());
  ::umask(old_mask);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(mode_of(base + "/a"), 0750U);
  EXPECT_EQ(mode_of(base + "/a/b/c"), 0750U);
  EXPECT_EQ(mode_of(base + "/a/b/c/f"), 0640U);
  EXPECT_TRUE(open_directory(base + "/a/b/c", true));
  EXPECT_TRUE(open_directory(base + "/a/b/c", false));
}

TEST_F(PosixStorageTest, RelativePathsAndAChangeOfWorkingDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(base);
  auto made = open_directory("r/s", true);
  fs::current_path(before);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made.value()->open("f", OpenMode::create_new));
  EXPECT_TRUE(fs::exists(base + "/r/s/f"));
}

TEST_F(PosixStorageTest, RightsAreRespected) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do everything";
  ASSERT_TRUE(open_directory(base + "/d", true).value()->open("f", OpenMode::create_new));
  fs::permissions(base + "/d/f", fs::perms::none);
  const auto directory = std::move(open_directory(base + "/d", false)).value();
  expect_message(directory->open("f", OpenMode::read_only), ErrorCode::permission_denied,
                 "cannot open " + base + "/d/f: Permission denied");
  fs::permissions(base + "/d", fs::perms::owner_read | fs::perms::owner_exec);
  expect_message(directory->open("g", OpenMode::create_new), ErrorCode::permission_denied,
                 "cannot create " + base + "/d/g: Permission denied");
  expect_message(directory->lock("l", "me"), ErrorCode::permission_denied,
                 "cannot lock " + base + "/d/l: Permission denied");
  expect_message(open_directory(base + "/d/e", true), ErrorCode::permission_denied,
                 "cannot make directory " + base + "/d/e: Permission denied");
  fs::permissions(base + "/d", fs::perms::none);
  expect_message(open_directory(base + "/d", false), ErrorCode::permission_denied,
                 "cannot open directory " + base + "/d: Permission denied");
  fs::permissions(base + "/d", fs::perms::owner_all);
}

TEST_F(PosixStorageTest, SpecialFilesAreRefusedWithoutWaitingForThem) {
  ASSERT_EQ(::mkfifo((base + "/fifo").c_str(), 0600), 0);
  const auto directory = std::move(open_directory(base, false)).value();
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
    expect_message(directory->open("fifo", mode), ErrorCode::invalid_argument,
                   "cannot open " + base + "/fifo: Not a regular file");
  }
  expect_message(directory->lock("fifo", "me"), ErrorCode::invalid_argument,
                 "cannot lock " + base + "/fifo: Not a regular file");
  EXPECT_EQ(directory->list().value(), std::vector<std::string>{"fifo"});
}

TEST_F(PosixStorageTest, ASocketIsNoFile) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(fd, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (base + "/s").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  const auto directory = std::move(open_directory(base, false)).value();
  expect_message(directory->open("s", OpenMode::read_only), ErrorCode::invalid_argument,
                 "cannot open " + base + "/s: Not a regular file");
}

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// If root followed a link, any user's file could be read, written or emptied.
TEST_F(PosixStorageTest, NoLinkIsFollowed) {
  const std::string said = ": It is a link, and links are not followed here";
  const auto directory = std::move(open_directory(base + "/store", true)).value();
  std::ofstream(base + "/v") << "mine";
  fs::create_directory(base + "/d");
  fs::create_symlink("../v", base + "/store/l");
  fs::create_symlink("../none", base + "/store/n");
  fs::create_symlink("../d", base + "/store/s");
  const std::string link = base + "/store/l";
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
    expect_message(directory->open("l", mode), ErrorCode::invalid_argument,
                   "cannot open " + link + said);
  }
  EXPECT_EQ(directory->open("n", OpenMode::create_new).error().code, ErrorCode::conflict);
  expect_message(directory->lock("l", "me"), ErrorCode::invalid_argument,
                 "cannot lock " + link + said);
  expect_message(directory->lock_shared("l"), ErrorCode::invalid_argument,
                 "cannot lock " + link + said);
  EXPECT_FALSE(directory->lock("n", "me"));
  EXPECT_FALSE(fs::exists(base + "/none"));
  for (const bool create : {false, true}) {
    expect_message(directory->subdirectory("s", create), ErrorCode::invalid_argument,
                   "cannot open directory " + base + "/store/s" + said);
  }
  EXPECT_EQ(directory->rename("l", "m").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(directory->list().value(), (std::vector<std::string>{"l", "n", "s"}));
  EXPECT_EQ(text_in(base + "/v"), "mine");
}

TEST_F(PosixStorageTest, AFileThatIsNoLockStaysAsItIs) {
  const auto directory = std::move(open_directory(base, false)).value();
  const std::string lock = base + "/LOCK";
  const std::string said = "cannot lock " + lock +
                           ": it does not hold a lock's text, and is left unchanged: move it away";
  for (const std::string& text :
       {std::string("two\nlines\n"), std::string("no end"), std::string(5000, '\0')}) {
    std::ofstream(lock) << text;
    expect_message(directory->lock("LOCK", "me"), ErrorCode::invalid_argument, said);
    EXPECT_EQ(text_in(lock), text);
  }
  // A single line may be from an earlier version, unless the file has another name.
  std::ofstream(lock) << "secret\n";
  fs::create_hard_link(lock, base + "/theirs");
  expect_message(directory->lock("LOCK", "me"), ErrorCode::invalid_argument, said);
  EXPECT_EQ(text_in(base + "/theirs"), "secret\n");
  fs::remove(base + "/theirs");
  EXPECT_TRUE(directory->lock("LOCK", "me"));
}

TEST_F(PosixStorageTest, WhatAPowerFailureLeavesOfALocksTextIsTakenOver) {
  const auto directory = std::move(open_directory(base, false)).value();
  for (const std::string& text : {std::string(), std::string(24, '\0'),
                                  std::string("tarry lock: pid 1 (tar"), std::string("pid 1\n")}) {
    std::ofstream(base + "/LOCK") << text;
    EXPECT_TRUE(directory->lock("LOCK", "me")) << text;
  }
}

TEST_F(PosixStorageTest, ARemovedFileHasNoName) {
  const auto directory = std::move(open_directory(base, false)).value();
  const auto file = std::move(directory->open("f", OpenMode::create_new)).value();
  EXPECT_TRUE(file->has_name());
  ASSERT_TRUE(directory->rename("f", "g"));
  EXPECT_TRUE(file->has_name());
  fs::remove(base + "/g");
  EXPECT_FALSE(file->has_name());
}

TEST_F(PosixStorageTest, ADirectoryKnowsWhetherItIsWhereItWas) {
  const auto directory = std::move(open_directory(base + "/a/b", true)).value();
  const auto below = std::move(directory->subdirectory("c", true)).value();
  EXPECT_TRUE(directory->is_in_place());
  EXPECT_TRUE(below->is_in_place());
  fs::rename(base + "/a", base + "/z");
  EXPECT_FALSE(directory->is_in_place());
  EXPECT_FALSE(below->is_in_place());
  fs::create_directories(base + "/a/b/c");
  EXPECT_FALSE(below->is_in_place()) << "another one is there";
  fs::remove_all(base + "/a");
  fs::rename(base + "/z", base + "/a");
  EXPECT_TRUE(directory->is_in_place());
  EXPECT_TRUE(below->is_in_place());
  fs::remove_all(base + "/a");
  EXPECT_FALSE(directory->is_in_place());
  EXPECT_FALSE(below->is_in_place());
}

// Runs `task` in a process of its own, in which no file may have more than 8,192 bytes; a signal
// would end that process. `task` ends the process: status 0 if all is well.
template <typename Task>
void in_a_process_with_a_limit(Task task) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit limit{8192, 8192};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(10);
    task();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(PosixStorageTest, TheLimitOfAFilesSizeIsAShortageAndSendsNoSignal) {
  const auto directory = std::move(open_directory(base, false)).value();
  in_a_process_with_a_limit([&] {
    auto file = directory->open("f", OpenMode::create_new);
    if (!file || directory->largest_file() != 8192) ::_exit(11);
    if (!(*file)->write_at(0, std::string(4096, 'x')) || !(*file)->allocate(8192)) ::_exit(12);
    const auto is_shortage = [](const Result<void>& done) {
      return !done && done.error().code == ErrorCode::no_space;
    };
    if (!is_shortage((*file)->write_at(8192, "x"))) ::_exit(13);
    if (!is_shortage((*file)->write_at(8000, std::string(500, 'x')))) ::_exit(14);
    if (!is_shortage((*file)->allocate(8193))) ::_exit(15);
    if (!is_shortage((*file)->truncate(8193))) ::_exit(16);
    sigset_t left;
    if (::sigpending(&left) != 0 || ::sigismember(&left, SIGXFSZ)) ::_exit(17);
    if (::pthread_sigmask(SIG_BLOCK, nullptr, &left) != 0 || ::sigismember(&left, SIGXFSZ)) {
      ::_exit(18);
    }
    ::_exit(0);
  });
}

TEST_F(PosixStorageTest, AReaderInAProcessWithALimitReadsAll) {
  const auto directory = std::move(open_directory(base, false)).value();
  in_a_process_with_a_limit([&] {
    auto file = directory->open("f", OpenMode::create_new);
    if (!file || !(*file)->write_at(0, std::string(8192, 'x'))) ::_exit(11);
    std::array<std::string, 3> into;
    std::vector<Read> reads;
    for (std::string& bytes : into) {
      bytes.assign(4096, '\0');
      reads.push_back({file->get(), 1000 * reads.size(), bytes});
    }
    directory->make_reader()->read(reads);
    for (const std::string& bytes : into) {
      if (bytes != std::string(4096, 'x')) ::_exit(12);
    }
    ::_exit(0);
  });
}

TEST_F(PosixStorageTest, AllocateTakesRealRoom) {
  const auto directory = std::move(open_directory(base, false)).value();
  const auto file = std::move(directory->open("f", OpenMode::create_new)).value();
  ASSERT_TRUE(file->allocate(1U << 20U));
  struct stat status{};
  ASSERT_EQ(::stat((base + "/f").c_str(), &status), 0);
  EXPECT_GE(static_cast<std::uint64_t>(status.st_blocks) * 512, 1U << 20U);
}

TEST_F(PosixStorageTest, AFailedAllocateLeavesTheFileAsItWas) {
  const auto directory = std::move(open_directory(base, false)).value();
  const auto file = std::move(directory->open("f", OpenMode::create_new)).value();
  ASSERT_TRUE(file->write_at(0, "abc"));
  // A request for more than the whole disk has is refused before any space is taken.
  const Space space = directory->space().value();
  const auto outcome = file->allocate(space.total_bytes + (1U << 20U));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::no_space) << outcome.error().message;
  EXPECT_EQ(file->size().value(), 3U);
}

TEST_F(PosixStorageTest, AKilledProcessHoldsNoLock) {
  const auto directory = std::move(open_directory(base, false)).value();
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto own = open_directory(base, false);
    const auto lock = own.value()->lock("lock", "pid " + std::to_string(::getpid()) + " (child)");
    const char answer = lock ? 'y' : 'n';
    if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  expect_message(
      directory->lock("lock", "parent"), ErrorCode::conflict,
      "cannot lock " + base + "/lock: held by pid " + std::to_string(child) + " (child)");
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::exists(base + "/lock"));
  const auto lock = directory->lock("lock", "parent");
  EXPECT_TRUE(lock) << lock.error().message;
  ::close(ready[0]);
  ::close(ready[1]);
}

// Holds one shared lock after the other, taking each before it releases the last; in the end it
// holds none.
template <typename Look>
std::thread looking(std::unique_ptr<Lock> first, Look look) {
  return std::thread([held = std::move(first), look]() mutable {
    for (int i = 0; i < 100; ++i) held = std::move(look()).value();
    held.reset();
  });
}

TEST_F(PosixStorageTest, WhoOnlyLooksForAMomentKeepsNobodyOut) {
  const auto directory = std::move(open_directory(base, false)).value();
  ASSERT_TRUE(directory->lock("lock", "the last one"));
  std::thread looks = looking(std::move(directory->lock_shared("lock")).value(),
                              [&] { return directory->lock_shared("lock"); });
  const auto lock = directory->lock("lock", "first");
  EXPECT_TRUE(lock) << lock.error().message;
  looks.join();
}

TEST_F(PosixStorageTest, WhoTriesToLockIsNotTakenForAReader) {
  const auto directory = std::move(open_directory(base, false)).value();
  ASSERT_TRUE(directory->lock("lock", "the last one"));
  std::thread looks = looking(std::move(directory->lock_shared("lock")).value(),
                              [&] { return directory->lock_shared("lock"); });
  std::atomic<int> for_readers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const auto lock = directory->lock("lock", "one of three");
      if (!lock && lock.error().message.find("only reads") != std::string::npos) ++for_readers;
    });
  }
  for (std::thread& thread : threads) thread.join();
  looks.join();
  EXPECT_EQ(for_readers, 0);
}

TEST_F(PosixStorageTest, ADirectoryIsLockedWhateverBecomesOfItsFiles) {
  const auto directory = std::move(open_directory(base, false)).value();
  const auto again = std::move(open_directory(base, false)).value();
  const std::string said = "cannot lock " + base + ": held by another process";
  auto lock = std::move(directory->lock_itself(Sharing::none)).value();
  expect_message(again->lock_itself(Sharing::none), ErrorCode::conflict, said);
  expect_message(again->lock_itself(Sharing::with_sharers), ErrorCode::conflict, said);
  EXPECT_TRUE(again->lock("lock", "is another thing"));
  lock.reset();
  auto reader = std::move(directory->lock_itself(Sharing::with_sharers)).value();
  EXPECT_TRUE(again->lock_itself(Sharing::with_sharers));
  expect_message(again->lock_itself(Sharing::none), ErrorCode::conflict,
                 said + ", which only reads");
  std::thread looks =
      looking(std::move(reader), [&] { return directory->lock_itself(Sharing::with_sharers); });
  EXPECT_TRUE(again->lock_itself(Sharing::none));
  looks.join();
}

TEST_F(PosixStorageTest, AForkedChildDoesNotLetGoOfItsParentsLock) {
  const auto directory = std::move(open_directory(base, false)).value();
  auto lock = std::move(directory->lock("lock", "parent")).value();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    lock.reset();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  expect_message(directory->lock("lock", "second"), ErrorCode::conflict,
                 "cannot lock " + base + "/lock: held by parent");
}

TEST_F(PosixStorageTest, AChildThatInheritedTheDescriptorDoesNotKeepTheLock) {
  const auto directory = std::move(open_directory(base, false)).value();
  auto lock = std::move(directory->lock("lock", "parent")).value();
  std::array<int, 2> end{};
  ASSERT_EQ(::pipe(end.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(end[1]);
    char byte = 0;
    ::_exit(::read(end[0], &byte, 1) == 0 ? 0 : 1);  // lives on until the parent closes its end
  }
  lock.reset();
  EXPECT_TRUE(directory->lock("lock", "next"));
  ::close(end[1]);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(end[0]);
}

TEST_F(PosixStorageTest, AFailedSyncIsFinal) {
  // A pipe cannot be synced: EINVAL, every time. The test shows that the second sync does not even
  // call the system.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  PosixFile file(FileDescriptor{ends[0]}, "/x/y", true);
  ::close(ends[1]);
  expect_message(file.sync_data(), ErrorCode::io_error, "cannot sync /x/y: Invalid argument");
  expect_message(file.sync_data(), ErrorCode::io_error,
                 "cannot sync /x/y: an earlier sync of it failed");
}

TEST_F(PosixStorageTest, AFullDeviceIsNoSpaceAndNamesTheOffset) {
  const int full = ::open("/dev/full", O_RDWR | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "no /dev/full here";
  PosixFile file(FileDescriptor{full}, "/x/y", true);
  expect_message(file.write_at(4096, "abc"), ErrorCode::no_space,
                 "cannot write /x/y (offset 4096): No space left on device");
}

TEST(ReserveByWriting, FillsGapsAndTheEndAndTouchesNoData) {
  const auto directory = memory_directory();
  const auto file = std::move(directory->open("f", OpenMode::create_new)).value();
  std::string model(200'001, '\0');
  for (const auto& [at, text] : {std::pair<std::size_t, std::string>{0, "start"},
                                 {700, std::string(3000, 'x')},
                                 {70'001, "lonely"}}) {
    ASSERT_TRUE(file->write_at(at, text));
    model.replace(at, text.size(), text);
  }
  ASSERT_TRUE(reserve_by_writing(*file, 200'001));
  std::string bytes(300'000, '?');
  bytes.resize(file->read_at(0, bytes).value());
  EXPECT_EQ(bytes, model);
  ASSERT_TRUE(reserve_by_writing(*file, 100));
  EXPECT_EQ(file->size().value(), 200'001U);
}

TEST(ReserveByWriting, RunsOutOfRoom) {
  const auto directory = memory_directory(128U << 10U);
  const auto file = std::move(directory->open("f", OpenMode::create_new)).value();
  EXPECT_EQ(reserve_by_writing(*file, 1U << 20U).error().code, ErrorCode::no_space);
}

TEST(Failure, ErrnoValuesBecomeWhatTheCallerShouldDo) {
  const std::vector<std::pair<int, ErrorCode>> expected{{ENOSPC, ErrorCode::no_space},
                                                        {EDQUOT, ErrorCode::no_space},
                                                        {EACCES, ErrorCode::permission_denied},
                                                        {EPERM, ErrorCode::permission_denied},
                                                        {EROFS, ErrorCode::permission_denied},
                                                        {ENOENT, ErrorCode::not_found},
                                                        {EEXIST, ErrorCode::conflict},
                                                        {EFBIG, ErrorCode::no_space},
                                                        {ELOOP, ErrorCode::invalid_argument},
                                                        {ENOTDIR, ErrorCode::invalid_argument},
                                                        {EISDIR, ErrorCode::invalid_argument},
                                                        {ENAMETOOLONG, ErrorCode::invalid_argument},
                                                        {EIO, ErrorCode::io_error},
                                                        {EMFILE, ErrorCode::unavailable},
                                                        {ENFILE, ErrorCode::unavailable},
                                                        {EBADF, ErrorCode::io_error}};
  for (const auto& [error_number, code] : expected) {
    EXPECT_EQ(to_string(code_of_errno(error_number)), to_string(code)) << error_number;
  }
}

TEST(Failure, MessagesAreOneLine) {
  const Error error = system_failure_at("write", "/x\ny\x1b", 7, EIO);
  EXPECT_EQ(error.message, "cannot write /x?y? (offset 7): Input/output error");
  EXPECT_EQ(error.code, ErrorCode::io_error);
}

}  // namespace
}  // namespace tarry::storage
