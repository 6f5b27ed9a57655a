package returners

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

const elasticName = "elasticsearch"

// elasticOptions is where the returner finds its options; those of the connection stand in the map elasticsearch.
// Source: salt/returners/elasticsearch_return.py, _get_options.
var elasticOptions = lookup{name: elasticName, options: []string{"debug_returner_payload", "doc_type",
	"functions_blacklist", "index_date", "master_event_index", "master_event_doc_type", "master_job_cache_index",
	"master_job_cache_doc_type", "number_of_shards", "number_of_replicas", "states_count", "states_order_output",
	"states_single_index"},
	defaults: settings{"debug_returner_payload": false, "doc_type": "default", "functions_blacklist": []any{},
		"index_date": false, "master_event_index": "salt-master-event-cache", "master_event_doc_type": "default",
		"master_job_cache_index": "salt-master-job-cache", "master_job_cache_doc_type": "default",
		"number_of_shards": int64(1), "number_of_replicas": int64(0), "states_order_output": false,
		"states_count": false, "states_single_index": false}}

// elasticFunctions index returns, events and loads in Elasticsearch.
func elasticFunctions() []loader.Func {
	return []loader.Func{
		taker(elasticName, `Index the return in Elasticsearch.

CLI Example:

    salt '*' test.ping --return elasticsearch`, elasticTake),
		listener(elasticName, `Index events in Elasticsearch.`, elasticEvents),
		saver(elasticName, func(c *loader.Call, jid string, load any) error {
			opt, err := elasticOptions.read(c, nil)
			if err != nil {
				return err
			}
			return withElastic(c, opt, func(s *elastic) error {
				index := opt.text("master_job_cache_index")
				if err := s.ensure(c, index); err != nil {
					return err
				}
				return s.put(c, []string{index, opt.text("master_job_cache_doc_type"), jid},
					payload.M("jid", jid, "load", load))
			})
		}),
		byJID(elasticName, "get_load", "Show the load of a job.", elasticLoad),
		jidMaker(elasticName),
	}
}

// elasticLoad gives the load that save_load kept. Unlike Salt: it can be read.
func elasticLoad(c *loader.Call, jid string) (any, error) {
	opt, err := elasticOptions.read(c, nil)
	if err != nil {
		return nil, err
	}
	load := payload.NewMap(0)
	err = withElastic(c, opt, func(s *elastic) error {
		answer, err := s.ask(c, http.MethodGet, []string{opt.text("master_job_cache_index"),
			opt.text("master_job_cache_doc_type"), jid}, "")
		if err != nil || answer.Status == http.StatusNotFound {
			return err
		}
		if answer.Status >= http.StatusMultipleChoices {
			return refusedByElastic(answer)
		}
		v, err := loads("the document of job "+jid, string(answer.Body))
		if found, ok := v.(*payload.Map); ok {
			load = found.Map("_source").Map("load")
		}
		return err
	})
	return load, err
}

// elasticTake indexes one return.
func elasticTake(c *loader.Call, ret *payload.Map) error {
	opt, err := elasticOptions.read(c, ret)
	if err != nil {
		return err
	}
	list, _ := opt["functions_blacklist"].([]any)
	if contains(list, word(ret, "fun")) || ret.Value("data") == nil && ret.Value("return") == nil {
		return nil
	}
	index, doc := elasticDocument(opt, ret, time.Now())
	text, err := dumps(elasticName, doc)
	if err != nil {
		return err
	}
	if python.Truth(opt["debug_returner_payload"]) {
		c.Log(slog.LevelDebug, "elasticsearch payload: "+text)
	}
	return withElastic(c, opt, func(s *elastic) error {
		if err := s.ensure(c, index); err != nil {
			return err
		}
		return s.put(c, []string{index, opt.text("doc_type")}, doc)
	})
}

// elasticEvents indexes events. Unlike Salt: all of them, not the last.
func elasticEvents(c *loader.Call, events []any) error {
	opt, err := elasticOptions.read(c, nil)
	if err != nil {
		return err
	}
	index := dated(opt, opt.text("master_event_index"), time.Now())
	return withElastic(c, opt, func(s *elastic) error {
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
			if err := s.put(c, []string{index, opt.text("master_event_doc_type"), newUUID()}, doc); err != nil {
				return err
			}
		}
		return nil
	})
}

// dated is the name of an index, with the local date where the options want it.
func dated(opt settings, index string, now time.Time) string {
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
