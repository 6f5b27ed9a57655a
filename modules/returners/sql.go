package returners

import (
	"brine/modules/loader"
	"brine/modules/returners/sqlstore"
	"brine/wire/payload"
)

// sqlFunctions write to databases.
func sqlFunctions() []loader.Func {
	return sqlstore.Functions(sqlstore.Host{
		Options: func(c *loader.Call, ret *payload.Map, want sqlstore.Wanted) (map[string]any, error) {
			return lookup{name: want.Place, options: want.Names, defaults: want.Defaults}.read(c, ret)
		},
		Hopeless: func(err error) error { return &Unusable{err} },
		Misset:   func(err error) error { return misset("%s", err) },
	})
}
