// Package randommod holds the execution functions of the module random: numbers, choices and texts by chance or by a
// seed, and hashes. It answers to salt/modules/mod_random.py.
package randommod

import "brine/modules/loader"

// Functions lists the functions of the module.
func Functions() []loader.Func {
	all := append(byChance(), ofTexts()...)
	for i := range all {
		all[i].Source = "salt/modules/mod_random.py"
	}
	return all
}

func byChance() []loader.Func {
	return []loader.Func{
		{Name: "random.rand_int", Params: []loader.Param{loader.Opt("start", int64(1)), loader.Opt("end", int64(10)),
			loader.Opt("seed", nil)},
			Run: randInt, Doc: `Draw a whole number between two others, both included; the same one for the same seed.

CLI Example:

    salt '*' random.rand_int 1 10`},
		{Name: "random.seed", Params: []loader.Param{loader.Opt("range", int64(10)), loader.Opt("hash", nil)},
			Run: seeded,
			Doc: `Show a number below a range that is always the same for a minion, or for what is given as hash.

CLI Example:

    salt '*' random.seed 10 hash=None`},
		{Name: "random.sample", Params: []loader.Param{loader.Req("value"), loader.Req("size"), loader.Opt("seed",
			nil)}, Run: runSample,
			Doc: `Pick some of a list; the same ones for the same seed.

CLI Example:

    salt '*' random.sample '["one", "two"]' 1 seed="something"`},
		{Name: "random.shuffle", Params: []loader.Param{loader.Req("value"), loader.Opt("seed", nil)}, Run: shuffle,
			Doc: `Show a list in another order; in the same one for the same seed.

CLI Example:

    salt '*' random.shuffle '["one", "two"]' seed="something"`},
		{Name: "random.get_str", Params: []loader.Param{loader.Opt("length", int64(20)), loader.Opt("chars", nil),
			loader.Opt("lowercase", true),
			loader.Opt("uppercase", true), loader.Opt("digits", true), loader.Opt("punctuation", true),
			loader.Opt("whitespace", false),
			loader.Opt("printable", false)}, Run: getStr, Doc: `Make a text of random characters, such as a password.

CLI Example:

    salt '*' random.get_str 128
    salt '*' random.get_str 128 lowercase=False whitespace=True`},
	}
}

func ofTexts() []loader.Func {
	return []loader.Func{
		{Name: "random.hash", Params: []loader.Param{loader.Req("value"), loader.Opt("algorithm", "sha512")},
			Run: runHash,
			Doc: `Show the hash of a text.

CLI Example:

    salt '*' random.hash 'I am a string' md5`},
		{Name: "random.str_encode", Params: []loader.Param{loader.Req("value"), loader.Opt("encoder", "base64")},
			Run: strEncode,
			Doc: `Encode a text in base64.

CLI Example:

    salt '*' random.str_encode 'I am a new string' base64`},
		{Name: "random.shadow_hash", Params: []loader.Param{loader.Opt("crypt_salt", nil), loader.Opt("password",
			nil), loader.Opt("algorithm", "sha512")},
			Run: shadowHash, Doc: `Make the hash of a password for /etc/shadow.

CLI Example:

    salt '*' random.shadow_hash 'My5alT' 'MyP@asswd' md5`},
	}
}
