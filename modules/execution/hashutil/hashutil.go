// Package hashutil is the execution module hashutil: hash sums, signatures and base64 of texts and files. It answers to
// salt/modules/hashutil.py and salt/utils/hashutils.py.
package hashutil

import "brine/modules/loader"

// Module is the module hashutil.
func Module() loader.Module {
	return loader.Module{File: "hashutil", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("digest", digest, "Show the hash sum of a text: md5, sha256 or sha512.",
				"hashutil.digest 'get salted'"),
			loader.Fn("digest_file", digestFile, "Show the hash sum of a file: md5, sha256 or sha512.",
				"hashutil.digest_file /path/to/file"),
			sumOf("md5"),
			sumOf("sha256"),
			sumOf("sha512"),
			loader.Fn("hmac_signature", hmacSignature,
				"Tell whether this is the signature (HMAC with SHA-256, in base64) of a text with a secret.",
				"hashutil.hmac_signature 'get salted' 'shared secret' 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='"),
			loader.Fn("hmac_compute", hmacCompute, "Show the signature (HMAC with SHA-256) of a text with a secret.",
				"hashutil.hmac_compute 'get salted' 'shared secret'"),
			loader.Fn("github_signature", githubSignature, "Tell whether this is GitHub's signature of a text with "+
				"a secret.",
				"hashutil.github_signature '{\"ref\":....} ' 'shared secret' "+
					"'sha1=bc6550fc290acf5b42283fa8deaf55cea0f8c206'"),
			text("base64_b64encode", "Encode a text in base64, in one line.",
				func(data []byte) (any, error) { return oneLine(data), nil }),
			text("base64_b64decode", "Decode a text in base64.", func(data []byte) (any, error) {
				return decoded(data)
			}),
			text("base64_encodestring", "Encode a text in base64, in lines.",
				func(data []byte) (any, error) { return inLines(data), nil }),
			text("base64_decodestring", "Decode a text in base64.", func(data []byte) (any, error) {
				return decoded(data)
			}),
			loader.Fn("base64_encodefile", encodeFile, "Show a file in base64, in lines.",
				"hashutil.base64_encodefile /path/to/binary_file"),
			loader.Fn("base64_decodefile", decodeFile, "Write to a file what a text in base64 stands for.",
				"hashutil.base64_decodefile instr='Z2V0IHNhbHRlZAo=' outfile='/path/to/binary_file'"),
		}
	}}
}

func sumOf(form string) loader.Func {
	return text(form+"_digest", "Show the "+form+" sum of a text.", func(data []byte) (any, error) {
		return sum(form, data)
	})
}

// text is a function of one text.
func text(name, doc string, run func(data []byte) (any, error)) loader.Func {
	type given struct {
		Text any `arg:"instr"`
	}
	return loader.Fn(name, func(_ *loader.Call, a given) (any, error) {
		data, err := toBytes(a.Text)
		if err != nil {
			return nil, err
		}
		return run(data)
	}, doc, "hashutil."+name+" 'get salted'")
}
