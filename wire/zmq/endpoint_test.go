package zmq

import "testing"

func TestConnectEndpoint(t *testing.T) {
	for _, tt := range []struct {
		name, host string
		source     string
		port       int
		want       string
	}{
		{"plain", "10.0.0.1", "", 0, "tcp://10.0.0.1:4506"},
		{"source address", "10.0.0.1", "10.0.0.9", 0, "tcp://10.0.0.9:0;10.0.0.1:4506"},
		{"source address and port", "10.0.0.1", "10.0.0.9", 4999, "tcp://10.0.0.9:4999;10.0.0.1:4506"},
		{"source port", "10.0.0.1", "", 4999, "tcp://0.0.0.0:4999;10.0.0.1:4506"},
		{"IPv6", "::1", "", 0, "tcp://[::1]:4506"},
		{"IPv6 in brackets", "[::1]", "", 0, "tcp://[::1]:4506"},
		{"IPv6 source", "::1", "::2", 0, "tcp://[::2]:0;[::1]:4506"},
		{"IPv6 source port", "::1", "", 4999, "tcp://[::]:4999;[::1]:4506"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ConnectEndpoint(tt.host, 4506, tt.source, tt.port)
			if got != tt.want {
				t.Errorf("ConnectEndpoint: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestBindEndpoint(t *testing.T) {
	for host, want := range map[string]string{
		"0.0.0.0": "tcp://0.0.0.0:4505", "::": "tcp://[::]:4505", "[::]": "tcp://[::]:4505",
	} {
		if got := BindEndpoint(host, 4505); got != want {
			t.Errorf("BindEndpoint(%s): got %s, want %s", host, got, want)
		}
	}
}
