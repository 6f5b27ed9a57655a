// Package hashutil holds the execution functions of the module hashutil: hash sums, signatures and base64 of texts and
// files. It answers to salt/modules/hashutil.py and salt/utils/hashutils.py.
package hashutil

import "brine/modules"

// Functions lists the functions of the module.
func Functions() []modules.Func {
	all := append(append(sums(), signatures()...), base64s()...)
	for i := range all {
		all[i].Source = "salt/modules/hashutil.py"
	}
	return all
}

func sums() []modules.Func {
	out := []modules.Func{
		{Name: "hashutil.digest", Params: []modules.Param{modules.Req("instr"), modules.Opt("checksum", "md5")},
			Run: digest,
			Doc: `Show the hash sum of a text: md5, sha256 or sha512.

CLI Example:

    salt '*' hashutil.digest 'get salted'`},
		{Name: "hashutil.digest_file", Params: []modules.Param{modules.Req("infile"), modules.Opt("checksum", "md5")},
			Run: digestFile,
			Doc: `Show the hash sum of a file: md5, sha256 or sha512.

CLI Example:

    salt '*' hashutil.digest_file /path/to/file`},
	}
	for _, form := range []string{"md5", "sha256", "sha512"} {
		out = append(out, text(form+"_digest", "Show the "+form+" sum of a text.",
			func(data []byte) (any, error) { return sum(form, data) }))
	}
	return out
}

// text declares a function of one text.
func text(name, doc string, run func(data []byte) (any, error)) modules.Func {
	name = "hashutil." + name
	return modules.Func{Name: name, Params: []modules.Param{modules.Req("instr")},
		Doc: doc + "\n\nCLI Example:\n\n    salt '*' " + name + " 'get salted'",
		Run: func(_ *modules.Call, a modules.Args) (any, error) {
			data, err := toBytes(a.Get("instr"))
			if err != nil {
				return nil, err
			}
			return run(data)
		}}
}

func signatures() []modules.Func {
	signed := []modules.Param{modules.Req("string"), modules.Req("shared_secret"), modules.Req("challenge_hmac")}
	return []modules.Func{
		{Name: "hashutil.hmac_signature", Params: signed, Run: hmacSignature,
			Doc: `Tell whether this is the signature (HMAC with SHA-256, in base64) of a text with a secret.

CLI Example:

    salt '*' hashutil.hmac_signature 'get salted' 'shared secret' 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='`},
		{Name: "hashutil.hmac_compute", Params: signed[:2], Run: hmacCompute,
			Doc: `Show the signature (HMAC with SHA-256) of a text with a secret.

CLI Example:

    salt '*' hashutil.hmac_compute 'get salted' 'shared secret'`},
		{Name: "hashutil.github_signature", Params: signed, Run: githubSignature,
			Doc: `Tell whether this is GitHub's signature of a text with a secret.

CLI Example:

    salt '*' hashutil.github_signature '{"ref":....} ' 'shared secret' 'sha1=bc6550fc290acf5b42283fa8deaf55cea0f8c206'`},
	}
}

func base64s() []modules.Func {
	return []modules.Func{
		text("base64_b64encode", "Encode a text in base64, in one line.",
			func(data []byte) (any, error) { return oneLine(data), nil }),
		text("base64_b64decode", "Decode a text in base64.", func(data []byte) (any, error) { return decoded(data) }),
		text("base64_encodestring", "Encode a text in base64, in lines.",
			func(data []byte) (any, error) { return inLines(data), nil }),
		text("base64_decodestring", "Decode a text in base64.",
			func(data []byte) (any, error) { return decoded(data) }),
		{Name: "hashutil.base64_encodefile", Params: []modules.Param{modules.Req("fname")}, Run: encodeFile,
			Doc: `Show a file in base64, in lines.

CLI Example:

    salt '*' hashutil.base64_encodefile /path/to/binary_file`},
		{Name: "hashutil.base64_decodefile", Params: []modules.Param{modules.Req("instr"), modules.Req("outfile")},
			Run: decodeFile, Doc: `Write to a file what a text in base64 stands for.

CLI Example:

    salt '*' hashutil.base64_decodefile instr='Z2V0IHNhbHRlZAo=' outfile='/path/to/binary_file'`},
	}
}
