package auth

import (
	"fmt"

	"brine/wire/payload"
)

// SealPublication returns the frame that publishes a job: the load with a serial at its end, sealed with the shared
// key, and signed if SignPublications is set. It does not change load. Source: salt/channel/server.py,
// PubServerChannel.wrap_payload.
func (m *Master) SealPublication(load *payload.Map) ([]byte, error) {
	shared, serial, err := m.nextSerial()
	if err != nil {
		return nil, err
	}
	load = load.Clone()
	load.Delete("serial")
	packed, err := payload.Marshal(load.Set("serial", serial))
	if err != nil {
		return nil, fmt.Errorf("pack publication: %w", err)
	}
	p := payload.Publication{Enc: payload.EncAES, Load: shared.box.Seal(packed, "")}
	if m.opt.SignPublications {
		p.SigAlgo = m.opt.PublishSigAlgo
		if p.Sig, err = m.opt.Key.Sign(p.SigAlgo, p.Load); err != nil {
			return nil, fmt.Errorf("sign publication: %w", err)
		}
	}
	return p.Encode()
}
