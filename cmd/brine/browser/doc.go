// Package browser drives the web console of salt-api in a real Chromium, beside a real master with real and emulated
// minions. It holds nothing but tests, behind the build tag interop; .ci/browser-peers installs Chromium and axe-core,
// and without them the tests fail.
package browser
