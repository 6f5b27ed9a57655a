// Package elasticsearch_return is the returner elasticsearch: it indexes returns, events and loads in Elasticsearch.
// Answers to salt/returners/elasticsearch_return.py.
package elasticsearch_return

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"
)

const returnerName = "elasticsearch"

// wanted is where the returner finds its options; those of the connection stand in the map elasticsearch.
// Source: salt/returners/elasticsearch_return.py, _get_options.
var wanted = options.Lookup{Name: returnerName, Options: []string{"debug_returner_payload", "doc_type",
	"functions_blacklist", "index_date", "master_event_index", "master_event_doc_type", "master_job_cache_index",
	"master_job_cache_doc_type", "number_of_shards", "number_of_replicas", "states_count", "states_order_output",
	"states_single_index"},
	Defaults: options.Values{"debug_returner_payload": false, "doc_type": "default", "functions_blacklist": []any{},
		"index_date": false, "master_event_index": "salt-master-event-cache", "master_event_doc_type": "default",
		"master_job_cache_index": "salt-master-job-cache", "master_job_cache_doc_type": "default",
		"number_of_shards": int64(1), "number_of_replicas": int64(0), "states_order_output": false,
		"states_count": false, "states_single_index": false}}

// Module is the returner elasticsearch.
func Module() loader.Module {
	return loader.Module{File: "elasticsearch_return", Name: returnerName, Virtual: loader.Always,
		Funcs: func() []loader.Func {
			return []loader.Func{
				functions.Returner(returnerName, "Index the return in Elasticsearch.", take),
				functions.EventReturn(returnerName, "Index events in Elasticsearch.", takeEvents),
				functions.SaveLoad(saveLoad),
				functions.ByJID("get_load", "Show the load of a job.", getLoad),
				functions.PrepJID(),
			}
		}}
}

func saveLoad(c *loader.Call, jid string, load any) error {
	opt, err := wanted.Read(c, nil)
	if err != nil {
		return err
	}
	return with(c, opt, func(s *cluster) error {
		index := opt.Text("master_job_cache_index")
		if err := s.ensure(c, index); err != nil {
			return err
		}
		return s.put(c, []string{index, opt.Text("master_job_cache_doc_type"), jid}, payload.M("jid", jid, "load", load))
	})
}

// getLoad gives the load that save_load kept. Unlike Salt: it can be read.
func getLoad(c *loader.Call, jid string) (any, error) {
	opt, err := wanted.Read(c, nil)
	if err != nil {
		return nil, err
	}
	load := payload.NewMap(0)
	err = with(c, opt, func(s *cluster) error {
		answer, err := s.ask(c, http.MethodGet, []string{opt.Text("master_job_cache_index"),
			opt.Text("master_job_cache_doc_type"), jid}, "")
		if err != nil || answer.Status == http.StatusNotFound {
			return err
		}
		if answer.Status >= http.StatusMultipleChoices {
			return refused(answer)
		}
		v, err := returners.Load("the document of job "+jid, string(answer.Body))
		if found, ok := v.(*payload.Map); ok {
			load = found.Map("_source").Map("load")
		}
		return err
	})
	return load, err
}

// take indexes one return.
func take(c *loader.Call, ret *payload.Map) error {
	opt, err := wanted.Read(c, ret)
	if err != nil {
		return err
	}
	list, _ := opt["functions_blacklist"].([]any)
	if slices.Contains(list, any(returners.Word(ret, "fun"))) || ret.Value("data") == nil && ret.Value("return") == nil {
		return nil
	}
	index, doc := document(opt, ret, time.Now())
	text, err := returners.Dump(returnerName, doc)
	if err != nil {
		return err
	}
	if python.Truth(opt["debug_returner_payload"]) {
		c.Log(slog.LevelDebug, "elasticsearch payload: "+text)
	}
	return with(c, opt, func(s *cluster) error {
		if err := s.ensure(c, index); err != nil {
			return err
		}
		return s.put(c, []string{index, opt.Text("doc_type")}, doc)
	})
}

// takeEvents indexes events. Unlike Salt: all of them, not the last.
func takeEvents(c *loader.Call, events []any) error {
	opt, err := wanted.Read(c, nil)
	if err != nil {
		return err
	}
	index := dated(opt, opt.Text("master_event_index"), time.Now())
	return with(c, opt, func(s *cluster) error {
		if err := s.ensure(c, index); err != nil {
			return err
		}
		for _, e := range events {
			event, _ := e.(*payload.Map)
			doc := payload.M("tag", "", "data", "")
			for _, name := range []string{"tag", "data"} {
				if v, ok := event.Get(name); ok {
					doc.Set(name, v)
				}
			}
			if err := s.put(c, []string{index, opt.Text("master_event_doc_type"), newUUID()}, doc); err != nil {
				return err
			}
		}
		return nil
	})
}

// dated is the name of an index, with the local date where the options want it.
func dated(opt options.Values, index string, now time.Time) string {
	if python.Truth(opt["index_date"]) {
		return index + now.Format("-2006.01.02")
	}
	return index
}

// newUUID is a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
