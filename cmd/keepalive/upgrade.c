// A parent forks its processes, so each would be the program from which the parent was started, for the parent's
// whole life. If another file has the name of that program by then, the next process is from that file, and an
// upgrade takes effect. The parent tries a file that does not start only once, and then continues with the old
// program. Only parent.c calls these functions.

#define _GNU_SOURCE
#include "upgrade.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

// VARIABLE tells a process about its parent (parent.c, inherit). It is removed before Go runs.
#define VARIABLE "BRINE_KEEPALIVE_CHILD"

static char path[PATH_MAX]; // of the program at its start; "" if unknown
static char **words;        // of its command line
static struct stat own, bad;

const char *upgrade_path(void) { return path; }

static int same(const struct stat *a, const struct stat *b) { return a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

// remember_path finds the name by which the program was started. It may be a link that later leads to another
// version. Otherwise it is the name of the program's file.
static void remember_path(void) {
	struct stat named;
	const char *name = (const char *)getauxval(AT_EXECFN);
	if (name && strncmp(name, "/proc/", 6) != 0) {
		char here[PATH_MAX] = "";
		while (strncmp(name, "./", 2) == 0) name += 2;
		if (*name != '/' && !getcwd(here, sizeof here)) return;
		int n = snprintf(path, sizeof path, "%s%s%s", here, *here ? "/" : "", name);
		if (n > 0 && n < (int)sizeof path && stat(path, &named) == 0 && same(&named, &own)) return;
	}
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	path[n > 0 ? n : 0] = 0;
}

// remember_words stores the command line.
static void remember_words(void) {
	static char text[1 << 16];
	ssize_t n = 0, got;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	if (fd < 0) return;
	while (n < (ssize_t)sizeof text && (got = read(fd, text + n, sizeof text - n)) > 0) n += got;
	close(fd);
	if (n <= 0 || n == (ssize_t)sizeof text) return;
	size_t count = 0;
	for (ssize_t i = 0; i < n; i++) count += text[i] == 0;
	if (!(words = calloc(count + 1, sizeof *words))) return;
	char *word = text;
	for (size_t k = 0; k < count; k++, word += strlen(word) + 1) words[k] = word;
}

// upgrade_remember is called by a parent at its start, and by a process of another file.
void upgrade_remember(void) {
	if (stat("/proc/self/exe", &own) != 0) return;
	remember_path();
	remember_words();
}

// upgrade_look tells which file has the name of the program now.
int upgrade_look(void) {
	struct stat now;
	if (!*path || !words) return FILE_SAME;
	if (stat(path, &now) != 0 || !S_ISREG(now.st_mode) || access(path, X_OK) != 0) return FILE_GONE;
	if (same(&now, &own)) return FILE_SAME;
	if (same(&now, &bad) && now.st_ctim.tv_sec == bad.st_ctim.tv_sec && now.st_ctim.tv_nsec == bad.st_ctim.tv_nsec) return FILE_BROKEN;
	return FILE_NEW;
}

// upgrade_failed notes that the new file did not start.
void upgrade_failed(void) {
	if (stat(path, &bad) != 0) bad = (struct stat){0};
}

// upgrade_start turns this process into one of the new file. told holds the facts for it. It returns only after an
// error.
void upgrade_start(const char *told) {
	if (setenv(VARIABLE, told, 1) == 0) execv(path, words);
}

// upgrade_told returns the facts that a process of the new file got, or NULL in other processes.
const char *upgrade_told(void) {
	static char text[256];
	const char *told = getenv(VARIABLE);
	if (!told) return NULL;
	snprintf(text, sizeof text, "%s", told);
	unsetenv(VARIABLE);
	return text;
}
