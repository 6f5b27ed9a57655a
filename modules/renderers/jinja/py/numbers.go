package py

import (
	"math"
	"math/big"
	"math/bits"

	"brine/wire/python"
)

// number is a value in arithmetic: one of the three forms.
type number struct {
	isFloat bool
	f       float64
	i       int64
	b       *big.Int // where it does not fit into i
}

func numberOf(v any) (number, bool) {
	switch v := v.(type) {
	case int64:
		return number{i: v}, true
	case bool:
		if v {
			return number{i: 1}, true
		}
		return number{}, true
	case float64:
		return number{isFloat: true, f: v}, true
	case *big.Int:
		return number{b: v}, true
	}
	return number{}, false
}

func (n number) big() *big.Int {
	if n.b != nil {
		return n.b
	}
	return big.NewInt(n.i)
}

func (n number) float() (float64, error) {
	switch {
	case n.isFloat:
		return n.f, nil
	case n.b == nil:
		return float64(n.i), nil
	}
	f, _ := new(big.Float).SetInt(n.b).Float64()
	if math.IsInf(f, 0) {
		return 0, Errorf("OverflowError", "int too large to convert to float")
	}
	return f, nil
}

// maxBits bounds the whole numbers a template can make.
const maxBits = 1 << 20

// Binary is a op b for + - * / // % **.
func Binary(w *Work, op string, a, b any) (any, error) {
	if err := undefinedIn(a, b); err != nil {
		return nil, err
	}
	x, ok := numberOf(a)
	y, ok2 := numberOf(b)
	if ok && ok2 {
		return arith(w, op, x, y)
	}
	return sequenceOp(w, op, a, b)
}

func undefinedIn(values ...any) error {
	for _, v := range values {
		if u, ok := v.(*Undefined); ok {
			return u.Err()
		}
	}
	return nil
}

func unsupported(op string, a, b any) error {
	if op == "**" {
		op = "** or pow()"
	}
	return typeError("unsupported operand type(s) for %s: '%s' and '%s'", op, TypeName(a), TypeName(b))
}

func arith(w *Work, op string, x, y number) (any, error) {
	if x.isFloat || y.isFloat || op == "/" {
		return floatArith(op, x, y)
	}
	if x.b == nil && y.b == nil {
		if v, ok := smallArith(op, x.i, y.i); ok {
			return v, nil
		}
	}
	return bigArith(w, op, x.big(), y.big())
}

// smallArith computes what fits into 64 bits.
func smallArith(op string, x, y int64) (any, bool) {
	switch op {
	case "+":
		s := x + y
		return s, (s > x) == (y > 0)
	case "-":
		s := x - y
		return s, (s < x) == (y > 0)
	case "*":
		if x == 0 || y == 0 {
			return int64(0), true
		}
		hi, lo := bits.Mul64(abs64(x), abs64(y))
		if hi != 0 || lo > math.MaxInt64 {
			return nil, false
		}
		return x * y, true
	case "//", "%":
		if y == 0 || x == math.MinInt64 {
			return nil, false
		}
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q, r = q-1, r+y
		}
		if op == "//" {
			return q, true
		}
		return r, true
	}
	return nil, false
}

func abs64(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func bigArith(w *Work, op string, x, y *big.Int) (any, error) {
	if err := w.Grow((x.BitLen() + y.BitLen()) / 8); err != nil {
		return nil, err
	}
	out := new(big.Int)
	switch op {
	case "+":
		out.Add(x, y)
	case "-":
		out.Sub(x, y)
	case "*":
		if x.BitLen()+y.BitLen() > maxBits {
			return nil, &LimitError{"the template was stopped: a number is too large"}
		}
		out.Mul(x, y)
	case "//", "%":
		return bigDivide(op, x, y)
	case "**":
		return bigPower(x, y)
	}
	return python.Whole(out), nil
}

func bigDivide(op string, x, y *big.Int) (any, error) {
	if y.Sign() == 0 {
		if op == "%" {
			return nil, Errorf("ZeroDivisionError", "integer modulo by zero")
		}
		return nil, Errorf("ZeroDivisionError", "integer division or modulo by zero")
	}
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Sign() != 0 && r.Sign() != y.Sign() {
		q.Sub(q, big.NewInt(1))
		r.Add(r, y)
	}
	if op == "//" {
		return python.Whole(q), nil
	}
	return python.Whole(r), nil
}

func bigPower(x, y *big.Int) (any, error) {
	if y.Sign() < 0 {
		return floatArith("**", number{b: x}, number{b: y})
	}
	if x.BitLen() <= 1 { // 0, 1, -1
		switch {
		case y.Sign() == 0 || x.Sign() > 0:
			return int64(1), nil
		case x.Sign() == 0:
			return int64(0), nil
		case y.Bit(0) == 0:
			return int64(1), nil
		}
		return int64(-1), nil
	}
	if !y.IsInt64() || y.Int64() > maxBits || int64(x.BitLen())*y.Int64() > maxBits {
		return nil, &LimitError{"the template was stopped: a number is too large"}
	}
	return python.Whole(new(big.Int).Exp(x, y, nil)), nil
}

func floatArith(op string, x, y number) (any, error) {
	if op == "/" && !x.isFloat && !y.isFloat {
		return trueDivide(x, y)
	}
	a, err := x.float()
	if err != nil {
		return nil, err
	}
	b, err := y.float()
	if err != nil {
		return nil, err
	}
	if b == 0 {
		switch op {
		case "/":
			return nil, Errorf("ZeroDivisionError", "float division by zero")
		case "//":
			return nil, Errorf("ZeroDivisionError", "float floor division by zero")
		case "%":
			return nil, Errorf("ZeroDivisionError", "float modulo")
		}
	}
	switch op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		return a / b, nil
	case "**":
		return floatPower(a, b)
	}
	mod := math.Mod(a, b)
	if mod != 0 && (mod < 0) != (b < 0) {
		mod += b
	} else if mod == 0 {
		mod = math.Copysign(0, b)
	}
	if op == "%" {
		return mod, nil
	}
	q := math.Floor((a-mod)/b + 0.5)
	if q == 0 {
		q = math.Copysign(0, a/b)
	}
	return q, nil
}

func floatPower(a, b float64) (any, error) {
	if a == 0 && b < 0 {
		return nil, Errorf("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	}
	if a < 0 && b != math.Trunc(b) {
		return nil, valueError("complex numbers are not supported")
	}
	out := math.Pow(a, b)
	if math.IsInf(out, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return nil, Errorf("OverflowError", "(34, 'Numerical result out of range')")
	}
	return out, nil
}

func trueDivide(x, y number) (any, error) {
	d := y.big()
	if d.Sign() == 0 {
		return nil, Errorf("ZeroDivisionError", "division by zero")
	}
	f, _ := new(big.Rat).SetFrac(x.big(), d).Float64()
	if math.IsInf(f, 0) {
		return nil, Errorf("OverflowError", "integer division result too large for a float")
	}
	return f, nil
}

// Unary is +v or -v.
func Unary(op string, v any) (any, error) {
	if err := undefinedIn(v); err != nil {
		return nil, err
	}
	n, ok := numberOf(v)
	switch {
	case !ok:
		return nil, typeError("bad operand type for unary %s: '%s'", op, TypeName(v))
	case n.isFloat && op == "-":
		return -n.f, nil
	case n.isFloat:
		return n.f, nil
	case op == "-":
		return python.Whole(new(big.Int).Neg(n.big())), nil
	}
	return python.Whole(n.big()), nil
}
