// Package config holds the options of a master and of a minion: their names, units and defaults are those of Salt 3008,
// and their files are Salt's files (master, minion, master.d/*.conf, include, Saltfile, saltrc).
//
// LoadMaster and LoadMinion read the files. They return a struct for the program, with two ordered maps for all options
// without a field: Raw, which is Salt's opts, and File, which holds only what the operator has written. Every path in
// the struct already begins with root_dir.
//
// The package never exits, logs or changes the environment. Notices holds what Salt would log while loading; an error
// that would end Salt is a *Error with the exit code. It answers to salt/config/__init__.py and salt/utils/verify.py.
package config
