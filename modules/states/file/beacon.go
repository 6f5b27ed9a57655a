package file

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type beaconArgs struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// modBeacon is called for what has beacon: True. The state module beacon is not there yet.
func modBeacon(_ *states.Call, a beaconArgs) (states.Plan, error) {
	fun := loader.Text(a.KW.Value("sfun"))
	switch {
	case fun != "managed" && fun != "directory":
		return states.Wrong("file." + fun + " does not work with the beacon state function"), nil
	case !python.Truth(a.KW.Value("beacon")):
		return states.Correct("Not adding beacon."), nil
	}
	return states.Wrong("brine does not have the state beacon.present yet: no beacon watches " +
		python.Str(a.Name)), nil
}
