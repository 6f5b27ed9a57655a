package payload

// Credentials are the fields of a request in clear by which a master identifies the user: fields of the load itself, or
// of the kwargs of a publish request. Source: salt/auth/__init__.py, LoadAuth.
//
//	token         text    that the master has issued
//	eauth         text    kind of external authentication
//	username      text    for that
//	password      text    for that, or what its kind uses as one
//	token_expire  number  wanted lifetime of a new token, in seconds
//	key           text    of a local user
//	user          text    that local user
type Credentials struct{ view }

// shown are the fields that identify a user; a tool has its own fields for a local user.
var shown = []string{fieldToken, fieldUsername, fieldPassword, fieldEauth}

// fieldTokenExpire is used only by requests for a new token.
const fieldTokenExpire = "token_expire"

// NewCredentials is the view of a load, or of kwargs.
func NewCredentials(fields *Map) Credentials { return Credentials{view{fields}} }

// HasToken tells whether there is a token, whatever its type.
func (c Credentials) HasToken() bool { return c.Has(fieldToken) }

// Token is the token; "" if it is not a text.
func (c Credentials) Token() string { return c.load.Str(fieldToken) }

// HasEauth tells whether the request asks for external authentication.
func (c Credentials) HasEauth() bool { return c.Has(fieldEauth) }

// Eauth is the kind of external authentication; "" if it is not a text.
func (c Credentials) Eauth() string { return c.load.Str(fieldEauth) }

// HasUsername tells whether the request names a user for external authentication.
func (c Credentials) HasUsername() bool { return c.Has(fieldUsername) }

// Username is the user who logs in; "" if it is not a text.
func (c Credentials) Username() string { return c.load.Str(fieldUsername) }

// Password is the password of that user; "" if it is not a text.
func (c Credentials) Password() string { return c.load.Str(fieldPassword) }

// TokenExpire is the wanted lifetime of a new token, unchanged.
func (c Credentials) TokenExpire() any { return c.Field(fieldTokenExpire) }

// Shown copies the fields that identify a user into a new map. A tool sends them with a request for that user.
func (c Credentials) Shown() *Map { return c.some(shown...) }

// LogIn copies the fields of a log-in into a new map. A tool sends them to get a token for a user.
func (c Credentials) LogIn() *Map {
	return c.some(fieldUsername, fieldPassword, fieldEauth, fieldTokenExpire)
}

func (c Credentials) some(names ...string) *Map {
	out := NewMap(len(names))
	c.Pass(out, names...)
	return out
}

// User is the local user, or "" if it is not a text; named tells whether the field exists.
func (c Credentials) User() (name string, named bool) { return c.load.Str(FieldUser), c.Has(FieldUser) }

// TakeKey removes the key of a local user from the fields. ok tells whether it is a text.
func (c Credentials) TakeKey() (key string, ok bool) {
	key, ok = c.Field(fieldKey).(string)
	c.load.Delete(fieldKey)
	return key, ok
}
