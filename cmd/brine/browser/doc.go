// Package browser tests the web console of salt-api in a real Chromium, beside a real master with real and
// emulated minions. It contains only tests, with the build tag interop. .ci/browser-peers installs Chromium and
// axe-core. Without them the tests fail.
package browser
