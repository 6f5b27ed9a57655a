// Package gitfs serves files of git repositories: branches, tags and commits are environments (backend gitfs), and the
// git external pillar takes its trees from here, too. Repositories are fetched by go-git, in the background and within
// bounds of time and size; no program is started, no hook runs, and what is asked for is always answered from what was
// fetched before. It answers to salt/utils/gitfs.py, salt/fileserver/gitfs.py and the remotes of
// salt/pillar/git_pillar.py, as they work with GitPython.
//
// A repository has a folder of its own below cachedir/brine_gitfs, mode 0700, named by a hash:
//
//	state       JSON: which folder holds the objects, and which reference means which object
//	o-XXXX/     objects, as packs; a new folder when there are too many packs
//	blobs/      contents of files that were asked for within a day, by the SHA-1 of the blob
//	trees/      trees that a pillar was compiled from, by the SHA-1 of the tree
//	update.lk   the lock of an update, as Salt's
//
// Salt's own cachedir/gitfs is neither read nor written: a real master that shares the folder removes there what it
// does not know.
package gitfs
