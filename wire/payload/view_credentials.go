package payload

// Credentials are the fields of a request in clear by which a master knows who asks: of the load itself, or of the
// kwargs of a publish request. Source: salt/auth/__init__.py, LoadAuth.
//
//	token         text    that the master has given
//	eauth         text    kind of external authentication
//	username      text    for that
//	password      text    for that, or what its kind takes for one
//	token_expire  number  seconds that a new token is wanted for
//	key           text    of a local user
//	user          text    that local user
type Credentials struct{ view }

// shown are the fields that say who asks for something; of a local user a tool has its own.
var shown = []string{fieldToken, fieldUsername, fieldPassword, fieldEauth}

// fieldTokenExpire is read where a token is made.
const fieldTokenExpire = "token_expire"

// NewCredentials is the view of a load, or of kwargs.
func NewCredentials(fields *Map) Credentials { return Credentials{view{fields}} }

// HasToken tells whether there is a token, of whatever type.
func (c Credentials) HasToken() bool { return c.Has(fieldToken) }

// Token is the token; "" when it is no text.
func (c Credentials) Token() string { return c.load.Str(fieldToken) }

// HasEauth tells whether external authentication is wanted.
func (c Credentials) HasEauth() bool { return c.Has(fieldEauth) }

// Eauth is the kind of external authentication; "" when it is no text.
func (c Credentials) Eauth() string { return c.load.Str(fieldEauth) }

// HasUsername tells whether somebody is named for external authentication.
func (c Credentials) HasUsername() bool { return c.Has(fieldUsername) }

// Username is who logs in; "" when that is no text.
func (c Credentials) Username() string { return c.load.Str(fieldUsername) }

// Password is what he shows; "" when it is no text.
func (c Credentials) Password() string { return c.load.Str(fieldPassword) }

// TokenExpire is for how long a new token is wanted, as it came.
func (c Credentials) TokenExpire() any { return c.Field(fieldTokenExpire) }

// Shown are the fields by which somebody shows who he is, in a map of their own: a tool sends them with what it asks
// for him.
func (c Credentials) Shown() *Map { return c.some(shown...) }

// LogIn are the fields of a log-in, in a map of their own: a tool sends them to get a token for him.
func (c Credentials) LogIn() *Map {
	return c.some(fieldUsername, fieldPassword, fieldEauth, fieldTokenExpire)
}

func (c Credentials) some(names ...string) *Map {
	out := NewMap(len(names))
	c.Pass(out, names...)
	return out
}

// User is the local user, "" when that is no text, and whether there is such a field.
func (c Credentials) User() (name string, named bool) { return c.load.Str(FieldUser), c.Has(FieldUser) }

// TakeKey takes the key of a local user out of the fields, and tells whether it is a text.
func (c Credentials) TakeKey() (key string, ok bool) {
	key, ok = c.Field(fieldKey).(string)
	c.load.Delete(fieldKey)
	return key, ok
}
