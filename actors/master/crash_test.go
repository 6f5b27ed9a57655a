package master

// childMaster is filled below.
func childMaster(string) error { return nil }
