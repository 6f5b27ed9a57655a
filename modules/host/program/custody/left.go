package custody

import (
	"bufio"
	"fmt"
	"os"
)

// inherit takes the record over and ends what it names.
func (k *keeper) inherit(path string) {
	f, err := openRecord(path)
	if err == nil {
		if err = lock(f); err == nil {
			k.endLeft(f)
			err = k.begin(f)
		}
		if err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		k.log.Warn("programs that run are not recorded", "path", path, "err", err)
	}
}

// begin writes the record of this process, with what it has started meanwhile.
func (k *keeper) begin(f *os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := f.Truncate(0); err != nil {
		return err
	}
	title, err := when()
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(line(title, titleBytes), 0); err != nil {
		return err
	}
	k.record = &record{f: f}
	for _, e := range k.live {
		k.told(k.record.add(e))
	}
	if k.guard != nil { // it has to hold the lock, too
		k.newGuard()
	}
	return nil
}

// endLeft ends what a process before this one has left running, and says so. A guard of its own does that: it knows
// how.
func (k *keeper) endLeft(f *os.File) {
	left, err := readLeft(f)
	if err == nil && len(left) > 0 {
		err = k.endAll(left)
	}
	if err != nil {
		k.log.Warn("what the process before this one has left running is not ended", "err", err)
	}
}

func (k *keeper) endAll(left []entry) error {
	said, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	g, err := startGuard(nil, theirs)
	_ = theirs.Close() // the guard has its own
	if err != nil {
		return err
	}
	for _, e := range left {
		if err := g.say('+', e); err != nil {
			g.discard()
			return err
		}
	}
	g.leave()
	return k.report(bufio.NewScanner(said))
}

// report logs what a guard says at its end.
func (k *keeper) report(from *bufio.Scanner) error {
	ended := 0
	for from.Scan() {
		var what rune
		var pid int
		if _, err := fmt.Sscanf(from.Text(), "%c %d", &what, &pid); err != nil {
			return fmt.Errorf("guard of programs: %q", from.Text())
		}
		switch what {
		case 'e':
			ended++
		case 'u':
			k.log.Warn("a group of processes may be what a program of the process before this one has left running; "+
				"it is not ended, as nothing shows that",
				"group", pid)
		}
	}
	if ended > 0 {
		k.log.Warn("programs that the process before this one has left running were ended", "programs", ended)
	}
	return from.Err()
}
