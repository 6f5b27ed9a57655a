//go:build cgo

// The guard of a daemon's programs: a process that knows which ones there are, and ends them when the daemon has ended. The daemon starts
// its own file by the name brine-guard. A constructor notices that before the Go runtime is there, so that the guard has one thread and
// takes half a megabyte. See guard.go.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 2000, // of a program that was told to end
	JOB_MS = 1000,      // of the process of a job, which ends its commands and itself
	GIVE_UP_MS = 10000, // what has not ended by then does not die of signals
	LOOK_MS = 10,
};

// entry is a program of the daemon. It travels as these bytes (guard.go, message).
struct entry {
	char op;         // '+' it has begun, '-' it is over
	char kind;       // 'P' is told to end, 'C' is killed, 'J' is the process of a job with a session of its own
	char sure;       // in a message: what is left of its group when it is gone is ours, too. Here: its group is ours
	char state;      // 0, or what is said of it in the end: 'e' ended, 'u' not known whose it is, 'o' another has its number
	int32_t pid;     // of the process, and of its group
	int32_t session; // in which the group is
	int32_t pad;
	uint64_t start;  // of the process, in ticks of the clock since the machine started
};

// seen is a process of the machine.
struct seen {
	int32_t pid, group, session;
	int dead;
	uint64_t start;
};

static struct entry *entries;
static size_t count, room;

static int64_t now_ms(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// look reads /proc/PID/stat, "pid (name) state ppid pgrp session ... start" with the start at place 22. The name may hold anything.
static int look(const char *pid, struct seen *s) {
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) return 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0) return 0;
	text[n] = 0;
	char *rest = strrchr(text, ')');
	char state;
	unsigned long long start;
	if (!rest || sscanf(rest + 1, " %c %*d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		&state, &s->group, &s->session, &start) != 4)
		return 0;
	s->pid = atoi(pid), s->start = start, s->dead = state == 'Z' || state == 'X';
	return 1;
}

// look_at_all reads the table of processes.
static size_t look_at_all(struct seen **all) {
	static struct seen *kept;
	static size_t most;
	size_t n = 0;
	DIR *dir = opendir("/proc");
	if (!dir) return 0;
	for (struct dirent *d; (d = readdir(dir));) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9') continue;
		if (n == most) {
			struct seen *more = realloc(kept, (most * 2 + 256) * sizeof *kept);
			if (!more) break;
			kept = more, most = most * 2 + 256;
		}
		if (look(d->d_name, &kept[n])) n++;
	}
	closedir(dir);
	*all = kept;
	return n;
}

// send_signal signals a process, if it still is the one that was seen. A descriptor holds it, so that no other gets the signal.
static void send_signal(const struct seen *s, int sig) {
	char name[16];
	struct seen again;
	int fd = (int)syscall(SYS_pidfd_open, s->pid, 0), old = fd < 0 && errno == ENOSYS; // Linux before 5.3
	snprintf(name, sizeof name, "%d", s->pid);
	if (look(name, &again) && again.start == s->start) {
		if (fd >= 0) syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
		else if (old) kill(s->pid, sig);
	}
	if (fd >= 0) close(fd);
}

// belongs tells whether a process is in the group of an entry, or in the session of a job.
static int belongs(const struct seen *s, const struct entry *e) {
	if (s->pid == e->pid) return 1;
	if (s->start < e->start) return 0;
	return e->kind == 'J' ? s->session == e->pid : s->group == e->pid && s->session == e->session;
}

// recognize finds out of an entry whether its number is still its own: while its process is there, by the time of its start.
static void recognize(struct entry *e, const struct seen *all, size_t n) {
	for (size_t i = 0; i < n; i++) {
		if (all[i].pid != e->pid) continue;
		if (all[i].start == e->start) e->sure = 1;
		else e->state = 'o';
		return;
	}
}

// signal_of is what the processes of an entry get now, 0: nothing.
static int signal_of(const struct entry *e, const struct seen *s, int64_t since, int first) {
	int64_t passed = now_ms() - since;
	switch (e->kind) {
	case 'C': return SIGKILL;
	case 'J': return passed >= JOB_MS ? SIGKILL : 0;
	}
	if (passed >= PATIENCE_MS) return SIGKILL;
	return first && s->pid != e->pid ? SIGTERM : 0; // the kernel has told the first process (PR_SET_PDEATHSIG)
}

// end_round signals what is left, and tells how many processes these are.
static size_t end_round(int64_t since, int first) {
	struct seen *all;
	size_t n = look_at_all(&all), left = 0;
	for (size_t k = 0; k < count; k++) {
		struct entry *e = &entries[k];
		if (e->state != 'o') recognize(e, all, n);
		if (e->state == 'o') continue;
		for (size_t i = 0; i < n; i++) {
			if (all[i].dead || all[i].pid == getpid() || !belongs(&all[i], e)) continue;
			if (!e->sure) {
				e->state = 'u';
				break;
			}
			e->state = 'e';
			left++;
			int sig = signal_of(e, &all[i], since, first);
			if (sig) send_signal(&all[i], sig);
		}
	}
	return left;
}

// end_all ends what the daemon has left, and says on the standard output of each that was there what became of it.
static void end_all(void) {
	int64_t since = now_ms();
	struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	for (int first = 1; count > 0 && end_round(since, first) > 0 && now_ms() - since < GIVE_UP_MS; first = 0) nanosleep(&pause, NULL);
	for (size_t k = 0; k < count; k++) {
		if (entries[k].state) dprintf(STDOUT_FILENO, "%c %d\n", entries[k].state, entries[k].pid);
	}
}

// take takes a word of the daemon.
static void take(const struct entry *said) {
	for (size_t k = 0; k < count; k++) {
		if (entries[k].pid == said->pid) entries[k--] = entries[--count];
	}
	if (said->op != '+' || said->pid <= 1) return;
	if (count == room) {
		struct entry *more = realloc(entries, (room * 2 + 16) * sizeof *entries);
		if (!more) _exit(1); // the daemon starts another
		entries = more, room = room * 2 + 16;
	}
	entries[count] = *said;
	entries[count++].state = 0;
}

// give_back takes the pages of the program out of this process. They come back from the file when they are needed.
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

static int wanted(void) {
	char name[16] = "";
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	if (fd < 0) return 0;
	ssize_t n = read(fd, name, sizeof name - 1);
	close(fd);
	return n > 0 && strcmp(name, "brine-guard") == 0;
}

// guard is the whole of the guard. It is over when the daemon is, or closes its end.
static void __attribute__((constructor(101))) guard(void) {
	if (!wanted()) return;
	prctl(PR_SET_NAME, "brine-guard");
	for (int sig = 1; sig < 32; sig++) signal(sig, SIG_IGN); // a stop of the machine signals all: the programs, too, need their time
	dl_iterate_phdr(give_back, NULL);
	for (;;) {
		struct entry said;
		ssize_t n = read(STDIN_FILENO, &said, sizeof said);
		if (n == (ssize_t)sizeof said) take(&said);
		else if (n == 0 || errno != EINTR) break;
	}
	end_all();
	_exit(0);
}
