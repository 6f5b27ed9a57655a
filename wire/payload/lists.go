package payload

// AnyList is a list of values of one type, such as ids, as a value of its own. It is never nil: an empty list is one
// too.
func AnyList[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// Texts are the texts of a list, without its other members; those of a value that is no list are none.
func Texts(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
