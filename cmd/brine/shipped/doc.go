// Package shipped tests what ./task dist leaves in the folder dist: the binary for each kind of processor, and the
// packages. Files for other processors run under qemu's emulator of one process. It has tests only (build tag shipped)
// and exports nothing; a file that is not there fails its test.
package shipped
