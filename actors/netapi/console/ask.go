package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"brine/modules/outputters"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// errNoMaster is the error of a view that needs a brine master.
var errNoMaster = &problem{http.StatusServiceUnavailable, "The master has no control socket here: it is Salt's, or " +
	"it does not run."}

// ask asks the master on its control socket.
func ask[A any, Q control.Question[A]](ctx context.Context, c *console, q Q) (answer A, err error) {
	if c.Master == nil || !c.Master.Here() {
		return answer, errNoMaster
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	answer, err = control.Ask(ctx, c.Master, q)
	return answer, inWords(ctx, err)
}

// inWords turns an error of the control socket into one for the page.
func inWords(ctx context.Context, err error) error {
	var told *ipc.RemoteError
	var version *control.VersionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &told):
		return &problem{http.StatusBadGateway, "The master says: " + told.Error()}
	case errors.As(err, &version):
		return &problem{http.StatusBadGateway, version.Error()}
	case ctx.Err() != nil:
		return &problem{http.StatusGatewayTimeout, "The master does not answer on its control socket: it is " +
			"stopped, or overloaded."}
	}
	return &problem{http.StatusServiceUnavailable, "The master does not answer on its control socket: it does not " +
		"run, or this user may not open it."}
}

// call runs a client of Salt with the user's token.
func (c *console) call(ctx context.Context, who Session, low *payload.Map) (any, error) {
	return c.Front.Run(ctx, low.Set("token", who.Token))
}

// asJSON converts a value of the wire to JSON, or to null if that is impossible.
func asJSON(v any) json.RawMessage {
	text, ok := outputters.DumpJSON(v, outputters.JSONOptions{Indent: -1, Bytes: true})
	if !ok || !json.Valid([]byte(text)) {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

// str returns a field that is a text, or "".
func str(m *payload.Map, key string) string {
	if m == nil {
		return ""
	}
	return strings.ToValidUTF8(m.Str(key), "�")
}

func whole(m *payload.Map, key string) int64 {
	if m == nil {
		return 0
	}
	n, _ := m.Int(key)
	return n
}

func float(m *payload.Map, key string) float64 {
	switch x := m.Value(key).(type) {
	case float64:
		return x
	case int64:
		return float64(x)
	}
	return 0
}
