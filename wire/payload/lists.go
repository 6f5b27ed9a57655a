package payload

// AnyList turns a list of values of one type, such as ids, into a []any. It is never nil, even for an empty list.
func AnyList[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// Texts returns the texts of a list and skips its other members. For a value that is not a list it returns none.
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
