// Package randommod holds the execution functions of the module random: numbers, choices and texts by chance or by a
// seed, and hashes. It answers to salt/modules/mod_random.py.
package randommod

import "brine/modules"

// Functions lists the functions of the module.
func Functions() []modules.Func {
	all := append(byChance(), ofTexts()...)
	for i := range all {
		all[i].Source = "salt/modules/mod_random.py"
	}
	return all
}

func byChance() []modules.Func {
	return []modules.Func{
		{Name: "random.rand_int", Params: []modules.Param{modules.Opt("start", int64(1)), modules.Opt("end", int64(10)),
			modules.Opt("seed", nil)},
			Run: randInt, Doc: `Draw a whole number between two others, both included; the same one for the same seed.

CLI Example:

    salt '*' random.rand_int 1 10`},
		{Name: "random.seed", Params: []modules.Param{modules.Opt("range", int64(10)), modules.Opt("hash", nil)},
			Run: seeded,
			Doc: `Show a number below a range that is always the same for a minion, or for what is given as hash.

CLI Example:

    salt '*' random.seed 10 hash=None`},
		{Name: "random.sample", Params: []modules.Param{modules.Req("value"), modules.Req("size"), modules.Opt("seed",
			nil)}, Run: runSample,
			Doc: `Pick some of a list; the same ones for the same seed.

CLI Example:

    salt '*' random.sample '["one", "two"]' 1 seed="something"`},
		{Name: "random.shuffle", Params: []modules.Param{modules.Req("value"), modules.Opt("seed", nil)}, Run: shuffle,
			Doc: `Show a list in another order; in the same one for the same seed.

CLI Example:

    salt '*' random.shuffle '["one", "two"]' seed="something"`},
		{Name: "random.get_str", Params: []modules.Param{modules.Opt("length", int64(20)), modules.Opt("chars", nil),
			modules.Opt("lowercase", true),
			modules.Opt("uppercase", true), modules.Opt("digits", true), modules.Opt("punctuation", true),
			modules.Opt("whitespace", false),
			modules.Opt("printable", false)}, Run: getStr, Doc: `Make a text of random characters, such as a password.

CLI Example:

    salt '*' random.get_str 128
    salt '*' random.get_str 128 lowercase=False whitespace=True`},
	}
}

func ofTexts() []modules.Func {
	return []modules.Func{
		{Name: "random.hash", Params: []modules.Param{modules.Req("value"), modules.Opt("algorithm", "sha512")},
			Run: runHash,
			Doc: `Show the hash of a text.

CLI Example:

    salt '*' random.hash 'I am a string' md5`},
		{Name: "random.str_encode", Params: []modules.Param{modules.Req("value"), modules.Opt("encoder", "base64")},
			Run: strEncode,
			Doc: `Encode a text in base64.

CLI Example:

    salt '*' random.str_encode 'I am a new string' base64`},
		{Name: "random.shadow_hash", Params: []modules.Param{modules.Opt("crypt_salt", nil), modules.Opt("password",
			nil), modules.Opt("algorithm", "sha512")},
			Run: shadowHash, Doc: `Make the hash of a password for /etc/shadow.

CLI Example:

    salt '*' random.shadow_hash 'My5alT' 'MyP@asswd' md5`},
	}
}
