package maintenance

import (
	"fmt"
	"log/slog"
)

// openFilesText is what Salt says about a number of accepted keys and the limits of open files; "" when all is
// well. Source: salt/utils/verify.py, check_max_open_files.
func openFilesText(accepted, soft, hard, wanted uint64) (slog.Level, string) {
	if accepted*4 <= soft {
		return 0, ""
	}
	text := fmt.Sprintf("The number of accepted minion keys(%d) should be lower than 1/4 of the max open files soft "+
		"setting(%d). ", accepted, soft)
	level := slog.LevelInfo
	switch {
	case accepted >= soft:
		text += "salt-master will crash pretty soon! "
		level = levelCritical
	case accepted*2 >= soft:
		level = levelCritical
	case accepted*3 >= soft:
		level = slog.LevelWarn
	}
	if wanted < hard {
		text += fmt.Sprintf("According to the system's hard limit, there's still a margin of %d to raise the salt's "+
			"max_open_files setting. ", hard-wanted)
	}
	return level, text + "Please consider raising this value."
}
