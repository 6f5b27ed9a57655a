package loader

import (
	"container/list"
	"sync"
)

// Bounds of what functions keep in one process.
const (
	contextValues = 256
	contextBytes  = 4 << 20
)

// Context is what the functions of one module keep between calls (__context__ of Salt): a cache and nothing more, since
// what was not used for long goes when the place is needed. It is shared by all calls of a registry, in whatever job
// they are, so an entry must say itself up to when it holds. A process of its own for a job starts with an empty one,
// as in Salt. Values are shared: nobody changes one that is in it.
type Context struct {
	of     *contextStore
	module string
}

// Context is that of the module whose function runs.
func (c *Call) Context() Context {
	return Context{of: &c.Env.Registry.context, module: ModuleOf(c.Fun)}
}

// Get finds a value.
func (x Context) Get(key string) (any, bool) { return x.of.get(x.module + "." + key) }

// Put keeps a value that takes about so many bytes. What is too large is not kept.
func (x Context) Put(key string, v any, bytes int) { x.of.put(x.module+"."+key, v, bytes) }

// contextStore holds the values of all modules; its zero value is empty. The order is that of use, the last one first.
type contextStore struct {
	mu    sync.Mutex
	at    map[string]*list.Element
	order list.List
	bytes int
}

type contextEntry struct {
	key   string
	value any
	bytes int
}

func (s *contextStore) get(key string) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.at[key]
	if !ok {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*contextEntry).value, true
}

func (s *contextStore) put(key string, v any, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.at[key]; ok {
		s.drop(e)
	}
	if bytes += len(key); bytes > contextBytes {
		return
	}
	if s.at == nil {
		s.at = map[string]*list.Element{}
	}
	s.at[key] = s.order.PushFront(&contextEntry{key, v, bytes})
	for s.bytes += bytes; s.bytes > contextBytes || len(s.at) > contextValues; {
		s.drop(s.order.Back())
	}
}

func (s *contextStore) drop(e *list.Element) {
	old := s.order.Remove(e).(*contextEntry)
	delete(s.at, old.key)
	s.bytes -= old.bytes
}

func (s *contextStore) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.bytes = nil, 0
	s.order.Init()
}
