// Package cmdmod holds the execution functions of module cmd: they run programs and shell lines, with the options,
// the texts and the return values of the reference.
//
// Every program runs in a process group of its own. The group is killed when the timeout of the call is over and
// when the job's context ends, so a killed job leaves nothing behind; the reference kills the first process only.
// Programs started with bg=True are left alone by both.
//
// Output is kept whole and read while the program runs. It answers to salt/modules/cmdmod.py and
// salt/utils/timed_subprocess.py.
package cmdmod
