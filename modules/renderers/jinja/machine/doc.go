// Package machine answers the filters of Salt that look at the machine a template is rendered on: which, file_hashsum,
// is_empty, is_text_file, is_bin_file, list_files, get_uid, dns_check and http_query. It reads plain files only, so
// that no template waits at a pipe or a device, and changes nothing. It is given to templates that may call execution
// functions, which can do all of this anyway (decision 0057).
//
// Not there: options of http_query that write or read files; the hash shake; file descriptors in place of paths.
// Answers to salt/utils/path.py, files.py, hashutils.py, user.py and network.py.
package machine
