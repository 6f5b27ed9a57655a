package pillar

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/modules/renderers/jinja"
	"brine/modules/renderers/jinja/machine"
	"brine/wire/payload"
	"brine/wire/python"
)

// rendererOptions are those of the renderers of this pillar.
func (r *run) rendererOptions(blacklist, whitelist []string) renderers.Options {
	return renderers.Options{Jinja: jinjaOf{r}, GPG: r.gpg(), Blacklist: blacklist, Whitelist: whitelist,
		Disabled: loader.StringList(r.opts.Value("disable_renders")), Log: r.opt.Log}
}

// gpg is the renderer of that name; its directory of keys is worked out when it is needed.
func (r *run) gpg() renderers.GPG {
	must, set := r.opts.Get("gpg_decrypt_must_succeed")
	return renderers.GPG{KeyDir: func() string {
		return renderers.KeyDirOf(r.opts)
	}, MustSucceed: !set || python.Truth(must)}
}

func (r *run) gpgInput(data any) renderers.Input {
	return renderers.Input{Data: data, Template: renderers.InString, Saltenv: "base"}
}

// jinjaOf is the engine for the templates of one pillar: imports come from the environment of the template that asks.
type jinjaOf struct{ *run }

// Render renders one template.
func (j jinjaOf) Render(ctx context.Context, in renderers.Input) (string, error) {
	return renderers.Jinja{Opts: j.opts, Grains: j.grains, Pillar: j.pillar, Call: j.funcs.Call, Has: j.has,
		Sources: templates{j.envs, in.Saltenv}, Limits: j.opt.Limits, Host: j.host()}.Render(ctx, in)
}

// host is the machine, for templates that have functions of it.
func (r *run) host() jinja.Host {
	if r.funcs.Call == nil {
		return nil
	}
	return machine.Machine{Opts: r.opts}
}

func (r *run) has(fun string) bool { return r.funcs.Has != nil && r.funcs.Has(fun) }

// decrypt decrypts the values that decrypt_pillar names, in place. It returns what is wrong.
func (r *run) decrypt(pillar *payload.Map) (wrong []any) {
	option := r.opts.Value("decrypt_pillar")
	if !python.Truth(option) {
		return nil
	}
	keys := decryptKeys(option)
	if keys.Len() == 0 {
		return []any{"decrypt_pillar config option is malformed"}
	}
	delimiter := r.opts.Str("decrypt_pillar_delimiter")
	if delimiter == "" {
		delimiter = ":"
	}
	for key, by := range keys.All() {
		path := strings.Split(python.Str(key), delimiter)
		value, ok := below(pillar, path)
		if !ok || value == nil {
			r.log(slog.LevelDebug, "Pillar key %s not present", python.Str(key))
			continue
		}
		plain, err := r.decryptValue(value, by)
		if err != nil {
			text := "Failed to decrypt pillar key '" + python.Str(key) + "': " + loader.Message(err)
			r.log(slog.LevelError, "%s", text)
			wrong = append(wrong, text)
			continue
		}
		if in, ok := below(pillar, path[:len(path)-1]); ok {
			in.(*payload.Map).Set(path[len(path)-1], plain)
		}
	}
	return wrong
}

// decryptKeys are the keys of decrypt_pillar with their renderers, nil for the usual one; empty for what is malformed.
func decryptKeys(option any) *payload.Map {
	if m, ok := option.(*payload.Map); ok {
		return m
	}
	out := payload.NewMap(0)
	list, _ := option.([]any)
	for _, entry := range list {
		switch e := entry.(type) {
		case *payload.Map:
			if e.Len() != 1 {
				return nil
			}
			out.Update(e)
		case string, int64, float64:
			out.Set(e, nil)
		default:
			return nil
		}
	}
	return out
}

func (r *run) decryptValue(value, by any) (any, error) {
	if !python.Truth(by) {
		if by = r.opts.Value("decrypt_pillar_default"); !python.Truth(by) {
			by = "gpg"
		}
	}
	name := python.Str(by)
	valid := loader.StringList(r.opts.Value("decrypt_pillar_renderers"))
	if len(valid) > 0 && !slices.Contains(valid, name) {
		return nil, loader.InvocErr("'%s' is not a valid decryption renderer. Valid choices are: %s", name,
			strings.Join(valid, ", "))
	}
	plain, ok, err := r.render.Step(r.ctx, name, r.gpgInput(value))
	if !ok {
		return nil, loader.InvocErr("Decryption renderer '%s' is not available", name)
	}
	switch value.(type) {
	case *payload.Map, []any: // another renderer's answer to these is dropped by Salt
		if name != "gpg" {
			return value, err
		}
	}
	return plain, err
}
