// A parent forks, so that its next process would be the program that the parent was started from for as long as it lives. Where another file
// has the name of that program by then, the next process is that: what was upgraded takes effect. One that does not start is not
// tried again, and the process before goes on. See parent.c, which is the only caller.

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

// VARIABLE tells a process which parent it has (parent.c, inherit). It is gone before Go is there.
#define VARIABLE "BRINE_KEEPALIVE_CHILD"

static char path[PATH_MAX]; // of the program as it was started; "" when that is not known
static char **words;        // of its command line
static struct stat own, bad;

const char *upgrade_path(void) { return path; }

static int same(const struct stat *a, const struct stat *b) { return a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

// remember_path finds the name that the program was started by, a link perhaps that is turned to another version; otherwise that of its file.
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

// remember_words keeps the command line.
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

// upgrade_look tells what has the name of the program now.
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

// upgrade_start makes this process one of the new file. told is what it is to know. It returns when it cannot.
void upgrade_start(const char *told) {
	if (setenv(VARIABLE, told, 1) == 0) execv(path, words);
}

// upgrade_told is what a process of the new file was told; NULL when it is none.
const char *upgrade_told(void) {
	static char text[256];
	const char *told = getenv(VARIABLE);
	if (!told) return NULL;
	snprintf(text, sizeof text, "%s", told);
	unsetenv(VARIABLE);
	return text;
}
