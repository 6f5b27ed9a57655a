package pillar

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// Types of PostgreSQL whose values psycopg2 does not give as text (their numbers: pg_type.dat of PostgreSQL).
const (
	pgBool        = 16
	pgBytea       = 17
	pgInt8        = 20
	pgInt2        = 21
	pgInt4        = 23
	pgOID         = 26
	pgJSON        = 114
	pgFloat4      = 700
	pgFloat8      = 701
	pgDate        = 1082
	pgTimestamp   = 1114
	pgTimestamptz = 1184
	pgJSONB       = 3802
)

// pgArrays are the types of arrays that psycopg2 reads, and the types of what is in them. 25 is text.
var pgArrays = map[uint32]uint32{1000: pgBool, 1001: pgBytea, 1005: pgInt2, 1007: pgInt4, 1016: pgInt8, 1028: pgOID,
	1021: pgFloat4, 1022: pgFloat8, 1002: 25, 1003: 25, 1009: 25, 1014: 25, 1015: 25, 1182: pgDate, 1115: pgTimestamp,
	1185: pgTimestamptz, 1183: 25, 1187: 25, 1231: 25, 1270: 25, 199: pgJSON, 3807: pgJSONB}

// pgValue is a value from its text.
//
// Unlike Salt, whose master cannot send them: numbers of the type numeric, times of day and intervals are text.
func pgValue(kind uint32, text string) (any, error) {
	if of, ok := pgArrays[kind]; ok {
		return pgArray(of, text)
	}
	switch kind {
	case pgBool:
		return text == "t", nil
	case pgInt2, pgInt4, pgInt8, pgOID:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return n, nil
		}
	case pgFloat4, pgFloat8:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f, nil
		}
	case pgJSON, pgJSONB:
		return pyjson.Load(text)
	case pgBytea:
		return pgBytes(text), nil
	case pgDate, pgTimestamp, pgTimestamptz:
		if at, ok := pgTime(text); ok {
			return payload.Time{Time: at}, nil
		}
	}
	return text, nil
}

// pgBytes are the bytes of a bytea, as Salt's master sends them: text where they are UTF-8.
func pgBytes(text string) any {
	if digits, ok := strings.CutPrefix(text, `\x`); ok {
		if raw, err := hex.DecodeString(digits); err == nil {
			text = string(raw)
		}
	}
	if utf8.ValidString(text) {
		return text
	}
	return []byte(text)
}

// pgTime is a date or a time on the clock of the session; its zone is left out, as Salt leaves it out.
func pgTime(text string) (time.Time, bool) {
	if at, err := time.Parse("2006-01-02", text); err == nil {
		return at, true
	}
	clock := strings.LastIndexByte(text, ':')
	if clock < 0 {
		return time.Time{}, false
	}
	if day, rest, ok := strings.Cut(text, " "); ok {
		if zone := strings.IndexAny(rest, "+-"); zone >= 0 {
			text = day + " " + rest[:zone]
		}
	}
	at, err := time.Parse("2006-01-02 15:04:05.999999", text)
	return at, err == nil
}

// pgArray reads the text of an array: {1,NULL,{"a b"}}.
func pgArray(of uint32, text string) (any, error) {
	if strings.HasPrefix(text, "[") { // [0:2]={...}: where it begins is left out
		if _, rest, ok := strings.Cut(text, "="); ok {
			text = rest
		}
	}
	a := &pgArrayText{text: text, of: of}
	v, err := a.list(0)
	if err == nil && a.at != len(text) {
		err = a.bad()
	}
	return v, err
}

// pgArrayText is an array that is being read.
type pgArrayText struct {
	text string
	at   int
	of   uint32
}

const pgDepth = 8 // PostgreSQL has 6 dimensions at most

func (a *pgArrayText) bad() error {
	return loader.ExecErr("the database gives an array that cannot be read")
}

func (a *pgArrayText) next() byte {
	if a.at < len(a.text) {
		return a.text[a.at]
	}
	return 0
}

func (a *pgArrayText) list(depth int) ([]any, error) {
	if a.next() != '{' || depth > pgDepth {
		return nil, a.bad()
	}
	out := []any{}
	if a.at++; a.next() == '}' {
		a.at++
		return out, nil
	}
	for {
		v, err := a.item(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		end := a.next()
		a.at++
		switch end {
		case '}':
			return out, nil
		case ',':
		default:
			return nil, a.bad()
		}
	}
}

func (a *pgArrayText) item(depth int) (any, error) {
	switch a.next() {
	case '{':
		return a.list(depth + 1)
	case '"':
		return a.quoted()
	}
	n := strings.IndexAny(a.text[min(a.at, len(a.text)):], ",}")
	if n < 0 {
		return nil, a.bad()
	}
	word := a.text[a.at : a.at+n]
	a.at += n
	if word == "NULL" {
		return nil, nil
	}
	return pgValue(a.of, word)
}

func (a *pgArrayText) quoted() (any, error) {
	var out strings.Builder
	for a.at++; a.at < len(a.text); a.at++ {
		switch c := a.text[a.at]; c {
		case '"':
			a.at++
			return pgValue(a.of, out.String())
		case '\\':
			if a.at++; a.at == len(a.text) {
				return nil, a.bad()
			}
			out.WriteByte(a.text[a.at])
		default:
			out.WriteByte(c)
		}
	}
	return nil, a.bad()
}
