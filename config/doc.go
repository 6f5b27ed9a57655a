// Package config holds the options of a master and of a minion: their names, units and defaults are those of
// Salt 3008, their files are Salt's files (master, minion, master.d/*.conf, include, Saltfile, saltrc).
//
// LoadMaster and LoadMinion read the files and return a struct for the program plus two ordered maps for
// everything that has no field of its own: Raw, which is what Salt calls opts, and File, which holds only
// what the operator wrote. Every path in the struct already has root_dir in front.
//
// The package decides nothing about the process: it never exits, logs or changes the environment. What
// Salt would log while loading stands in Notices, what would end Salt is a *Error with the exit code to use.
// It answers to salt/config/__init__.py and salt/utils/verify.py.
package config
