package jobstore

import "fmt"

// AttachLocalCache is OpenLocalCache for a tool that only reads: nothing is made.
func AttachLocalCache(opt Options) (*LocalCache, error) {
	l, err := newLayout(opt.CacheDir, opt.HashType, opt.Shared)
	if err != nil {
		return nil, err
	}
	return &LocalCache{opt: opt, layout: l}, nil
}

// JobDir is the directory of a job in Salt's layout.
func JobDir(cacheDir, hashType, jid string) (string, error) {
	if !validJID(jid) {
		return "", fmt.Errorf("job %q has no directory", jid)
	}
	l, err := newLayout(cacheDir, hashType, false)
	if err != nil {
		return "", err
	}
	return l.dir(jid), nil
}
