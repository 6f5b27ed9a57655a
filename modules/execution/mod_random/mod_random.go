// Package mod_random holds the execution functions of the module random: numbers, choices and texts by chance or by a
// seed, and hashes. It answers to salt/modules/mod_random.py.
package mod_random

import (
	"slices"

	"brine/modules/loader"
)

// Module is the module random.
func Module() loader.Module {
	return loader.Module{File: "mod_random", Name: "random", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(byChance(), ofTexts())
	}}
}

func byChance() []loader.Func {
	return []loader.Func{
		loader.Fn("rand_int", randInt,
			"Draw a whole number between two others, both included; the same one for the same seed.",
			"random.rand_int 1 10"),
		loader.Fn("seed", seeded,
			"Show a number below a range that is always the same for a minion, or for what is given as hash.",
			"random.seed 10 hash=None"),
		loader.Fn("sample", runSample, "Pick some of a list; the same ones for the same seed.",
			`random.sample '["one", "two"]' 1 seed="something"`),
		loader.Fn("shuffle", shuffle, "Show a list in another order; in the same one for the same seed.",
			`random.shuffle '["one", "two"]' seed="something"`),
		loader.Fn("get_str", getStr, "Make a text of random characters, such as a password.",
			"random.get_str 128", "random.get_str 128 lowercase=False whitespace=True"),
	}
}

func ofTexts() []loader.Func {
	return []loader.Func{
		loader.Fn("hash", runHash, "Show the hash of a text.", "random.hash 'I am a string' md5"),
		loader.Fn("str_encode", strEncode, "Encode a text in base64.", "random.str_encode 'I am a new string' base64"),
		loader.Fn("shadow_hash", shadowHash, "Make the hash of a password for /etc/shadow.",
			"random.shadow_hash 'My5alT' 'MyP@asswd' md5"),
	}
}
