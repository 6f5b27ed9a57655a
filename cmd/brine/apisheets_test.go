package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/tooltest/apiplay"
)

var writeOurs = flag.String("api-ours", "", "write the answers in which brine differs into this folder, to be "+
	"looked at and given reasons")

// TestAPIRequests sends the tables of requests to brine's salt-api. It compares the answers with those of the
// real salt-api of Salt 3008.3, or with NAME.brine where brine differs on purpose.
func TestAPIRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("several hundred requests")
	}
	t.Parallel()
	s := newAPISite(t, "m1", "m2")
	for _, name := range apiplay.Sheets() {
		t.Run(name, func(t *testing.T) {
			sheet, err := apiplay.ReadSheet(s.data, name)
			if err != nil {
				t.Fatal(err)
			}
			p := apiplay.NewPlayer(s.serve(name, sheet.Conf), casePatience)
			defer p.Close()
			var differing strings.Builder
			for _, r := range sheet.Requests {
				got, err := p.Send(t.Context(), r)
				if err != nil {
					t.Error(err)
					continue
				}
				want, _ := sheet.Want(r.Name)
				if diff := apiplay.Differ(apiplay.Ours(got), want); diff != "" {
					t.Errorf("%s %s\n%s", r.Method, r.Path, diff)
				}
				if our := apiplay.Ours(got); !our.Same(apiplay.Theirs(sheet.Salt[r.Name])) {
					our.Why = sheet.Ours[r.Name].Why
					fmt.Fprint(&differing, our)
				}
			}
			if *writeOurs != "" {
				if err := os.WriteFile(filepath.Join(*writeOurs, name+".brine"), []byte(differing.String()),
					0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
