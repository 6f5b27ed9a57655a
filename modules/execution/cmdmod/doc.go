// Package cmdmod is the execution module cmd: its functions run programs and shell lines, with the options, the texts
// and the return values of the reference.
//
// How a program is started, read and ended stands in modules/host/program, which every other function uses, too. Here
// is what the options of cmd.* mean for it, how its output becomes text, and what is logged. It answers to
// salt/modules/cmdmod.py.
package cmdmod
