// Package shipped tests the results of ./task dist in the folder dist: the binary for each kind of processor,
// and the packages. Binaries for other processors run in qemu's user-mode emulator. It contains only tests
// (build tag shipped) and exports nothing. A missing file fails its test.
package shipped
