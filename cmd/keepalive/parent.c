// This is the parent of a minion, a master or a salt-api. It runs in a constructor of the program, before the Go
// runtime. There is only one thread at that time, so the process can fork, and the remaining parent needs one
// megabyte instead of ten. See keepalive.go.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "upgrade.h"

enum { STRANGE = 1, KNOWN };

enum {
	AGAIN = 99,            // exit code that asks for a new process (salt/defaults/exitcodes.py, SALT_KEEPALIVE)
	FAILED = 1,
	QUICK_MS = 1000,       // a process that dies sooner has a quick death
	QUICK_FREE = 3,        // the parent restarts at once after so many quick deaths in a row
	DELAY_MAX_MS = 10000,
	LAST_WORDS_MS = 3000,  // time in which a hanging process may write its stacks
	HELLO_MS = 10000,      // time in which a process of another file must show that it knows its parent
	SLACK_NS = 200000,     // permitted delay of the process's timers (docs/decisions/0063)
};

// These are the facts for the process about its parent.
static int channel = -1;
static int deaths, before_pid, before_status;
static long long before_at, before_lived; // milliseconds: since 1970; length of its life
static int file; // which file has the program's name, one of FILE_SAME ...
static const char *title = "MinionKeepAlive"; // name of the process in its log line

int keepalive_channel(void) { return channel; }
int keepalive_deaths(void) { return deaths; }
int keepalive_before_pid(void) { return before_pid; }
int keepalive_before_status(void) { return before_status; }
int keepalive_file(void) { return file; }
const char *keepalive_path(void) { return upgrade_path(); }
long long keepalive_before_at(void) { return before_at; }
long long keepalive_before_lived(void) { return before_lived; }

// daemon_of tells whether a word names a daemon that has a parent.
static int daemon_of(const char *word) {
	if (strcmp(word, "salt-master") == 0) title = "MasterKeepAlive";
	else if (strcmp(word, "salt-api") == 0) title = "SaltAPIKeepAlive";
	else if (strcmp(word, "salt-minion") != 0) return 0;
	return 1;
}

// wanted decides from the command line: 1 for a daemon that has a parent, 2 for a mere init, otherwise 0.
static int wanted(void) {
	static char line[1 << 16];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	if (fd < 0) return 0;
	ssize_t n = 0, got;
	while (n < (ssize_t)sizeof line - 1 && (got = read(fd, line + n, sizeof line - 1 - n)) > 0) n += got;
	close(fd);
	if (n <= 0) return 0;
	line[n] = 0;
	const char *end = line + n, *word = line, *slash = strrchr(line, '/');
	const char *prog = slash ? slash + 1 : line;
	int found = daemon_of(prog);
	int other = !found && strncmp(prog, "salt", 4) == 0; // the name of another tool excludes the first word
	for (int i = 1; (word += strlen(word) + 1) < end; i++) {
		if (i == 1 && !found && !other) found = daemon_of(word);
		if (found && strcmp(word, "--disable-keepalive") == 0) return getpid() == 1 ? 2 : 0;
	}
	return found;
}

static int64_t clock_ms(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t now_ms(void) { return clock_ms(CLOCK_MONOTONIC); }

// give_back removes the program's pages from this process. The file provides them again when they are needed.
static int give_back(struct dl_phdr_info *info, size_t size, void *data) {
	(void)size, (void)data;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		if (h->p_type != PT_LOAD || (h->p_flags & PF_W)) continue;
		uintptr_t from = (info->dlpi_addr + h->p_vaddr) & ~page, to = (info->dlpi_addr + h->p_vaddr + h->p_memsz) & ~page;
		if (to > from) madvise((void *)from, to - from, MADV_DONTNEED);
	}
	return 0;
}

// shown is an exit status as Salt shows it. After a signal it is minus the number of the signal.
static int shown(int status) { return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status); }

// notify sends a word to the service manager, which listens to its main process.
static void notify(const char *word) {
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	if (!path || !*path || strlen(path) >= sizeof to.sun_path) return;
	strcpy(to.sun_path, path);
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + strlen(path) + (*path == '@' ? 0 : 1);
	if (*path == '@') to.sun_path[0] = 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0) return;
	// A service manager that does not read must not block the parent. Only the first word is indispensable.
	int flags = MSG_NOSIGNAL | (strncmp(word, "READY=1", 7) == 0 ? 0 : MSG_DONTWAIT);
	if (sendto(fd, word, strlen(word), flags, (struct sockaddr *)&to, size) < 0) {
		// the service manager does without it
	}
	close(fd);
}

// life is one process with its state.
struct life {
	pid_t pid;
	int fd;        // the channel to it; -1 after it has closed its end
	int listening; // it receives signals through the channel
	int ready;     // it has begun its work
	int hup;       // it must get a SIGHUP as soon as it is ready; an earlier one would end it
	int over;      // it ends on purpose
	int again;     // it could not start for a passing reason
	int stopping;  // it has got a request to stop
	int64_t kill_at; // time at which it is killed; 0: never
	int ended, status;
	int fresh;     // it is from another file than this: STRANGE until it has shown that it knows its parent, then KNOWN
	int only_init; // the parent never replaces it
};

// announce tells the service manager that the process is ready. It also reports the number of deaths, because the
// service manager counts only those of the parent. systemctl status shows that number.
static void announce(struct life *l) {
	char text[128] = "READY=1";
	if (deaths > 0)
		snprintf(text, sizeof text, "READY=1\nSTATUS=Process %d, after %d that died; the last one with exit status %d", l->pid, deaths, shown(before_status));
	notify(text);
}

// heard reads the messages of the process.
static void heard(struct life *l) {
	char said[16];
	ssize_t n = read(l->fd, said, sizeof said);
	if (n <= 0) {
		close(l->fd);
		l->fd = -1;
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		switch (said[i]) {
		case 'H': l->fresh = KNOWN, l->kill_at = 0; break;
		case 'L': l->listening = 1; break;
		case 'R':
			l->ready = 1;
			if (l->hup) l->hup = 0, kill(l->pid, SIGHUP);
			announce(l);
			break;
		case 'S': notify("STOPPING=1"); break;
		case 'W': notify("WATCHDOG=1"); break;
		case 'E': l->over = 1; break;
		case 'A': l->again = 1; break;
		}
	}
}

// catch_up reads all messages that have arrived.
static void catch_up(struct life *l) {
	char c;
	while (l->fd >= 0 && recv(l->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) heard(l);
}

// request asks the process to stop. If the request comes through the channel, the process knows that it is no
// second signal.
static void request(struct life *l, int sig) {
	char letter = sig == SIGINT ? 'I' : 'T';
	l->stopping = 1;
	if (l->ended) return;
	if (!l->listening || l->fd < 0 || send(l->fd, &letter, 1, MSG_NOSIGNAL) != 1) kill(l->pid, sig);
}

// give_up ends a hanging process. The service manager has noticed the hang, ends this parent with SIGABRT and
// starts another. At that signal Go writes the stacks, and a stopped process does so when it continues.
static void give_up(struct life *l) {
	l->stopping = 1;
	if (l->ended) return;
	kill(l->pid, SIGABRT);
	kill(l->pid, SIGCONT);
	l->kill_at = now_ms() + LAST_WORDS_MS;
}

// signalled handles one signal. A terminal sends its signals to the process as well.
static void signalled(struct life *l, const struct signalfd_siginfo *s) {
	int sig = (int)s->ssi_signo, terminal = s->ssi_code == SI_KERNEL, status;
	pid_t pid;
	switch (sig) {
	case SIGCHLD: // an init may get many
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid == l->pid) l->ended = 1, l->status = status;
		}
		break;
	case SIGTERM: request(l, sig); break;
	case SIGABRT: give_up(l); break;
	case SIGINT:
		if (terminal) l->stopping = 1;
		else request(l, sig);
		break;
	case SIGHUP:
		if (terminal) request(l, SIGTERM);
		else if (!l->ready) l->hup = 1;
		else if (!l->ended) kill(l->pid, sig);
		break;
	default:
		if (!l->ended && !terminal) kill(l->pid, sig);
	}
}

// turn waits for an event, at most timeout; -1 means for ever.
static void turn(struct life *l, int signals, int timeout) {
	struct pollfd on[2] = {{.fd = signals, .events = POLLIN}, {.fd = l->fd, .events = POLLIN}};
	if (poll(on, 2, timeout) <= 0) return;
	if (on[1].revents && l->fd >= 0) heard(l);
	struct signalfd_siginfo s;
	if (on[0].revents) {
		while (read(signals, &s, sizeof s) == sizeof s) {
			catch_up(l); // it may have begun to listen before the signal was sent
			signalled(l, &s);
		}
	}
}

// overdue ends a process whose time is over. A foreign process may have children that it must end itself, so it
// first gets SIGTERM.
static void overdue(struct life *l) {
	int gently = l->fresh == STRANGE;
	kill(l->pid, gently ? SIGTERM : SIGKILL);
	l->kill_at = gently ? now_ms() + HELLO_MS : 0;
	if (gently) l->fresh = KNOWN;
}

// live waits until a process has ended, and handles all events.
static void live(struct life *l, int signals) {
	while (!l->ended) {
		int64_t left = l->kill_at - now_ms();
		if (l->kill_at && left <= 0) {
			overdue(l);
			continue;
		}
		turn(l, signals, l->kill_at ? (int)left : -1);
	}
}

// rest pauses between two processes. A request to stop ends the pause early.
static void rest(struct life *l, int signals, int64_t ms) {
	for (int64_t until = now_ms() + ms, left; (left = until - now_ms()) > 0 && !l->stopping;) turn(l, signals, (int)left);
	if (ms > QUICK_MS) notify("WATCHDOG=1");
}

static int exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// next decides what follows the end of a process. It returns the pause before the next one, or exits.
static int64_t next(struct life *l, int64_t lived, int served, int *quick) {
	int code = exit_code(l->status), failed_start = l->again && !l->ready;
	if (!failed_start) // otherwise the last process that worked stays the one to report
		before_pid = l->pid, before_status = l->status, before_at = clock_ms(CLOCK_REALTIME), before_lived = lived;
	if (l->stopping && code == AGAIN) _exit(0); // the request to stop came at the same time
	if (l->only_init || l->stopping) _exit(code);
	if (!WIFSIGNALED(l->status) && code == AGAIN) {
		*quick = 0;
		return 2000 + 1000 * (1 + (now_ms() ^ l->pid) % 10);
	}
	if (!served || (l->over && !failed_start)) _exit(code); // it was never ready, or it ended on purpose
	if (!failed_start) deaths++;
	notify("WATCHDOG=1"); // the next one has the whole time limit
	dprintf(STDERR_FILENO, "Process %s (%d) %s with exit status %d, restarting...\n", title, l->pid, failed_start ? "did not start, ended" : "died", shown(l->status));
	*quick = lived < QUICK_MS || failed_start ? *quick + 1 : 0;
	if (*quick <= QUICK_FREE) return 0;
	int shift = *quick - QUICK_FREE;
	return shift > 13 || (1 << shift) > DELAY_MAX_MS ? DELAY_MAX_MS : 1 << shift;
}

// hand_on turns a forked process into one of another file.
static void hand_on(int fd) {
	char told[256];
	fcntl(fd, F_SETFD, 0);
	snprintf(told, sizeof told, "1 %d %d %d %d %d %lld %lld", getppid(), fd, deaths, before_pid, before_status, before_at, before_lived);
	upgrade_start(told);
	dprintf(STDERR_FILENO, "%s: %s\n", upgrade_path(), strerror(errno));
	_exit(FAILED);
}

// inherit tells whether this process is from another file than its parent and was started by hand_on.
static int inherit(void) {
	int version, parent, fd;
	const char *told = upgrade_told();
	if (!told || sscanf(told, "%d %d %d %d %d %d %lld %lld", &version, &parent, &fd, &deaths, &before_pid, &before_status, &before_at, &before_lived) != 8
		|| version != 1 || parent != getppid())
		return 0;
	upgrade_remember();
	channel = fd;
	file = FILE_NEW;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK_NS, 0, 0, 0);
	if (write(fd, "H", 1) < 0) {
		// the parent is dead, which the process will notice
	}
	return 1;
}

// stillborn tells whether a process of another file was never ready. The next one is from the old file again.
static int stillborn(const struct life *l) {
	if (!l->fresh || l->ready || l->stopping) return 0;
	upgrade_failed();
	dprintf(STDERR_FILENO, "%s does not start (exit status %d): the program goes on that it has replaced\n", upgrade_path(), shown(l->status));
	return 1;
}

// keep is the whole parent. The process returns from it and continues normally.
static void __attribute__((constructor)) keep(void) {
	int kind = wanted(), served = 0, quick = 0, pair[2];
	if (!kind || inherit()) return;
	char name[16] = "";
	prctl(PR_GET_NAME, name);
	sigset_t mask, old;
	sigemptyset(&mask);
	int all[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) sigaddset(&mask, all[i]);
	struct sigaction hup;
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler == SIG_IGN) sigdelset(&mask, SIGHUP); // nohup
	int signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0) return;
	sigprocmask(SIG_BLOCK, &mask, &old);
	upgrade_remember();
	for (;;) {
		file = served ? upgrade_look() : FILE_SAME;
		int64_t since = now_ms();
		int paired = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
		pid_t pid = paired ? fork() : -1;
		if (pid == 0) {
			close(pair[0]);
			channel = pair[1];
			prctl(PR_SET_NAME, name);
			prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK_NS, 0, 0, 0);
			if (file != FILE_NEW) break;
			sigprocmask(SIG_SETMASK, &old, NULL);
			hand_on(channel);
		}
		if (paired) close(pair[1]);
		if (pid < 0) { // fork failed: run without a parent, or try again later
			if (paired) close(pair[0]);
			if (!served) break;
			rest(&(struct life){.fd = -1, .ended = 1}, signals, DELAY_MAX_MS);
			continue;
		}
		struct life l = {.pid = pid, .fd = pair[0], .only_init = kind == 2, .fresh = file == FILE_NEW ? STRANGE : 0};
		if (l.fresh) l.kill_at = now_ms() + HELLO_MS;
		prctl(PR_SET_NAME, "salt-keepalive");
		dl_iterate_phdr(give_back, NULL);
		live(&l, signals);
		catch_up(&l); // its last messages
		if (l.fd >= 0) close(l.fd), l.fd = -1;
		if (stillborn(&l)) continue;
		served |= l.ready;
		int64_t pause = next(&l, now_ms() - since, served, &quick);
		rest(&l, signals, pause);
		if (l.stopping) _exit(exit_code(l.status) == AGAIN ? 0 : FAILED);
	}
	close(signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
}
