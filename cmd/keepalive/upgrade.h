// These constants describe the file from which a parent starts its next process. See upgrade.c.

enum {
	FILE_SAME,   // the file from which this process was started
	FILE_NEW,    // another file has its name
	FILE_GONE,   // no file has its name, or it cannot be read
	FILE_BROKEN, // another file has its name and did not start
};

void upgrade_remember(void);
int upgrade_look(void);
void upgrade_failed(void);
const char *upgrade_path(void);
void upgrade_start(const char *told);
const char *upgrade_told(void);
