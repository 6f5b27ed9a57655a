package config

import (
	"flag"
	"os"
	"testing"

	"brine/config/yaml"
	"brine/wire/payload"
)

var pack = flag.Bool("pack", false, "write the packed option tables anew, from the YAML of salt3008/make.py")

// TestTables compares the packed option tables with the YAML files from which they are made.
func TestTables(t *testing.T) {
	for _, name := range []string{roleMaster, roleMinion, "types"} {
		text, err := os.ReadFile("salt3008/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		v, err := yaml.Load(text)
		if err != nil {
			t.Fatal(err)
		}
		if *pack {
			b, err := payload.MarshalBin(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("salt3008/"+name+".msgpack", b, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := table(name)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := v.(*payload.Map); !want.Equal(got) {
			t.Errorf("%s.msgpack is not %s.yaml: go test ./config -run Tables -pack makes it anew", name, name)
		}
	}
}
