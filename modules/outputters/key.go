package outputters

import (
	"sort"
	"strings"

	"brine/wire/payload"
)

// keyGroup is how salt-key shows one status.
type keyGroup struct{ title, titleColor, idColor string }

func keyGroupOf(status string) (keyGroup, bool) {
	switch status {
	case "local":
		return keyGroup{"Local Keys:", lightMagenta, magenta}, true
	case "minions":
		return keyGroup{"Accepted Keys:", lightGreen, green}, true
	case "minions_denied":
		return keyGroup{"Denied Keys:", lightMagenta, magenta}, true
	case "minions_pre":
		return keyGroup{"Unaccepted Keys:", lightRed, red}, true
	case "minions_rejected":
		return keyGroup{"Rejected Keys:", lightBlue, blue}, true
	}
	return keyGroup{}, false
}

// keyOut is the outputter of salt-key: status → list of ids, or → id → text (salt/output/key.py).
func keyOut(data any, o *Options) (string, error) {
	m, ok := data.(*payload.Map)
	if !ok {
		return "", errShape
	}
	groups, ok := sorted(m)
	if !ok {
		return "", errShape
	}
	var lines []string
	for _, g := range groups {
		look, ok := keyGroupOf(str(g.key))
		if !ok {
			return "", errShape
		}
		lines = append(lines, o.color(look.titleColor)+look.title+o.color(endColor))
		rows, err := keyRows(g.value, look, o)
		if err != nil {
			return "", err
		}
		lines = append(lines, rows...)
	}
	return strings.Join(lines, "\n"), nil
}

func keyRows(v any, look keyGroup, o *Options) ([]string, error) {
	var lines []string
	switch x := v.(type) {
	case []any:
		ids := make([]string, len(x))
		for i := range x {
			ids[i] = str(x[i])
		}
		sort.Strings(ids)
		for _, id := range ids {
			lines = append(lines, o.color(look.idColor)+o.clean(id)+o.color(endColor))
		}
	case *payload.Map:
		list, ok := sorted(x)
		if !ok {
			return nil, errShape
		}
		for _, e := range list {
			lines = append(lines, o.color(look.idColor)+o.clean(str(e.key))+":  "+str(e.value)+o.color(endColor))
		}
	case string:
	default:
		return nil, errShape
	}
	return lines, nil
}
