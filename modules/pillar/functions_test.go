package pillar_test

import (
	"context"
	"testing"

	"brine/modules/execution"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/wire/payload"
)

// TestMain gives the tests inside of the package the functions that templates call.
func TestMain(m *testing.M) {
	pillar.NewRegistry = registry
	m.Run()
}

func registry() *loader.Registry {
	return execution.Machine{Version: "3008.3"}.Functions()
}

// TestVariables: a variable that one template of a pillar sets is there for the next one, and not for another pillar.
func TestVariables(t *testing.T) {
	of := pillar.FunctionsOf(&loader.Env{Registry: registry()})
	surroundings := pillar.Surroundings{ID: "web1", Opts: payload.NewMap(0), Grains: payload.NewMap(0)}
	one, two := of(surroundings), of(surroundings)
	call := func(f pillar.Functions, fun string, args ...any) any {
		v, err := f.Call(context.Background(), fun, args, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	call(one, "environ.setval", "T_PILLAR", "x")
	if a, b := call(one, "environ.get", "T_PILLAR"), call(two, "environ.get", "T_PILLAR"); a != "x" || b != "" {
		t.Errorf("%v in the pillar, %v in another one", a, b)
	}
}
