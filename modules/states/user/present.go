package user

import (
	"strings"

	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

func present(c *states.Call, a wanted) (states.Plan, error) {
	if err := a.hash(c); err != nil {
		return states.Plan{}, err
	}
	if wrong := a.asTexts(); wrong != "" {
		return states.Wrong(wrong), nil
	}
	p, err := plan(c, &a)
	if warnings := a.unheard(); err == nil && warnings != nil {
		p = p.With("warnings", warnings)
		if apply := p.Apply; apply != nil {
			p.Apply = func() (states.Done, error) {
				done, err := apply()
				return done.With("warnings", warnings), err
			}
		}
	}
	return p, err
}

// plan compares the user with what is wanted. Groups that are not there yet are left out of it, since an earlier state
// of the run may add them; a real run fails without them.
func plan(c *states.Call, a *wanted) (states.Plan, error) {
	groups, missing, err := split(c, a.Groups)
	if err != nil {
		return states.Plan{}, err
	}
	a.Groups = groups
	optional, _, err := split(c, a.OptionalGroups)
	if err != nil {
		return states.Plan{}, err
	}
	p, err := a.planWith(c, optional, missing)
	if len(missing) > 0 {
		text := "The following group(s) are not present: " + strings.Join(missing, ",")
		p.Apply = func() (states.Done, error) { return states.Failed(text, nil) }
	}
	return p, err
}

// split parts groups that are there from those that are not. A nil list stays nil.
func split(c *states.Call, v any) (there any, missing []string, err error) {
	list, ok := v.([]any)
	if text, isText := v.(string); isText && text != "" { // unlike Salt, where each letter of it is a group
		list, ok = payload.AnyList(strings.Split(text, ",")), true
	}
	if !ok {
		return nil, nil, nil
	}
	out := []any{}
	for _, group := range list {
		name := python.Str(group)
		is, err := known(c, name)
		if err != nil {
			return nil, nil, err
		}
		if is {
			out = append(out, name)
		} else {
			missing = append(missing, name)
		}
	}
	return out, missing, nil
}

// others are the groups that are wanted beside the first one; nil: nobody says.
func (a *wanted) others(optional any) []any {
	required, given := a.Groups.([]any)
	more, _ := optional.([]any)
	if !given && len(more) == 0 {
		return nil
	}
	return append(append([]any{}, required...), more...)
}

func (a *wanted) planWith(c *states.Call, optional any, missing []string) (states.Plan, error) {
	gid := a.GID
	if python.Truth(a.UserGroup) {
		v, err := c.Salt("file.group_to_gid", nil, a.Name)
		if err != nil {
			return states.Plan{}, err
		}
		if v != "" {
			gid = a.Name
		}
	}
	changes, err := difference(c, a, gid, a.others(optional))
	switch {
	case err != nil:
		return states.Plan{}, err
	case changes == nil:
		text := "User " + a.Name + " set to be added"
		if missing != nil {
			text += " (pending groups: " + strings.Join(missing, ",") + ")"
		}
		return states.Would(text, nil, func() (states.Done, error) { return a.add(c, optional) }), nil
	case changes.Len() == 0:
		return states.Correct("User " + a.Name + " is present and up to date"), nil
	}
	if wrong, err := a.forbidden(c, changes, gid); err != nil || wrong != "" {
		return states.Wrong(wrong), err
	}
	return states.Would(told(changes, missing), nil, func() (states.Done, error) {
		return a.change(c, changes, optional)
	}), nil
}

// told says what is to change, a line for each. Passwords are not shown.
func told(changes *payload.Map, missing []string) string {
	text := "The following user attributes are set to be changed:\n"
	for key, v := range changes.All() {
		if key == "passwd" {
			v = redacted
		}
		text += python.Str(key) + ": " + python.Str(v) + "\n"
	}
	if missing != nil {
		text += "groups (pending creation): " + strings.Join(missing, ",") + "\n"
	}
	return text
}
