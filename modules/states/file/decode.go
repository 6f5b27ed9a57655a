package file

import (
	"encoding/hex"
	"os"

	"brine/modules/host/plainfile"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type decoding struct {
	Name     any `arg:"name"`
	Data     any `arg:"encoded_data=None"`
	Pillar   any `arg:"contents_pillar=None"`
	Encoding any `arg:"encoding_type=base64"`
	Checksum any `arg:"checksum=md5"`
}

func decode(c *states.Call, a decoding) (states.Plan, error) {
	content, err := a.content(c)
	if err != nil {
		return states.Plan{}, err
	}
	name, ok := a.Name.(string)
	if !ok {
		return states.Plan{}, &loader.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " +
			python.Type(a.Name)}
	}
	text, ok := content.(string)
	if !ok {
		return states.Plan{}, &loader.ArgumentError{Message: "expected str, bytes, or bytearray not <class '" +
			python.Type(content) + "'>"}
	}
	data, err := python.DecodeBase64([]byte(text))
	if err != nil {
		return states.Plan{}, loader.Raise("binascii.Error", "%s", err)
	}
	form := python.Str(a.Checksum)
	h, err := plainfile.NewHash(form)
	if err != nil || form != "md5" && form != "sha256" && form != "sha512" {
		return states.Plan{}, loader.ExecErr("Hash func '%s' is not supported.", form)
	}
	h.Write(data)
	now, changes := hex.EncodeToString(h.Sum(nil)), (*payload.Map)(nil)
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		was, err := plainfile.Hash(c.Ctx, name, form)
		if err != nil {
			return states.Plan{}, err
		}
		if was == now {
			return a.warned(states.Correct("File is in the correct state.")), nil
		}
		changes = payload.M("old", was, "new", now)
	}
	return a.warned(states.Would("File is set to be updated.", changes, func() (states.Done, error) {
		if err := safefile.Write(name, data, safefile.Attrs{}, true); err != nil {
			return states.Done{}, err
		}
		if changes == nil {
			changes = payload.M("old", nil, "new", now)
		}
		return states.Changed("File was updated.", changes)
	})), nil
}

// warned tells of an encoding that is not honoured. Unlike Salt, which says nothing of it.
func (a decoding) warned(p states.Plan) states.Plan {
	if a.Encoding == "base64" {
		return p
	}
	return withWarnings(p, []any{"file.decode knows the encoding base64 alone, and takes the text for one."})
}

// content is the text that is to be decoded.
func (a decoding) content(c *states.Call) (any, error) {
	switch data, pillar := python.Truth(a.Data), python.Truth(a.Pillar); {
	case !data && !pillar:
		return nil, loader.ExecErr("Specify either the 'encoded_data' or 'contents_pillar' argument.")
	case data && pillar:
		return nil, loader.ExecErr("Specify only one 'encoded_data' or 'contents_pillar' argument.")
	case data:
		return a.Data, nil
	}
	v, err := c.Salt("pillar.get", payload.M("unmask", true), a.Pillar, false)
	if err == nil && v == false {
		err = loader.ExecErr("Pillar data not found.")
	}
	return v, err
}
