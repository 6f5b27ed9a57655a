package syntax

// Pos is the line on which a node begins, from 1.
type Pos int

// At returns the line.
func (p Pos) At() int { return int(p) }

// Expr is an expression: a pointer to one of the types below.
type Expr interface{ At() int }

// Stmt is a statement: a pointer to one of the types below.
type Stmt interface{ At() int }

// Expressions.
type (
	// Data is text of the template that stands outside of tags.
	Data struct {
		Pos
		Text string
	}
	// Const is a literal: nil, bool, int64, *big.Int, float64, string.
	Const struct {
		Pos
		Value any
	}
	// Name is a variable, read or (as a target) written.
	Name struct {
		Pos
		Name string
	}
	// NSRef is the target ns.attr of a set.
	NSRef struct {
		Pos
		Name, Attr string
	}
	// Tuple is (a, b), as a value or as a target.
	Tuple struct {
		Pos
		Items []Expr
	}
	// List is [a, b].
	List struct {
		Pos
		Items []Expr
	}
	// Dict is {k: v}.
	Dict struct {
		Pos
		Keys, Values []Expr
	}
	// Cond is Then if Test else Else; Else may be nil.
	Cond struct {
		Pos
		Test, Then, Else Expr
	}
	// Filter is X|Name(Args); X is nil where the body of a block is filtered.
	Filter struct {
		Pos
		X    Expr
		Name string
		Args Args
	}
	// Test is X is Name(Args).
	Test struct {
		Pos
		X    Expr
		Name string
		Args Args
	}
	// Call is Fn(Args).
	Call struct {
		Pos
		Fn   Expr
		Args Args
	}
	// Getattr is X.Name.
	Getattr struct {
		Pos
		X    Expr
		Name string
	}
	// Getitem is X[Arg].
	Getitem struct {
		Pos
		X, Arg Expr
	}
	// Slice is the a:b:c of a subscript; each may be nil.
	Slice struct {
		Pos
		Start, Stop, Step Expr
	}
	// Concat is a ~ b ~ c.
	Concat struct {
		Pos
		Items []Expr
	}
	// Binary is an operator between two values: + - * / // % **.
	Binary struct {
		Pos
		Op   string
		L, R Expr
	}
	// Unary is + or - before a value.
	Unary struct {
		Pos
		Op string
		X  Expr
	}
	// Bool is L and R, or L or R.
	Bool struct {
		Pos
		Or   bool
		L, R Expr
	}
	// Not is not X.
	Not struct {
		Pos
		X Expr
	}
	// Compare is a chain: X op a op b. An op is == != < <= > >= in, or "not in".
	Compare struct {
		Pos
		X    Expr
		Ops  []string
		With []Expr
	}
)

// Args are the arguments of a call.
type Args struct {
	Pos       []Expr
	Names     []string // of the keyword arguments
	Values    []Expr
	Dyn, DynK Expr // *args and **kwargs, or nil
}

// Statements.
type (
	// Output prints its expressions one after the other.
	Output struct {
		Pos
		Items []Expr
	}
	// Assign is set x = value.
	Assign struct {
		Pos
		Target, Value Expr
	}
	// AssignBlock is set x to the printed body; Filter may be nil.
	AssignBlock struct {
		Pos
		Target Expr
		Filter *Filter
		Body   []Stmt
	}
	// For is a loop. UsesLoop says that the body speaks of the variable loop.
	For struct {
		Pos
		Target, Iter, Test Expr // Test may be nil
		Body, Else         []Stmt
		Recursive          bool
		UsesLoop           bool
	}
	// If has one branch more than conditions where there is an else.
	If struct {
		Pos
		Tests  []Expr
		Lines  []int // of each test
		Bodies [][]Stmt
	}
	// With sets variables for its body.
	With struct {
		Pos
		Targets, Values []Expr
		Body            []Stmt
	}
	// Autoescape switches escaping for its body.
	Autoescape struct {
		Pos
		On   Expr
		Body []Stmt
	}
	// Block is a part that an extending template may replace.
	Block struct {
		Pos
		Name             string
		Scoped, Required bool
		Body             []Stmt
	}
	// Extends names the parent template.
	Extends struct {
		Pos
		Template Expr
	}
	// Include prints another template.
	Include struct {
		Pos
		Template                   Expr
		IgnoreMissing, WithContext bool
	}
	// Import binds the module of another template to a name. Load is yaml, json or text where Salt's tags read its
	// output as data.
	Import struct {
		Pos
		Template    Expr
		Target      string
		WithContext bool
		Load        string
	}
	// FromImport binds names of another template's module.
	FromImport struct {
		Pos
		Template       Expr
		Names, Aliases []string
		WithContext    bool
	}
	// Macro is a function that returns what its body prints. Defaults belong to the last arguments. Uses says which of
	// caller, varargs and kwargs the body speaks of.
	Macro struct {
		Pos
		Name                           string
		Args                           []string
		Defaults                       []Expr
		Body                           []Stmt
		Caller, Varargs, Kwargs, CallX bool // CallX: the unnamed macro of a call block
	}
	// CallBlock calls a macro with its body as caller.
	CallBlock struct {
		Pos
		Call *Call
		Body *Macro
	}
	// FilterBlock prints its filtered body.
	FilterBlock struct {
		Pos
		Filter *Filter
		Body   []Stmt
	}
	// Load is Salt's load_yaml, load_json, load_text: the printed body, read as data.
	Load struct {
		Pos
		Format string
		Target Expr
		Body   []Stmt
	}
	// Do evaluates an expression and prints nothing.
	Do struct {
		Pos
		X Expr
	}
	// Break ends a loop, Continue one turn of it.
	Break    struct{ Pos }
	Continue struct{ Pos }
)

// Tree is a whole template.
type Tree struct {
	Body   []Stmt
	Blocks map[string]*Block
}
