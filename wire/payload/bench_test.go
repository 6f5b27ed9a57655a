package payload_test

import (
	"fmt"
	"testing"

	"brine/wire/payload"
)

// pingReturn is the load of a test.ping return with protocol version 3.
func pingReturn() *payload.Map {
	return payload.M("cmd", "_return", "id", "minion-1.example.com", "success", true, "return", true, "retcode", 0,
		"jid", "20240229131415123456", "fun", "test.ping", "fun_args", []any{}, "user", "root",
		"_stamp", "2024-02-29T13:14:15.123456+00:00", "nonce", "0123456789abcdef0123456789abcdef",
		"ts", 1709212455, "tok", make([]byte, 256))
}

// stateReturn is the load of a highstate with 30 states, about 8 KB.
func stateReturn() *payload.Map {
	states := payload.NewMap(30)
	for i := range 30 {
		states.Set(fmt.Sprintf("file_|-/etc/app/conf.d/%02d.conf_|-/etc/app/conf.d/%02d.conf_|-managed", i, i),
			payload.M(
				"changes", payload.NewMap(0), "comment", "File is in the correct state", "name",
				fmt.Sprintf("/etc/app/conf.d/%02d.conf", i), "result", true, "__sls__", "app.config", "__run_num__", i,
				"start_time", "13:14:15.123456", "duration", 12.345, "__id__", "app_config"))
	}
	return pingReturn().Set("return", states).Set("fun", "state.highstate")
}

func BenchmarkMarshal(b *testing.B) {
	for name, load := range map[string]*payload.Map{"ping": pingReturn(), "states": stateReturn()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := payload.Marshal(load)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(out)))
			}
		})
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	for name, load := range map[string]*payload.Map{"ping": pingReturn(), "states": stateReturn()} {
		raw, err := payload.Marshal(load)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := payload.Unmarshal(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeRequest(b *testing.B) {
	r := payload.Request{Enc: payload.EncAES, Load: make([]byte, 700), Version: 3, ID: "minion-1.example.com",
		EncAlgo: "OAEP-SHA1", SigAlgo: "PKCS1v15-SHA1"}
	raw, err := r.Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := payload.DecodeRequest(raw); err != nil {
			b.Fatal(err)
		}
	}
}
