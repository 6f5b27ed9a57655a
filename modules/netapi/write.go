package netapi

import (
	"html"
	"net/http"
	"strconv"

	"brine/modules/outputters"
	"brine/wire/payload"
)

// JSON writes a value as Salt's servers do: blanks behind commas and colons, keys in their order, letters as they are.
// The error is a 500: there are values that JSON has no form for.
func JSON(v any) ([]byte, error) {
	if hasBytes(v) {
		return nil, notSerialisable()
	}
	text, ok := outputters.DumpJSON(v, outputters.JSONOptions{Indent: -1})
	if !ok {
		return nil, notSerialisable()
	}
	return []byte(text), nil
}

// Write writes a value as JSON or YAML.
func Write(mediaType string, v any) ([]byte, error) {
	if mediaType == TypeYAML {
		return []byte(outputters.DumpYAML(v, outputters.FlowNever, 2)), nil
	}
	return JSON(v)
}

func notSerialisable() *Error {
	return &Error{http.StatusInternalServerError, "Could not serialize the return data from Salt."}
}

func hasBytes(v any) bool {
	switch x := v.(type) {
	case []byte:
		return true
	case []any:
		for _, one := range x {
			if hasBytes(one) {
				return true
			}
		}
	case *payload.Map:
		for _, one := range x.All() {
			if hasBytes(one) {
				return true
			}
		}
	}
	return false
}

// StatusText is a status as Salt's servers name it: 401 Unauthorized.
func StatusText(status int) string {
	text := http.StatusText(status)
	if status == http.StatusInternalServerError {
		text = "Internal Server Error"
	}
	return strconv.Itoa(status) + " " + text
}

// Message is the text of an error page; an error without one has that of the HTTP library of Salt.
func (e *Error) text() string {
	if e.Message != "" {
		return e.Message
	}
	switch e.Status {
	case http.StatusUnauthorized:
		return "No permission -- see authorization schemes"
	case http.StatusForbidden:
		return "Request forbidden -- authorization will not help"
	case http.StatusNotFound:
		return "Nothing matches the given URI"
	case http.StatusMethodNotAllowed:
		return "Specified method is invalid for this resource"
	case http.StatusGatewayTimeout:
		return "The gateway server did not receive a timely response"
	case http.StatusInternalServerError:
		return "The server encountered an unexpected condition which prevented it from fulfilling the request."
	case http.StatusRequestEntityTooLarge:
		return "Entity is too large"
	}
	return http.StatusText(e.Status)
}

// Page is the HTML of an error: the status in an h2, the message in a p.
func (e *Error) Page() []byte {
	status := html.EscapeString(StatusText(e.Status))
	return []byte("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>" + status +
		"</title>\n</head>\n<body>\n<h2>" + status +
		"</h2>\n<p>" + html.EscapeString(e.text()) + "</p>\n</body>\n</html>\n")
}
