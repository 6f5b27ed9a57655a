package test

import (
	"log/slog"
	"strings"
	"syscall"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// failures are the functions that fail on purpose.
func failures() []loader.Func {
	return []loader.Func{
		loader.Fn("retcode", retcode, "Answer True and set the exit code of the job.", "test.retcode 42"),
		loader.Fn("exception", exception, "Raise an exception with a message.", "test.exception 'Oh noes!'"),
		loader.Fn("raise_exception", raise,
			"Raise an exception of a class, builtin or of salt.exceptions; False for a name that is none.",
			`test.raise_exception TypeError "An integer is required"`,
			`test.raise_exception salt.exceptions.CommandExecutionError "Something went wrong"`),
		loader.Fn("assertion", assertion, "Raise an AssertionError unless the argument is true.",
			"test.assertion False"),
		loader.Fn("deprecation_warning", warnDeprecated,
			"Answer True, and log two deprecation warnings: by version, and by date.", "test.deprecation_warning"),
	}
}

// warnDeprecated says what Salt says there, which counts its releases up to 3108 and its years up to 3000.
func warnDeprecated(c *loader.Call, _ struct{}) (any, error) {
	for _, text := range []string{"by version.", "by date very far into the future (3000-01-01)."} {
		c.Log(slog.LevelWarn, "DeprecationWarning: This is a test deprecation warning "+text)
	}
	return true, nil
}

type exitCode struct {
	Code any `arg:"code=42"`
}

func retcode(c *loader.Call, a exitCode) (any, error) {
	code, err := loader.ToInt(a.Code)
	if err != nil { // a text as exit code is an error to whoever reads it, so it counts as one
		code = 1
	}
	c.SetRetcode(int(code))
	return true, nil
}

type message struct {
	Text any `arg:"message=Test Exception"`
}

func exception(_ *loader.Call, a message) (any, error) {
	return nil, loader.Raise("Exception", "%s", python.Str(a.Text))
}

type asserted struct {
	True bool `arg:"assertion"`
}

func assertion(_ *loader.Call, a asserted) (any, error) {
	if !a.True {
		return nil, loader.Raise("AssertionError", "")
	}
	return nil, nil
}

// builtinExceptions are the names of builtins that are exceptions.
const builtinExceptions = `
ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError BufferError BytesWarning
ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError
DeprecationWarning EOFError EncodingWarning EnvironmentError Exception FileExistsError FileNotFoundError
FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError
InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError
NotADirectoryError NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError
ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration
StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError
UnicodeError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError
`

// builtinOthers are builtins that are no exceptions: refused with another log line than unknown names.
const builtinOthers = `
BaseException abs all any bin bool bytes callable chr classmethod dict dir eval exec filter float format getattr
hash help hex id input int isinstance issubclass iter len list map max min next object oct open ord pow print
property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip
`

// saltExceptions are the classes of salt.exceptions.
const saltExceptions = `
AuthenticationError AuthorizationError CommandExecutionError CommandNotFoundError EauthAuthenticationError
FileLockError FileserverConfigError GitLockError GitRemoteError InvalidKeyError LoaderError MasterExit MinionError
NotImplementedError PkgParseError PublishError SaltCacheError SaltClientError SaltClientTimeout
SaltConfigurationError SaltDaemonNotRunning SaltDeserializationError SaltException SaltInvocationError
SaltMasterError SaltMasterUnresolvableError SaltNoMinionsFound SaltRenderError SaltReqTimeoutError SaltRunnerError
SaltSyndicMasterError SaltSystemExit SaltValidationError SaltWheelError TimedProcTimeoutError TimeoutError
TokenAuthenticationError TokenExpiredError UnsupportedAlgorithm
`

func listed(names, name string) bool {
	for _, n := range strings.Fields(names) {
		if n == name {
			return true
		}
	}
	return false
}

type raised struct {
	Name string       `arg:"name"`
	Args []any        `arg:"*args"`
	KW   *payload.Map `arg:"**kwargs"`
}

func raise(c *loader.Call, a raised) (any, error) {
	class, isSalt := strings.CutPrefix(a.Name, "salt.exceptions.")
	switch {
	case isSalt && listed(saltExceptions, class):
		return nil, saltError(a.Name, class, a.Args)
	case !isSalt && listed(builtinExceptions, a.Name):
		return nil, builtinError(a.Name, a.Args)
	case !isSalt && listed(builtinOthers, a.Name):
		c.Log(slog.LevelError, a.Name+" is not an exception")
	default:
		c.Log(slog.LevelError, "No such exception: "+a.Name)
	}
	return false, nil
}

func saltError(full, class string, args []any) error {
	if len(args) > 2 {
		return &loader.ArgumentError{Message: class + ".__init__() takes from 1 to 2 positional arguments but " +
			python.Repr(int64(len(args)+1)) + " were given"}
	}
	text := ""
	if len(args) > 0 {
		text = python.Str(args[0])
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
		return python.Repr(args[0])
	case len(args) == 1:
		return python.Str(args[0])
	case len(args) == 2 && isOSError(name):
		return "[Errno " + python.Str(args[0]) + "] " + python.Str(args[1])
	}
	return python.Tuple(args)
}

func isOSError(name string) bool {
	return listed("OSError IOError EnvironmentError BlockingIOError BrokenPipeError ChildProcessError "+
		"ConnectionError FileExistsError FileNotFoundError InterruptedError IsADirectoryError NotADirectoryError "+
		"PermissionError ProcessLookupError TimeoutError", name)
}
