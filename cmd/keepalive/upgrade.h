// The file that a parent starts its next process from. See upgrade.c.

enum {
	FILE_SAME,   // it is the one that this process was started from
	FILE_NEW,    // another one has its name
	FILE_GONE,   // nothing has, or nothing that can be looked at
	FILE_BROKEN, // another one has, and did not start
};

void upgrade_remember(void);
int upgrade_look(void);
void upgrade_failed(void);
const char *upgrade_path(void);
void upgrade_start(const char *told);
const char *upgrade_told(void);
