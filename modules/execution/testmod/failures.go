package testmod

import (
	"log/slog"
	"strings"
	"syscall"

	"brine/modules/loader"
	"brine/modules/text/pytext"
)

// failures are the functions that fail on purpose.
func failures() []loader.Func {
	return []loader.Func{
		{Name: "test.retcode", Params: []loader.Param{loader.Opt("code", int64(42))}, Run: retcode,
			Doc: `Answer True and set the exit code of the job.

CLI Example:

    salt '*' test.retcode 42`},
		{Name: "test.exception", Params: []loader.Param{loader.Opt("message", "Test Exception")}, Run: exception,
			Doc: `Raise an exception with a message.

CLI Example:

    salt '*' test.exception 'Oh noes!'`},
		{Name: "test.raise_exception", Params: []loader.Param{loader.Req("name")}, VarArgs: true, KWArgs: true, Run: raise,
			Doc: `Raise an exception of a class, builtin or of salt.exceptions; False for a name that is none.

CLI Example:

    salt '*' test.raise_exception TypeError "An integer is required"
    salt '*' test.raise_exception salt.exceptions.CommandExecutionError "Something went wrong"`},
		{Name: "test.assertion", Params: []loader.Param{loader.Req("assertion")}, Run: assertion,
			Doc: `Raise an AssertionError unless the argument is true.

CLI Example:

    salt '*' test.assertion False`},
		{Name: "test.deprecation_warning", Run: warnDeprecated, Doc: `Answer True, and log two deprecation warnings: by version, and by date.

CLI Example:

    salt '*' test.deprecation_warning`},
	}
}

// warnDeprecated says what Salt says there, which counts its releases up to 3108 and its years up to 3000.
func warnDeprecated(c *loader.Call, _ loader.Args) (any, error) {
	for _, text := range []string{"by version.", "by date very far into the future (3000-01-01)."} {
		c.Log(slog.LevelWarn, "DeprecationWarning: This is a test deprecation warning "+text)
	}
	return true, nil
}

func retcode(c *loader.Call, a loader.Args) (any, error) {
	code, err := a.Int("code")
	if err != nil { // a text as exit code is an error to whoever reads it, so it counts as one
		code = 1
	}
	c.SetRetcode(int(code))
	return true, nil
}

func exception(_ *loader.Call, a loader.Args) (any, error) {
	return nil, loader.Raise("Exception", "%s", pytext.Str(a.Get("message")))
}

func assertion(_ *loader.Call, a loader.Args) (any, error) {
	if !a.Bool("assertion") {
		return nil, loader.Raise("AssertionError", "")
	}
	return nil, nil
}

// builtinExceptions are the names of builtins that are exceptions.
const builtinExceptions = ` ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError BufferError BytesWarning
ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError
EncodingWarning EnvironmentError Exception FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError
ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError
MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError PendingDeprecationWarning
PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration
StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError UnicodeError
UnicodeWarning UserWarning ValueError Warning ZeroDivisionError `

// builtinOthers are builtins that are no exceptions: refused with another log line than unknown names.
const builtinOthers = ` BaseException abs all any bin bool bytes callable chr classmethod dict dir eval exec filter float format
getattr hash help hex id input int isinstance issubclass iter len list map max min next object oct open ord pow print property
range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip `

// saltExceptions are the classes of salt.exceptions.
const saltExceptions = ` AuthenticationError AuthorizationError CommandExecutionError CommandNotFoundError EauthAuthenticationError
FileLockError FileserverConfigError GitLockError GitRemoteError InvalidKeyError LoaderError MasterExit MinionError
NotImplementedError PkgParseError PublishError SaltCacheError SaltClientError SaltClientTimeout SaltConfigurationError
SaltDaemonNotRunning SaltDeserializationError SaltException SaltInvocationError SaltMasterError SaltMasterUnresolvableError
SaltNoMinionsFound SaltRenderError SaltReqTimeoutError SaltRunnerError SaltSyndicMasterError SaltSystemExit SaltValidationError
SaltWheelError TimedProcTimeoutError TimeoutError TokenAuthenticationError TokenExpiredError UnsupportedAlgorithm `

func listed(names, name string) bool {
	for _, n := range strings.Fields(names) {
		if n == name {
			return true
		}
	}
	return false
}

func raise(c *loader.Call, a loader.Args) (any, error) {
	name := a.Str("name")
	class, isSalt := strings.CutPrefix(name, "salt.exceptions.")
	switch {
	case isSalt && listed(saltExceptions, class):
		return nil, saltError(name, class, a.Rest)
	case !isSalt && listed(builtinExceptions, name):
		return nil, builtinError(name, a.Rest)
	case !isSalt && listed(builtinOthers, name):
		c.Log(slog.LevelError, name+" is not an exception")
	default:
		c.Log(slog.LevelError, "No such exception: "+name)
	}
	return false, nil
}

func saltError(full, class string, args []any) error {
	if len(args) > 2 {
		return &loader.ArgumentError{Message: class + ".__init__() takes from 1 to 2 positional arguments but " +
			pytext.Repr(int64(len(args)+1)) + " were given"}
	}
	text := ""
	if len(args) > 0 {
		text = pytext.Str(args[0])
	}
	switch class {
	case "CommandExecutionError":
		return &loader.CommandExecutionError{Message: text}
	case "CommandNotFoundError":
		return &loader.CommandNotFoundError{Message: text}
	case "SaltInvocationError":
		return &loader.InvocationError{Message: text}
	case "SaltClientError":
		return &loader.ClientError{Message: text}
	}
	return &loader.Exception{Class: full, Message: text}
}

func builtinError(name string, args []any) error {
	text := exceptionText(name, args)
	switch name {
	case "TypeError":
		return &loader.ArgumentError{Message: text}
	case "OSError", "IOError", "EnvironmentError":
		name = "OSError"
		if len(args) > 0 {
			name = osErrorClass(args)
		}
	}
	return &loader.Exception{Class: name, Message: text}
}

// osErrorClass is the class Python makes of OSError by its error number.
func osErrorClass(args []any) string {
	if n, ok := args[0].(int64); ok && len(args) > 1 {
		return loader.OSErrorClass(syscall.Errno(n))
	}
	return "OSError"
}

// exceptionText is str() of a Python exception made with these arguments.
func exceptionText(name string, args []any) string {
	switch {
	case len(args) == 0:
		return ""
	case len(args) == 1 && name == "KeyError":
		return pytext.Repr(args[0])
	case len(args) == 1:
		return pytext.Str(args[0])
	case len(args) == 2 && isOSError(name):
		return "[Errno " + pytext.Str(args[0]) + "] " + pytext.Str(args[1])
	}
	return pytext.Tuple(args)
}

func isOSError(name string) bool {
	return listed(" OSError IOError EnvironmentError BlockingIOError BrokenPipeError ChildProcessError ConnectionError "+
		"FileExistsError FileNotFoundError InterruptedError IsADirectoryError NotADirectoryError PermissionError "+
		"ProcessLookupError TimeoutError ", name)
}
